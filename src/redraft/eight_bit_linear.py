"""Linear layers computed with 8-bit integers on a CPU: several times as fast as float32, nearly the same results."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

EIGHT_BIT = "int8"  # the name of this arithmetic, where data types are named
_MOST = 127  # integers of weights and inputs go from −127 to 127
_SMALLEST = 1e-12  # scale of a row of zeros


class EightBitLinear(nn.Module):
    """A linear layer whose weights have one scale per output, and whose inputs get one scale per row.

    The products are summed as integers, that is exactly, so the result of a row does not depend on the other rows of
    its batch.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        """weight: (output, input), not kept"""
        super().__init__()
        value = weight.detach().float()
        scale = (value.abs().amax(1) / _MOST).clamp(min=_SMALLEST)
        integers = (value / scale[:, None]).round().to(torch.int8)
        self.out_features, self.in_features = value.shape
        self._packed = torch.ops.onednn.qlinear_prepack(integers, None)
        self._scale = scale
        self._zero_points = torch.zeros(len(scale), dtype=torch.int64)
        self._bias = torch.zeros(len(scale)) if bias is None else bias.detach().float().clone()

    @property
    def weight(self) -> Tensor:
        """The packed integers; some models look at the type of their weights."""
        packed: Tensor = self._packed
        return packed

    def forward(self, inputs: Tensor) -> Tensor:
        rows = inputs.reshape(-1, self.in_features)
        scale = rows.abs().amax(-1, keepdim=True).clamp_(min=_SMALLEST).div_(_MOST)
        # Unsigned with 128 for zero: oneDNN has fast kernels for unsigned inputs only. Adding a half before the
        # conversion, which cuts off, rounds.
        integers = (rows * scale.reciprocal()).add_(128.5).to(torch.uint8)
        sums = torch.ops.onednn.qlinear_pointwise(
            integers, 1.0, 128, self._packed, self._scale, self._zero_points, None, 1.0, 0, torch.float32,
            "none", [], "",
        )  # fmt: skip
        return torch.addcmul(self._bias, sums, scale).view(*inputs.shape[:-1], self.out_features)


class EightBitEmbedding(nn.Module):
    """An embedding that keeps its rows as 8-bit integers, with scales for groups of each row."""

    def __init__(self, integers: Tensor, scale: Tensor) -> None:
        """(row, width) and (row, group)"""
        super().__init__()
        self._integers, self._scale = integers, scale

    def forward(self, rows: Tensor) -> Tensor:
        scale = self._scale[rows].float()[..., None]  # (…, group, 1)
        grouped = self._integers[rows].float().view(*scale.shape[:-1], -1)
        return (grouped * scale).flatten(-2)


@cache
def has_eight_bit_arithmetic() -> bool:
    """Whether this CPU and this torch have the instructions and the operator, and the operator counts correctly."""
    if not getattr(torch.cpu, "_is_vnni_supported", bool)():
        return False  # older instructions add pairs of products in 16 bits, which overflow
    try:
        return _is_exact()
    except (AttributeError, RuntimeError, TypeError):  # the operator is not part of torch's stable interface
        return False


@torch.inference_mode()
def _is_exact() -> bool:
    """Whether the largest possible integers are multiplied without overflow."""
    linear = nn.Linear(64, 32)
    linear.weight.copy_(torch.where(torch.arange(32 * 64).view(32, 64) % 3 == 0, -1.0, 1.0))
    inputs = torch.where(torch.arange(5 * 64).view(5, 64) % 5 == 0, -2.0, 2.0)
    return torch.allclose(EightBitLinear(linear.weight, linear.bias)(inputs), linear(inputs), rtol=1e-5, atol=1e-4)


def to_eight_bit(model: Any) -> Any:
    """The model with every linear layer replaced; embeddings, norms and everything else stay in float32."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child) is nn.Linear:
                setattr(module, name, EightBitLinear(child.weight, child.bias))
    return model
