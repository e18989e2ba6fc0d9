"""The relations of WordNet that the target guard uses: synsets, hypernyms, antonyms, derivations, fixed terms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from redraft.plan.target_guard_tables import FIXED_TERMS
from redraft.table_files import read_rows

MAX_DEPTH = 64  # steps from a synset to the root of its hierarchy


class Synset(NamedTuple):
    kind: str  # part of speech: n, v, a or r
    depth: int
    parent: int  # index of its hypernym; -1: none
    words: tuple[str, ...]


@dataclass
class WordNetRelations:
    """The rows of the table, indexed by word."""

    synsets: list[Synset] = field(default_factory=list)
    senses: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    first_senses: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    antonyms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    derivation_groups: dict[str, int] = field(default_factory=dict)
    bases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    terms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # last word → the words before it

    @classmethod
    def of(cls, rows: Iterable[list[str]]) -> WordNetRelations:
        found, ancestors = cls(), [-1] * MAX_DEPTH  # the last synset of each depth
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
                found._add(kind, int(cells[0]), cells[1].split(), ancestors)
        return found

    def _add(self, kind: str, depth: int, words: list[str], ancestors: list[int]) -> None:
        place = len(self.synsets)
        ancestors[depth] = place
        plain = tuple(word.rstrip("+") for word in words)
        self.synsets.append(Synset(kind, depth, ancestors[depth - 1] if depth else -1, plain))
        for word, marked in zip(plain, words, strict=True):
            self.senses[word].append(place)
            if marked.endswith("+"):
                self.first_senses[word].add(place)

    def hypernyms(self, place: int, steps: int) -> Iterator[int]:
        """A synset and its hypernyms, at most `steps` levels up."""
        while place >= 0 and steps >= 0:
            yield place
            place, steps = self.synsets[place].parent, steps - 1


def read_relations(path: str | Path) -> Iterator[list[str]]:
    """The rows of a table written by `redraft.fit.planner.wordnet_tables`."""
    return read_rows(path, _parsed)


def _parsed(cells: list[str]) -> list[str]:
    if len(cells) < 2:
        raise ValueError
    return cells
