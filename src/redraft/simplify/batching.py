"""Batch size, and the order in which texts are searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_BATCH_SIZE, _GPU_BATCH_SIZE = 8, 512
WINDOW = 4  # batches read ahead, so that texts of similar length can share a batch


def default_batch_size(model: Any) -> int:
    on_gpu = getattr(getattr(model, "device", None), "type", "cpu") == "cuda"
    return _GPU_BATCH_SIZE if on_gpu else _BATCH_SIZE


def length_order(texts: Sequence[str], batch_size: int) -> list[int]:
    """The order in which texts are searched: by length, because a batch takes as long as its longest text."""
    if len(texts) <= batch_size:
        return list(range(len(texts)))
    return sorted(range(len(texts)), key=lambda at: len(texts[at]))
