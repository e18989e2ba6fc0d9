"""Rewrite text while keeping, dropping or replacing the words you name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from redraft.check.meaning_check import MeaningCheck
    from redraft.constrain.compiler import compile
    from redraft.constrain.edits import Edit, EditPlan
    from redraft.constrain.plan_files import read_plans, write_plans
    from redraft.constrain.planner import Planner
    from redraft.decode.config import DecodeConfig
    from redraft.decode.decoded import Decoded
    from redraft.decode.generate import generate
    from redraft.decode.redrafter import Redrafter
    from redraft.decode.simplifier import Simplifier

__version__ = "0.1.0"
__all__ = [
    "DecodeConfig",
    "Decoded",
    "Edit",
    "EditPlan",
    "MeaningCheck",
    "Planner",
    "Redrafter",
    "Simplifier",
    "compile",
    "generate",
    "read_plans",
    "write_plans",
]

# `import redraft` is quick: torch and transformers come with the first name that needs them.
_WHERE = {
    "DecodeConfig": "redraft.decode.config",
    "Decoded": "redraft.decode.decoded",
    "Edit": "redraft.constrain.edits",
    "EditPlan": "redraft.constrain.edits",
    "MeaningCheck": "redraft.check.meaning_check",
    "Planner": "redraft.constrain.planner",
    "Redrafter": "redraft.decode.redrafter",
    "Simplifier": "redraft.decode.simplifier",
    "compile": "redraft.constrain.compiler",
    "generate": "redraft.decode.generate",
    "read_plans": "redraft.constrain.plan_files",
    "write_plans": "redraft.constrain.plan_files",
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'redraft' has no attribute {name!r}")
