"""Rows of tokens as tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def padded(rows: Sequence[Sequence[int]], pad: int, side: str = "right") -> tuple[Tensor, Tensor]:
    """(row, token) each: the tokens, and a mask with 0 for padding."""
    width = max(map(len, rows))
    tokens = torch.full((len(rows), width), pad, dtype=torch.int64)
    mask = torch.zeros_like(tokens)
    for at, row in enumerate(rows):
        own = slice(width - len(row), width) if side == "left" else slice(len(row))
        tokens[at, own], mask[at, own] = torch.tensor(row, dtype=torch.int64), 1
    return tokens, mask
