"""Steps replayed from CUDA graphs.

At the sizes of beam search a GPU waits for its kernels to be launched, some hundreds a step. A graph launches them all
by one call. It is captured for a shape and serves every batch of that shape; sizes are rounded up so that batches share
one. Either the search's own step is held (for any model), or the model's step with it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from redraft.decode.fixed_shape_steps import FixedSteps, can_be_fixed
from redraft.decode.step import State, Stepper
from redraft.decode.step_model import StepModel

_KEEP = 8  # graphs of different shapes kept at a time


class Graphs:
    """Captured steps by shape. One object for each model: what is captured of a model stays tied to its weights."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Any, ...], _SearchStep | _WholeStep] = OrderedDict()
        self._seen: set[tuple[Any, ...]] = set()

    def __len__(self) -> int:
        return len(self._known)

    def mover(
        self, model: StepModel, stepper: Stepper, log_prob: Tensor, *, whole: bool
    ) -> SearchReplayed | WholeReplayed | None:
        """Rows that move by replay; None where a shape comes for the first time and only the search would be held."""
        state = stepper.begin(log_prob)
        key = (
            stepper.config, stepper.columns, stepper.follows, tuple(stepper.end_tokens), stepper.forced_end,
            id(stepper.plans[0].tables), *_shapes((stepper.setup, state)), *_shapes(log_prob),
        )  # fmt: skip
        if whole and can_be_fixed(model):
            return self._whole(key, model, stepper, state, log_prob)
        if key not in self._seen:
            self._seen.add(key)
            return None
        if key not in self._known:
            self._keep(key, _SearchStep(stepper, state, log_prob))
        held = self._known[key]
        assert isinstance(held, _SearchStep)
        held.load(stepper, state)
        return SearchReplayed(model, held, log_prob)

    def _whole(
        self, key: tuple[Any, ...], model: Any, stepper: Stepper, state: State, log_prob: Tensor
    ) -> WholeReplayed:
        state, first = stepper.step(state, log_prob, may_cut=True)
        moving = (state, first.parent, first.token)
        source_room = -(-model.source_length() // 8) * 8
        key = (*key, source_room, model.prompt_length())
        if key not in self._known:
            self._keep(key, _WholeStep(model, stepper, moving, source_room))
        held = self._known[key]
        assert isinstance(held, _WholeStep)
        held.load(model, stepper, moving)
        return WholeReplayed(held)

    def _keep(self, key: tuple[Any, ...], held: _SearchStep | _WholeStep) -> None:
        self._known[key] = held
        if len(self._known) > _KEEP:
            self._known.popitem(last=False)


@cache
def step_graphs() -> Graphs:
    """The search's own steps, which no model is part of: shared by all."""
    return Graphs()


class SearchReplayed:
    """The model launched as ever, the search replayed."""

    def __init__(self, model: StepModel, held: _SearchStep, log_prob: Tensor) -> None:
        self._model = model
        self._held = held
        self._log_prob: Tensor | None = log_prob
        self.state = held.state

    def move(self, *, may_cut: bool) -> None:
        if self._log_prob is None:
            self._model.reorder(self._held.parent)
            self._log_prob = self._model.step(self._held.token)
        self._held.log_prob.copy_(self._log_prob)
        self._log_prob = None
        self._held.replay()


class WholeReplayed:
    """Model and search replayed together; the first step was made before, since the prompt is read there."""

    def __init__(self, held: _WholeStep) -> None:
        self._held = held
        self._first = True
        self.state = held.state

    def move(self, *, may_cut: bool) -> None:
        if not self._first:
            self._held.replay()
        self._first = False


class _SearchStep:
    """The search's step in a graph, and the buffers it reads and writes."""

    def __init__(self, stepper: Stepper, state: State, log_prob: Tensor) -> None:
        self._stepper = stepper
        self.log_prob = torch.empty_like(log_prob).copy_(log_prob)
        self.state = _clone(state)
        self.parent = torch.zeros_like(state.log_prob, dtype=torch.int64)
        self.token = torch.zeros_like(self.parent)
        self.replay = _captured(self._step, lambda: self.load(stepper, state), log_prob.device)

    def load(self, stepper: Stepper, state: State) -> None:
        _copy(self._stepper.setup, stepper.setup)
        _copy(self.state, state)

    def _step(self) -> None:
        state, step = self._stepper.step(self.state, self.log_prob, may_cut=True)
        _copy((self.state, self.parent, self.token), (state, step.parent, step.token))


class _WholeStep:
    """The model's step and the search's in one graph, and the buffers they read and write."""

    def __init__(self, model: Any, stepper: Stepper, moving: tuple[State, Tensor, Tensor], source_room: int) -> None:
        self._stepper = stepper
        self._fixed = FixedSteps(model, stepper.room, source_room)
        self.state, self._parent, self._token = _clone(moving)
        self.replay = _captured(self._step, lambda: self.load(model, stepper, moving), self._token.device)

    def load(self, model: Any, stepper: Stepper, moving: tuple[State, Tensor, Tensor]) -> None:
        self._fixed.load(model)
        _copy(self._stepper.setup, stepper.setup)
        _copy((self.state, self._parent, self._token), moving)

    def _step(self) -> None:
        log_prob = self._fixed.step(self._parent, self._token)
        state, step = self._stepper.step(self.state, log_prob, may_cut=True)
        _copy((self.state, self._parent, self._token), (state, step.parent, step.token))


def _captured(step: Callable[[], None], load: Callable[[], None], device: torch.device) -> Callable[[], None]:
    """The step as a replay of its graph; without a GPU the step itself, so that the buffers can be tested anywhere."""
    if device.type != "cuda":
        return step
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # libraries set themselves up on their first calls, which a graph cannot hold
        for _ in range(2):
            load()
            step()
    torch.cuda.current_stream().wait_stream(stream)
    load()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def _parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [getattr(value, f.name) for f in fields(value)]


def _shapes(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        return [(tuple(value.shape), value.dtype)]
    if value is None:
        return [None]
    return [shape for part in _parts(value) for shape in _shapes(part)]


def _clone(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, tuple):
        return tuple(_clone(part) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{f.name: _clone(getattr(value, f.name)) for f in fields(value)})
    return value


def _copy(into: Any, value: Any) -> None:
    """Copy every tensor of one structure into the same structure of another batch."""
    if into is value:
        return
    if isinstance(into, Tensor):
        into.copy_(value)
    elif into is not None:
        for one, other in zip(_parts(into), _parts(value), strict=True):
            _copy(one, other)
