"""Rows of tokens in one flat array: fast to send between processes, and padded without a loop over rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class TokenRows:
    """The tokens of all rows, concatenated, and the length of each row."""

    tokens: np.ndarray  # (token) uint16
    lengths: np.ndarray  # (row) int64

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> TokenRows:
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        return cls(np.fromiter(chain.from_iterable(rows), np.uint16, int(lengths.sum())), lengths)

    @classmethod
    def joined(cls, parts: Iterable[TokenRows]) -> TokenRows:
        tokens, lengths = zip(*((part.tokens, part.lengths) for part in parts), strict=True)
        return cls(np.concatenate(tokens), np.concatenate(lengths))

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.cumsum(self.lengths) - self.lengths

    def padded(self, rows: np.ndarray, filler: int) -> Tensor:
        """(row, width): the rows with these indices, padded on the right."""
        starts, lengths = self._starts[rows], self.lengths[rows]
        place = np.arange(lengths.max())
        # Positions after the end of a row read tokens of other rows, and are overwritten below.
        table = self.tokens.take(starts[:, None] + place, mode="clip").astype(np.int64)
        table[place >= lengths[:, None]] = filler
        return torch.from_numpy(table)
