"""Share of outputs whose meaning may differ from the source."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from redraft.evaluate.measures import Array, Texts, ratio

if TYPE_CHECKING:
    from redraft.check.meaning_check import MeaningCheck


class MeaningAlarms:
    """Scores in percent: `at_risk`, the outputs with an alarm of the meaning check, and `risk`, the mean risk."""

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
        results = self._check.check(zip(texts.sources, texts.outputs, strict=True))
        return np.array([(one.alarm, one.risk, 1) for one in results], dtype=np.float64).reshape(-1, 3)

    def figures(self, sums: Array) -> dict[str, Array]:
        alarms, risks, sentences = np.moveaxis(sums, -1, 0)
        return {"at_risk": 100 * ratio(alarms, sentences), "risk": 100 * ratio(risks, sentences)}
