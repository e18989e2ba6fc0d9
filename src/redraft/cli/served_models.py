"""The models of commands that keep running: `redraft serve` and `redraft mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.models import is_scripted

if TYPE_CHECKING:
    from redraft.simplify.simplifier import Simplifier


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
    """Default batch size. On a 2-core CPU, throughput is highest at 4: higher than at 1 and at 16."""
    device = getattr(simplifier.redrafter.model, "device", None)
    return 32 if getattr(device, "type", "cpu") != "cpu" else 4
