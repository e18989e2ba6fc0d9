"""Headings and items of lists have no full stop; the model has only read sentences that have one."""

from __future__ import annotations

import re
from dataclasses import replace

from redraft.decode.result import Result
from redraft.plan.edits import EditPlan

_OPEN = re.compile(r"\w\s*$")  # ends with a letter or a digit


def add_full_stop(plan: EditPlan) -> EditPlan:
    """The plan for the same words with a full stop behind them, where nothing is there; spans stay what they are."""
    return replace(plan, source=f"{plan.source.rstrip()}.") if _OPEN.search(plan.source) else plan


def remove_full_stop(plan: EditPlan, found: Result) -> Result:
    """What was found for `add_full_stop(plan)`, without the full stop that was lent to it."""
    if not _OPEN.search(plan.source):
        return found
    candidates = (replace(one, output=one.output.removesuffix(".").rstrip()) for one in found.candidates)
    return replace(found, source=plan.source, candidates=tuple(candidates))
