"""8-bit quantised weights: small enough for the package, dequantised to floats on load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from redraft.files import disk_full_errors

_SCALE = ".scale"  # suffix of the name of a matrix's scales
_SMALLEST_SCALE = 6e-8  # the smallest float16 above 0


def save_eight_bit(
    path: str | Path, weights: Mapping[str, Tensor], about: Mapping[str, str] | None = None, *, group: int | None = None
) -> None:
    """Write matrices as integers from −127 to 127 with a scale for each row, and everything else in float16.

    With `group`, every `group` neighbouring weights of a row share a scale instead, if the row can be divided evenly:
    more exact, at two bytes per scale. Tied weights (one tensor under several names) are stored under the first name.
    """
    stored: dict[str, Tensor] = {}
    seen: set[tuple[object, ...]] = set()
    for name, weight in weights.items():
        storage = (weight.data_ptr(), weight.shape, weight.stride())
        if storage in seen:
            continue
        seen.add(storage)
        value = weight.detach().to("cpu", torch.float32)
        if not weight.is_floating_point():
            stored[name] = weight.detach().cpu().contiguous()
            continue
        if value.dim() < 2:
            stored[name] = value.to(torch.float16).contiguous()
            continue
        rows = value.flatten(1)
        rows = rows.reshape(-1, group) if group and rows.shape[1] % group == 0 else rows
        scale = (rows.abs().amax(1) / 127).clamp(min=_SMALLEST_SCALE).to(torch.float16)
        numbers = (rows / scale.to(torch.float32)[:, None]).round().clamp(-127, 127)
        stored[name] = numbers.to(torch.int8).view(value.shape).contiguous()
        stored[name + _SCALE] = scale
    with disk_full_errors(path):
        save_file(stored, str(path), metadata=dict(about or {}))


class EightBitFile(Mapping[str, Tensor]):
    """The weights of a file. The file is mapped into memory; each weight is dequantised when it is asked for."""

    def __init__(self, path: str | Path) -> None:
        with safe_open(str(path), framework="pt") as file:
            self._stored: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, not a mapping
        for name, value in self._stored.items():
            if value.is_floating_point() and not value.isfinite().all():
                raise ValueError(f"{Path(path).name} is damaged: {name} contains NaN or infinity")

    def __getitem__(self, name: str) -> Tensor:
        """In float32, or integers that were stored as such."""
        value = self._stored[name]
        if not value.is_floating_point() and not self.is_quantised(name):
            return value.clone()
        found = value.to(torch.float32)
        if self.is_quantised(name):
            scale = self._stored[name + _SCALE].to(torch.float32)
            found.view(len(scale), -1).mul_(scale[:, None])
        return found

    def is_quantised(self, name: str) -> bool:
        return name + _SCALE in self._stored and self._stored[name].dtype == torch.int8

    def quantised(self, name: str) -> tuple[Tensor, Tensor]:
        """The integers of a matrix, and its scales: (row, group)."""
        value = self._stored[name]
        return value.clone(), self._stored[name + _SCALE].view(len(value), -1).clone()

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._stored if not self._is_scale(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _is_scale(self, name: str) -> bool:
        matrix = name.removesuffix(_SCALE)
        return matrix != name and matrix in self._stored and self.is_quantised(matrix)


def load_eight_bit(path: str | Path, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
    """The weights of a file as floats, converted one by one."""
    file = EightBitFile(path)
    return {name: value.to(dtype) if value.is_floating_point() else value for name, value in file.items()}
