"""Precision and recall of predicted plans against oracle plans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redraft.errors import CorpusError, shown
from redraft.evaluate.measures import Array, Texts, ratio
from redraft.plan.edits import KINDS, Edit, EditPlan


class PlanPrecision:
    """Scores `precision_insert` … and `recall_insert` … in percent; NaN if there are no edits of that kind.

    An insertion or deletion is correct if the oracle plan contains it too. A substitution is correct if the oracle
    replaces the same phrase and shares a target. Case is ignored. A duplicate edit needs a duplicate in the oracle.
    """

    signature = "case:lc|match:phrase,any target"

    def __init__(self, predicted: Sequence[EditPlan], oracle: Sequence[EditPlan]) -> None:
        if len(predicted) != len(oracle):
            raise CorpusError(
                f"there are {len(predicted):,} predicted plans and {len(oracle):,} oracle plans.",
                "Plan n of both files must be for sentence n.",
            )
        for number, (one, other) in enumerate(zip(predicted, oracle, strict=True), 1):
            if one.source != other.source:
                raise CorpusError(
                    f"plan {number} has two different sources: {shown(one.source)} and {shown(other.source)}.",
                    "Make both files from the same sources.",
                )
        self._pairs = list(zip(predicted, oracle, strict=True))

    def count(self, texts: Texts) -> Array:
        """(sentence, kind · 3): for each kind, the number of correct, predicted and oracle edits."""
        return np.array([
            [value for kind in KINDS for value in _counts(predicted.edits, oracle.edits, kind)]
            for predicted, oracle in self._pairs
        ], dtype=np.float64).reshape(len(self._pairs), -1)  # fmt: skip

    def figures(self, sums: Array) -> dict[str, Array]:
        scores = {}
        for kind, row in zip(KINDS, np.moveaxis(sums.reshape(*sums.shape[:-1], len(KINDS), 3), -2, 0), strict=True):
            scores[f"precision_{kind}"] = 100 * ratio(row[..., 0], row[..., 1], if_empty=np.nan)
            scores[f"recall_{kind}"] = 100 * ratio(row[..., 0], row[..., 2], if_empty=np.nan)
        return scores


def _counts(predicted: Sequence[Edit], oracle: Sequence[Edit], kind: str) -> tuple[int, int, int]:
    predicted = [edit for edit in predicted if edit.kind == kind]
    unmatched = [edit for edit in oracle if edit.kind == kind]
    in_oracle, correct = len(unmatched), 0
    for edit in predicted:
        match = next((other for other in unmatched if _matches(edit, other)), None)
        if match is not None:
            unmatched.remove(match)
            correct += 1
    return correct, len(predicted), in_oracle


def _matches(one: Edit, other: Edit) -> bool:
    if one.phrase.casefold() != other.phrase.casefold():
        return False
    targets = {target.casefold() for target in other.targets}
    return not targets or any(target.casefold() in targets for target in one.targets)
