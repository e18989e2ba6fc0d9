"""Beam search that carries edit progress beside every hypothesis: the one loop of every method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from redraft.cancellation import yield_point
from redraft.constrain.clauses import CompiledPlan
from redraft.decode.config import DecodeConfig
from redraft.decode.cuda_graphs import Graphs, step_graphs
from redraft.decode.finished_pool import EMPTY, ENDED, FinishedPool, rows_of, tokens_of
from redraft.decode.step import State, Step, Stepper
from redraft.decode.step_model import StepModel
from redraft.decode.transformers_steps import TransformersSteps
from redraft.errors import ConfigError
from redraft.memory import free_memory

Observer = Callable[[State, Step, State], None]


@dataclass(frozen=True)
class Hypothesis:
    """A finished row in plain data."""

    tokens: tuple[int, ...]  # with the end token where it ended
    log_prob: float
    edit_score: int  # in whole 1e-6
    truncated: bool
    rows: tuple[int, ...]  # the row each token was chosen from
    carried: tuple[bool, ...]  # for each clause, as in FinishedPool


@torch.inference_mode()
def search(
    model: StepModel,
    sources: Sequence[str],
    plans: Sequence[CompiledPlan],
    config: DecodeConfig,
    max_tokens: Sequence[int],
    observe: Observer | None = None,
    graphs: Graphs | None = None,
) -> list[list[Hypothesis]]:
    """Finished hypotheses of every sentence, best first.

    `observe` sees every step. `graphs` replays whole steps, the model included, from CUDA graphs where it can.
    """
    stepper = Stepper(plans, config, max_tokens, model.end_tokens, getattr(model, "forced_end", None))
    log_prob = model.start(sources, config.beams)
    stepper.set_up(log_prob, roomy=log_prob.is_cuda)
    mover = _mover(model, stepper, log_prob, observe, graphs)
    cuts = set(max_tokens)
    # Other models keep their rows, and graphs their buffers, from step to step.
    shares = not (isinstance(model, TransformersSteps) and isinstance(mover, _Launched))
    flag = StopFlag(log_prob.device)
    for length in range(1, max(max_tokens) + 1):
        yield_point(alone=shares)
        mover.move(may_cut=length in cuts)
        if flag.raised(mover.state.over):
            break
    return read_out(mover.state.pool)


class Mover(Protocol):
    """Moves the rows of a batch on by one token, the model's step and the search's together."""

    state: State

    def move(self, *, may_cut: bool) -> None: ...


class _Launched:
    """Every operation launched by itself: the plain way, and the one that can be watched."""

    def __init__(self, model: StepModel, stepper: Stepper, log_prob: Tensor, observe: Observer | None) -> None:
        self.state = stepper.begin(log_prob)
        self._model = model
        self._stepper = stepper
        self._log_prob = log_prob
        self._observe = observe
        self._last: Step | None = None

    def move(self, *, may_cut: bool) -> None:
        if self._last is not None:
            self._model.reorder(self._last.parent)
            self._log_prob = self._model.step(self._last.token)
        before = self.state
        self.state, self._last = self._stepper.step(before, self._log_prob, may_cut=may_cut)
        if self._observe is not None:
            self._observe(before, self._last, self.state)


def _mover(
    model: StepModel, stepper: Stepper, log_prob: Tensor, observe: Observer | None, graphs: Graphs | None
) -> Mover:
    if observe is None and (log_prob.is_cuda or graphs is not None):
        replayed = (step_graphs() if graphs is None else graphs).mover(
            model, stepper, log_prob, whole=graphs is not None
        )
        if replayed is not None:
            return replayed
    return _Launched(model, stepper, log_prob, observe)


class StopFlag:
    """Tells when all sentences are over. On a GPU the answer comes a step late, so that nobody waits for it."""

    def __init__(self, device: torch.device) -> None:
        self._late = device.type == "cuda"
        if self._late:
            self._flags = torch.zeros(2, dtype=torch.bool, pin_memory=True)
            self._events = [torch.cuda.Event(), torch.cuda.Event()]  # type: ignore[no-untyped-call]
            self._asked = 0

    def raised(self, over: Tensor) -> bool:
        if not self._late:
            return bool(over.all())
        now, before = self._asked % 2, (self._asked + 1) % 2
        self._flags[now].copy_(over.all(), non_blocking=True)
        self._events[now].record()
        self._asked += 1
        if self._asked < 2:
            return False
        self._events[before].synchronize()
        return bool(self._flags[before])


def read_out(pool: FinishedPool) -> list[list[Hypothesis]]:
    """The pool in plain data."""
    found: list[list[Hypothesis]] = []
    ranks, lengths = pool.rank.tolist(), pool.length.tolist()
    log_probs, scores, carried = pool.log_prob.tolist(), pool.score.tolist(), pool.carried.tolist()
    tokens, rows = tokens_of(pool.trail).tolist(), rows_of(pool.trail).tolist()
    for batch, places in enumerate(ranks):
        found.append([])
        for beam, rank in enumerate(places):
            if rank != EMPTY:
                length = lengths[batch][beam]
                found[-1].append(
                    Hypothesis(
                        tuple(tokens[batch][beam][:length]),
                        log_probs[batch][beam],
                        scores[batch][beam],
                        rank != ENDED,
                        tuple(rows[batch][beam][:length]),
                        tuple(carried[batch][beam]),
                    )
                )
    return found


# Bytes at the highest, roughly: trails of rows and of finished texts before and after a step, scores of the whole
# vocabulary before and after what is forbidden, and what is known of each node.
_FOR_A_TOKEN, _FOR_A_WORD, _FOR_A_NODE = 32, 12, 100


def check_search_memory(config: DecodeConfig, limits: Sequence[int], vocabulary: int, device: Any) -> None:
    """An error where sentences with these limits on their tokens cannot be searched together."""
    row = _FOR_A_TOKEN * max(limits) + _FOR_A_WORD * vocabulary + _FOR_A_NODE * min(config.row_width, vocabulary)
    needed, free = row * config.beams * len(limits), free_memory(device)
    if free is not None and needed > free:
        raise ConfigError(
            f"{config.beams:,} beams of up to {max(limits):,} tokens for {len(limits):,} sentences at once need about "
            f"{needed / 1e9:,.0f} GB of memory, and {free / 1e9:,.0f} GB are free.",
            "Lower beams, max_tokens or the batch size.",
        )
