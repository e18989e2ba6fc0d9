"""Edit satisfaction: percentage of a plan's edits that the output satisfies, by kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redraft.evaluate.measures import Array, Texts, ratio
from redraft.plan.edits import ALL_KINDS, KINDS
from redraft.plan.verdicts import Verdict


class Satisfaction:
    """Scores in percent for each kind of edit and for all kinds; NaN if there are no edits of that kind.

    `satisfied_insert` … `satisfied` count as in the paper: an insertion is present, a deletion absent, of a
    substitution a target is present and the phrase absent.
    `strict_insert` … `strict` also require that the model offered the alternative (`chosen_over`). They exist only
    if that was recorded, by `redraft simplify --json` with `--method edit`.
    `satisfied_split` exists only if the plans contain splits. `satisfied` excludes splits, to stay comparable.
    """

    def __init__(self, verdicts: Sequence[Sequence[Verdict]]) -> None:
        self._verdicts = verdicts
        recorded = [
            verdict.chosen_over is not None
            for row in verdicts
            for verdict in row
            if verdict.edit.kind not in ("insert", "split") and verdict.status == "satisfied"
        ]
        self._split = any(verdict.edit.kind == "split" for row in verdicts for verdict in row)
        self._strict = bool(recorded) and all(recorded)
        self.signature = f"edits:{sum(map(len, verdicts))}|judged:words"

    def count(self, texts: Texts) -> Array:
        """(sentence, kind · 3): for each kind, the number of requested, satisfied and strictly satisfied edits."""
        counts = np.zeros((len(self._verdicts), len(ALL_KINDS), 3))
        for row, verdicts in zip(counts, self._verdicts, strict=True):
            for verdict in verdicts:
                met = verdict.status == "satisfied"
                row[ALL_KINDS.index(verdict.edit.kind)] += (
                    1,
                    met,
                    met and verdict.chosen_over is not False,
                )  # insertions and splits have no alternative
        return counts.reshape(len(counts), -1)

    def figures(self, sums: Array) -> dict[str, Array]:
        by_kind = sums.reshape(*sums.shape[:-1], len(ALL_KINDS), 3)
        rows = dict(zip(ALL_KINDS, np.moveaxis(by_kind, -2, 0), strict=True))
        split, by_kind = rows.pop("split"), by_kind[..., : len(KINDS), :]
        scores = {}
        for column, word in ((1, "satisfied"), *(((2, "strict"),) if self._strict else ())):
            for kind, row in rows.items():
                scores[f"{word}_{kind}"] = 100 * ratio(row[..., column], row[..., 0], if_empty=np.nan)
            scores[word] = 100 * ratio(by_kind[..., column].sum(-1), by_kind[..., 0].sum(-1), if_empty=np.nan)
        if self._split:
            scores["satisfied_split"] = 100 * ratio(split[..., 1], split[..., 0], if_empty=np.nan)
        return scores
