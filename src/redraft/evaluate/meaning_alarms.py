"""How many outputs may not say the same as their source."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from redraft.evaluate.measures import Array, Texts, share

if TYPE_CHECKING:
    from redraft.check.meaning_check import MeaningCheck


class MeaningAlarms:
    """`at_risk`: outputs, out of 100, whose meaning check gives an alarm; `risk`: the mean risk, out of 100."""

    def __init__(self, check: MeaningCheck | None = None) -> None:
        self._given = check

    @cached_property
    def _check(self) -> MeaningCheck:
        from redraft.check.meaning_check import MeaningCheck

        return self._given or MeaningCheck.load()

    @property
    def signature(self) -> str:
        return f"check:{self._check.digest}|level:{self._check.weights.level}"

    def count(self, texts: Texts) -> Array:
        """(sentence, 3): alarm, risk, and 1."""
        found = self._check.check(zip(texts.sources, texts.outputs, strict=True))
        return np.array([(one.alarm, one.risk, 1) for one in found], dtype=np.float64).reshape(-1, 3)

    def figures(self, sums: Array) -> dict[str, Array]:
        alarms, risks, sentences = np.moveaxis(sums, -1, 0)
        return {"at_risk": 100 * share(alarms, sentences), "risk": 100 * share(risks, sentences)}
