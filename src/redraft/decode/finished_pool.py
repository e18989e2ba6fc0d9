"""The finished hypotheses of every sentence, best first."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from redraft.decode.edit_progress import gather_rows

# Ranks. A text cut at the maximum length ranks below every ended text; in sentences searched as transformers does, it
# ranks equal to them.
EMPTY, CUT, CUT_PLAIN, ENDED = range(4)

# A trail keeps the token of each step and the row it was chosen from in one number, so that both move by one gather.
_ROW = 32


@dataclass(frozen=True, eq=False)
class FinishedPool:
    """Up to `beams` hypotheses of each sentence."""

    rank: Tensor  # (batch, beam)
    score: Tensor  # (batch, beam) E
    normalised: Tensor  # (batch, beam) log_prob / length ** penalty
    log_prob: Tensor  # (batch, beam)
    length: Tensor  # (batch, beam) tokens, the end included
    trail: Tensor  # (batch, beam, step)
    satisfied: Tensor  # (batch, beam, clause) insertion met, target rewarded, deletion avoided and not violated

    def full(self) -> Tensor:
        return (self.rank >= CUT_PLAIN).all(1)

    def best_score(self) -> Tensor:
        return self.score.amax(1)

    def worst_normalised(self) -> Tensor:
        return self.normalised.amin(1)


def empty_pool(batch: int, beams: int, room: int, clauses: int, like: Tensor) -> FinishedPool:
    def zeros(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
        return torch.zeros(batch, beams, *shape, dtype=dtype, device=like.device)

    nothing = torch.full((batch, beams), -torch.inf, dtype=like.dtype, device=like.device)
    return FinishedPool(
        rank=zeros(),
        score=zeros(),
        normalised=nothing,
        log_prob=nothing,
        length=zeros(),
        trail=zeros(room),
        satisfied=zeros(clauses, dtype=torch.bool),
    )


def merge_pools(pool: FinishedPool, new: FinishedPool, by_sum: bool) -> FinishedPool:
    """The best hypotheses of both; of equal ones, those of the old pool come first."""
    both = {f.name: torch.cat([getattr(pool, f.name), getattr(new, f.name)], 1) for f in fields(FinishedPool)}
    score, normalised, rank = both["score"], both["normalised"], both["rank"].clamp(max=CUT_PLAIN)
    if by_sum:
        normalised, score = normalised + score.to(normalised.dtype) / 1e6, torch.zeros_like(score)
    order = normalised.argsort(dim=1, descending=True, stable=True)
    first = ((rank << 60) + score).gather(1, order)
    order = order.gather(1, first.argsort(dim=1, descending=True, stable=True))[:, : pool.rank.shape[1]]
    return FinishedPool(**{name: gather_rows(values, order) for name, values in both.items()})


def extend_trails(trail: Tensor, row: Tensor, at: Tensor, token: Tensor) -> Tensor:
    """The trails of these rows, (batch, n, step), with one more token at step `at`; row, token: (batch, n)."""
    return gather_rows(trail, row).scatter_(2, at.expand(*token.shape, 1), (token + (row << _ROW))[..., None])


def trail_tokens(trail: Tensor) -> Tensor:
    return trail & ((1 << _ROW) - 1)


def trail_rows(trail: Tensor) -> Tensor:
    return trail >> _ROW
