"""Step 1: the nodes of a step. Ban forbidden tokens, then take the likeliest tokens of each row."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from redraft.constrain.packed_plans import PackedPlans
from redraft.decode.edit_progress import Progress, look_ahead, ready_positions, score_nodes
from redraft.text.words import Boundary

_BLOCK = 128
_FEW_TOKENS = 4096  # up to here a full stable sort is cheap, and breaks ties alike on every device


@dataclass(frozen=True, eq=False)
class Siblings:
    """The list of next tokens of each row, sorted by id; a short list is padded with the vocabulary size as id."""

    token: Tensor  # (batch, beam, column)
    log_prob: Tensor  # (batch, beam, column) of the token alone; -inf in the padding
    admitted: Tensor | None = None  # (batch, beam, distinct) tokens of the plan that were added, as nodes or not

    def likeliest(self) -> Tensor:
        """(batch, beam, column) whether the token is the likeliest of its row; of equal ones, the lower id."""
        best = (self.log_prob == self.log_prob.amax(-1, keepdim=True)) & (self.log_prob > -torch.inf)
        return best & (best.cumsum(-1) == 1)


def top_tokens(log_prob: Tensor, width: int, allowed: Tensor | None) -> Siblings:
    """The `width` likeliest tokens of each row, ties by lower id; allowed: (batch,) how many a sentence may use."""
    vocab = log_prob.shape[-1]
    width = min(width, vocab)
    if vocab <= _FEW_TOKENS:
        value, token = log_prob.sort(dim=-1, descending=True, stable=True)
        value, token = value[..., :width], token[..., :width]
    else:
        value, token = _top_of_many(log_prob, width, ordered=allowed is not None)
    if allowed is not None:
        value = value.masked_fill(torch.arange(width, device=value.device) >= allowed[:, None, None], -torch.inf)
    token, order = torch.where(value > -torch.inf, token, vocab).sort(dim=-1)
    return Siblings(token, value.gather(-1, order))


def _top_of_many(log_prob: Tensor, width: int, *, ordered: bool) -> tuple[Tensor, Tensor]:
    """topk with ties broken by lower id. Of a tie at the end of the list, CUDA keeps the lowest ids, the CPU any.

    `ordered`: ties inside the list matter too, because a sentence may use only the first part of the list.
    """
    if log_prob.device.type == "cpu":
        value, token = log_prob.topk(width + 1)
        tied = (value[..., -1] == value[..., -2]) & (value[..., -1] > -torch.inf)
        if tied.any():
            sorted_value, sorted_token = log_prob[tied].sort(dim=-1, descending=True, stable=True)
            value[tied], token[tied] = sorted_value[:, : width + 1], sorted_token[:, : width + 1]
        value, token = value[..., :width], token[..., :width]
    else:
        value, token = _top_by_blocks(log_prob, width)
    if ordered:
        token, by_id = token.sort(dim=-1)
        value, by_value = value.gather(-1, by_id).sort(dim=-1, descending=True, stable=True)
        token = token.gather(-1, by_value)
    return value, token


def _top_by_blocks(log_prob: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """topk in two steps: the best tokens can only be in the blocks with the highest maxima; the rest is read only once.

    Takes a third of the time of one topk over 50,000 tokens on an H200; no faster on a CPU.
    """
    vocab = log_prob.shape[-1]
    blocks = vocab // _BLOCK
    if blocks <= 2 * width:
        value, token = log_prob.topk(width)
        return value, token
    whole = log_prob[..., : blocks * _BLOCK].view(*log_prob.shape[:-1], blocks, _BLOCK)
    best = whole.amax(-1).topk(width).indices.sort(dim=-1).values  # in order of id again, for ties
    inside = torch.arange(_BLOCK, device=log_prob.device)
    token = (best[..., None] * _BLOCK + inside).flatten(-2)
    rest = torch.arange(blocks * _BLOCK, vocab, device=log_prob.device).expand(*token.shape[:-1], -1)
    token = torch.cat([token, rest], -1)
    value, place = log_prob.gather(-1, token).topk(width)
    return value, token.gather(-1, place)


def admit_unmet(
    siblings: Siblings, log_prob: Tensor, progress: Progress, plans: PackedPlans, gap: float, most: int
) -> Siblings:
    """Add the next tokens of unmet insertions and targets whose log-probability is within `gap` of the row's best.

    Only the `most` likeliest of them become nodes of a row: pruning keeps α nodes of a sentence.
    """
    batch, beams, vocab = log_prob.shape
    state = progress.clauses
    met = torch.where(
        plans.insert[:, None],
        state.count + state.pending >= plans.threshold[:, None],
        state.done | (state.pending & state.pending_offered),
    )
    unmet = (plans.insert | plans.target)[:, None] & ~met
    wanted = torch.nn.functional.pad(unmet, (0, 1)).gather(2, plans.clause_of[:, None].expand(batch, beams, -1))
    wanted &= ready_positions(progress, plans)
    distinct = plans.unique.shape[1]
    index = torch.where(wanted, plans.unique_of[:, None], distinct)
    unique = torch.zeros(batch, beams, distinct + 1, dtype=torch.bool, device=log_prob.device)
    unique = unique.scatter_(2, index, True)[..., :-1]

    token = plans.unique[:, None].expand(batch, beams, -1).contiguous()
    value = log_prob.gather(2, token.clamp(min=0))
    near = value >= log_prob.amax(-1, keepdim=True) - gap
    place = torch.searchsorted(siblings.token, token).clamp_(max=siblings.token.shape[2] - 1)
    listed = siblings.token.gather(2, place) == token
    usable = unique & near & (value > -torch.inf) & ~listed & (token >= 0)
    admitted = usable
    value = torch.where(usable, value, -torch.inf)
    if distinct > most:
        value, kept = value.topk(most, dim=-1)
        token, usable = token.gather(2, kept), usable.gather(2, kept)
    token = torch.where(usable, token, vocab)
    joined, order = torch.cat([siblings.token, token], -1).sort(dim=-1, stable=True)
    log_probs = torch.cat([siblings.log_prob, value], -1).gather(2, order)
    return Siblings(joined, log_probs, admitted)


def banned_words(progress: Progress, plans: PackedPlans, vocab: int, end_tokens: Tensor, last: Tensor) -> Tensor:
    """(batch, beam, vocab) tokens that would settle a deletion or source as a whole word.

    The effect of a token depends on whether the plan contains it and, if not, on whether it ends the word before it: so
    the tokens of the plan are judged one by one, and all others by three stand-ins, with a fourth for the end.
    On the last step (last: (batch,)) every token settles what it completes.
    """
    batch, beams, _ = progress.active.shape
    device = plans.tokens.device
    distinct = plans.unique.shape[1]
    nothing = torch.full((batch, beams, 4), -2, dtype=torch.int64, device=device)
    token = torch.cat([plans.unique[:, None].expand(batch, beams, -1), nothing], -1)
    stand_in = torch.arange(4, dtype=torch.uint8, device=device)  # NO, YES, LATER and, for the end, YES again
    stand_in = torch.where(stand_in > Boundary.UNDECIDED, int(Boundary.YES), stand_in).to(torch.uint8)
    boundary_state = progress.boundary_state[..., None]
    known = plans.unique[:, None].clamp(min=0).expand(batch, beams, -1)
    boundary = torch.cat([plans.tables.boundary[boundary_state, known], stand_in.expand(batch, beams, 4)], -1)
    after = torch.cat([plans.tables.next_state[boundary_state, known], torch.zeros_like(nothing)], -1)
    final = last[:, None, None].repeat(1, beams, token.shape[2])
    final[..., -1] = True
    lookahead = look_ahead(progress, plans, nothing)
    own = torch.arange(distinct, device=device).expand(batch, beams, distinct)
    lookahead = replace(lookahead, column=torch.where(plans.unique[:, None] >= 0, own, token.shape[2]))
    scored = score_nodes(
        progress, plans, lookahead, token, boundary, after, final,
        offers_matter=False, penalties=True, group_deletions=False,
    )  # fmt: skip
    bad = scored.charges.sum(-1) > 0
    row_boundary = plans.tables.boundary[progress.boundary_state][..., :vocab]
    mask = torch.zeros(batch, beams, vocab + 1, dtype=torch.bool, device=device)
    for verdict in (Boundary.NO, Boundary.YES, Boundary.UNDECIDED):
        mask[..., :vocab] |= (row_boundary == verdict) & bad[..., distinct + verdict, None]
    mask.scatter_(
        2, torch.where(plans.unique < 0, vocab, plans.unique)[:, None].expand(batch, beams, -1), bad[..., :distinct]
    )
    mask.scatter_(2, end_tokens.expand(batch, beams, -1), bad[..., -1:].expand(batch, beams, end_tokens.numel()))
    return mask[..., :vocab]


def banned_tokens(progress: Progress, plans: PackedPlans, vocab: int, last: Tensor) -> Tensor:
    """(batch, beam, vocab) last tokens of deletions and sources, whether the word continues or not (Kajiwara 2019)."""
    batch, beams, _ = progress.active.shape
    ready = torch.nn.functional.pad(ready_positions(progress, plans), (0, 1))
    complete = ready.gather(2, plans.finals[:, None].expand(batch, beams, -1))  # padded variants have no clause
    index = plans.final_clause[:, None].expand(batch, beams, -1)

    def of_variant(by_clause: Tensor) -> Tensor:
        return torch.nn.functional.pad(by_clause.expand(batch, beams, -1), (0, 1)).gather(2, index)

    # A pending occurrence counts unless this token continues its word ("remain", then "ed").
    continues = (
        plans.tables.boundary[progress.boundary_state[..., None], plans.final_tokens[:, None].clamp(min=0)]
        == Boundary.NO
    )
    earlier = of_variant(progress.clauses.count) + (of_variant(progress.clauses.pending) & ~continues)
    banned = of_variant((plans.delete | plans.source)[:, None])
    complete = complete & banned & (earlier + 1 > of_variant(plans.threshold[:, None]))
    if plans.nested is not None:
        nest = plans.nested
        unfinished = torch.where(last[:, None, None], plans.positions, nest.cover[:, :, 0])
        place = torch.cat([unfinished, nest.final[:, :, 0]], -1)  # (batch, inner, n), at age 0
        wanted = torch.nn.functional.pad(plans.tokens, (0, 1), value=-1).gather(1, place.flatten(1)).view_as(place)
        reached = ready.gather(2, place.flatten(1)[:, None].expand(batch, beams, -1)).view(
            batch, beams, *place.shape[1:]
        )
        same = (nest.clause[:, :, None, None] == plans.final_clause[:, None, None]) & (
            wanted[..., None] == plans.final_tokens[:, None, None]
        )
        complete = complete & ~(reached[..., None] & same[:, None]).any(3).any(2)
    mask = torch.zeros(batch, beams, vocab + 1, dtype=torch.bool, device=ready.device)
    token = torch.where(complete & (plans.final_tokens >= 0)[:, None], plans.final_tokens[:, None], vocab)
    return mask.scatter_(2, token, True)[..., :vocab]


def repeated_ngrams(tokens: Tensor, written: Tensor, size: int, vocab: int) -> Tensor:
    """(batch, beam, vocab) tokens that would repeat an n-gram of this size; written: number of tokens so far."""
    batch, beams, room = tokens.shape
    mask = torch.zeros(batch, beams, vocab + 1, dtype=torch.bool, device=tokens.device)
    if room < size:
        return mask[..., :vocab]
    windows = tokens.unfold(2, size, 1)  # (batch, beam, start, size)
    last = (written - (size - 1) + torch.arange(size - 1, device=tokens.device)).clamp(min=0)
    tip = tokens[..., last]  # (batch, beam, size - 1)
    start = torch.arange(windows.shape[2], device=tokens.device)
    again = (windows[..., :-1] == tip[:, :, None]).all(-1) & (start + size <= written)
    return mask.scatter_(2, torch.where(again, windows[..., -1], vocab), True)[..., :vocab]
