"""Calibration of probabilities on held-out rows, and two measures of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

Floats = NDArray[np.floating]


def calibrate(layer: nn.Linear, logits: Floats, labels: NDArray[np.int64]) -> None:
    """Fit one scale and a bias for each class on logits and labels, and fold them into a last layer.

    logits: (row, class)    labels: (row); negative: unknown
    """
    known = labels >= 0
    inputs, wanted = torch.from_numpy(logits[known]).double(), torch.from_numpy(labels[known])
    scale, bias = torch.ones(1, dtype=torch.float64), torch.zeros(inputs.shape[1], dtype=torch.float64)

    def loss() -> torch.Tensor:
        return nn.functional.cross_entropy(inputs * scale + bias, wanted)

    minimize(loss, scale, bias)
    with torch.no_grad():
        layer.weight.mul_(scale.to(layer.weight))
        layer.bias.mul_(scale.to(layer.bias)).add_(bias.to(layer.bias))


def fit_logistic(features: Floats, labels: NDArray[Any]) -> list[float]:
    """Logistic regression: the weights of the features, (row, feature), followed by the intercept."""
    rows, wanted = torch.from_numpy(features).double(), torch.from_numpy(labels).double()
    weights = torch.zeros(rows.shape[1], dtype=torch.float64)
    intercept = torch.zeros(1, dtype=torch.float64)

    def loss() -> torch.Tensor:
        return nn.functional.binary_cross_entropy_with_logits(rows @ weights + intercept, wanted)

    minimize(loss, weights, intercept)
    return [round(float(value), 4) for value in (*weights, intercept)]


def calibration_error(probabilities: Floats, right: NDArray[np.bool_], bins: int = 10) -> float:
    """Expected calibration error: mean distance of probability and share that is right, over bins of equal size."""
    if not len(probabilities):
        return 0.0
    order = np.argsort(probabilities)
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return float(sum(len(part) * abs(probabilities[part].mean() - right[part].mean()) for part in parts) / len(order))


def auc(risks: Floats, wrong: NDArray[np.bool_]) -> float:
    """Area under the ROC curve: how often a wrong item has a higher risk than a right one; ties count half."""
    _, place, counts = np.unique(risks, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    bad = int(wrong.sum())
    return float((ranks[wrong].sum() - bad * (bad + 1) / 2) / max(1, bad * (len(risks) - bad)))


def minimize(loss: Callable[[], torch.Tensor], *values: torch.Tensor) -> None:
    """Minimise a smooth function of some tensors, in place, by L-BFGS."""
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
