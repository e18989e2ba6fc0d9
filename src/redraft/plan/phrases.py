"""The forms a phrase may take in a text, and where they stand in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, lru_cache
from typing import Literal

from redraft.errors import PlanError, shown
from redraft.plan.edits import Edit, EditPlan, folded
from redraft.text.protected_spans import Span
from redraft.text.words import normal, split_words

Variants = Literal["exact", "case", "lemma"]


@lru_cache(maxsize=65_536)
def forms(phrase: str, variants: Variants = "case", *, begins_source: bool = False) -> tuple[str, ...]:
    """How a phrase may be written: as it stands, capitalised, inflected.

    A phrase that begins the source owes its capital to that place, so it may come back without it.
    """
    written = [phrase]
    if variants == "lemma":
        written += _inflected(phrase)
    if variants != "exact":
        written += [_with_first(form, str.upper) for form in written]
        if begins_source and phrase[1:2].islower():
            written += [_with_first(form, str.lower) for form in written]
    return tuple(dict.fromkeys(written))


def begins(source: str, phrase: str) -> bool:
    """Whether the source begins with the phrase, as words."""
    source = source.lstrip()
    # The rule looks two characters ahead at most.
    return source.startswith(phrase) and any(word.end == len(phrase) for word in split_words(source[: len(phrase) + 2]))


def needs(plan: EditPlan, variants: Variants = "case") -> list[int]:
    """For each edit: which occurrence meets an insertion; how many occurrences a deletion or substitution lets pass.

    A split needs none (0), and does not change what the others need.

    Insertions of the same phrase are met one after the other. What the plan itself inserts or writes as a target is
    free. A phrase counts as another where it is one of its forms: "War" is a way to write "war", not the reverse, so of
    those two insertions "War" asks for one occurrence of its own and "war" for two of either.
    """
    inserted: defaultdict[str, list[int]] = defaultdict(list)  # places of the edits, in order
    targeted: defaultdict[str, set[int]] = defaultdict(set)
    for place, edit in enumerate(plan.edits):
        if edit.kind == "insert":
            inserted[edit.phrase].append(place)
        for target in edit.targets:
            targeted[target].add(place)

    @cache
    def ways(phrase: str) -> tuple[str, ...]:
        return forms(phrase, variants, begins_source=begins(plan.source, phrase))

    found = []
    for number, edit in enumerate(plan.edits):
        count = 0
        if edit.kind == "insert":
            for form in ways(edit.phrase):
                equals = form in inserted and edit.phrase in ways(form)  # of equals, the earlier is met first
                count += bisect_right(inserted[form], number) if equals else len(inserted.get(form, ()))
        elif edit.kind != "split":
            count = sum(len(inserted.get(form, ())) for form in ways(edit.phrase))
            count += len(set().union(*(targeted.get(form, ()) for form in ways(edit.phrase))))
        found.append(count)
    return found


def places(source: str, edit: Edit, *, any_case: bool = False) -> list[Span]:
    """Where an edit applies in its source: its span, or every place of its phrase as whole words, in order.

    A phrase is found in its `forms`; with `any_case`, in any case and with any white space between its words. A split
    without a word has no place.
    """
    if edit.span is not None:
        return [edit.span]
    if not edit.phrase:
        return []
    if any_case:
        pattern = r"\s+".join(map(re.escape, edit.phrase.split()))
        written = tuple(dict.fromkeys(match.group() for match in re.finditer(pattern, source, re.IGNORECASE)))
    else:
        written = forms(edit.phrase, begins_source=begins(source, edit.phrase))
    return sorted(find(source, written))


def check_spans(plan: EditPlan) -> None:
    """An error where a span holds no whole words, or not those that its edit leaves out, replaces or begins with.

    Case and spacing make no difference. An insertion may stand in the place of other words: another form of them.
    """
    words = split_words(plan.source)
    starts, ends = {word.start for word in words}, {word.end for word in words}
    for number, edit in enumerate(plan.edits):
        if edit.span is None:
            continue
        held = plan.source[slice(*edit.span)]
        start, end = edit.span[1] - len(held.lstrip()), edit.span[0] + len(held.rstrip())
        if not (start < end and start in starts and end in ends):
            problem = f"holds {shown(held)}, which is no whole word."
        elif edit.kind == "insert":
            continue
        elif folded(held) != folded(edit.phrase) and _normal(held) != _normal(edit.phrase):
            problem = f"holds {shown(held)}, and the edit is about {shown(edit.phrase)}."
        else:
            continue
        right = [list(place) for place in places(plan.source, replace(edit, span=None), any_case=True)]
        where = f"The source has it at {' and '.join(map(str, right[:3]))}." if right else "Name words of the source."
        raise PlanError(
            f"{list(edit.span)} {problem}", f"{where} Spans count characters, not bytes.", field=f"edits[{number}].span"
        )


def _normal(phrase: str) -> list[str]:
    return [normal(word.text) for word in split_words(phrase)]


def find(text: str, wanted: Iterable[str]) -> list[Span]:
    """Spans of the text that are one of these forms and begin and end with a word, in order of their ends."""
    spans = set()
    for form in wanted:
        at = text.find(form)
        while at >= 0:
            starts, ends = _edges(text)
            if at in starts and at + len(form) in ends:
                spans.add((at, at + len(form)))
            at = text.find(form, at + 1)
    return sorted(spans, key=lambda span: (span[1], span[0]))


@lru_cache(maxsize=256)  # a text is looked through for every form of every edit
def _edges(text: str) -> tuple[frozenset[int], frozenset[int]]:
    """Where its words start, and where they end."""
    words = split_words(text)
    return frozenset(word.start for word in words), frozenset(word.end for word in words)


def _with_first(form: str, change: Callable[[str], str]) -> str:
    return change(form[:1]) + form[1:]


def _inflected(phrase: str) -> list[str]:
    """All inflections of the first and of the last word, where verbs and nouns change ("carry out", "old house")."""
    from lemminflect import getAllInflections, getAllLemmas  # 0.3 s to import, so only when asked for

    words = phrase.split(" ")
    inflected = []
    for place in {0, len(words) - 1}:
        lemmas = {lemma for found in getAllLemmas(words[place]).values() for lemma in found} or {words[place]}
        for lemma in sorted(lemmas):
            for found in getAllInflections(lemma).values():
                inflected += [" ".join([*words[:place], form, *words[place + 1 :]]) for form in found]
    return inflected
