"""How many edits of a plan were carried out, by kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redraft.constrain.edits import KINDS
from redraft.constrain.verdicts import Verdict
from redraft.evaluate.measures import Array, Texts, share


class Satisfaction:
    """Figures out of 100 for each kind of edit and for all; of no edits there is no figure (NaN).

    `satisfied_insert` … `satisfied` count as the paper does: present, absent, or one present and the other absent.
    `strict_insert` … `strict` ask further that the alternative was among the words the model offered (`chosen_over`);
    they are only there where that was recorded, by `redraft simplify --json` with `--method edit`.
    """

    def __init__(self, verdicts: Sequence[Sequence[Verdict]]) -> None:
        self._verdicts = verdicts
        known = [
            verdict.chosen_over is not None
            for row in verdicts
            for verdict in row
            if verdict.edit.kind != "insert" and verdict.status == "satisfied"
        ]
        self._strict = bool(known) and all(known)
        self.signature = f"edits:{sum(map(len, verdicts))}|judged:words"

    def count(self, texts: Texts) -> Array:
        """(sentence, kind · 3): edits of each kind asked for, satisfied, and satisfied strictly."""
        counts = np.zeros((len(self._verdicts), len(KINDS), 3))
        for row, verdicts in zip(counts, self._verdicts, strict=True):
            for verdict in verdicts:
                met = verdict.status == "satisfied"
                row[KINDS.index(verdict.edit.kind)] += (
                    1,
                    met,
                    met and verdict.chosen_over is not False,
                )  # an insertion has no alternative
        return counts.reshape(len(counts), -1)

    def figures(self, sums: Array) -> dict[str, Array]:
        by_kind = sums.reshape(*sums.shape[:-1], len(KINDS), 3)
        rows = dict(zip(KINDS, np.moveaxis(by_kind, -2, 0), strict=True))
        found = {}
        for column, word in ((1, "satisfied"), *(((2, "strict"),) if self._strict else ())):
            for kind, row in rows.items():
                found[f"{word}_{kind}"] = 100 * share(row[..., column], row[..., 0], of_nothing=np.nan)
            found[word] = 100 * share(by_kind[..., column].sum(-1), by_kind[..., 0].sum(-1), of_nothing=np.nan)
        return found
