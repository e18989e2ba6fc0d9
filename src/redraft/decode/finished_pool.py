"""The finished hypotheses of every sentence, best first."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from redraft.decode.edit_progress import take

# Ranks. What is cut at the maximum length ranks below every ended text, but for sentences searched as transformers
# does, where it ranks beside them.
EMPTY, CUT, CUT_PLAIN, ENDED = range(4)

# A trail keeps the token of each step and the row it was chosen from in one number, so that both move by one gather.
_ROW = 32


@dataclass(frozen=True, eq=False)
class FinishedPool:
    """Up to `beams` hypotheses for each sentence."""

    rank: Tensor  # (batch, beam)
    score: Tensor  # (batch, beam) E
    likelihood: Tensor  # (batch, beam) log-probability / length ** penalty
    log_prob: Tensor  # (batch, beam)
    length: Tensor  # (batch, beam) tokens, the end included
    trail: Tensor  # (batch, beam, step)
    carried: Tensor  # (batch, beam, clause) insertion met, target rewarded, deletion avoided and not violated

    def full(self) -> Tensor:
        return (self.rank >= CUT_PLAIN).all(1)

    def best_score(self) -> Tensor:
        return self.score.amax(1)

    def worst_likelihood(self) -> Tensor:
        return self.likelihood.amin(1)


def empty_pool(batch: int, beams: int, room: int, clauses: int, like: Tensor) -> FinishedPool:
    def zeros(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
        return torch.zeros(batch, beams, *shape, dtype=dtype, device=like.device)

    nothing = torch.full((batch, beams), -torch.inf, dtype=like.dtype, device=like.device)
    return FinishedPool(
        rank=zeros(),
        score=zeros(),
        likelihood=nothing,
        log_prob=nothing,
        length=zeros(),
        trail=zeros(room),
        carried=zeros(clauses, dtype=torch.bool),
    )


def merge(pool: FinishedPool, new: FinishedPool, by_sum: bool) -> FinishedPool:
    """Keep the best; ties go to those that were there before."""
    both = {f.name: torch.cat([getattr(pool, f.name), getattr(new, f.name)], 1) for f in fields(FinishedPool)}
    score, likelihood, rank = both["score"], both["likelihood"], both["rank"].clamp(max=CUT_PLAIN)
    if by_sum:
        likelihood, score = likelihood + score.to(likelihood.dtype) / 1e6, torch.zeros_like(score)
    order = likelihood.argsort(dim=1, descending=True, stable=True)
    first = ((rank << 60) + score).gather(1, order)
    order = order.gather(1, first.argsort(dim=1, descending=True, stable=True))[:, : pool.rank.shape[1]]
    return FinishedPool(**{name: take(values, order) for name, values in both.items()})


def go_on(trail: Tensor, row: Tensor, at: Tensor, token: Tensor) -> Tensor:
    """Trails (batch, beam, step) of these rows with one more token at step `at`; row, token: (batch, n)."""
    return take(trail, row).scatter_(2, at.expand(*token.shape, 1), (token + (row << _ROW))[..., None])


def tokens_of(trail: Tensor) -> Tensor:
    return trail & ((1 << _ROW) - 1)


def rows_of(trail: Tensor) -> Tensor:
    return trail >> _ROW
