"""Predicted plans against oracle plans: how many of the edits named are right, and how many of the right ones named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redraft.errors import CorpusError, shown
from redraft.evaluate.measures import Array, Texts, share
from redraft.plan.edits import KINDS, Edit, EditPlan


class PlanPrecision:
    """Figures `precision_insert` … and `recall_insert` …, out of 100; of no edits there is no figure (NaN).

    An insertion or deletion is right if the oracle has it too, a substitution if the oracle replaces the same phrase
    and one of the targets is the same. Case does not matter; an edit named twice must be there twice.
    """

    signature = "case:lc|match:phrase,any target"

    def __init__(self, predicted: Sequence[EditPlan], oracle: Sequence[EditPlan]) -> None:
        if len(predicted) != len(oracle):
            raise CorpusError(
                f"there are {len(predicted):,} predicted plans and {len(oracle):,} oracle plans.",
                "Plan n of both files is for sentence n.",
            )
        for number, (one, other) in enumerate(zip(predicted, oracle, strict=True), 1):
            if one.source != other.source:
                raise CorpusError(
                    f"plan {number} is for two sentences: {shown(one.source)} and {shown(other.source)}.",
                    "Make both files from the same sources.",
                )
        self._pairs = list(zip(predicted, oracle, strict=True))

    def count(self, texts: Texts) -> Array:
        """(sentence, kind · 3): edits of each kind that are right, predicted, and in the oracle."""
        return np.array([
            [value for kind in KINDS for value in _counts(predicted.edits, oracle.edits, kind)]
            for predicted, oracle in self._pairs
        ], dtype=np.float64).reshape(len(self._pairs), -1)  # fmt: skip

    def figures(self, sums: Array) -> dict[str, Array]:
        found = {}
        for kind, row in zip(KINDS, np.moveaxis(sums.reshape(*sums.shape[:-1], len(KINDS), 3), -2, 0), strict=True):
            found[f"precision_{kind}"] = 100 * share(row[..., 0], row[..., 1], of_nothing=np.nan)
            found[f"recall_{kind}"] = 100 * share(row[..., 0], row[..., 2], of_nothing=np.nan)
        return found


def _counts(predicted: Sequence[Edit], oracle: Sequence[Edit], kind: str) -> tuple[int, int, int]:
    named = [edit for edit in predicted if edit.kind == kind]
    wanted = [edit for edit in oracle if edit.kind == kind]
    total, right = len(wanted), 0
    for edit in named:
        match = next((other for other in wanted if _same(edit, other)), None)
        if match is not None:
            wanted.remove(match)
            right += 1
    return right, len(named), total


def _same(one: Edit, other: Edit) -> bool:
    if one.phrase.casefold() != other.phrase.casefold():
        return False
    targets = {target.casefold() for target in other.targets}
    return not targets or any(target.casefold() in targets for target in one.targets)
