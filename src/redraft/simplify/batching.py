"""How many texts are searched together, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

BATCH_SIZE = 8
WINDOW = 4  # batches read ahead, so that batches can be made of texts of like length


def length_order(texts: Sequence[str], batch_size: int) -> list[int]:
    """The order in which texts are searched: by length, since a batch takes as long as its longest text."""
    if len(texts) <= batch_size:
        return list(range(len(texts)))
    return sorted(range(len(texts)), key=lambda at: len(texts[at]))
