"""The lattice of a search, step by step, as plain data for a viewer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from redraft.constrain.clauses import CompiledPlan
from redraft.decode.edit_weights import UNIT
from redraft.decode.finished_pool import EMPTY, ENDED, trail_tokens
from redraft.decode.step import State, Step
from redraft.errors import ConfigError, shown

Show = Callable[[Sequence[int]], str]


class Trace:
    """Collects the steps of every sentence of a batch; pass `observe` to the search.

    `most`: the maximum number of values (numbers and strings) in the trace of one sentence.
    """

    def __init__(self, plans: Sequence[CompiledPlan], show: Show, most: int | None = None) -> None:
        self._plans = plans
        self._show = show
        self._left = [math.inf if most is None else most for _ in plans]
        self.sentences: list[list[dict[str, Any]]] = [[] for _ in plans]

    def observe(self, before: State, step: Step, after: State) -> None:
        finished = before.finished.tolist()
        for batch, sentence in enumerate(self.sentences):
            if not finished[batch]:
                sentence.append(self._read(batch, before, step, after))
                self._left[batch] -= _size(sentence[-1])
                if self._left[batch] < 0:
                    source = self._plans[batch].plan.source
                    raise ConfigError(
                        f"the trace of {shown(source)} is too long after {len(sentence)} steps.",
                        "Leave the trace out, or trace a shorter sentence with fewer edits.",
                    )

    def _read(self, batch: int, before: State, step: Step, after: State) -> dict[str, Any]:
        written = int(before.written)
        token = step.siblings.token[batch].tolist()
        own = step.siblings.log_prob[batch].tolist()
        total = step.nodes.log_prob[batch].tolist()
        columns = len(token[0])
        outcome, round_ = self._outcomes(batch, step, len(total))
        rows, nodes = [], []
        for row, log_prob in enumerate(before.log_prob[batch].tolist()):
            if log_prob == -float("inf"):
                continue
            tokens = trail_tokens(before.trail[batch, row, :written]).tolist()
            listed = [column for column in range(columns) if own[row][column] > -float("inf")]
            rows.append(
                {
                    "row": row,
                    "tokens": tokens,
                    "text": self._show(tokens),
                    "log_prob": log_prob,
                    "siblings": [token[row][column] for column in listed],
                }
            )
            for column in sorted(listed, key=lambda column: (-own[row][column], token[row][column])):
                node = row * columns + column
                nodes.append(
                    {
                        "row": row,
                        "token": token[row][column],
                        "text": self._show([token[row][column]]),
                        "end": bool(step.nodes.is_end[batch, node]),
                        "token_log_prob": own[row][column],
                        "log_prob": total[node],
                        "edit_score": int(step.nodes.score[batch, node]) / UNIT,
                        "edit_score_pending": int(step.nodes.score_plus[batch, node]) / UNIT,
                        "satisfied": self._satisfied(batch, step.nodes.key[batch, node]),
                        "round": round_[node],
                        "outcome": outcome[node],
                    }
                )
        return {"step": written + 1, "rows": rows, "nodes": nodes, "pool": self._pool(batch, after)}

    def _outcomes(self, batch: int, step: Step, count: int) -> tuple[list[str], list[int | None]]:
        """Why each node was kept or dropped, and its round."""
        selection = step.selection
        outcome, round_ = ["unselected"] * count, [None] * count  # type: list[str], list[int | None]
        order = selection.order[batch].tolist()
        in_alpha, in_delta = selection.in_alpha[batch].tolist(), selection.in_delta[batch].tolist()
        rounds = selection.round[batch].tolist()
        for place, node in enumerate(order):
            if step.nodes.end_forbidden[batch, node]:
                outcome[node] = "end not allowed"
            elif not in_alpha[place]:
                outcome[node] = "beyond alpha"
            elif not in_delta[place]:
                outcome[node] = "below delta"
            else:
                round_[node] = rounds[place] + 1
        beams = selection.rows.shape[1]
        chosen = selection.node[batch].tolist()
        for place, (valid, is_end) in enumerate(
            zip(selection.valid[batch].tolist(), selection.is_end[batch].tolist(), strict=True)
        ):
            if valid and is_end and place < beams:
                outcome[chosen[place]] = "finished"
        for row, (place, valid) in enumerate(
            zip(selection.rows[batch].tolist(), selection.row_valid[batch].tolist(), strict=True)
        ):
            if valid:
                outcome[chosen[place]] = f"row {row}"
        return outcome, round_

    def _satisfied(self, batch: int, key: Tensor) -> list[int]:
        bits = [int(word) for word in key.tolist()]
        return [edit for edit in range(len(self._plans[batch].plan.edits)) if bits[edit // 62] >> edit % 62 & 1]

    def _pool(self, batch: int, state: State) -> list[dict[str, Any]]:
        pool = state.pool
        found = []
        for place, rank in enumerate(pool.rank[batch].tolist()):
            if rank != EMPTY:
                tokens = trail_tokens(pool.trail[batch, place, : int(pool.length[batch, place])]).tolist()
                found.append(
                    {
                        "tokens": tokens,
                        "text": self._show(tokens),
                        "log_prob": float(pool.log_prob[batch, place]),
                        "edit_score": int(pool.score[batch, place]) / UNIT,
                        "truncated": rank != ENDED,
                    }
                )
        return found


def _size(value: Any) -> int:
    """The number of numbers and strings in nested lists and dictionaries."""
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else 1
