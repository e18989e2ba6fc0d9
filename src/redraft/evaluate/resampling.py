"""Resampling of sentences: what a figure could have been with another test set, and what chance alone would give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from redraft.evaluate.measures import Array

Test = Literal["randomisation", "bootstrap"]


def resampled(tables: Sequence[Array], samples: int, seed: int) -> list[Array]:
    """Sums over sentences drawn with replacement: (sentence, count) → (sample, count), for each table of counts.

    The draws depend on seed and number of sentences only, so two systems get the same ones.
    """
    rng = np.random.default_rng(seed)
    size = len(tables[0])
    sums = [np.empty((samples, table.shape[1])) for table in tables]
    for sample in range(samples):  # one at a time: memory does not grow with the number of samples
        drawn = np.bincount(rng.integers(size, size=size), minlength=size).astype(np.float64)
        for table, into in zip(tables, sums, strict=True):
            into[sample] = drawn @ table
    return sums


def swapped(one: Sequence[Array], other: Sequence[Array], trials: int, seed: int) -> tuple[list[Array], list[Array]]:
    """Sums of two systems whose outputs change sides at the toss of a coin, sentence by sentence: (trial, count)."""
    rng = np.random.default_rng(seed)
    gaps = [right - left for left, right in zip(one, other, strict=True)]
    moved = [np.empty((trials, gap.shape[1])) for gap in gaps]
    for trial in range(trials):
        swap = rng.integers(2, size=len(gaps[0])).astype(np.float64)
        for gap, into in zip(gaps, moved, strict=True):
            into[trial] = swap @ gap
    left = [table.sum(0) + rows for table, rows in zip(one, moved, strict=True)]
    right = [table.sum(0) - rows for table, rows in zip(other, moved, strict=True)]
    return left, right


def interval(values: Array, level: float = 0.95) -> tuple[float, float] | None:
    """The middle share of the resampled values that there are (percentile bootstrap)."""
    there = values[~np.isnan(values)]
    if not len(there):
        return None
    low, high = np.quantile(there, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def p_value(seen: float, by_chance: Array) -> float:
    """How often chance makes a difference as large as the one seen, in either direction; never quite 0."""
    as_large = np.abs(by_chance) >= abs(seen) - 1e-12
    return float((as_large.sum() + 1) / (len(by_chance) + 1))
