"""Steps replayed from CUDA graphs.

At the tensor sizes of beam search, a GPU spends its time waiting for kernel launches, some hundreds per step. A graph
launches them all with one call. A graph is captured for one set of shapes and serves every batch with these shapes;
sizes are rounded up so that batches can share a graph. The graph holds either the step of the search alone (for any
model), or the steps of the model and the search together.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import cycle
from typing import Any

import torch
from torch import Tensor

from redraft.decode.fixed_shape_steps import FixedSteps, can_be_fixed
from redraft.decode.step import State, Stepper
from redraft.decode.step_model import StepModel

_MAX_GRAPHS = 8  # kept at a time


class Graphs:
    """Captured steps by shape. One object per model: a captured step is bound to the weights of its model."""

    def __init__(self) -> None:
        self._graphs: OrderedDict[tuple[Any, ...], _SearchGraph | _FullGraph] = OrderedDict()
        self._seen: set[tuple[Any, ...]] = set()

    def __len__(self) -> int:
        return len(self._graphs)

    def runner(
        self, model: StepModel, stepper: Stepper, log_prob: Tensor, *, whole: bool
    ) -> SearchReplay | FullReplay | None:
        """A runner that replays graphs; None if only the search would be captured and the shape is new.

        `whole`: capture the step of the model too, where it can run in fixed buffers.
        """
        state = stepper.initial_state(log_prob)
        key = (
            stepper.config, stepper.columns, stepper.tracks_edits, tuple(stepper.end_tokens), stepper.forced_end,
            id(stepper.plans[0].tables), *_shapes((stepper.setup, state)), *_shapes(log_prob),
        )  # fmt: skip
        if whole and can_be_fixed(model):
            return self._whole(key, model, stepper, state, log_prob)
        if key not in self._seen:
            self._seen.add(key)
            return None
        if key not in self._graphs:
            self._store(key, _SearchGraph(stepper, state, log_prob))
        graph = self._graphs[key]
        assert isinstance(graph, _SearchGraph)
        graph.load(stepper, state)
        return SearchReplay(model, graph, log_prob)

    def _whole(self, key: tuple[Any, ...], model: Any, stepper: Stepper, state: State, log_prob: Tensor) -> FullReplay:
        state, first = stepper.step(state, log_prob, may_cut=True)
        moving = (state, first.parent, first.token)
        source_room = -(-model.source_length() // 8) * 8
        key = (*key, source_room, model.prompt_length())
        if key not in self._graphs:
            self._store(key, _FullGraph(model, stepper, moving, source_room))
        graph = self._graphs[key]
        assert isinstance(graph, _FullGraph)
        graph.load(model, stepper, moving)
        return FullReplay(graph)

    def _store(self, key: tuple[Any, ...], graph: _SearchGraph | _FullGraph) -> None:
        self._graphs[key] = graph
        if len(self._graphs) > _MAX_GRAPHS:
            self._graphs.popitem(last=False)


@cache
def step_graphs() -> Graphs:
    """Captured steps of the search alone, shared by all models."""
    return Graphs()


class SearchReplay:
    """Runs the model normally and replays the step of the search."""

    def __init__(self, model: StepModel, graph: _SearchGraph, log_prob: Tensor) -> None:
        self._model = model
        self._graph = graph
        self._log_prob: Tensor | None = log_prob
        self.state = graph.state

    def advance(self, *, may_cut: bool) -> None:
        if self._log_prob is None:
            self._model.reorder(self._graph.parent)
            self._log_prob = self._model.step(self._graph.token)
        self._graph.log_prob.copy_(self._log_prob)
        self._log_prob = None
        self._graph.replay()


class FullReplay:
    """Replays model and search together; the first step, which reads the prompt, has already been done."""

    def __init__(self, graph: _FullGraph) -> None:
        self._replays = cycle(graph.replays)
        self._first = True
        self.state = graph.state

    def advance(self, *, may_cut: bool) -> None:
        if not self._first:
            next(self._replays)()
        self._first = False


class _SearchGraph:
    """A graph of the search's step, and the buffers it reads and writes."""

    def __init__(self, stepper: Stepper, state: State, log_prob: Tensor) -> None:
        self._stepper = stepper
        self.log_prob = torch.empty_like(log_prob).copy_(log_prob)
        self.state = _clone(state)
        self.parent = torch.zeros_like(state.log_prob, dtype=torch.int64)
        self.token = torch.zeros_like(self.parent)
        (self.replay,) = _capture([self._step], lambda: self.load(stepper, state), log_prob.device)

    def load(self, stepper: Stepper, state: State) -> None:
        _copy(self._stepper.setup, stepper.setup)
        _copy(self.state, state)

    def _step(self) -> None:
        state, step = self._stepper.step(self.state, self.log_prob, may_cut=True)
        _copy((self.state, self.parent, self.token), (state, step.parent, step.token))


class _FullGraph:
    """Graphs of two successive steps of model and search, and the buffers they read and write.

    Two, because the cache moves from one buffer to another in every step.
    """

    def __init__(self, model: Any, stepper: Stepper, moving: tuple[State, Tensor, Tensor], source_room: int) -> None:
        self._stepper = stepper
        self._fixed = FixedSteps(model, stepper.room, source_room)
        self.state, self._parent, self._token = _clone(moving)
        steps = [self._step, self._step]
        self.replays = _capture(steps, lambda: self.load(model, stepper, moving), self._token.device)

    def load(self, model: Any, stepper: Stepper, moving: tuple[State, Tensor, Tensor]) -> None:
        self._fixed.load(model)
        _copy(self._stepper.setup, stepper.setup)
        _copy((self.state, self._parent, self._token), moving)

    def _step(self) -> None:
        log_prob = self._fixed.step(self._parent, self._token)
        state, step = self._stepper.step(self.state, log_prob, may_cut=True)
        _copy((self.state, self._parent, self._token), (state, step.parent, step.token))


def _capture(
    steps: Sequence[Callable[[], None]], load: Callable[[], None], device: torch.device
) -> list[Callable[[], None]]:
    """The replays of captured steps; without a GPU the steps themselves, so that the buffers can be tested anywhere."""
    if device.type != "cuda":
        return list(steps)
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # libraries initialise on their first calls, which cannot be captured
        for _ in range(2):
            load()
            for step in steps:
                step()
    torch.cuda.current_stream().wait_stream(stream)
    load()
    graphs: list[torch.cuda.CUDAGraph] = []
    for step in steps:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=graphs[0].pool() if graphs else None):
            step()
        graphs.append(graph)
    return [graph.replay for graph in graphs]


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
    """Copy every tensor of a structure into the same structure of another batch."""
    if into is value:
        return
    if isinstance(into, Tensor):
        into.copy_(value)
    elif into is not None:
        for one, other in zip(_parts(into), _parts(value), strict=True):
            _copy(one, other)
