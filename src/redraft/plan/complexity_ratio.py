"""Log-ratio of a word's frequency in complex and in simple text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from redraft.models import bundled
from redraft.table_files import parse_count, read_table, write_rows
from redraft.text.words import normalise

COMPLEXITY_RATIO_FILE = "complexity_ratio.tsv.xz"  # in the folder of a planner


class ComplexityRatios:
    """For each word, the log of its relative frequency in sources divided by that in their simplifications."""

    def __init__(self, log_ratios: Mapping[str, float]) -> None:
        self._log_ratios = log_ratios

    @classmethod
    def counted(
        cls, complex_counts: Mapping[str, int], simple_counts: Mapping[str, int], *, least: int = 5
    ) -> ComplexityRatios:
        """From the counts of each word on both sides; words that occur fewer than `least` times are left out."""
        totals = sum(complex_counts.values()), sum(simple_counts.values())
        log_ratios = {}
        for word in {*complex_counts, *simple_counts}:
            in_complex, in_simple = complex_counts.get(word, 0), simple_counts.get(word, 0)
            if in_complex + in_simple >= least:
                log_ratios[word] = math.log((in_complex + 0.5) / totals[0]) - math.log((in_simple + 0.5) / totals[1])
        return cls(log_ratios)

    def __len__(self) -> int:
        return len(self._log_ratios)

    def log_ratio(self, word: str) -> float:
        """Positive for words more frequent in complex text, negative for words of simple text, 0 for unknown words."""
        return self._log_ratios.get(normalise(word), 0.0)

    def save(self, path: str | Path) -> None:
        """Write rows of word ⇥ log-ratio in hundredths, without those that round to 0."""
        rows = ((word, round(100 * log_ratio)) for word, log_ratio in self._log_ratios.items())
        write_rows(path, (row for row in rows if row[1]))

    @classmethod
    def load(cls, path: str | Path) -> ComplexityRatios:
        return cls(read_table(path, _parsed))


@cache
def bundled_complexity_ratios() -> ComplexityRatios:
    """Counted on the training pairs of the bundled planner."""
    return ComplexityRatios.load(bundled("planner") / COMPLEXITY_RATIO_FILE)


def _parsed(cells: list[str]) -> tuple[str, float]:
    word, log_ratio = cells
    return word, (-1 if log_ratio.startswith("-") else 1) * parse_count(log_ratio.removeprefix("-")) / 100
