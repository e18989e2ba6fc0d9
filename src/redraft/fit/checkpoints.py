"""Checkpoint files: atomic writes, a check that they belong to this training, and the random number generators."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from redraft.errors import ConfigError, shown
from redraft.files import atomic_write
from redraft.trust import loading


class CheckpointFile:
    """The checkpoint of one training.

    `run` identifies the training: the model, the data and the settings that the weights depend on, as JSON values.
    """

    def __init__(self, path: Path, run: Mapping[str, Any]) -> None:
        self.path = path
        self.run: dict[str, Any] = json.loads(json.dumps(run))

    def load(self) -> dict[str, Any] | None:
        """The stored state, or None if there is no checkpoint; a checkpoint of another training is an error."""
        if not self.path.is_file():
            return None
        with open_checkpoint(self.path):
            saved: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
            check_same_run(self.path, json.loads(saved["run"]), self.run)
        return saved

    def save(self, state: Mapping[str, Any]) -> None:
        save_checkpoint(self.path, {**state, "run": json.dumps(self.run)})

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)


def save_checkpoint(path: Path, state: Any) -> None:
    """Write what `torch.save` can write. If the process is killed meanwhile, the previous file stays intact."""
    for part in path.parent.glob(f".{path.name}.*.part"):  # left by a process that was killed while writing
        part.unlink()
    with atomic_write(path) as file:
        torch.save(state, file)


@contextmanager
def open_checkpoint(path: Path) -> Iterator[None]:
    """Turn every error of reading a checkpoint into one that names the file."""
    with loading("the checkpoint", path, ConfigError, "Delete it to train from the start, or choose another --out."):
        yield


def check_same_run(place: Path, saved: Mapping[str, Any], current: Mapping[str, Any]) -> None:
    """Raise an error that names the first difference between a stored training and the current one."""
    there, here = _flat(saved), _flat(current)
    for name in sorted({*there, *here}):
        if there.get(name) != here.get(name):
            raise ConfigError(
                f"{place} belongs to another training: there {name} is {shown(there.get(name))}, "
                f"here {shown(here.get(name))}.",
                "Repeat the original command to resume that training, choose another --out, or delete its folder.",
            )


def rng_state(device: torch.device) -> dict[str, Any]:
    """The states of torch's random number generators on the CPU and on the training device."""
    cuda = [torch.cuda.get_rng_state(device)] if device.type == "cuda" else []
    return {"rng_state": torch.get_rng_state(), "rng_state_cuda": cuda}


def restore_rng_state(saved: Mapping[str, Any], device: torch.device) -> None:
    """Restore what `rng_state` returned; a checkpoint made on a CPU has no state for a GPU."""
    torch.set_rng_state(saved["rng_state"].cpu())
    if saved["rng_state_cuda"] and device.type == "cuda":
        torch.cuda.set_rng_state(saved["rng_state_cuda"][0].cpu(), device)


def _flat(nested: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested values by dotted names."""
    found: dict[str, Any] = {}
    for name, value in nested.items():
        found |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return found
