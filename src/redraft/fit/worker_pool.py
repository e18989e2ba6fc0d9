"""Work divided among processes, its results in order. They are forked: what they work with need not be sent to them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from typing import Any, TypeVar

import torch

_AHEAD = 2  # items for each process, done before they are asked for

Item = TypeVar("Item")
Result = TypeVar("Result")

_work: Callable[[Any], Any]  # of a process


def split_work(work: Callable[[Item], Result], items: Iterable[Item], processes: int) -> Iterator[Result]:
    """`work` of each item, in order; done here without processes or a system that forks. They may not use a GPU."""
    if not processes or "fork" not in get_all_start_methods():
        yield from map(work, items)
        return
    fork = get_context("fork")
    with ProcessPoolExecutor(processes, fork, initializer=_begin, initargs=(work,)) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(_do, item))
            if len(waiting) > _AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes_beside(device: torch.device) -> int:
    """How many pay beside a network: all the cores where it runs on a GPU, none where it takes the cores itself."""
    return cores() if device.type == "cuda" else 0


def _begin(work: Callable[[Any], Any]) -> None:
    global _work
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    torch.set_num_threads(1)
    _work = work


def _do(item: Any) -> Any:
    return _work(item)
