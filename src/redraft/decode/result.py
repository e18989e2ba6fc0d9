"""What comes out for a sentence: a text, its scores, and a verdict for each edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from redraft.check.meaning import Meaning
from redraft.plan.edits import Edit
from redraft.plan.verdicts import Verdict
from redraft.text.names import missing, missing_negations, missing_signs
from redraft.text.protected_spans import missing_addresses


def is_asked(edit: Edit) -> bool:
    """Whether a person asked for an edit; predicted ones have a probability."""
    return edit.probability is None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One finished text."""

    output: str
    log_prob: float  # summed over tokens, after all processors
    edit_score: float  # E of docs/search.md; for `neurologic` the number of clauses met; 0 where edits are not scored
    edits: tuple[Verdict, ...]
    tokens: tuple[int, ...]  # with the end token
    truncated: bool  # cut at the maximum length
    literal: bool = False  # the source edited word by word, not written by the model
    meaning: Meaning | None = None  # whether it still says the same, where that was checked

    @property
    def not_done(self) -> list[Verdict]:
        """Edits that a person asked for and the output does not show."""
        return [verdict for verdict in self.edits if is_asked(verdict.edit) and verdict.status != "satisfied"]

    def to_json(self) -> dict[str, Any]:
        known: dict[str, Any] = {"literal": True} if self.literal else {}
        if self.meaning is not None:
            known["meaning"] = self.meaning.to_json()
        return {
            "output": self.output,
            "log_prob": self.log_prob,
            "edit_score": self.edit_score,
            "truncated": self.truncated,
            "edits": [verdict.to_json() for verdict in self.edits],
            **known,
        }


@dataclass(frozen=True, slots=True)
class Result:
    """A source and its candidates, the best first; the best one's fields are read directly."""

    source: str
    candidates: tuple[Candidate, ...]
    trace: tuple[dict[str, Any], ...] = ()  # step by step, where asked for
    pieces: int = 1  # in which it was rewritten
    unchanged: str | None = None  # why it was left as it is

    @property
    def output(self) -> str:
        return self.candidates[0].output

    @property
    def log_prob(self) -> float:
        return self.candidates[0].log_prob

    @property
    def edit_score(self) -> float:
        return self.candidates[0].edit_score

    @property
    def edits(self) -> tuple[Verdict, ...]:
        return self.candidates[0].edits

    @property
    def truncated(self) -> bool:
        return self.candidates[0].truncated

    @property
    def not_done(self) -> list[Verdict]:
        return self.candidates[0].not_done

    @property
    def literal(self) -> bool:
        return self.candidates[0].literal

    @property
    def meaning(self) -> Meaning | None:
        return self.candidates[0].meaning

    @property
    def missing(self) -> list[str]:
        """Names, numbers, negations, addresses and signs that the output lacks: where meaning may be lost."""
        texts = (self.source, self.output)
        return [*missing(*texts), *missing_negations(*texts), *missing_addresses(*texts), *missing_signs(*texts)]

    def to_json(self) -> dict[str, Any]:
        known = {"source": self.source, **self.candidates[0].to_json(), "missing": self.missing}
        known["candidates"] = [candidate.to_json() for candidate in self.candidates]
        if self.trace:
            known["trace"] = list(self.trace)
        if self.pieces > 1:
            known["pieces"] = self.pieces
        return {**known, "unchanged": self.unchanged} if self.unchanged else known
