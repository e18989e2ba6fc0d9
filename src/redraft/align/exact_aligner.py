"""Links without weights: the same word, then the same lemma. Needs no torch."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from redraft.align.links import Link, Links
from redraft.text.words import normal

_NEAR = 8  # places at which a word is looked for, the nearest: thousands of the same word must not take for ever


class ExactAligner:
    """Links each word to the same word, or the same lemma, of the other sentence.

    A word that stands there several times is linked where the words around it agree best, and else where it is
    nearest; a word is linked once.
    """

    too_long = 0  # nothing is

    def align(self, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Links]:
        for source, target in pairs:
            yield align_exactly(source, target)


def align_exactly(source: Sequence[str], target: Sequence[str]) -> Links:
    left, right = [normal(word) for word in source], [normal(word) for word in target]
    links: dict[int, int] = {}
    for view in (str, lemma):
        taken = set(links.values())
        _link([view(word) for word in left], [view(word) for word in right], links, taken)
    return frozenset(links.items())


def _link(left: Sequence[str], right: Sequence[str], links: dict[int, int], taken: set[int]) -> None:
    places: dict[str, list[int]] = {}
    for j, word in enumerate(right):
        if j not in taken:
            places.setdefault(word, []).append(j)
    open_left = [i for i, word in enumerate(left) if i not in links and word in places]
    shape = len(right) / max(len(left), 1)
    candidates: list[tuple[float, Link]] = []
    for i in open_left:
        there = places[left[i]]
        at = bisect(there, i * shape)
        near = sorted(there[max(at - _NEAR, 0) : at + _NEAR], key=lambda j: abs(j - i * shape))[:_NEAR]
        candidates += [(-_agreement(left, right, i, j) + abs(j - i * shape) / (len(right) + 1), (i, j)) for j in near]
    for _, (i, j) in sorted(candidates):
        if i not in links and j not in taken:
            links[i] = j
            taken.add(j)


def _agreement(left: Sequence[str], right: Sequence[str], i: int, j: int) -> int:
    """How many of the two words before and after agree."""
    return sum(
        1
        for step in (-2, -1, 1, 2)
        if 0 <= i + step < len(left) and 0 <= j + step < len(right) and left[i + step] == right[j + step]
    )


@lru_cache(maxsize=100_000)
def lemma(word: str) -> str:
    """The shortest lemma of a word, whatever its part of speech."""
    from lemminflect import getAllLemmas

    if not word.isalpha():
        return word
    return min(
        (form for forms in getAllLemmas(word).values() for form in forms),
        key=lambda form: (len(form), form),
        default=word,
    )
