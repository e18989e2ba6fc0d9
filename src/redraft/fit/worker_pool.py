"""An ordered parallel map over forked processes; the function and what it refers to need not be pickled."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from typing import Any, TypeVar

import torch

_AHEAD = 2  # items for each process that are computed ahead

Item = TypeVar("Item")
Result = TypeVar("Result")

_function: Callable[[Any], Any]  # in a worker process


def parallel_map(function: Callable[[Item], Result], items: Iterable[Item], processes: int) -> Iterator[Result]:
    """`function` of each item, in order, in this process if `processes` is 0 or fork is missing; not on a GPU."""
    if not processes or "fork" not in get_all_start_methods():
        yield from map(function, items)
        return
    fork = get_context("fork")
    with ProcessPoolExecutor(processes, fork, initializer=_start_worker, initargs=(function,)) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(_call, item))
            if len(waiting) > _AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def available_cores() -> int:
    """The CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def data_processes(device: torch.device) -> int:
    """How many processes should prepare data: one per core if the network runs on a GPU, none if it runs on the CPU."""
    return available_cores() if device.type == "cuda" else 0


def _start_worker(function: Callable[[Any], Any]) -> None:
    global _function
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)
    _function = function


def _call(item: Any) -> Any:
    return _function(item)
