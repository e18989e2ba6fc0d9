"""Bootstrap resampling and approximate randomisation over sentences, for confidence intervals and paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from redraft.evaluate.measures import Array

Test = Literal["randomisation", "bootstrap"]


def bootstrap_sums(tables: Sequence[Array], samples: int, seed: int) -> list[Array]:
    """Sums over sentences drawn with replacement, for each table of counts: (sentence, count) → (sample, count).

    The draws depend only on the seed and the number of sentences, so two systems get the same draws.
    """
    rng = np.random.default_rng(seed)
    size = len(tables[0])
    sums = [np.empty((samples, table.shape[1])) for table in tables]
    for sample in range(samples):  # one at a time, so memory does not grow with the number of samples
        drawn = np.bincount(rng.integers(size, size=size), minlength=size).astype(np.float64)
        for table, into in zip(tables, sums, strict=True):
            into[sample] = drawn @ table
    return sums


def randomised_sums(
    one: Sequence[Array], other: Sequence[Array], trials: int, seed: int
) -> tuple[list[Array], list[Array]]:
    """Sums of two systems after swapping the outputs of each sentence with probability 1/2: (trial, count)."""
    rng = np.random.default_rng(seed)
    differences = [right - left for left, right in zip(one, other, strict=True)]
    moved = [np.empty((trials, difference.shape[1])) for difference in differences]
    for trial in range(trials):
        swap = rng.integers(2, size=len(differences[0])).astype(np.float64)
        for difference, into in zip(differences, moved, strict=True):
            into[trial] = swap @ difference
    left = [table.sum(0) + rows for table, rows in zip(one, moved, strict=True)]
    right = [table.sum(0) - rows for table, rows in zip(other, moved, strict=True)]
    return left, right


def percentile_interval(values: Array, level: float = 0.95) -> tuple[float, float] | None:
    """Percentile bootstrap interval of the values that are not NaN; None if there are none."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def p_value(observed: float, null_differences: Array) -> float:
    """Two-sided p-value of the observed difference under the null distribution, with the +1 correction (never 0)."""
    as_large = np.abs(null_differences) >= abs(observed) - 1e-12
    return float((as_large.sum() + 1) / (len(null_differences) + 1))
