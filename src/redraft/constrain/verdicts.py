"""Was each edit carried out? Judged on the final text, by the same rule for every method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from redraft.align.words import split_words
from redraft.constrain.edits import Edit, EditPlan
from redraft.constrain.phrases import Variants, begins, find, forms, needs

Status = Literal["satisfied", "violated", "unmet", "impossible"]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one edit."""

    edit: Edit
    status: Status
    chosen_over: bool | None = None  # carried out while the alternative was among the siblings; None: not known
    reason: str | None = None  # why it is impossible

    def to_json(self) -> dict[str, Any]:
        known = {"reason": self.reason} if self.reason else {}
        return {**self.edit.to_json(), "status": self.status, "chosen_over": self.chosen_over, **known}


def judge(
    plan: EditPlan,
    text: str,
    *,
    variants: Variants = "case",
    forms_of: Callable[[EditPlan, str], tuple[str, ...]] | None = None,
    impossible: Mapping[int, str] | None = None,
) -> list[Verdict]:
    """A verdict for each edit of the plan. `forms_of` adds the forms a tokenizer gives a phrase."""

    def found(*phrases: str) -> list[Span]:
        if forms_of is not None:
            wanted = [form for phrase in phrases for form in forms_of(plan, phrase)]
        else:
            wanted = [
                form
                for phrase in phrases
                for form in forms(phrase, variants, begins_source=begins(plan.source, phrase))
            ]
        return find(text, wanted)

    def words(span: Span) -> int:
        return _count(text[slice(*span)])

    kept = [
        (span, words(span))
        for edit in plan.edits
        for phrase in (edit.targets or (edit.phrase,) if edit.kind != "delete" else ())
        for span in found(phrase)
    ]
    verdicts = []
    for number, (edit, need) in enumerate(zip(plan.edits, needs(plan, variants), strict=True)):
        written = found(edit.phrase)
        if edit.kind == "insert":
            status: Status = "satisfied" if len(written) >= need else "unmet"
        else:
            charged = [span for span in written[need:] if not _inside(span, words(span), kept)]
            met = edit.kind == "delete" or bool(found(*edit.targets))
            status = "violated" if charged else "satisfied" if met else "unmet"
        reason = (impossible or {}).get(number) if status == "unmet" else None
        verdicts.append(Verdict(edit, "impossible" if reason else status, reason=reason))
    return verdicts


@lru_cache(maxsize=4096)
def _count(phrase: str) -> int:
    return len(split_words(phrase))


def _inside(span: Span, words: int, kept: list[tuple[Span, int]]) -> bool:
    """Whether a span lies within a longer phrase that the plan asks for."""
    return any(start <= span[0] and span[1] <= end and length > words for (start, end), length in kept)
