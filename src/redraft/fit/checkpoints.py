"""Checkpoints of a training: whole files, and the state of chance, so that a killed run goes on as if nothing was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from redraft.errors import ConfigError
from redraft.files import replacing
from redraft.trust import loading


def save_checkpoint(path: Path, state: Any) -> None:
    """Write what torch can write; a run that is killed meanwhile keeps the file that was there before."""
    for part in path.parent.glob(f".{path.name}.*.part"):  # of a run that was killed while it wrote
        part.unlink()
    with replacing(path) as file:
        torch.save(state, file)


@contextmanager
def open_checkpoint(path: Path) -> Iterator[None]:
    """Whatever is wrong with a checkpoint is an error that names it."""
    with loading("the checkpoint", path, ConfigError, "Delete it to train from the start, or choose another --out."):
        yield


def rng_state(device: torch.device) -> dict[str, Any]:
    """The state of the random numbers, on the CPU and on the device of the run."""
    cuda = [torch.cuda.get_rng_state(device)] if device.type == "cuda" else []
    return {"rng_state": torch.get_rng_state(), "rng_state_cuda": cuda}


def restore_rng_state(saved: Mapping[str, Any], device: torch.device) -> None:
    """Go on with the random numbers of a checkpoint; one that was made on a CPU knows none of a GPU."""
    torch.set_rng_state(saved["rng_state"].cpu())
    if saved["rng_state_cuda"] and device.type == "cuda":
        torch.cuda.set_rng_state(saved["rng_state_cuda"][0].cpu(), device)
