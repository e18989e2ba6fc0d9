"""How the rate of learning rises and falls over a training."""

from __future__ import annotations

import math
from typing import Literal

Schedule = Literal["linear", "cosine", "constant"]


def rate_share(schedule: Schedule, step: int, steps: int, warm: int) -> float:
    """The share of the full rate at a step: a rise over the first `warm` steps, times the fall of the schedule."""
    done = step / steps
    falls = {"linear": max(0.0, 1 - done), "cosine": (1 + math.cos(math.pi * done)) / 2, "constant": 1.0}
    return min(1, (step + 1) / warm) * falls[schedule]
