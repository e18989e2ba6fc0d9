"""Alignment without a trained model: links identical words, then words with the same lemma. Needs no torch."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from redraft.align.links import Link, Links
from redraft.text.word_form_dictionary import all_lemmas
from redraft.text.words import normalise

_MAX_CANDIDATES = 8  # nearest occurrences compared for a word; bounds the time for texts that repeat a word often


class ExactAligner:
    """Links each word to the same word, or the same lemma, of the other sentence, one to one.

    Of several occurrences, the one whose neighbouring words agree best is chosen; ties go to the nearest relative
    position.
    """

    too_long = 0  # there is no length limit

    def align(self, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Links]:
        for source, target in pairs:
            yield align_exactly(source, target)


def align_exactly(source: Sequence[str], target: Sequence[str]) -> Links:
    left, right = [normalise(word) for word in source], [normalise(word) for word in target]
    links: dict[int, int] = {}
    for key in (str, lemma):
        linked = set(links.values())
        _link([key(word) for word in left], [key(word) for word in right], links, linked)
    return frozenset(links.items())


def _link(left: Sequence[str], right: Sequence[str], links: dict[int, int], linked: set[int]) -> None:
    positions: dict[str, list[int]] = {}
    for j, word in enumerate(right):
        if j not in linked:
            positions.setdefault(word, []).append(j)
    unlinked = [i for i, word in enumerate(left) if i not in links and word in positions]
    slope = len(right) / max(len(left), 1)
    candidates: list[tuple[float, Link]] = []
    for i in unlinked:
        there = positions[left[i]]
        at = bisect(there, i * slope)
        nearby = there[max(at - _MAX_CANDIDATES, 0) : at + _MAX_CANDIDATES]
        for j in sorted(nearby, key=lambda j: abs(j - i * slope))[:_MAX_CANDIDATES]:
            distance = abs(j - i * slope) / (len(right) + 1)  # below 1, so it only breaks ties
            candidates.append((distance - _agreement(left, right, i, j), (i, j)))
    for _, (i, j) in sorted(candidates):
        if i not in links and j not in linked:
            links[i] = j
            linked.add(j)


def _agreement(left: Sequence[str], right: Sequence[str], i: int, j: int) -> int:
    """How many of the two words on each side agree."""
    return sum(
        1
        for step in (-2, -1, 1, 2)
        if 0 <= i + step < len(left) and 0 <= j + step < len(right) and left[i + step] == right[j + step]
    )


@lru_cache(maxsize=100_000)
def lemma(word: str) -> str:
    """The shortest lemma of a word over all parts of speech."""
    if not word.isalpha():
        return word
    return min(
        (form for forms in all_lemmas(word).values() for form in forms),
        key=lambda form: (len(form), form),
        default=word,
    )
