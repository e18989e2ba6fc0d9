"""The relations of WordNet that the target guard uses: synsets, hypernyms, antonyms, derivations, fixed terms."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, overload

from redraft.plan.target_guard_tables import FIXED_TERMS
from redraft.table_files import read_rows

MAX_DEPTH = 64  # steps from a synset to the root of its hierarchy


class Synset(NamedTuple):
    kind: str  # part of speech: n, v, a or r
    depth: int
    parent: int  # index of its hypernym; -1: none
    words: tuple[str, ...]


class Synsets(Sequence[Synset]):
    """The synsets of the table. Each is made when it is asked for: as objects, all of them would take 25 MB."""

    def __init__(self) -> None:
        self.parents = array("i")
        self._kinds: list[str] = []
        self._depths = array("B")
        self._words: list[str] = []  # with spaces between them, and + after a word for one of its first senses
        self._ancestors = [-1] * MAX_DEPTH  # the last synset of each depth

    def add(self, kind: str, depth: int, words: str) -> None:
        self._ancestors[depth] = len(self._words)
        self.parents.append(self._ancestors[depth - 1] if depth else -1)
        self._kinds.append(kind)
        self._depths.append(depth)
        self._words.append(words)

    def is_first_sense(self, place: int, word: str) -> bool:
        return f"{word}+" in self._words[place].split(" ")

    @overload
    def __getitem__(self, place: int) -> Synset: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Synset]: ...
    def __getitem__(self, place: int | slice) -> Synset | Sequence[Synset]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        words = tuple(self._words[place].replace("+", "").split())
        return Synset(self._kinds[place], self._depths[place], self.parents[place], words)

    def __len__(self) -> int:
        return len(self._words)


@dataclass
class WordNetRelations:
    """The rows of the table, indexed by word."""

    synsets: Synsets = field(default_factory=Synsets)
    senses: dict[str, list[int]] = field(default_factory=dict)
    antonyms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    derivation_groups: dict[str, int] = field(default_factory=dict)
    bases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    terms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # last word → the words before it

    @classmethod
    def of(cls, rows: Iterable[list[str]]) -> WordNetRelations:
        found = cls()
        for term in FIXED_TERMS:
            before, _, last = term.rpartition(" ")
            found.terms[last].add(before)
        for number, (kind, *cells) in enumerate(rows):
            if kind == "!":
                for other in cells[1].split():
                    found.antonyms[cells[0]].add(other)
                    found.antonyms[other].add(cells[0])
            elif kind == "=":
                found.derivation_groups.update((word, number) for word in cells[0].split())
            elif kind == "~":
                for form in cells[1].split():
                    found.bases[form].add(cells[0])
            elif kind == "_":
                found.terms[cells[0]].update(cells[1].split("; "))
            else:
                for word in cells[1].replace("+", "").split():
                    found.senses.setdefault(word, []).append(len(found.synsets))
                found.synsets.add(kind, int(cells[0]), cells[1])
        return found

    def first_senses(self, word: str) -> list[int]:
        """The synsets of the most frequent senses of a word."""
        return [place for place in self.senses.get(word, ()) if self.synsets.is_first_sense(place, word)]

    def hypernyms(self, place: int, steps: int) -> Iterator[int]:
        """A synset and its hypernyms, at most `steps` levels up."""
        while place >= 0 and steps >= 0:
            yield place
            place, steps = self.synsets.parents[place], steps - 1


def read_relations(path: str | Path) -> Iterator[list[str]]:
    """The rows of a table written by `redraft.fit.planner.wordnet_tables`."""
    return read_rows(path, _parsed)


def _parsed(cells: list[str]) -> list[str]:
    if len(cells) < 2:
        raise ValueError
    return cells
