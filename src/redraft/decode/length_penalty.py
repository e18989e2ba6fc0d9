"""The length penalty: texts of different lengths are compared by log_prob / length ** penalty.

The whole search uses this module; only the reference implementation (`reference_search.py`) has its own formula.
"""

from __future__ import annotations

import torch
from torch import Tensor


def normalised_log_prob(log_prob: float, length: int, penalty: float) -> float:
    """log_prob / length ** penalty of one text; the length counts the end token."""
    return log_prob / _power(length, penalty)


def length_powers(longest: int, penalty: float, like: Tensor) -> Tensor:
    """(longest + 1,) length ** penalty for every length, 1 for length 0, with the type and device of `like`."""
    powers = [1.0, *(_power(length, penalty) for length in range(1, longest + 1))]
    return torch.tensor(powers, dtype=torch.float64, device=like.device).to(like.dtype)


def normalise(log_prob: Tensor, length: Tensor, powers: Tensor) -> Tensor:
    """log_prob / length ** penalty, with powers of `length_powers`.

    log_prob: (batch, n) with one length for all, (); or (batch,) with a length each, (batch,), or one for all, ()
    """
    return log_prob / powers.index_select(0, length.view(-1))  # powers[length] would make the CPU wait for the GPU


def _power(length: int, penalty: float) -> float:
    power: float = float(length) ** float(penalty)
    return power
