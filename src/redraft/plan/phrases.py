"""The surface forms of a phrase, and their occurrences in a text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, lru_cache
from typing import Literal

from redraft.errors import PlanError, shown
from redraft.plan.edits import Edit, EditPlan, fold_phrase
from redraft.text.protected_spans import Span
from redraft.text.word_form_dictionary import all_inflections, all_lemmas
from redraft.text.words import normalise, split_words

Variants = Literal["exact", "case", "lemma"]


@lru_cache(maxsize=65_536)
def surface_forms(phrase: str, variants: Variants = "case", *, at_source_start: bool = False) -> tuple[str, ...]:
    """The forms in which a phrase may be written: unchanged, capitalised, inflected.

    A phrase at the start of the source may be capitalised only because of its position, so its lower-case form counts.
    """
    found = [phrase]
    if variants == "lemma":
        found += _inflections(phrase)
    if variants != "exact":
        found += [_change_first(form, str.upper) for form in found]
        if at_source_start and phrase[1:2].islower():
            found += [_change_first(form, str.lower) for form in found]
    return tuple(dict.fromkeys(found))


def starts_source(source: str, phrase: str) -> bool:
    """Whether the source starts with the phrase, as whole words."""
    source = source.lstrip()
    # The word-boundary rule looks at most two characters ahead.
    return source.startswith(phrase) and any(word.end == len(phrase) for word in split_words(source[: len(phrase) + 2]))


def occurrence_thresholds(plan: EditPlan, variants: Variants = "case") -> list[int]:
    """For each edit, the number of occurrences that an insertion requires, or that a deletion or substitution allows.

    It is 0 for splits, which do not affect the other edits.

    The n-th insertion of a phrase requires n occurrences. A deletion or substitution allows the occurrences that the
    plan itself inserts or writes as targets. Occurrences of another phrase count if it is a form of this one: "War" is
    a form of "war", but not the reverse, so if both are inserted, "War" requires one occurrence of "War" and "war" two
    of either.
    """
    inserted: defaultdict[str, list[int]] = defaultdict(list)  # indices of the edits, in order
    targeted: defaultdict[str, set[int]] = defaultdict(set)
    for number, edit in enumerate(plan.edits):
        if edit.kind == "insert":
            inserted[edit.phrase].append(number)
        for target in edit.targets:
            targeted[target].add(number)

    @cache
    def forms_of(phrase: str) -> tuple[str, ...]:
        return surface_forms(phrase, variants, at_source_start=starts_source(plan.source, phrase))

    found = []
    for number, edit in enumerate(plan.edits):
        count = 0
        if edit.kind == "insert":
            for form in forms_of(edit.phrase):
                # Mutually equivalent insertions are satisfied in order.
                mutual = form in inserted and edit.phrase in forms_of(form)
                count += bisect_right(inserted[form], number) if mutual else len(inserted.get(form, ()))
        elif edit.kind != "split":
            count = sum(len(inserted.get(form, ())) for form in forms_of(edit.phrase))
            count += len(set().union(*(targeted.get(form, ()) for form in forms_of(edit.phrase))))
        found.append(count)
    return found


def occurrences(source: str, edit: Edit, *, any_case: bool = False) -> list[Span]:
    """The spans in the source to which an edit may apply: its own span, or all occurrences of its phrase, in order.

    Occurrences are whole words in one of the surface forms; with `any_case`, in any case and with any white space
    between the words. A split without a phrase has none.
    """
    if edit.span is not None:
        return [edit.span]
    if not edit.phrase:
        return []
    if any_case:
        pattern = r"\s+".join(map(re.escape, edit.phrase.split()))
        wanted = tuple(dict.fromkeys(match.group() for match in re.finditer(pattern, source, re.IGNORECASE)))
    else:
        wanted = surface_forms(edit.phrase, at_source_start=starts_source(source, edit.phrase))
    return sorted(find_spans(source, wanted))


def check_spans(plan: EditPlan) -> None:
    """Raise PlanError if a span does not cover whole words, or covers other words than the phrase of its edit.

    Case and spacing are ignored. The span of an insertion may cover other words, such as another form of its phrase.
    """
    words = split_words(plan.source)
    starts, ends = {word.start for word in words}, {word.end for word in words}
    for number, edit in enumerate(plan.edits):
        if edit.span is None:
            continue
        covered = plan.source[slice(*edit.span)]
        start, end = edit.span[1] - len(covered.lstrip()), edit.span[0] + len(covered.rstrip())
        if not (start < end and start in starts and end in ends):
            problem = f"covers {shown(covered)}, which is not a whole word."
        elif edit.kind == "insert":
            continue
        elif fold_phrase(covered) != fold_phrase(edit.phrase) and _normalised(covered) != _normalised(edit.phrase):
            problem = f"covers {shown(covered)}, but the edit is about {shown(edit.phrase)}."
        else:
            continue
        right = [list(place) for place in occurrences(plan.source, replace(edit, span=None), any_case=True)]
        where = f"The phrase is at {' and '.join(map(str, right[:3]))}." if right else "Use words of the source."
        raise PlanError(
            f"{list(edit.span)} {problem}", f"{where} Spans count characters, not bytes.", field=f"edits[{number}].span"
        )


def _normalised(phrase: str) -> list[str]:
    return [normalise(word.text) for word in split_words(phrase)]


def find_spans(text: str, wanted: Iterable[str]) -> list[Span]:
    """The spans of the text that are one of these forms as whole words, ordered by their ends."""
    spans = set()
    for form in wanted:
        at = text.find(form)
        while at >= 0:
            starts, ends = _word_edges(text)
            if at in starts and at + len(form) in ends:
                spans.add((at, at + len(form)))
            at = text.find(form, at + 1)
    return sorted(spans, key=lambda span: (span[1], span[0]))


@lru_cache(maxsize=256)  # a text is searched for every form of every edit
def _word_edges(text: str) -> tuple[frozenset[int], frozenset[int]]:
    """The offsets at which words start, and at which they end."""
    words = split_words(text)
    return frozenset(word.start for word in words), frozenset(word.end for word in words)


def _change_first(form: str, change: Callable[[str], str]) -> str:
    return change(form[:1]) + form[1:]


def _inflections(phrase: str) -> list[str]:
    """The phrase with all inflections of its first or its last word ("carry out", "old house")."""
    words = phrase.split(" ")
    inflected = []
    for place in {0, len(words) - 1}:
        lemmas = {lemma for found in all_lemmas(words[place]).values() for lemma in found} or {words[place]}
        for lemma in sorted(lemmas):
            for found in all_inflections(lemma).values():
                inflected += [" ".join([*words[:place], form, *words[place + 1 :]]) for form in found]
    return inflected
