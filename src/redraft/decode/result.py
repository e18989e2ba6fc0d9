"""The result of a sentence: candidate texts, scores, a verdict for each edit, and warnings."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from redraft.check.meaning import Meaning
from redraft.plan.edits import Edit, EditPlan, describe_edit
from redraft.plan.verdicts import Verdict
from redraft.text.names import missing_names, missing_negations, missing_symbols
from redraft.text.protected_spans import missing_addresses
from redraft.text.word_diff import diff_words

_REPR_LENGTH = 60  # characters of a text in a `repr`


def is_requested(edit: Edit) -> bool:
    """Whether a person requested an edit; predicted edits have a probability."""
    return edit.probability is None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One finished text."""

    text: str
    log_prob: float  # summed over tokens, after all processors
    edit_score: float  # E of docs/search.md; `neurologic`: the number of clauses met; 0 if edits are not scored
    verdicts: tuple[Verdict, ...]
    tokens: tuple[int, ...]  # with the end token
    truncated: bool  # cut at the maximum length
    literal: bool = False  # the source with its edits made in place, not written by the model
    meaning: Meaning | None = None  # of the meaning check, if the text was checked

    @property
    def not_done(self) -> list[Verdict]:
        """Requested edits that the text does not satisfy."""
        return [verdict for verdict in self.verdicts if is_requested(verdict.edit) and verdict.status != "satisfied"]

    def to_json(self) -> dict[str, Any]:
        known: dict[str, Any] = {"literal": True} if self.literal else {}
        if self.meaning is not None:
            known["meaning"] = self.meaning.to_json()
        return {
            "output": self.text,
            "log_prob": self.log_prob,
            "edit_score": self.edit_score,
            "truncated": self.truncated,
            "edits": [verdict.to_json() for verdict in self.verdicts],
            **known,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """A source and its candidates, best first. The fields of the best candidate are properties of the result."""

    source: str
    candidates: tuple[Candidate, ...]
    trace: tuple[dict[str, Any], ...] = ()  # the steps of the search, if requested
    pieces: int = 1  # in which the source was rewritten
    unchanged: str | None = None  # the reason, if the source was not rewritten
    plan: EditPlan | None = None  # the plan that was applied, given or predicted

    @property
    def text(self) -> str:
        return self.candidates[0].text

    @property
    def log_prob(self) -> float:
        return self.candidates[0].log_prob

    @property
    def edit_score(self) -> float:
        return self.candidates[0].edit_score

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return self.candidates[0].verdicts

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
        """Names, numbers, negations, addresses and symbols of the source that the text lacks."""
        texts = (self.source, self.text)
        return [
            *missing_names(*texts),
            *missing_negations(*texts),
            *missing_addresses(*texts),
            *missing_symbols(*texts),
        ]

    @property
    def warnings(self) -> list[str]:
        """What to check before the text is used, a sentence each; empty if there is nothing."""
        return list(self._warnings())

    def _warnings(self) -> Iterator[str]:
        if self.meaning is not None and self.meaning.alarm:
            yield f"may not say the same ({self.meaning.risk:.0%}): {self.meaning.why}"
        if self.missing:
            yield f"missing: {', '.join(self.missing)}"
        for verdict in self.not_done:
            yield f"not done: {describe_edit(verdict.edit)}" + (f" ({verdict.reason})" if verdict.reason else "")
        if self.truncated:
            yield "cut at the maximum length"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        done = sum(verdict.status == "satisfied" for verdict in self.verdicts)
        parts = [_shortened(self.text), f"edits={done}/{len(self.verdicts)}"]
        if self.warnings:
            parts.append(f"warnings={len(self.warnings)}")
        return f"Result({', '.join(parts)})"

    def marked_html(self) -> str:
        """The text as HTML, with added words in <ins> and deleted ones in <del>."""
        tags = {"added": "ins", "deleted": "del"}
        pieces = ((tags.get(piece.kind), html.escape(piece.text)) for piece in diff_words(self.source, self.text))
        return "".join(f"<{tag}>{piece}</{tag}>" if tag else piece for tag, piece in pieces)

    def _repr_html_(self) -> str:
        """For notebooks: the text with marked changes, then the warnings."""
        warnings = "".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        return f"<p>{self.marked_html()}</p>" + (f"<ul>{warnings}</ul>" if warnings else "")

    def to_json(self) -> dict[str, Any]:
        known = {"source": self.source, **self.candidates[0].to_json(), "missing": self.missing}
        known["candidates"] = [candidate.to_json() for candidate in self.candidates]
        if self.trace:
            known["trace"] = list(self.trace)
        if self.pieces > 1:
            known["pieces"] = self.pieces
        return {**known, "unchanged": self.unchanged} if self.unchanged else known


def _shortened(text: str) -> str:
    return repr(text if len(text) <= _REPR_LENGTH else f"{text[: _REPR_LENGTH - 1]}…")
