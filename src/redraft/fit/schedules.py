"""How the rate of learning rises and falls over a training, and which weights shrink."""

from __future__ import annotations

import math
from typing import Any, Literal

Schedule = Literal["linear", "cosine", "constant"]


def learning_rate_factor(schedule: Schedule, step: int, steps: int, warm: int) -> float:
    """The share of the full rate at a step: a rise over the first `warm` steps, times the fall of the schedule."""
    done = step / steps
    falls = {"linear": max(0.0, 1 - done), "cosine": (1 + math.cos(math.pi * done)) / 2, "constant": 1.0}
    return min(1, (step + 1) / warm) * falls[schedule]


def ema_decay(most: float, step: int) -> float:
    """How much of a moving average stays at a step: a young one forgets its start quickly."""
    return min(most, (step + 1) / (step + 10))


def decay_groups(model: Any, weight_decay: float) -> list[dict[str, Any]]:
    """The weights as AdamW takes them: matrices shrink, biases and norms do not."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    return [
        {"params": [weight for weight in weights if weight.dim() > 1], "weight_decay": weight_decay},
        {"params": [weight for weight in weights if weight.dim() < 2], "weight_decay": 0.0},
    ]
