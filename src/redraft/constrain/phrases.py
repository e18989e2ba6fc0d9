"""The forms a phrase may take in a text, and where they stand in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal

from redraft.align.words import split_words
from redraft.constrain.edits import EditPlan

Variants = Literal["exact", "case", "lemma"]


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
    return source.lstrip().startswith(phrase)


def needs(plan: EditPlan, variants: Variants = "case") -> list[int]:
    """For each edit: which occurrence meets an insertion; how many occurrences a deletion or substitution lets pass.

    Insertions of the same phrase are met one after the other. What the plan itself inserts, or writes as a target, is free.
    """

    def key(phrase: str) -> str:
        return phrase if variants == "exact" else phrase.casefold()

    written = Counter(key(edit.phrase) for edit in plan.edits if edit.kind == "insert")
    written += Counter(target for edit in plan.edits for target in {key(phrase) for phrase in edit.targets})
    inserted: Counter[str] = Counter()
    found = []
    for edit in plan.edits:
        if edit.kind == "insert":
            inserted[key(edit.phrase)] += 1
        found.append(inserted[key(edit.phrase)] if edit.kind == "insert" else written[key(edit.phrase)])
    return found


def find(text: str, wanted: Iterable[str]) -> list[tuple[int, int]]:
    """Spans of the text that are one of these forms and begin and end with a word, in order of their ends."""
    words = split_words(text)
    starts, ends = {word.start for word in words}, {word.end for word in words}
    spans = set()
    for form in wanted:
        at = text.find(form)
        while at >= 0:
            if at in starts and at + len(form) in ends:
                spans.add((at, at + len(form)))
            at = text.find(form, at + 1)
    return sorted(spans, key=lambda span: (span[1], span[0]))


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
