"""What every measure is: counts for each sentence, and a formula over their sums.

A figure of a corpus is the formula over the sum of all sentences. An interval is the formula over resampled sums, a
paired test over swapped ones, a sentence's own figure the formula over its own counts. So each measure is written once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Protocol

import numpy as np
import sacrebleu
from numpy.typing import NDArray
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

SIGNATURE = "case:lc|tok:13a"
LIBRARY = f"sacrebleu:{sacrebleu.__version__}"


@lru_cache(maxsize=16_384)  # the same sources and references for every system and measure
def tokenized(text: str) -> str:
    """The tokens of a text, joined by single spaces."""
    return str(_tokenizer()(text.lower()))


@cache
def _tokenizer() -> Any:
    make: Any = Tokenizer13a  # has no types
    return make()


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Texts:
    """What is measured: outputs beside their sources and references."""

    sources: Sequence[str]
    outputs: Sequence[str]
    references: Sequence[Sequence[str]]  # (reference, sentence)


class Measure(Protocol):
    """A measure of outputs."""

    @property
    def signature(self) -> str:
        """Everything that a figure depends on, in the style of sacrebleu."""

    def count(self, texts: Texts) -> Array:
        """Counts that can be added up: (sentence, count)."""

    def figures(self, sums: Array) -> dict[str, Array]:
        """The figures by name, from sums of counts: (…, count) → (…,) each."""


def share(part: Array, whole: Array, *, of_nothing: float = 0.0) -> Array:
    """part / whole, and `of_nothing` where there is nothing to divide by."""
    out: Array = np.full(np.broadcast_shapes(part.shape, whole.shape), of_nothing)
    np.divide(part, whole, out=out, where=whole > 0)
    return out
