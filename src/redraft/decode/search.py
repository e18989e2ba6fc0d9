"""Beam search that keeps the edit progress of every hypothesis: one loop for every method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from redraft.constrain.clauses import CompiledPlan
from redraft.cooperative_scheduling import yield_point
from redraft.decode.config import DecodeConfig
from redraft.decode.finished_pool import EMPTY, ENDED, FinishedPool, trail_rows, trail_tokens
from redraft.decode.rewriter_steps import RewriterSteps
from redraft.decode.step import State, Step, Stepper
from redraft.decode.step_model import StepModel
from redraft.decode.transformers_steps import TransformersSteps
from redraft.errors import ConfigError
from redraft.memory import free_memory

if TYPE_CHECKING:
    from redraft.decode.cuda_graphs import Graphs

Observer = Callable[[State, Step, State], None]


@dataclass(frozen=True)
class Hypothesis:
    """A finished row as plain data."""

    tokens: tuple[int, ...]  # with the end token where it ended
    log_prob: float
    edit_score: int  # in units of 1e-6
    truncated: bool
    rows: tuple[int, ...]  # the row each token was chosen from
    satisfied: tuple[bool, ...]  # for each clause, as in FinishedPool


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

    `observe` is called with every step. `graphs` replays whole steps, the model included, from CUDA graphs if possible.
    """
    stepper = Stepper(plans, config, max_tokens, model.end_tokens, getattr(model, "forced_end", None))
    log_prob = model.start(sources, config.beams)
    stepper.set_up(log_prob, round_up_sizes=log_prob.is_cuda)
    runner = _step_runner(model, stepper, log_prob, observe, graphs)
    cuts = set(max_tokens)
    # Other models keep their rows, and CUDA graphs their buffers, from step to step.
    shares_state = not (isinstance(model, TransformersSteps | RewriterSteps) and isinstance(runner, _EagerRunner))
    flag = StopFlag(log_prob.device)
    for length in range(1, max(max_tokens) + 1):
        yield_point(cancel_only=shares_state)
        runner.advance(may_cut=length in cuts)
        if flag.raised(runner.state.finished):
            break
    return read_hypotheses(runner.state.pool)


class StepRunner(Protocol):
    """Adds one token to the rows of a batch: a step of the model, then a step of the search."""

    state: State

    def advance(self, *, may_cut: bool) -> None: ...


class _EagerRunner:
    """Launches every operation separately; the only runner whose steps can be observed."""

    def __init__(self, model: StepModel, stepper: Stepper, log_prob: Tensor, observe: Observer | None) -> None:
        self.state = stepper.initial_state(log_prob)
        self._model = model
        self._stepper = stepper
        self._log_prob = log_prob
        self._observe = observe
        self._last: Step | None = None

    def advance(self, *, may_cut: bool) -> None:
        if self._last is not None:
            self._model.reorder(self._last.parent)
            self._log_prob = self._model.step(self._last.token)
        before = self.state
        self.state, self._last = self._stepper.step(before, self._log_prob, may_cut=may_cut)
        if self._observe is not None:
            self._observe(before, self._last, self.state)


def _step_runner(
    model: StepModel, stepper: Stepper, log_prob: Tensor, observe: Observer | None, graphs: Graphs | None
) -> StepRunner:
    if observe is None and (log_prob.is_cuda or graphs is not None):
        from redraft.decode.cuda_graphs import step_graphs

        replayed = (step_graphs() if graphs is None else graphs).runner(
            model, stepper, log_prob, whole=graphs is not None
        )
        if replayed is not None:
            return replayed
    return _EagerRunner(model, stepper, log_prob, observe)


class StopFlag:
    """Whether all sentences are finished. On a GPU the answer is one step late, so that the CPU never waits for it."""

    def __init__(self, device: torch.device) -> None:
        self._late = device.type == "cuda"
        if self._late:
            self._flags = torch.zeros(2, dtype=torch.bool, pin_memory=True)
            self._events = [torch.cuda.Event(), torch.cuda.Event()]  # type: ignore[no-untyped-call]
            self._calls = 0

    def raised(self, finished: Tensor) -> bool:
        if not self._late:
            return bool(finished.all())
        now, before = self._calls % 2, (self._calls + 1) % 2
        self._flags[now].copy_(finished.all(), non_blocking=True)
        self._events[now].record()
        self._calls += 1
        if self._calls < 2:
            return False
        self._events[before].synchronize()
        return bool(self._flags[before])


def read_hypotheses(pool: FinishedPool) -> list[list[Hypothesis]]:
    """The hypotheses of a pool as plain data, best first."""
    found: list[list[Hypothesis]] = []
    ranks, lengths = pool.rank.tolist(), pool.length.tolist()
    log_probs, scores, satisfied = pool.log_prob.tolist(), pool.score.tolist(), pool.satisfied.tolist()
    tokens, rows = trail_tokens(pool.trail).tolist(), trail_rows(pool.trail).tolist()
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
                        tuple(satisfied[batch][beam]),
                    )
                )
    return found


# Peak bytes, approximately: trails of rows and finished texts before and after a step, scores of the whole vocabulary
# before and after bans, and the scores of each node.
_BYTES_PER_TOKEN, _BYTES_PER_VOCABULARY_ENTRY, _BYTES_PER_NODE = 32, 12, 100


def check_search_memory(config: DecodeConfig, limits: Sequence[int], vocabulary: int, device: Any) -> None:
    """Raise a ConfigError if the batch does not fit in memory; limits: maximum tokens of each sentence."""
    row = _BYTES_PER_TOKEN * max(limits) + _BYTES_PER_VOCABULARY_ENTRY * vocabulary
    row += _BYTES_PER_NODE * min(config.row_width, vocabulary)
    needed, free = row * config.beams * len(limits), free_memory(device)
    if free is not None and needed > free:
        raise ConfigError(
            f"{config.beams:,} beams of up to {max(limits):,} tokens for {len(limits):,} sentences at once need about "
            f"{needed / 1e9:,.0f} GB of memory, and {free / 1e9:,.0f} GB are free.",
            "Lower beams, max_tokens or the batch size.",
        )
