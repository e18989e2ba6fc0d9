"""One step of the search for a whole batch: forbid, expand, score, select, finish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from redraft.constrain.clauses import CompiledPlan
from redraft.constrain.packed_plans import PackedPlans, pack_plans
from redraft.decode.config import DecodeConfig
from redraft.decode.edit_progress import (
    Lookahead,
    Progress,
    ScoredNodes,
    SourceOrder,
    advance,
    gather_rows,
    initial_progress,
    look_ahead,
    score_nodes,
)
from redraft.decode.edit_weights import delta_of, is_plain, price_of
from redraft.decode.expand import (
    Siblings,
    admit_unmet,
    banned_tokens,
    banned_words,
    repeated_ngrams,
    top_tokens,
)
from redraft.decode.finished_pool import (
    CUT,
    CUT_PLAIN,
    EMPTY,
    ENDED,
    FinishedPool,
    empty_pool,
    extend_trails,
    merge_pools,
    trail_tokens,
)
from redraft.decode.length_penalty import length_powers, normalise
from redraft.decode.selection import Nodes, Selection, select_nodes
from redraft.text.words import Boundary

_NO_LIMIT = 1 << 60


@dataclass(frozen=True, eq=False)
class State:
    """All rows of all sentences. One gather by parent reorders everything that belongs to a row."""

    written: Tensor  # () tokens in every row
    trail: Tensor  # (batch, beam, step) tokens so far, each with the row it was chosen from
    log_prob: Tensor  # (batch, beam) L; -inf where there is no row
    progress: Progress | None  # None: no sentence of the batch has edits to track
    pool: FinishedPool
    finished: Tensor  # (batch,) no further step can change the sentence


@dataclass(frozen=True, eq=False)
class Step:
    """One step in full: the siblings, their scores, and the nodes that were selected."""

    siblings: Siblings
    nodes: Nodes
    scored: ScoredNodes | None
    selection: Selection
    parent: Tensor  # (batch, beam)
    token: Tensor  # (batch, beam)


Observer = Callable[[State, Step, State], None]


@dataclass(frozen=True, eq=False)
class Setup:
    """The sentences and settings of a batch as tensors."""

    plain: Tensor  # (batch,) searched as if it had no edits
    allowed: Tensor | None  # (batch,) tokens in a row's list; None: the same for all
    last: Tensor  # (batch,) number of tokens before the last step
    alpha: Tensor  # (batch,)
    delta: Tensor  # (batch,)
    ends: Tensor  # (n,) end tokens
    powers: Tensor  # (step + 1,) length ** penalty, of `length_powers`
    plans: PackedPlans | None  # None: no sentence of the batch has edits to track
    source_order: SourceOrder | None  # None: rewards count in any order


class Stepper:
    """The settings and plans of one batch, and the step that adds one token to its rows."""

    def __init__(
        self,
        plans: Sequence[CompiledPlan],
        config: DecodeConfig,
        max_tokens: Sequence[int],
        end_tokens: Sequence[int],
        forced_end: int | None = None,
    ) -> None:
        self.plans = plans
        self.config = config
        self.max_tokens = list(max_tokens)
        self.end_tokens = list(end_tokens)
        self.forced_end = forced_end
        self.plain = [is_plain(plan, config) for plan in plans]
        self.bans = config.method in ("negative", "neurologic") or (config.method == "edit" and config.forbid)
        self.tracks_edits = config.method != "beam" and any(plan.clauses for plan in plans)
        self.adds_unmet = config.method == "neurologic" or (config.method == "edit" and config.admit_unmet)
        self.gap = config.admit_gap if config.method == "edit" else float("inf")
        self.widths = [config.beams + len(self.end_tokens) if plain else config.row_width for plain in self.plain]
        self.columns = max(self.widths)

    def set_up(self, log_prob: Tensor, *, round_up_sizes: bool = False) -> None:
        """Make the tensors; log_prob gives device, type and vocabulary size.

        `round_up_sizes`: batches of similar size get equal shapes.
        """
        device, config = log_prob.device, self.config
        self.vocab = log_prob.shape[2]
        self.room = max(self.max_tokens)
        if round_up_sizes:
            self.room = -(-self.room // 8) * 8

        def per_sentence(values: Sequence[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.int64, device=device)

        delta = delta_of(config)
        plans = (
            pack_plans(self.plans, price_of(config), self.vocab, device, round_up_sizes=round_up_sizes)
            if self.tracks_edits
            else None
        )
        self.setup = Setup(
            plain=per_sentence([int(plain) for plain in self.plain]).bool(),
            allowed=per_sentence(self.widths) if len(set(self.widths)) > 1 else None,
            last=per_sentence([limit - 1 for limit in self.max_tokens]),
            alpha=per_sentence([_NO_LIMIT if plain else config.alpha for plain in self.plain]),
            delta=per_sentence([_NO_LIMIT if plain or delta is None else delta for plain in self.plain]),
            ends=per_sentence(self.end_tokens),
            powers=length_powers(self.room, config.length_penalty, log_prob),
            plans=plans,
            source_order=SourceOrder.of(plans, config.ahead)
            if plans is not None and config.method == "edit" and config.ahead is not None
            else None,
        )

    def initial_state(self, log_prob: Tensor) -> State:
        """Empty rows; only the first of each sentence is active."""
        device, plans = log_prob.device, self.setup.plans
        batch, beams = len(self.plans), self.config.beams
        rows = torch.full((batch, beams), -torch.inf, dtype=log_prob.dtype, device=device)
        rows[:, 0] = 0
        return State(
            written=torch.zeros((), dtype=torch.int64, device=device),
            trail=torch.zeros(batch, beams, self.room, dtype=torch.int64, device=device),
            log_prob=rows,
            progress=initial_progress(plans, beams) if plans is not None else None,
            pool=empty_pool(batch, beams, self.room, plans.clauses if plans is not None else 0, rows),
            finished=torch.zeros(batch, dtype=torch.bool, device=device),
        )

    def step(self, state: State, log_prob: Tensor, *, may_cut: bool) -> tuple[State, Step]:
        """Expand, score, prune, group and select.

        `may_cut`: a sentence may reach its maximum length in this step.
        """
        last = state.written == self.setup.last
        log_prob = self._forbid(state, log_prob, last)
        siblings = self._expand(state, log_prob)
        nodes, scored, lookahead = self._score(state, siblings, last)
        selection = select_nodes(
            nodes, self.config.beams, (1 + len(self.end_tokens)) * self.config.beams, self.setup.alpha, self.setup.delta
        )
        columns = siblings.token.shape[2]
        node = selection.node.gather(1, selection.rows)
        parent, column = node // columns, node % columns
        token = siblings.token.flatten(1).gather(1, node)
        row_log_prob = torch.where(selection.row_valid, nodes.log_prob.gather(1, node), -torch.inf)
        pool = self._finish(state, siblings, nodes, scored, selection, last, may_cut)
        moved = State(
            written=state.written + 1,
            trail=extend_trails(state.trail, parent, state.written, token),
            log_prob=row_log_prob,
            progress=self._advance(state, lookahead, scored, parent, column, token),
            pool=pool,
            finished=state.finished,
        )
        finished = state.finished | last | self._stops(moved, nodes, scored, node, selection.row_valid)
        # The token of an empty row may be the id past the vocabulary, which the model cannot embed.
        token = torch.where(selection.row_valid, token, self.setup.ends[0])
        return replace(moved, finished=finished), Step(siblings, nodes, scored, selection, parent, token)

    def _forbid(self, state: State, log_prob: Tensor, last: Tensor) -> Tensor:
        config = self.config
        if config.min_tokens:
            early = torch.where(state.written < config.min_tokens, -torch.inf, 0.0).to(log_prob.dtype)
            log_prob = log_prob.index_add(
                2, self.setup.ends, early.expand(*log_prob.shape[:2], self.setup.ends.numel())
            )
        if config.no_repeat_ngram:
            again = repeated_ngrams(trail_tokens(state.trail), state.written, config.no_repeat_ngram, self.vocab)
            log_prob = log_prob.masked_fill(again.index_fill(2, self.setup.ends, False), -torch.inf)
        if self.bans and self.setup.plans is not None and state.progress is not None:
            if config.ban == "word":
                banned = banned_words(state.progress, self.setup.plans, self.vocab, self.setup.ends, last)
            else:
                banned = banned_tokens(state.progress, self.setup.plans, self.vocab, last)
            log_prob = log_prob.masked_fill(banned, -torch.inf)
        if self.forced_end is not None:  # some models (BART) must end with their end token; transformers scores it 0
            only = torch.full_like(log_prob, -torch.inf)
            only[..., self.forced_end] = 0
            log_prob = torch.where(last[:, None, None], only, log_prob)
        return log_prob

    def _expand(self, state: State, log_prob: Tensor) -> Siblings:
        siblings = top_tokens(log_prob, self.columns, self.setup.allowed)
        if self.adds_unmet and self.setup.plans is not None and state.progress is not None:
            siblings = admit_unmet(siblings, log_prob, state.progress, self.setup.plans, self.gap, self.config.alpha)
        return siblings

    def _score(
        self, state: State, siblings: Siblings, last: Tensor
    ) -> tuple[Nodes, ScoredNodes | None, Lookahead | None]:
        log_prob = (state.log_prob[..., None] + siblings.log_prob).flatten(1)
        is_end = (siblings.token[..., None] == self.setup.ends).any(-1)
        if self.setup.plans is None or state.progress is None:
            zero = torch.zeros(log_prob.shape, dtype=torch.int64, device=log_prob.device)
            end_forbidden = torch.zeros_like(is_end).flatten(1)
            return Nodes(log_prob, is_end.flatten(1), end_forbidden, zero, zero, zero[..., None]), None, None
        lookahead = look_ahead(state.progress, self.setup.plans, siblings.token, siblings.admitted)
        boundary_state = state.progress.boundary_state[..., None]
        scored = score_nodes(
            state.progress,
            self.setup.plans,
            lookahead,
            siblings.token,
            torch.where(is_end, int(Boundary.YES), self.setup.plans.tables.boundary[boundary_state, siblings.token]),
            self.setup.plans.tables.next_state[boundary_state, siblings.token],
            is_end | last[:, None, None],
            offers_matter=self.config.method == "edit" and self.config.strict,
            penalties=self.config.method == "edit",
            group_deletions=self.config.method == "edit" and self.config.group_by == "all",
            source_order=self.setup.source_order,
            begun=self.config.method == "edit" and self.config.begun,
        )
        may_end = self._may_end(siblings, scored, self.setup.plans)
        end_forbidden = torch.zeros_like(is_end)
        if may_end is not None:
            end_forbidden = is_end & ~may_end & ~self.setup.plain[:, None, None]
            if self.forced_end is not None:  # no other token is possible there
                end_forbidden = end_forbidden & ~last[:, None, None]
        plain = self.setup.plain[:, None]  # `negative` tracks its phrases, but neither scores nor groups by them
        return (
            Nodes(
                log_prob,
                is_end.flatten(1),
                end_forbidden.flatten(1),
                torch.where(plain, 0, scored.score.flatten(1)),
                torch.where(plain, 0, scored.score_plus.flatten(1)),
                torch.where(plain[..., None], 0, scored.key.flatten(1, 2)),
                None if scored.out_of_order is None else torch.where(plain, 0, scored.out_of_order.flatten(1)),
            ),
            scored,
            lookahead,
        )

    def _may_end(self, siblings: Siblings, scored: ScoredNodes, plans: PackedPlans) -> Tensor | None:
        """(batch, beam, column) whether a text may end here; None: anywhere."""
        end = "either" if self.config.method == "neurologic" else self.config.end
        if end == "always":
            return None
        if end == "met":
            return scored.met(plans)
        return siblings.likeliest() | scored.met(plans) if end == "either" else siblings.likeliest()

    def _finish(
        self,
        state: State,
        siblings: Siblings,
        nodes: Nodes,
        scored: ScoredNodes | None,
        selection: Selection,
        last: Tensor,
        may_cut: bool,
    ) -> FinishedPool:
        """The pool with the ends among the first `beams` places and, at the last step, with the texts that are cut."""
        beams, columns = self.config.beams, siblings.token.shape[2]
        node = selection.node[:, :beams]
        valid, is_end = selection.valid[:, :beams], selection.is_end[:, :beams]
        rank = torch.where(valid & is_end, ENDED, EMPTY)
        if may_cut:
            cut_plain = valid & ~is_end & (last & self.setup.plain)[:, None]
            cut = selection.row_valid & (last & ~self.setup.plain)[:, None]
            node = torch.cat([node, selection.node.gather(1, selection.rows)], 1)
            rank = torch.cat([torch.where(cut_plain, CUT_PLAIN, rank), torch.where(cut, CUT, EMPTY)], 1)
        rank = rank.masked_fill(state.finished[:, None], EMPTY)
        log_prob = nodes.log_prob.gather(1, node).masked_fill(rank == EMPTY, -torch.inf)
        length = state.written + 1
        if scored is not None:
            satisfied = scored.clauses.done & ~scored.clauses.violated
            satisfied = gather_rows(satisfied.flatten(1, 2), node)
        else:
            satisfied = torch.zeros(*node.shape, 0, dtype=torch.bool, device=node.device)
        new = FinishedPool(
            rank=rank,
            score=nodes.score.gather(1, node).masked_fill(rank == EMPTY, 0),
            normalised=normalise(log_prob, length, self.setup.powers),
            log_prob=log_prob,
            length=length.expand(node.shape),
            trail=extend_trails(state.trail, node // columns, state.written, siblings.token.flatten(1).gather(1, node)),
            satisfied=satisfied,
        )
        return merge_pools(state.pool, new, self.config.choose == "sum" and self.config.method == "edit")

    def _advance(
        self,
        state: State,
        lookahead: Lookahead | None,
        scored: ScoredNodes | None,
        parent: Tensor,
        column: Tensor,
        token: Tensor,
    ) -> Progress | None:
        if state.progress is None or self.setup.plans is None or lookahead is None or scored is None:
            return None
        return advance(state.progress, self.setup.plans, lookahead, scored, parent, column, token)

    def _stops(self, state: State, nodes: Nodes, scored: ScoredNodes | None, node: Tensor, row_valid: Tensor) -> Tensor:
        """(batch,) whether no row can improve the sentence any more."""
        config, pool = self.config, state.pool
        best_row, powers = state.log_prob.amax(1), self.setup.powers
        now = normalise(best_row, state.written, powers)
        full, worst = pool.full(), pool.worst_normalised()
        if config.early_stopping == "never" and config.length_penalty > 0:
            bound = normalise(best_row, self.setup.last + 1, powers)
        else:
            bound = now
        plain = full & (bound <= worst) if config.early_stopping is not True else full
        score_plus = nodes.score_plus
        if config.stop == "exact" and scored is not None and self.setup.plans is not None:
            score_plus = score_plus + scored.remaining_value(self.setup.plans).flatten(1)
        best_score_plus = torch.where(row_valid, score_plus.gather(1, node), -_NO_LIMIT).amax(1)
        edit = full & (best_score_plus <= pool.best_score()) & (now <= worst)
        return ~row_valid.any(1) | torch.where(self.setup.plain, plain, edit)
