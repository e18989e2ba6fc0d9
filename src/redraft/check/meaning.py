"""The result of a meaning check: the risk that two texts differ in meaning, the words concerned, the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from redraft.text.protected_spans import Span


@dataclass(frozen=True)
class Meaning:
    """The risk that an output differs in meaning from its source, the words concerned, and the reasons."""

    risk: float  # from 0 to 1
    alarm: bool
    why: str  # empty if nothing was found
    source: tuple[Span, ...] = ()
    output: tuple[Span, ...] = ()
    words: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        spans = {"source": [list(span) for span in self.source], "output": [list(span) for span in self.output]}
        return {"risk": round(self.risk, 4), "alarm": self.alarm, "words": list(self.words), "why": self.why,
                "spans": spans}  # fmt: skip


SAME = Meaning(0.0, False, "")
