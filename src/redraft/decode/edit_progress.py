"""Edit progress of every hypothesis, and how one more token changes it (docs/search.md, "Scores")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from redraft.constrain.packed_plans import NestedPhrases, PackedPlans
from redraft.text.words import Boundary


@dataclass(frozen=True, eq=False)
class Progress:
    """Edit progress of every row. Axes position, clause, inner and age are those of PackedPlans."""

    boundary_state: Tensor  # (batch, beam) what the text ends with
    active: Tensor  # (batch, beam, position) the row ends with the tokens of this variant up to here
    offered: Tensor  # (batch, beam, position) … and the other side of the edit was on offer
    score: Tensor  # (batch, beam) E in units of 1e-6
    clauses: ClauseProgress


@dataclass(frozen=True, eq=False)
class ClauseProgress:
    """Progress of each clause, of rows or of nodes (… stands for their leading axes)."""

    count: Tensor  # (…, clause) settled occurrences
    done: Tensor  # (…, clause) insertion met, target rewarded, deletion avoided
    violated: Tensor  # (…, clause) deletion written
    pending: Tensor  # (…, clause) an occurrence whose word may still continue
    pending_offered: Tensor  # (…, clause)
    pending_age: Tensor | None  # (…, clause) tokens since it ended; only where phrases nest
    waiting: Tensor | None  # (…, inner, age) a penalty that waits: a longer phrase may still cover its occurrence
    waiting_offered: Tensor | None  # (…, inner, age) … and it counts in E; bans apply without an offer
    held: Tensor | None  # (…, inner, age) a longer phrase around this place is complete, but its word may continue

    def gather(self, index: Tensor) -> ClauseProgress:
        """The rows with these indices along the second axis; index: (batch, n)."""
        return self._map(lambda values: gather_rows(values, index))

    def flatten_nodes(self) -> ClauseProgress:
        """(batch, beam, column, …) as (batch, node, …)."""
        return self._map(lambda values: values.flatten(1, 2))

    def _map(self, change: Callable[[Tensor], Tensor]) -> ClauseProgress:
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        moved: dict[str, Any] = {name: None if values is None else change(values) for name, values in found.items()}
        return ClauseProgress(**moved)


@dataclass(frozen=True, eq=False)
class Lookahead:
    """What the siblings of a row offer: which phrases a token could advance, and which alternatives are on offer."""

    ready: Tensor  # (batch, beam, position) the token at this position would advance its variant
    column: Tensor  # (batch, beam, distinct) the column of each token of the plan; the number of columns if absent
    offered: Tensor  # (batch, beam, position) the other side is on offer if the variant advances to here
    late: Tensor | None  # (batch, beam, clause) a longer variant of the other side is on offer after a pending one
    avoidable: Tensor  # (batch, beam, clause) the next token of a deletion is among the siblings …
    avoid_low: Tensor  # (batch, beam, clause) … the lowest such token
    avoid_high: Tensor  # (batch, beam, clause) … and the highest


@dataclass(frozen=True, eq=False)
class ScoredNodes:
    """The scores of every node of a step, and the progress it would have as a row."""

    boundary_state: Tensor  # (batch, beam, column)
    score: Tensor  # (batch, beam, column) E
    score_plus: Tensor  # (batch, beam, column) E⁺
    out_of_order: Tensor | None  # (batch, beam, column) rewards of S⁺ out of source order; None: order does not matter
    key: Tensor  # (batch, beam, column, word) S⁺ as bits
    satisfied_plus: Tensor  # (batch, beam, column, clause) insertions and targets in S⁺
    charges: Tensor  # (batch, beam, column, clause) penalties charged by this token
    clauses: ClauseProgress  # leading axes (batch, beam, column)

    def met(self, plans: PackedPlans) -> Tensor:
        """(batch, beam, column) whether every insertion and substitution is in S⁺."""
        return (self.satisfied_plus | ~(plans.insert | plans.target)[:, None, None]).all(-1)

    def remaining_value(self, plans: PackedPlans) -> Tensor:
        """(batch, beam, column) the rewards that unmet edits could still add."""
        return (((plans.insert | plans.target)[:, None, None] & ~self.satisfied_plus) * plans.value[:, None, None]).sum(
            -1
        )


@dataclass(frozen=True, eq=False)
class SourceOrder:
    """The order of insertions and targets in the source, and how many earlier ones may be unmet."""

    before: Tensor  # (batch, clause, clause) 1 where the first comes before the second in the source
    ahead: Tensor  # ()

    @classmethod
    def of(cls, plans: PackedPlans, ahead: int) -> SourceOrder:
        placed = (plans.insert | plans.target) & (plans.place >= 0)
        both = placed[:, :, None] & placed[:, None]
        before = both & (plans.place[:, :, None] < plans.place[:, None])
        return cls(before.float(), torch.tensor(ahead, device=before.device))

    def unmet_before(self, met: Tensor) -> Tensor:
        """met: (batch, beam, column, clause) → for each, how many earlier ones are not met."""
        return torch.einsum("brcx,bxy->brcy", (~met).float(), self.before)


def initial_progress(plans: PackedPlans, beams: int) -> Progress:
    """The progress of empty rows."""
    batch, positions, clauses = plans.tokens.shape[0], plans.positions, plans.clauses
    device = plans.tokens.device

    def none(*shape: int, dtype: torch.dtype = torch.bool) -> Tensor:
        return torch.zeros(batch, beams, *shape, dtype=dtype, device=device)

    nest = plans.nested
    inner = nest.final.shape[1:3] if nest is not None else ()
    return Progress(
        boundary_state=none(dtype=torch.int64),
        active=none(positions),
        offered=none(positions),
        score=none(dtype=torch.int64),
        clauses=ClauseProgress(
            count=none(clauses, dtype=torch.int32),
            done=none(clauses),
            violated=none(clauses),
            pending=none(clauses),
            pending_offered=none(clauses),
            pending_age=none(clauses, dtype=torch.int64) if nest is not None else None,
            waiting=none(*inner) if nest is not None else None,
            waiting_offered=none(*inner) if nest is not None else None,
            held=none(*inner) if nest is not None else None,
        ),
    )


def look_ahead(progress: Progress, plans: PackedPlans, siblings: Tensor, admitted: Tensor | None = None) -> Lookahead:
    """What the siblings of every row offer.

    siblings: (batch, beam, column) sorted token ids    admitted: (batch, beam, distinct)
    """
    batch, beams, columns = siblings.shape
    ready = ready_positions(progress, plans)
    asked = plans.unique[:, None].expand(batch, beams, -1).contiguous()
    place = torch.searchsorted(siblings, asked).clamp_(max=columns - 1)
    found = siblings.gather(2, place) == asked
    listed = found if admitted is None else found | admitted
    on_offer = listed.clone()
    on_offer[..., -1] = True  # stands for an alternative that is always on offer

    moved = progress.offered.roll(1, -1) & ~plans.first[:, None]
    offered = moved | _gather_last(on_offer, plans.offers).any(-1)
    late = None
    if plans.late is not None:
        ended = _gather_last(progress.active, plans.finals)
        late = ended & _gather_last(on_offer, plans.late).any(-1)
        late = _any_by_clause(late, plans.final_clause, plans.clauses)
    avoidable = ready & _gather_last(listed, plans.unique_of) & plans.deletes[:, None]
    low, high = _range_by_clause(plans.tokens[:, None].expand(batch, beams, -1), avoidable, plans)
    return Lookahead(
        ready=ready,
        column=torch.where(found, place, columns),
        offered=offered,
        late=late,
        avoidable=low <= high,
        avoid_low=low,
        avoid_high=high,
    )


def ready_positions(progress: Progress, plans: PackedPlans) -> Tensor:
    """(batch, beam, position) whether a row could continue a variant here: after its first tokens, or at its start."""
    batch, beams, positions = progress.active.shape
    boundary_state = progress.boundary_state[:, :, None, None].expand(batch, beams, positions, 1)
    starts = plans.starts[:, None].expand(batch, beams, -1, -1).gather(3, boundary_state).squeeze(3)
    return torch.where(plans.first[:, None], starts, progress.active.roll(1, -1))


def score_nodes(
    progress: Progress,
    plans: PackedPlans,
    lookahead: Lookahead,
    token: Tensor,
    boundary: Tensor,
    boundary_state: Tensor,
    final: Tensor,
    *,
    offers_matter: bool,
    penalties: bool,
    group_deletions: bool,
    source_order: SourceOrder | None = None,
    begun: bool = False,
) -> ScoredNodes:
    """Score every node: its row with one more token.

    token, boundary, boundary_state, final: (batch, beam, column); final where the token ends the text, or is the last
    that fits. The lookahead must be that of the same columns.
    """
    before = progress.clauses
    clauses = plans.clauses
    columns = token.shape[2]
    ends = _gather_last(lookahead.ready, plans.finals)
    column = _gather_last(lookahead.column, plans.unique_of.gather(1, plans.finals))
    complete = _spread(ends, column, plans.final_clause, columns, clauses)
    if offers_matter:
        on_offer = _gather_last(lookahead.offered, plans.finals)
        offered = _spread(ends & on_offer, column, plans.final_clause, columns, clauses)
        old_offered = before.pending_offered if lookahead.late is None else before.pending_offered | lookahead.late
        old_offered = old_offered[:, :, None]
    else:  # every occurrence counts as offered
        offered, old_offered = complete, before.pending[:, :, None]

    final = final[..., None]
    undecided = (boundary == Boundary.UNDECIDED)[..., None]
    yes = (boundary == Boundary.YES)[..., None] | (undecided & final)
    later = undecided & ~final
    at_once = plans.tables.always_boundary[boundary_state][..., None] | final
    if plans.waits is not None:
        waits = _spread(ends & plans.waits[:, None], column, plans.final_clause, columns, clauses)
        at_once = (at_once & ~waits) | final
    settled_old = before.pending[:, :, None] & yes
    settled_now = complete & at_once
    kept = before.pending[:, :, None] & later
    pending = kept | (complete & ~at_once)
    pending_offered = (kept & old_offered) | (offered & ~at_once)

    insert, delete, source, target = (
        x[:, None, None] for x in (plans.insert, plans.delete, plans.source, plans.target)
    )
    threshold, value = plans.threshold[:, None, None], plans.value[:, None, None]
    number_old = before.count[:, :, None] + 1
    count = before.count[:, :, None] + settled_old + settled_now
    rewarded = (insert & (count >= threshold)) | (target & ((settled_old & old_offered) | (settled_now & offered)))
    old_done = before.done[:, :, None]
    avoided = (
        delete
        & lookahead.avoidable[:, :, None]
        & ~(
            (token[..., None] == lookahead.avoid_low[:, :, None])
            & (token[..., None] == lookahead.avoid_high[:, :, None])
        )
    )
    done = old_done | rewarded | avoided

    beyond_old = settled_old & (number_old > threshold) & (delete | source)
    beyond_now = settled_now & (count > threshold) & (delete | source)
    charged_old, charged_now = beyond_old & (delete | old_offered), beyond_now & (delete | offered)
    charges = charged_old.to(torch.int32) + charged_now
    pending_age = waiting = waiting_offered = held = None
    if plans.nested is not None:
        assert before.pending_age is not None
        old_age = before.pending_age[:, :, None] + 1
        pending_age = torch.where(kept, old_age, 0)
        charges, waiting, waiting_offered, held = _defer_penalties(
            plans, plans.nested, progress, lookahead, token, boundary_state, yes, later, final,
            charges, (beyond_old, beyond_now), (charged_old, charged_now) if offers_matter else None, old_age,
        )  # fmt: skip
    violated = before.violated[:, :, None] | (delete & (charges > 0))

    satisfied_plus = (insert & (count + pending >= threshold)) | (target & (done | (pending & pending_offered)))
    if begun:
        column = _gather_last(lookahead.column, plans.unique_of)
        advanced = _spread(lookahead.ready, column, plans.clause_of, columns, clauses)
        satisfied_plus = satisfied_plus | (advanced & (insert | target) & ~final)
    change = (rewarded & ~old_done).to(torch.int64)
    if penalties:
        change = change - charges
    score = progress.score[:, :, None] + (change * value).sum(-1)
    score_plus = score + ((satisfied_plus & ~done) * value).sum(-1)
    out_of_order = None
    if source_order is not None:  # a target not chosen over its source earns nothing, but no later edit waits for it
        behind = source_order.unmet_before(satisfied_plus | (target & (count + pending > 0)))
        out_of_order = ((satisfied_plus & (behind > source_order.ahead) & ~final) * value).sum(-1)
    satisfied = satisfied_plus | (delete & done & ~violated) if group_deletions else satisfied_plus
    return ScoredNodes(
        boundary_state=boundary_state,
        score=score,
        score_plus=score_plus,
        out_of_order=out_of_order,
        key=torch.stack([(satisfied * plans.bit[:, None, None, :, w]).sum(-1) for w in range(plans.bit.shape[2])], -1),
        satisfied_plus=satisfied_plus,
        charges=charges,
        clauses=ClauseProgress(
            count=count,
            done=done,
            violated=violated,
            pending=pending,
            pending_offered=pending_offered,
            pending_age=pending_age,
            waiting=waiting,
            waiting_offered=waiting_offered,
            held=held,
        ),
    )


def advance(
    progress: Progress,
    plans: PackedPlans,
    lookahead: Lookahead,
    nodes: ScoredNodes,
    parent: Tensor,
    column: Tensor,
    token: Tensor,
) -> Progress:
    """The progress of the selected nodes as rows; parent, column, token: (batch, beam)."""
    chosen = parent * nodes.boundary_state.shape[2] + column
    moved = gather_rows(lookahead.ready, parent) & (plans.tokens[:, None] == token[..., None])
    return Progress(
        boundary_state=gather_rows(nodes.boundary_state.flatten(1, 2), chosen),
        active=moved,
        offered=moved & gather_rows(lookahead.offered, parent),
        score=gather_rows(nodes.score.flatten(1, 2), chosen),
        clauses=nodes.clauses.flatten_nodes().gather(chosen),
    )


def _defer_penalties(
    plans: PackedPlans,
    nest: NestedPhrases,
    progress: Progress,
    lookahead: Lookahead,
    token: Tensor,
    boundary_state: Tensor,
    yes: Tensor,
    later: Tensor,
    final: Tensor,
    charges: Tensor,
    beyond: tuple[Tensor, Tensor],
    charged: tuple[Tensor, Tensor] | None,
    old_age: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Defer penalties inside an unfinished longer phrase, and drop those inside a finished one.

    beyond: two (…, clause), occurrences beyond the free ones: those that were pending and are now settled, and those
        that end with this token
    charged: those of them that were offered; None: all of them count as offered, the waiting ones too

    Returns charges (…, clause), waiting, waiting_offered and held (…, inner, age).
    """
    before = progress.clauses
    assert before.waiting is not None
    assert before.waiting_offered is not None
    assert before.held is not None
    ages = nest.final.shape[2]
    real = (nest.clause < plans.clauses)[:, None, None]
    clause = nest.clause.clamp(max=plans.clauses - 1)[:, None, None]

    def of_inner(by_clause: Tensor) -> Tensor:
        shape = (*token.shape, clause.shape[-1])
        return by_clause.expand(*token.shape, plans.clauses).gather(3, clause.expand(shape)) & real

    at_age = torch.arange(ages, device=token.device)
    age = old_age.expand(*token.shape, plans.clauses).gather(3, clause.expand(*token.shape, -1)).clamp(max=ages - 1)

    def due(waiting: Tensor, old: Tensor, now: Tensor) -> Tensor:
        """(batch, beam, column, inner, age) occurrences that may be charged now; age: tokens since they ended."""
        found = _aged(waiting)[:, :, None].repeat(1, 1, token.shape[2], 1, 1)
        found |= of_inner(old)[..., None] & (age[..., None] == at_age)
        return found | (of_inner(now)[..., None] & (at_age == 0))

    def reached(where: Tensor) -> Tensor:
        """(batch, beam, column, inner, age, n) whether the longer phrase reaches this position with this token."""
        ready = _gather_last(torch.nn.functional.pad(lookahead.ready, (0, 1)), where)
        wanted = torch.nn.functional.pad(plans.tokens, (0, 1), value=-1).gather(1, where.flatten(1)).view_as(where)
        return ready[:, :, None] & (wanted[:, None, None] == token[..., None, None, None])

    whole = reached(nest.final)
    whole_now = final[..., None, None] | (
        plans.tables.always_boundary[boundary_state][..., None, None, None] & ~nest.final_waits[:, None, None]
    )
    row_whole = _gather_last(torch.nn.functional.pad(progress.active, (0, 1)), nest.final).any(-1)
    held_before = _aged(before.held | row_whole)[:, :, None]
    covered = (held_before & yes[..., None]) | (whole & whole_now).any(-1)
    hold = held_before & later[..., None]
    stay = (reached(nest.cover).any(-1) & ~final[..., None]) | (whole & ~whole_now).any(-1) | hold
    banned = due(before.waiting, *beyond) & ~covered
    paid = due(before.waiting_offered, *charged) & ~covered if charged is not None else banned
    index = nest.clause[:, None, None].expand(*token.shape, -1)
    due_now = (paid & ~stay).sum(-1, dtype=charges.dtype)
    flat = torch.nn.functional.pad(charges, (0, 1)).scatter(3, index, due_now)[..., :-1]
    return flat, banned & stay, paid & stay, hold


def _aged(by_age: Tensor) -> Tensor:
    """Ages one token later; the last age collects everything older."""
    moved = torch.nn.functional.pad(by_age[..., :-1], (1, 0))
    moved[..., -1] |= by_age[..., -1]
    return moved


def _spread(ended: Tensor, column: Tensor, clause: Tensor, columns: int, clauses: int) -> Tensor:
    """(batch, beam, variant) flags → (batch, beam, column, clause): whether a variant ends in that column."""
    batch, beams, _ = ended.shape
    place = torch.where(ended, column, columns) * (clauses + 1) + clause[:, None]
    spread = torch.zeros(batch, beams, (columns + 1) * (clauses + 1), dtype=torch.bool, device=ended.device)
    spread.scatter_(2, place, True)
    return spread.view(batch, beams, columns + 1, clauses + 1)[:, :, :columns, :clauses]


def _any_by_clause(facts: Tensor, clause: Tensor, clauses: int) -> Tensor:
    """(batch, beam, n) flags → (batch, beam, clause); clause: (batch, n) the clause of each flag."""
    index = torch.where(facts, clause[:, None], clauses)
    found = torch.zeros(*facts.shape[:2], clauses + 1, dtype=torch.bool, device=facts.device)
    return found.scatter_(2, index, True)[..., :clauses]


def _range_by_clause(tokens: Tensor, facts: Tensor, plans: PackedPlans) -> tuple[Tensor, Tensor]:
    """The lowest and the highest token of each clause where the flag is set; low > high where it is nowhere set."""
    shape = (*tokens.shape[:2], plans.clauses + 1)
    index = torch.where(facts, plans.clause_of[:, None], plans.clauses)
    low = torch.full(shape, torch.iinfo(torch.int64).max, dtype=torch.int64, device=tokens.device)
    high = torch.full(shape, -1, dtype=torch.int64, device=tokens.device)
    low.scatter_reduce_(2, index, tokens, "amin")
    high.scatter_reduce_(2, index, tokens, "amax")
    return low[..., :-1], high[..., :-1]


def _gather_last(values: Tensor, index: Tensor) -> Tensor:
    """values (batch, beam, n) at index (batch, …) → (batch, beam, …)."""
    batch, beams, _ = values.shape
    flat = index.reshape(batch, 1, -1).expand(batch, beams, -1)
    return values.gather(2, flat).view(batch, beams, *index.shape[1:])


def gather_rows(values: Tensor, index: Tensor) -> Tensor:
    """values (batch, n, …) at index (batch, m) → (batch, m, …)."""
    return values.gather(1, index.view(*index.shape, *[1] * (values.dim() - 2)).expand(*index.shape, *values.shape[2:]))
