"""The interface of a measure: sufficient statistics ("counts") for each sentence, and a formula over their sums.

The corpus score is the formula over the sum of all sentences. Confidence intervals apply it to resampled sums, paired
tests to swapped sums, and sentence scores to the counts of one sentence. So each measure is implemented only once.
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


@lru_cache(maxsize=16_384)  # sources and references are the same for every system and measure
def tokenized(text: str) -> str:
    """Lower-cased 13a tokens of a text, joined by single spaces."""
    return str(_tokenizer()(text.lower()))


@cache
def _tokenizer() -> Any:
    make: Any = Tokenizer13a  # untyped
    return make()


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Texts:
    """Outputs with their sources and references."""

    sources: Sequence[str]
    outputs: Sequence[str]
    references: Sequence[Sequence[str]]  # (reference, sentence)


class Measure(Protocol):
    """A measure of system outputs."""

    @property
    def signature(self) -> str:
        """All settings that a score depends on, in the style of sacrebleu."""

    def count(self, texts: Texts) -> Array:
        """Additive counts: (sentence, count)."""

    def figures(self, sums: Array) -> dict[str, Array]:
        """Scores by name from summed counts: (…, count) → (…,) each."""


def ratio(part: Array, whole: Array, *, if_empty: float = 0.0) -> Array:
    """part / whole, and `if_empty` where whole is 0."""
    out: Array = np.full(np.broadcast_shapes(part.shape, whole.shape), if_empty)
    np.divide(part, whole, out=out, where=whole > 0)
    return out
