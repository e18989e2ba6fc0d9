"""Judges on the final text whether each edit is satisfied, by the same rules for every method."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

from redraft.align.exact_aligner import lemma
from redraft.cooperative_scheduling import yield_point
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.phrases import Variants, find_spans, occurrence_thresholds, starts_source, surface_forms
from redraft.text.function_words import is_content
from redraft.text.sentences import sentence_starts
from redraft.text.words import normalise, split_words

Status = Literal["satisfied", "violated", "unmet", "impossible"]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status of one edit."""

    edit: Edit
    status: Status
    chosen_over: bool | None = None  # satisfied while the alternative continuation was also a candidate; None: unknown
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
    """A verdict for each edit of the plan. `forms_of` gives the forms of a phrase as a tokenizer writes them."""

    @cache  # a plan may have many edits of the same phrase
    def found(*phrases: str) -> list[Span]:
        if forms_of is not None:
            wanted = [form for phrase in phrases for form in forms_of(plan, phrase)]
        else:
            wanted = [
                form
                for phrase in phrases
                for form in surface_forms(phrase, variants, at_source_start=starts_source(plan.source, phrase))
            ]
        return find_spans(text, wanted)

    def words(span: Span) -> int:
        return _count_words(text[slice(*span)])

    @cache
    def is_kept(span: Span) -> bool:
        return _inside(span, words(span), kept)

    required = dict.fromkeys(
        phrase
        for edit in plan.edits if edit.kind not in ("delete", "split")
        for phrase in edit.targets or (edit.phrase,)
    )  # fmt: skip
    kept = {span: words(span) for phrase in required for span in found(phrase)}
    verdicts = []
    split_status = satisfied_splits(plan, text)
    for number, (edit, threshold) in enumerate(zip(plan.edits, occurrence_thresholds(plan, variants), strict=True)):
        yield_point()
        if edit.kind == "split":
            verdicts.append(Verdict(edit, "satisfied" if split_status[number] else "unmet"))
            continue
        present = found(edit.phrase)
        if edit.kind == "insert":
            status: Status = "satisfied" if len(present) >= threshold else "unmet"
        else:
            violated = any(not is_kept(span) for span in present[threshold:])
            satisfied = edit.kind == "delete" or bool(found(*edit.targets))
            status = "violated" if violated else "satisfied" if satisfied else "unmet"
        reason = (impossible or {}).get(number) if status == "unmet" else None
        verdicts.append(Verdict(edit, "impossible" if reason else status, reason=reason))
    return verdicts


def satisfied_splits(plan: EditPlan, text: str) -> dict[int, bool]:
    """Whether the text satisfies each split of a plan, by the index of the split in the plan.

    The n-th split anywhere is satisfied if the text has at least n more sentences than the source. A split at a word is
    satisfied if a sentence ends between the nearest content words on its two sides that the text still has; if it has
    none of one side, the split counts as a split anywhere.
    """
    splits = {number: edit for number, edit in enumerate(plan.edits) if edit.kind == "split"}
    if not splits:
        return {}
    before, after = _content_words(plan.source), _content_words(text)
    more = len(sentence_starts(text)) - len(sentence_starts(plan.source))
    satisfied, anywhere = {}, 0
    for number, edit in splits.items():
        found = [_has_end_at(at, before, after) for at in _split_positions(plan.source, edit)]
        if all(one is None for one in found):
            anywhere += 1
            satisfied[number] = more >= anywhere
        else:
            satisfied[number] = any(found)
    return satisfied


def is_split(source: str, text: str, at: int) -> bool | None:
    """Whether a sentence of the text ends at a source offset; None if the text has no content word of one side."""
    return _has_end_at(at, _content_words(source), _content_words(text))


def _split_positions(source: str, split: Edit) -> list[int]:
    """Where a split may be: the start of its span, or of each occurrence of its phrase in the source."""
    if split.span is not None:
        return [split.span[0]]
    return [start for start, _ in find_spans(source, surface_forms(split.phrase))] if split.phrase else []


@dataclass(frozen=True, slots=True)
class _ContentWord:
    """A content word of a text."""

    key: str  # its lemma
    start: int
    sentence: int  # index of its sentence


def _content_words(text: str) -> list[_ContentWord]:
    starts = sentence_starts(text)
    return [
        _ContentWord(lemma(normalise(word.text)), word.start, bisect(starts, word.start))
        for word in split_words(text)
        if is_content(word.text)
    ]


def _has_end_at(at: int, source: Sequence[_ContentWord], text: Sequence[_ContentWord]) -> bool | None:
    known = {word.key for word in text}
    left = next((word for word in reversed(source) if word.start < at and word.key in known), None)
    right = next((word for word in source if word.start >= at and word.key in known), None)
    if left is None or right is None:
        return None
    # Sentences are numbered in order, so it is enough to compare the outermost occurrences.
    return min(_sentences_of(left, source, text)) < max(_sentences_of(right, source, text))


def _sentences_of(word: _ContentWord, source: Sequence[_ContentWord], text: Sequence[_ContentWord]) -> list[int]:
    """The sentences of the text that may contain this word of the source.

    If text and source have equally many occurrences, they correspond in order; otherwise it may be any of them.
    """
    in_source = [other.start for other in source if other.key == word.key]
    in_text = [other.sentence for other in text if other.key == word.key]
    return [in_text[in_source.index(word.start)]] if len(in_source) == len(in_text) else in_text


@lru_cache(maxsize=4096)
def _count_words(phrase: str) -> int:
    return len(split_words(phrase))


def _inside(span: Span, words: int, kept: Mapping[Span, int]) -> bool:
    """Whether a span lies within a longer phrase that the plan requires."""
    return any(start <= span[0] and span[1] <= end and length > words for (start, end), length in kept.items())
