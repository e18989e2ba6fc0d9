"""The models of commands that keep running, and the service for them: the same in one process and on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.models import is_scripted
from redraft.serve.limits import Limits

if TYPE_CHECKING:
    from redraft.simplify.simplifier import Simplifier

# Throughput on a 2-core CPU is highest at 4: higher than at 1 and at 16.
CPU_BATCH, GPU_BATCH = 4, 32


def load_simplifier(model: str | None, device: str | None) -> Simplifier:
    """The simplifier, as in `redraft simplify`: scripted models get no predicted plans."""
    from redraft.align.encoders import chosen_device
    from redraft.decode.redrafter import Redrafter
    from redraft.simplify.simplifier import Simplifier

    if device is not None:
        chosen_device(device)
    if model is not None and is_scripted(model):
        return Simplifier(Redrafter(model), search_only=True)
    return Simplifier(model, device=device)


def default_batch(simplifier: Simplifier) -> int:
    device = getattr(simplifier.redrafter.model, "device", None)
    return GPU_BATCH if getattr(device, "type", "cpu") != "cpu" else CPU_BATCH


def limits_for(simplifier: Simplifier, *, batch_size: int | None, queue: int) -> Limits:
    return Limits(
        batch=batch_size or default_batch(simplifier), queue=queue, max_sentences=min(queue, Limits.max_sentences)
    )
