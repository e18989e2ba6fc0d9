"""How many edits of a plan were carried out, by kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redraft.evaluate.measures import Array, Texts, share
from redraft.plan.edits import ALL_KINDS, KINDS
from redraft.plan.verdicts import Verdict


class Satisfaction:
    """Figures out of 100 for each kind of edit and for all; of no edits there is no figure (NaN).

    `satisfied_insert` … `satisfied` count as the paper does: present, absent, or one present and the other absent.
    `strict_insert` … `strict` ask further that the alternative was among the words the model offered (`chosen_over`);
    they are only there where that was recorded, by `redraft simplify --json` with `--method edit`.
    `satisfied_split` is only there where splits were asked for, and `satisfied` leaves them out: it stays comparable.
    """

    def __init__(self, verdicts: Sequence[Sequence[Verdict]]) -> None:
        self._verdicts = verdicts
        known = [
            verdict.chosen_over is not None
            for row in verdicts
            for verdict in row
            if verdict.edit.kind not in ("insert", "split") and verdict.status == "satisfied"
        ]
        self._split = any(verdict.edit.kind == "split" for row in verdicts for verdict in row)
        self._strict = bool(known) and all(known)
        self.signature = f"edits:{sum(map(len, verdicts))}|judged:words"

    def count(self, texts: Texts) -> Array:
        """(sentence, kind · 3): edits of each kind asked for, satisfied, and satisfied strictly."""
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
        found = {}
        for column, word in ((1, "satisfied"), *(((2, "strict"),) if self._strict else ())):
            for kind, row in rows.items():
                found[f"{word}_{kind}"] = 100 * share(row[..., column], row[..., 0], of_nothing=np.nan)
            found[word] = 100 * share(by_kind[..., column].sum(-1), by_kind[..., 0].sum(-1), of_nothing=np.nan)
        if self._split:
            found["satisfied_split"] = 100 * share(split[..., 1], split[..., 0], of_nothing=np.nan)
        return found
