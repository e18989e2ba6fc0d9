"""Rewrite text while keeping, dropping or replacing the words you name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from redraft.threads import set_library_limits

if TYPE_CHECKING:
    from redraft.check.meaning import Meaning
    from redraft.check.meaning_check import MeaningCheck
    from redraft.constrain.compiler import compile_plans
    from redraft.decode.config import DecodeConfig
    from redraft.decode.generate import generate
    from redraft.decode.redrafter import Redrafter
    from redraft.decode.result import Candidate, Result
    from redraft.errors import RedraftError
    from redraft.plan.edits import Edit, EditPlan
    from redraft.plan.plan_files import read_plans, write_plans
    from redraft.plan.planner import Planner
    from redraft.plan.verdicts import Verdict
    from redraft.simplify.documents import Document
    from redraft.simplify.simplifier import Simplifier

__version__ = "0.1.0"

set_library_limits()  # before torch is imported

# `import redraft` is quick: torch and transformers are imported with the first name that needs them.
_MODULES = {
    "Candidate": "redraft.decode.result",
    "DecodeConfig": "redraft.decode.config",
    "Document": "redraft.simplify.documents",
    "Edit": "redraft.plan.edits",
    "EditPlan": "redraft.plan.edits",
    "Meaning": "redraft.check.meaning",
    "MeaningCheck": "redraft.check.meaning_check",
    "Planner": "redraft.plan.planner",
    "RedraftError": "redraft.errors",
    "Redrafter": "redraft.decode.redrafter",
    "Result": "redraft.decode.result",
    "Simplifier": "redraft.simplify.simplifier",
    "Verdict": "redraft.plan.verdicts",
    "compile_plans": "redraft.constrain.compiler",
    "generate": "redraft.decode.generate",
    "read_plans": "redraft.plan.plan_files",
    "write_plans": "redraft.plan.plan_files",
}
__all__ = [
    "Candidate",
    "DecodeConfig",
    "Document",
    "Edit",
    "EditPlan",
    "Meaning",
    "MeaningCheck",
    "Planner",
    "RedraftError",
    "Redrafter",
    "Result",
    "Simplifier",
    "Verdict",
    "compile_plans",
    "generate",
    "read_plans",
    "write_plans",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'redraft' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
