"""Steps 3 to 5: prune the nodes of a step, group them by satisfied edits, select rows and ends."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from redraft.decode.edit_progress import gather_rows


@dataclass(frozen=True, eq=False)
class Nodes:
    """All nodes of a step, row after row; node = row · columns + column."""

    log_prob: Tensor  # (batch, node) L; -inf where there is no node
    is_end: Tensor  # (batch, node)
    end_forbidden: Tensor  # (batch, node) an end that the end rule forbids
    score: Tensor  # (batch, node) E
    score_plus: Tensor  # (batch, node) E⁺
    key: Tensor  # (batch, node, word) nodes with equal keys form a group
    out_of_order: Tensor | None = None  # (batch, node) rewards out of source order, which do not count in pruning


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected nodes in order, and the masks that led to them (for the trace)."""

    node: Tensor  # (batch, place)
    valid: Tensor  # (batch, place)
    is_end: Tensor  # (batch, place)
    rows: Tensor  # (batch, beam) the places of the next rows
    row_valid: Tensor  # (batch, beam)
    order: Tensor  # (batch, node) nodes by likelihood
    in_alpha: Tensor  # (batch, node) along `order`
    in_delta: Tensor  # (batch, node) along `order`
    round: Tensor  # (batch, node) along `order`


def select_nodes(nodes: Nodes, beams: int, places: int, alpha: Tensor, delta: Tensor) -> Selection:
    """Prune, group and select; alpha, delta: (batch,), so large for a sentence without edits that nothing is pruned."""
    usable = (nodes.log_prob > -torch.inf) & ~nodes.end_forbidden
    count = usable.shape[1]
    likelihood = torch.where(usable, nodes.log_prob, -torch.inf)
    # Nodes are ordered by row, then by token id, so a stable sort breaks ties by lower row, then by lower id.
    order = likelihood.argsort(dim=1, descending=True, stable=True)
    place = torch.arange(count, device=order.device)
    in_alpha = usable.gather(1, order) & (place < alpha[:, None])
    score, score_plus = nodes.score.gather(1, order), nodes.score_plus.gather(1, order)
    if nodes.out_of_order is not None:
        out_of_order = nodes.out_of_order.gather(1, order)
        score, score_plus = score - out_of_order, score_plus - out_of_order
    best = torch.where(in_alpha, score, _LOWEST_SCORE).amax(1, keepdim=True)
    in_delta = in_alpha & (score_plus >= best - delta[:, None])

    rounds = _rounds(gather_rows(nodes.key, order), in_delta)
    rank = torch.where(in_delta, rounds * count + place, count * count + place)
    first = rank.topk(min(places, count), dim=1, largest=False).indices
    valid = in_delta.gather(1, first)
    node = order.gather(1, first)
    is_end = nodes.is_end.gather(1, node)
    open_first = (is_end | ~valid).to(torch.int8).argsort(dim=1, stable=True)[:, :beams]
    rows = torch.nn.functional.pad(open_first, (0, beams - open_first.shape[1]))
    row_valid = (valid & ~is_end).gather(1, rows)
    row_valid = row_valid & (torch.arange(beams, device=rows.device) < open_first.shape[1])
    return Selection(node, valid, is_end, rows, row_valid, order, in_alpha, in_delta, rounds)


_LOWEST_SCORE = -(1 << 60)


def _rounds(key: Tensor, kept: Tensor) -> Tensor:
    """(batch, node) how many likelier nodes have the same key; the nodes are sorted by likelihood."""
    batch, count, words = key.shape
    key = torch.where(kept[..., None], key, -1)
    by_key = torch.arange(count, device=key.device).expand(batch, count)
    for word in range(words):  # successive stable sorts: equal keys become neighbours, likelier ones first
        again = key[..., word].gather(1, by_key).argsort(dim=1, stable=True)
        by_key = by_key.gather(1, again)
    together = gather_rows(key, by_key)
    changes = torch.ones(batch, count, dtype=torch.bool, device=key.device)
    changes[:, 1:] = (together[:, 1:] != together[:, :-1]).any(-1)
    place = torch.arange(count, device=key.device).expand(batch, count)
    start = torch.where(changes, place, 0).cummax(1).values
    return torch.empty_like(place).scatter(1, by_key, place - start)
