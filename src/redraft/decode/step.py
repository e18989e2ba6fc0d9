"""One step of the search for a whole batch: forbid, expand, score, choose, finish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from redraft.constrain.clauses import CompiledPlan
from redraft.constrain.packed_plans import PackedPlans, pack
from redraft.decode.config import DecodeConfig
from redraft.decode.edit_progress import InOrder, Progress, Scored, View, advance, begin, look, score_nodes, take
from redraft.decode.edit_weights import delta_of, is_plain, price_of
from redraft.decode.expand import (
    Lists,
    admit,
    banned_tokens,
    banned_words,
    repeated_ngrams,
    top_tokens,
)
from redraft.decode.finished_pool import CUT, CUT_PLAIN, EMPTY, ENDED, FinishedPool, empty_pool, go_on, merge, tokens_of
from redraft.decode.selection import Choice, Nodes, choose
from redraft.text.words import Closes

_NO_LIMIT = 1 << 60


@dataclass(frozen=True, eq=False)
class State:
    """All rows of all sentences. Everything a row knows moves with its parent by one gather."""

    written: Tensor  # () tokens in every row
    trail: Tensor  # (batch, beam, step) tokens so far, each with the row it was chosen from
    log_prob: Tensor  # (batch, beam) L; -inf where there is no row
    progress: Progress | None  # None: nobody in the batch has edits to follow
    pool: FinishedPool
    over: Tensor  # (batch,) nothing can change any more


@dataclass(frozen=True, eq=False)
class Step:
    """One step in full: what was offered, what it was worth, what was taken."""

    lists: Lists
    nodes: Nodes
    scored: Scored | None
    choice: Choice
    parent: Tensor  # (batch, beam)
    token: Tensor  # (batch, beam)


Observer = Callable[[State, Step, State], None]


@dataclass(frozen=True, eq=False)
class Setup:
    """What a step needs to know of its sentences and settings, as tensors."""

    plain: Tensor  # (batch,) searched as if it had no edits
    allowed: Tensor | None  # (batch,) tokens in a row's list; None: the same for all
    last: Tensor  # (batch,) tokens written before the last step
    alpha: Tensor  # (batch,)
    delta: Tensor  # (batch,)
    ends: Tensor  # (n,) end tokens
    powers: Tensor  # (step + 1,) length ** penalty
    plans: PackedPlans | None  # None: nobody in the batch has edits to follow
    in_order: InOrder | None  # None: rewards count whenever they come


class Stepper:
    """The settings and plans of one batch, and the step that moves its rows on by one token."""

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
        self.follows = config.method != "beam" and any(plan.clauses for plan in plans)
        self.admits = config.method == "neurologic" or (config.method == "edit" and config.admit_unmet)
        self.gap = config.admit_gap if config.method == "edit" else float("inf")
        self.widths = [config.beams + len(self.end_tokens) if plain else config.row_width for plain in self.plain]
        self.columns = max(self.widths)

    def set_up(self, log_prob: Tensor, *, roomy: bool = False) -> None:
        """Make the tensors; log_prob gives device, type and vocabulary. `roomy` sizes fit other batches too."""
        device, config = log_prob.device, self.config
        self.vocab = log_prob.shape[2]
        self.room = max(self.max_tokens)
        if roomy:
            self.room = -(-self.room // 8) * 8

        def per_sentence(values: Sequence[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.int64, device=device)

        delta = delta_of(config)
        plans = pack(self.plans, price_of(config), self.vocab, device, roomy=roomy) if self.follows else None
        powers = [1.0, *(float(length) ** config.length_penalty for length in range(1, self.room + 1))]
        self.setup = Setup(
            plain=per_sentence([int(plain) for plain in self.plain]).bool(),
            allowed=per_sentence(self.widths) if len(set(self.widths)) > 1 else None,
            last=per_sentence([limit - 1 for limit in self.max_tokens]),
            alpha=per_sentence([_NO_LIMIT if plain else config.alpha for plain in self.plain]),
            delta=per_sentence([_NO_LIMIT if plain or delta is None else delta for plain in self.plain]),
            ends=per_sentence(self.end_tokens),
            powers=torch.tensor(powers, dtype=torch.float64, device=device).to(log_prob.dtype),
            plans=plans,
            in_order=InOrder.of(plans, config.ahead)
            if plans is not None and config.method == "edit" and config.ahead is not None
            else None,
        )

    def begin(self, log_prob: Tensor) -> State:
        """Empty rows, of which the first of each sentence is alive."""
        device, plans = log_prob.device, self.setup.plans
        batch, beams = len(self.plans), self.config.beams
        rows = torch.full((batch, beams), -torch.inf, dtype=log_prob.dtype, device=device)
        rows[:, 0] = 0
        return State(
            written=torch.zeros((), dtype=torch.int64, device=device),
            trail=torch.zeros(batch, beams, self.room, dtype=torch.int64, device=device),
            log_prob=rows,
            progress=begin(plans, beams) if plans is not None else None,
            pool=empty_pool(batch, beams, self.room, plans.clauses if plans is not None else 0, rows),
            over=torch.zeros(batch, dtype=torch.bool, device=device),
        )

    def step(self, state: State, log_prob: Tensor, *, may_cut: bool) -> tuple[State, Step]:
        """Expand, score, prune, group, select. `may_cut`: a sentence may reach its maximum length in this step."""
        last = state.written == self.setup.last
        log_prob = self._forbid(state, log_prob, last)
        lists = self._expand(state, log_prob)
        nodes, scored, view = self._score(state, lists, last)
        choice = choose(
            nodes, self.config.beams, (1 + len(self.end_tokens)) * self.config.beams, self.setup.alpha, self.setup.delta
        )
        columns = lists.token.shape[2]
        node = choice.node.gather(1, choice.rows)
        parent, column = node // columns, node % columns
        token = lists.token.flatten(1).gather(1, node)
        row_log_prob = torch.where(choice.row_valid, nodes.log_prob.gather(1, node), -torch.inf)
        pool = self._finish(state, lists, nodes, scored, choice, last, may_cut)
        moved = State(
            written=state.written + 1,
            trail=go_on(state.trail, parent, state.written, token),
            log_prob=row_log_prob,
            progress=self._advance(state, view, scored, parent, column, token),
            pool=pool,
            over=state.over,
        )
        over = state.over | last | self._stops(moved, nodes, scored, node, choice.row_valid)
        # A token of an empty row may be the id past the vocabulary; the model must be able to look it up.
        token = torch.where(choice.row_valid, token, self.setup.ends[0])
        return replace(moved, over=over), Step(lists, nodes, scored, choice, parent, token)

    def _forbid(self, state: State, log_prob: Tensor, last: Tensor) -> Tensor:
        config = self.config
        if config.min_tokens:
            early = torch.where(state.written < config.min_tokens, -torch.inf, 0.0).to(log_prob.dtype)
            log_prob = log_prob.index_add(
                2, self.setup.ends, early.expand(*log_prob.shape[:2], self.setup.ends.numel())
            )
        if config.no_repeat_ngram:
            again = repeated_ngrams(tokens_of(state.trail), state.written, config.no_repeat_ngram, self.vocab)
            log_prob = log_prob.masked_fill(again.index_fill(2, self.setup.ends, False), -torch.inf)
        if self.bans and self.setup.plans is not None and state.progress is not None:
            if config.ban == "word":
                banned = banned_words(state.progress, self.setup.plans, self.vocab, self.setup.ends, last)
            else:
                banned = banned_tokens(state.progress, self.setup.plans, self.vocab, last)
            log_prob = log_prob.masked_fill(banned, -torch.inf)
        if self.forced_end is not None:  # some models (BART) must close with their end token; transformers scores it 0
            only = torch.full_like(log_prob, -torch.inf)
            only[..., self.forced_end] = 0
            log_prob = torch.where(last[:, None, None], only, log_prob)
        return log_prob

    def _expand(self, state: State, log_prob: Tensor) -> Lists:
        lists = top_tokens(log_prob, self.columns, self.setup.allowed)
        if self.admits and self.setup.plans is not None and state.progress is not None:
            lists = admit(lists, log_prob, state.progress, self.setup.plans, self.gap, self.config.alpha)
        return lists

    def _score(self, state: State, lists: Lists, last: Tensor) -> tuple[Nodes, Scored | None, View | None]:
        log_prob = (state.log_prob[..., None] + lists.log_prob).flatten(1)
        is_end = (lists.token[..., None] == self.setup.ends).any(-1)
        if self.setup.plans is None or state.progress is None:
            zero = torch.zeros(log_prob.shape, dtype=torch.int64, device=log_prob.device)
            barred = torch.zeros_like(is_end).flatten(1)
            return Nodes(log_prob, is_end.flatten(1), barred, zero, zero, zero[..., None]), None, None
        view = look(state.progress, self.setup.plans, lists.token, lists.admitted)
        tail = state.progress.tail[..., None]
        scored = score_nodes(
            state.progress,
            self.setup.plans,
            view,
            lists.token,
            torch.where(is_end, int(Closes.YES), self.setup.plans.tables.closes[tail, lists.token]),
            self.setup.plans.tables.next_tail[tail, lists.token],
            is_end | last[:, None, None],
            offers_matter=self.config.method == "edit" and self.config.strict,
            penalties=self.config.method == "edit",
            group_deletions=self.config.method == "edit" and self.config.group_by == "all",
            in_order=self.setup.in_order,
            begun=self.config.method == "edit" and self.config.begun,
        )
        may_end = self._may_end(lists, scored, self.setup.plans)
        barred = torch.zeros_like(is_end)
        if may_end is not None:
            barred = is_end & ~may_end & ~self.setup.plain[:, None, None]
            if self.forced_end is not None:  # no other token is left there
                barred = barred & ~last[:, None, None]
        plain = self.setup.plain[:, None]  # negative follows its phrases, but neither scores nor groups by them
        return (
            Nodes(
                log_prob,
                is_end.flatten(1),
                barred.flatten(1),
                torch.where(plain, 0, scored.score.flatten(1)),
                torch.where(plain, 0, scored.hopeful.flatten(1)),
                torch.where(plain[..., None], 0, scored.key.flatten(1, 2)),
                None if scored.early is None else torch.where(plain, 0, scored.early.flatten(1)),
            ),
            scored,
            view,
        )

    def _may_end(self, lists: Lists, scored: Scored, plans: PackedPlans) -> Tensor | None:
        """(batch, beam, column) where a text may end; None: anywhere."""
        end = "either" if self.config.method == "neurologic" else self.config.end
        if end == "always":
            return None
        if end == "met":
            return scored.met(plans)
        return lists.likeliest() | scored.met(plans) if end == "either" else lists.likeliest()

    def _finish(
        self,
        state: State,
        lists: Lists,
        nodes: Nodes,
        scored: Scored | None,
        choice: Choice,
        last: Tensor,
        may_cut: bool,
    ) -> FinishedPool:
        """The pool with the ends among the first `beams` places, and at the last step with what is cut."""
        beams, columns = self.config.beams, lists.token.shape[2]
        node = choice.node[:, :beams]
        valid, is_end = choice.valid[:, :beams], choice.is_end[:, :beams]
        rank = torch.where(valid & is_end, ENDED, EMPTY)
        if may_cut:
            cut_plain = valid & ~is_end & (last & self.setup.plain)[:, None]
            cut = choice.row_valid & (last & ~self.setup.plain)[:, None]
            node = torch.cat([node, choice.node.gather(1, choice.rows)], 1)
            rank = torch.cat([torch.where(cut_plain, CUT_PLAIN, rank), torch.where(cut, CUT, EMPTY)], 1)
        rank = rank.masked_fill(state.over[:, None], EMPTY)
        log_prob = nodes.log_prob.gather(1, node).masked_fill(rank == EMPTY, -torch.inf)
        length = state.written + 1
        if scored is not None:
            carried = scored.clauses.done & ~scored.clauses.violated
            carried = take(carried.flatten(1, 2), node)
        else:
            carried = torch.zeros(*node.shape, 0, dtype=torch.bool, device=node.device)
        new = FinishedPool(
            rank=rank,
            score=nodes.score.gather(1, node).masked_fill(rank == EMPTY, 0),
            likelihood=log_prob / self._power(length),
            log_prob=log_prob,
            length=length.expand(node.shape),
            trail=go_on(state.trail, node // columns, state.written, lists.token.flatten(1).gather(1, node)),
            carried=carried,
        )
        return merge(state.pool, new, self.config.choose == "sum" and self.config.method == "edit")

    def _power(self, length: Tensor) -> Tensor:
        return self.setup.powers.index_select(0, length.view(1))  # indexing with a tensor would wait for the GPU

    def _advance(
        self, state: State, view: View | None, scored: Scored | None, parent: Tensor, column: Tensor, token: Tensor
    ) -> Progress | None:
        if state.progress is None or self.setup.plans is None or view is None or scored is None:
            return None
        return advance(state.progress, self.setup.plans, view, scored, parent, column, token)

    def _stops(self, state: State, nodes: Nodes, scored: Scored | None, node: Tensor, row_valid: Tensor) -> Tensor:
        """(batch,) sentences that no row can improve any more."""
        config, pool = self.config, state.pool
        best_row = state.log_prob.amax(1)
        now = self._power(state.written)
        full, worst = pool.full(), pool.worst_likelihood()
        if config.early_stopping == "never" and config.length_penalty > 0:
            bound = best_row / self.setup.powers[self.setup.last + 1]
        else:
            bound = best_row / now
        plain = full & (bound <= worst) if config.early_stopping is not True else full
        hopeful = nodes.hopeful
        if config.stop == "exact" and scored is not None and self.setup.plans is not None:
            hopeful = hopeful + scored.open_value(self.setup.plans).flatten(1)
        hope = torch.where(row_valid, hopeful.gather(1, node), -_NO_LIMIT).amax(1)
        edit = full & (hope <= pool.best_score()) & (best_row / now <= worst)
        return ~row_valid.any(1) | torch.where(self.setup.plain, plain, edit)
