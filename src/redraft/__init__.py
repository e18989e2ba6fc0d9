"""Rewrite text while keeping, dropping or replacing the words you name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from redraft.check.meaning_check import MeaningCheck
    from redraft.constrain.compiler import compile
    from redraft.decode.config import DecodeConfig
    from redraft.decode.generate import generate
    from redraft.decode.redrafter import Redrafter
    from redraft.decode.result import Result
    from redraft.plan.edits import Edit, EditPlan
    from redraft.plan.plan_files import read_plans, write_plans
    from redraft.plan.planner import Planner
    from redraft.simplify.simplifier import Simplifier

__version__ = "0.1.0"
__all__ = [
    "DecodeConfig",
    "Edit",
    "EditPlan",
    "MeaningCheck",
    "Planner",
    "Redrafter",
    "Result",
    "Simplifier",
    "compile",
    "generate",
    "read_plans",
    "write_plans",
]

# `import redraft` is quick: torch and transformers come with the first name that needs them.
_WHERE = {
    "DecodeConfig": "redraft.decode.config",
    "Result": "redraft.decode.result",
    "Edit": "redraft.plan.edits",
    "EditPlan": "redraft.plan.edits",
    "MeaningCheck": "redraft.check.meaning_check",
    "Planner": "redraft.plan.planner",
    "Redrafter": "redraft.decode.redrafter",
    "Simplifier": "redraft.simplify.simplifier",
    "compile": "redraft.constrain.compiler",
    "generate": "redraft.decode.generate",
    "read_plans": "redraft.plan.plan_files",
    "write_plans": "redraft.plan.plan_files",
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'redraft' has no attribute {name!r}")
