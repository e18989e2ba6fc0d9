"""On which side of simplification a word is at home: the complex one, the simple one, or neither."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from redraft.models import bundled
from redraft.table_files import count, read_rows, write_rows
from redraft.text.words import normal

COMPLEXITY_RATIO = "complexity_ratio.tsv.xz"  # beside a classifier


class ComplexityRatios:
    """For each word the log of its share among the words of sources over that among the words of their targets."""

    def __init__(self, leanings: Mapping[str, float]) -> None:
        self._leanings = leanings

    @classmethod
    def counted(
        cls, complex_counts: Mapping[str, int], simple_counts: Mapping[str, int], *, least: int = 5
    ) -> ComplexityRatios:
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

    def log_ratio(self, word: str) -> float:
        """Above 0: relatively more frequent on the complex side. 0 where too little is known."""
        return self._leanings.get(normal(word), 0.0)

    def save(self, path: str | Path) -> None:
        """word ⇥ log ratio in hundredths; what rounds to 0 is left out."""
        rows = ((word, round(100 * log_ratio)) for word, log_ratio in self._leanings.items())
        write_rows(path, (row for row in rows if row[1]))

    @classmethod
    def load(cls, path: str | Path) -> ComplexityRatios:
        return cls(dict(read_rows(path, _parsed)))


@cache
def bundled_complexity_ratios() -> ComplexityRatios:
    """Counted over the pairs that the shipped classifier learned from."""
    return ComplexityRatios.load(bundled("planner") / COMPLEXITY_RATIO)


def _parsed(cells: list[str]) -> tuple[str, float]:
    word, log_ratio = cells
    return word, (-1 if log_ratio.startswith("-") else 1) * count(log_ratio.removeprefix("-")) / 100
