"""The weight λ of each edit, in units of 10⁻⁶: integer sums do not depend on the order of their terms."""

from __future__ import annotations

from collections import Counter
from functools import cache

from redraft.constrain.clauses import Clause, CompiledPlan
from redraft.constrain.packed_plans import ClauseWeight
from redraft.decode.config import DecodeConfig
from redraft.plan.edits import KINDS

UNIT = 1_000_000
_MAX_WEIGHT = 1e6  # larger weights are cut to this: sums must fit in 60 bits


def price_of(config: DecodeConfig) -> ClauseWeight:
    """The λ of a clause under these settings. `neurologic` counts clauses met."""

    @cache
    def kinds_in(compiled: CompiledPlan) -> Counter[str]:
        return Counter(edit.kind for edit in compiled.plan.edits)

    def price(compiled: CompiledPlan, clause: Clause) -> int:
        if config.method == "neurologic":
            return UNIT if clause.role in ("insert", "target") else 0
        edit = compiled.plan.edits[clause.edit]
        share = config.lambdas[KINDS.index(edit.kind)]
        if config.scale == "kind":
            total = sum(config.lambdas)
            share = share / total / kinds_in(compiled)[edit.kind] if total else 0.0
        return round(min(share * edit.weight, _MAX_WEIGHT) * UNIT)

    return price


def delta_of(config: DecodeConfig) -> int | None:
    """How far the edit score of a node may be below the best; None: any distance."""
    if config.method == "neurologic":
        return config.beta * UNIT
    if config.delta is None or config.delta > 1000 * _MAX_WEIGHT:
        return None
    return round(config.delta * UNIT)


def is_plain(compiled: CompiledPlan, config: DecodeConfig) -> bool:
    """Whether a sentence is searched as if it had no edits."""
    if config.method in ("beam", "negative") or not compiled.clauses:
        return True
    return config.method == "neurologic" and not any(c.role in ("insert", "target") for c in compiled.clauses)
