"""On which side of simplification a word is at home: the complex one, the simple one, or neither."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from redraft.align.words import normal
from redraft.constrain.table_files import count, read_rows, write_rows

SIDES = "sides.tsv.xz"  # beside a predictor


class Sides:
    """For each word the log of its share among the words of sources over that among the words of their targets."""

    def __init__(self, leanings: Mapping[str, float]) -> None:
        self._leanings = leanings

    @classmethod
    def counted(cls, complex_counts: Mapping[str, int], simple_counts: Mapping[str, int], *, least: int = 5) -> Sides:
        """From how often each word stands on either side; words seen less than `least` times in all lean nowhere."""
        totals = sum(complex_counts.values()), sum(simple_counts.values())
        leanings = {}
        for word in {*complex_counts, *simple_counts}:
            one, other = complex_counts.get(word, 0), simple_counts.get(word, 0)
            if one + other >= least:
                leanings[word] = math.log((one + 0.5) / totals[0]) - math.log((other + 0.5) / totals[1])
        return cls(leanings)

    def __len__(self) -> int:
        return len(self._leanings)

    def leaning(self, word: str) -> float:
        """Above 0: relatively more frequent on the complex side. 0 where too little is known."""
        return self._leanings.get(normal(word), 0.0)

    def save(self, path: str | Path) -> None:
        """word ⇥ leaning in hundredths; what rounds to 0 is left out."""
        rows = ((word, round(100 * leaning)) for word, leaning in self._leanings.items())
        write_rows(path, (row for row in rows if row[1]))

    @classmethod
    def load(cls, path: str | Path) -> Sides:
        return cls(dict(read_rows(path, _parsed)))


@cache
def shipped_sides() -> Sides:
    """Counted over the pairs that the shipped predictor learned from."""
    return Sides.load(Path(str(files("redraft.constrain").joinpath("shipped", SIDES))))


def _parsed(cells: list[str]) -> tuple[str, float]:
    word, leaning = cells
    return word, (-1 if leaning.startswith("-") else 1) * count(leaning.removeprefix("-")) / 100
