"""Exact checks: rules that find what a rewriting lost or added, with the words on both sides.

Each rule compares one kind of words that change what is claimed. A rule accepts the paraphrases that it knows: "refrain
from" and "do not", "twelve" and "12", "must" and "have to".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from redraft.check.rules.bounds import bounds
from redraft.check.rules.dates import dates
from redraft.check.rules.modality import modality
from redraft.check.rules.named_entities import names
from redraft.check.rules.negations import negations
from redraft.check.rules.numbers import numbers, ordinals
from redraft.check.rules.other_words import lost_stays, other_words
from redraft.check.rules.quantifiers import only, quantifiers
from redraft.check.rules.roles import persons, questions, roles
from redraft.check.rules.rule_types import Finding, Side
from redraft.check.rules.units import currencies, units
from redraft.plan.target_guard import TargetGuard


def findings(source: str, output: str, *, stays: Sequence[str] = (), guard: TargetGuard | None = None) -> list[Finding]:
    """All findings of the rules; `stays` are words that must be kept. Empty if the texts are equal."""
    if source.split() == output.split():
        return []
    one, two, guard = Side.of(source), Side.of(output), guard or bundled_target_guard()
    return [
        *negations(one, two, guard), *numbers(one, two), *ordinals(one, two), *units(one, two),
        *currencies(one, two), *dates(one, two), *names(one, two, guard), *quantifiers(one, two), *only(one, two),
        *bounds(one, two), *modality(one, two), *persons(one, two), *questions(one, two),
        *roles(one, two, guard), *other_words(one, two, guard), *lost_stays(source, output, stays),
    ]  # fmt: skip


@cache
def bundled_target_guard() -> TargetGuard:
    return TargetGuard.load()
