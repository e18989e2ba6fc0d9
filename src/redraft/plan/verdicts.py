"""Was each edit carried out? Judged on the final text, by the same rule for every method."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

from redraft.align.exact_aligner import lemma
from redraft.cancellation import yield_point
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.phrases import Variants, begins, find, forms, needs
from redraft.text.function_words import is_content
from redraft.text.sentences import sentence_starts
from redraft.text.words import normal, split_words

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

    @cache  # a plan may have many edits of the same phrase
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

    @cache
    def is_kept(span: Span) -> bool:
        return _inside(span, words(span), kept)

    asked = dict.fromkeys(
        phrase
        for edit in plan.edits if edit.kind not in ("delete", "split")
        for phrase in edit.targets or (edit.phrase,)
    )  # fmt: skip
    kept = {span: words(span) for phrase in asked for span in found(phrase)}
    verdicts = []
    split = splits_met(plan, text)
    for number, (edit, need) in enumerate(zip(plan.edits, needs(plan, variants), strict=True)):
        yield_point()
        if edit.kind == "split":
            verdicts.append(Verdict(edit, "satisfied" if split[number] else "unmet"))
            continue
        written = found(edit.phrase)
        if edit.kind == "insert":
            status: Status = "satisfied" if len(written) >= need else "unmet"
        else:
            charged = any(not is_kept(span) for span in written[need:])
            met = edit.kind == "delete" or bool(found(*edit.targets))
            status = "violated" if charged else "satisfied" if met else "unmet"
        reason = (impossible or {}).get(number) if status == "unmet" else None
        verdicts.append(Verdict(edit, "impossible" if reason else status, reason=reason))
    return verdicts


def splits_met(plan: EditPlan, text: str) -> dict[int, bool]:
    """Whether the text carries out each split of a plan, by the split's place in the plan.

    The n-th split anywhere is met where the text has at least n sentences more than the source. A split at a place is
    met where a sentence ends between the nearest content words on its two sides that the text still has; where one
    side has none left, it counts as a split anywhere.
    """
    splits = {number: edit for number, edit in enumerate(plan.edits) if edit.kind == "split"}
    if not splits:
        return {}
    before, after = _content(plan.source), _content(text)
    more = len(sentence_starts(text)) - len(sentence_starts(plan.source))
    met, anywhere = {}, 0
    for number, edit in splits.items():
        found = [_ends_at(place, before, after) for place in _places(plan.source, edit)]
        if all(one is None for one in found):
            anywhere += 1
            met[number] = more >= anywhere
        else:
            met[number] = any(found)
    return met


def is_split(source: str, text: str, place: int) -> bool | None:
    """Whether a sentence of the text ends at a place of the source; None where a side has no word left in the text."""
    return _ends_at(place, _content(source), _content(text))


def _places(source: str, split: Edit) -> list[int]:
    """Where a split is asked for: its span, or wherever its word is in the source."""
    if split.span is not None:
        return [split.span[0]]
    return [start for start, _ in find(source, forms(split.phrase))] if split.phrase else []


@dataclass(frozen=True, slots=True)
class _Content:
    """A content word of a text."""

    key: str  # as it is compared: its lemma
    start: int
    sentence: int  # number of its sentence


def _content(text: str) -> list[_Content]:
    starts = sentence_starts(text)
    return [
        _Content(lemma(normal(word.text)), word.start, bisect(starts, word.start))
        for word in split_words(text)
        if is_content(word.text)
    ]


def _ends_at(place: int, source: Sequence[_Content], text: Sequence[_Content]) -> bool | None:
    known = {word.key for word in text}
    left = next((word for word in reversed(source) if word.start < place and word.key in known), None)
    right = next((word for word in source if word.start >= place and word.key in known), None)
    if left is None or right is None:
        return None
    # Sentences are numbered in order: some pair of occurrences has an end between them if the outermost pair has.
    return min(_in_sentences(left, source, text)) < max(_in_sentences(right, source, text))


def _in_sentences(word: _Content, source: Sequence[_Content], text: Sequence[_Content]) -> list[int]:
    """The sentences of the text that may have this word of the source.

    One that the text has as often as the source is the same one there; otherwise it may be any of them.
    """
    here = [other.start for other in source if other.key == word.key]
    there = [other.sentence for other in text if other.key == word.key]
    return [there[here.index(word.start)]] if len(here) == len(there) else there


@lru_cache(maxsize=4096)
def _count(phrase: str) -> int:
    return len(split_words(phrase))


def _inside(span: Span, words: int, kept: Mapping[Span, int]) -> bool:
    """Whether a span lies within a longer phrase that the plan asks for."""
    return any(start <= span[0] and span[1] <= end and length > words for (start, end), length in kept.items())
