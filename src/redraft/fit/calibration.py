"""Probabilities that mean what they say: fitted on rows that were held out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

Floats = NDArray[np.floating]


def calibrate(layer: nn.Linear, logits: Floats, labels: NDArray[np.int64]) -> None:
    """Change a last layer, one scale and a bias for each class, so that its probabilities fit the labels best."""
    told = labels >= 0
    known, wanted = torch.from_numpy(logits[told]).double(), torch.from_numpy(labels[told])
    scale, bias = torch.ones(1, dtype=torch.float64), torch.zeros(known.shape[1], dtype=torch.float64)

    def loss() -> torch.Tensor:
        return nn.functional.cross_entropy(known * scale + bias, wanted)

    minimize(loss, scale, bias)
    with torch.no_grad():
        layer.weight.mul_(scale.to(layer.weight))
        layer.bias.mul_(scale.to(layer.bias)).add_(bias.to(layer.bias))


def fit_logistic(facts: Floats, right: NDArray[np.bool_]) -> list[float]:
    """Weights of the facts, (row, fact), and a constant behind them: sigmoid(facts · weights + constant) fits best."""
    rows, wanted = torch.from_numpy(facts).double(), torch.from_numpy(right).double()
    weights = torch.zeros(rows.shape[1], dtype=torch.float64)
    constant = torch.zeros(1, dtype=torch.float64)

    def loss() -> torch.Tensor:
        return nn.functional.binary_cross_entropy_with_logits(rows @ weights + constant, wanted)

    minimize(loss, weights, constant)
    return [round(float(value), 4) for value in (*weights, constant)]


def calibration_error(chances: Floats, right: NDArray[np.bool_], bins: int = 10) -> float:
    """How far the share that is right is from the probability told: the mean over bins of equal size."""
    if not len(chances):
        return 0.0
    order = np.argsort(chances)
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return float(sum(len(part) * abs(chances[part].mean() - right[part].mean()) for part in parts) / len(order))


def auc(risks: Floats, wrong: NDArray[np.bool_]) -> float:
    """How often a wrong one has the higher risk, of all pairs of a wrong and a right one; equals count half."""
    _, place, counts = np.unique(risks, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    bad = int(wrong.sum())
    return float((ranks[wrong].sum() - bad * (bad + 1) / 2) / max(1, bad * (len(risks) - bad)))


def minimize(loss: Callable[[], torch.Tensor], *values: torch.Tensor) -> None:
    """Change the values until the loss, a smooth function of them, falls no further."""
    for value in values:
        value.requires_grad_(True)
    optimizer = torch.optim.LBFGS(list(values), max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        found = loss()
        found.backward()  # type: ignore[no-untyped-call]
        return found

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    for value in values:
        value.requires_grad_(False)
