"""The finished hypotheses of every sentence, best first."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from redraft.decode.progress import take

CUT, ENDED = 1, 2  # ranks; 0 is an empty place


@dataclass(frozen=True, eq=False)
class Pool:
    """Up to `beams` hypotheses for each sentence."""

    rank: Tensor  # (batch, beam) ENDED before CUT before empty
    truncated: Tensor  # (batch, beam)
    score: Tensor  # (batch, beam) E
    likelihood: Tensor  # (batch, beam) log-probability / length ** penalty
    log_prob: Tensor  # (batch, beam)
    length: Tensor  # (batch, beam) tokens, the end included
    tokens: Tensor  # (batch, beam, step)
    lineage: Tensor  # (batch, beam, step) the row each token was chosen from
    done: Tensor  # (batch, beam, clause) as in Clauses
    violated: Tensor  # (batch, beam, clause)

    def full(self) -> Tensor:
        return (self.rank == ENDED).all(1)

    def best_score(self) -> Tensor:
        return self.score.amax(1)

    def worst_likelihood(self) -> Tensor:
        return self.likelihood.amin(1)


def empty_pool(batch: int, beams: int, room: int, clauses: int, like: Tensor) -> Pool:
    def zeros(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
        return torch.zeros(batch, beams, *shape, dtype=dtype, device=like.device)

    nothing = torch.full((batch, beams), -torch.inf, dtype=like.dtype, device=like.device)
    return Pool(
        rank=zeros(),
        truncated=zeros(dtype=torch.bool),
        score=zeros(),
        likelihood=nothing,
        log_prob=nothing,
        length=zeros(),
        tokens=zeros(room),
        lineage=zeros(room),
        done=zeros(clauses, dtype=torch.bool),
        violated=zeros(clauses, dtype=torch.bool),
    )


def merge(pool: Pool, new: Pool, by_sum: bool) -> Pool:
    """Keep the best; ties go to those that were there before."""
    both = {f.name: torch.cat([getattr(pool, f.name), getattr(new, f.name)], 1) for f in fields(Pool)}
    score, likelihood, rank = both["score"], both["likelihood"], both["rank"]
    if by_sum:
        likelihood, score = likelihood + score.to(likelihood.dtype) / 1e6, torch.zeros_like(score)
    order = likelihood.argsort(dim=1, descending=True, stable=True)
    first = ((rank << 60) + score).gather(1, order)
    order = order.gather(1, first.argsort(dim=1, descending=True, stable=True))[:, : pool.rank.shape[1]]
    return Pool(**{name: take(values, order) for name, values in both.items()})
