"""Embeddings whose weights are loaded later."""

from __future__ import annotations

import torch
from torch import nn


def empty_embedding(rows: int, width: int, padding: int | None = None) -> nn.Embedding:
    """Without the random numbers of `nn.Embedding`, which on the device "meta" import the compiler of torch."""
    return nn.Embedding(rows, width, padding, _weight=torch.empty(rows, width))
