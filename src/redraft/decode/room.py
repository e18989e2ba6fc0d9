"""Is there memory for a search? Asked before it begins: a machine that runs out of it may stop without a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redraft.decode.config import DecodeConfig
from redraft.errors import ConfigError
from redraft.memory import free_memory

# Bytes at the highest, roughly: trails of rows and of finished texts before and after a step, scores of the whole
# vocabulary before and after what is forbidden, and what is known of each node.
_FOR_A_TOKEN, _FOR_A_WORD, _FOR_A_NODE = 32, 12, 100


def check_room(config: DecodeConfig, limits: Sequence[int], vocabulary: int, device: Any) -> None:
    """An error where sentences with these limits on their tokens cannot be searched together."""
    row = _FOR_A_TOKEN * max(limits) + _FOR_A_WORD * vocabulary + _FOR_A_NODE * min(config.row_width, vocabulary)
    needed, free = row * config.beams * len(limits), free_memory(device)
    if free is not None and needed > free:
        raise ConfigError(
            f"{config.beams:,} beams of up to {max(limits):,} tokens for {len(limits):,} sentences at once need about "
            f"{needed / 1e9:,.0f} GB of memory, and {free / 1e9:,.0f} GB are free.",
            "Lower beams, max_tokens or the batch size.",
        )
