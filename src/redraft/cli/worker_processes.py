"""Work shared out to processes, which end when it is done, when we are stopped, and when we are killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from redraft.cli.console import TERMINATED, Terminated

_PATIENCE = 5  # seconds that a process has to end by itself


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM is an exception, as SIGINT is, so that what is done can be put away."""

    def stop(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def share_out(work: Callable[..., object], common: tuple[Any, ...], count: int) -> list[int]:
    """`work(*common, number)` in so many processes; their exit statuses."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_worker, args=(work, common, number), daemon=True) for number in range(count)]
    started: list[BaseProcess] = []
    try:
        for worker in workers:
            with _deaf_to_interrupts():
                worker.start()
            started.append(worker)
        running = list(started)
        while running:
            ended = wait([worker.sentinel for worker in running])
            for one in [one for one in running if one.sentinel in ended]:
                one.join()  # at once: to the others, a process that nobody has waited for looks alive
                running.remove(one)
    finally:
        _end(started)
    return [worker.exitcode or 0 for worker in workers]


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """What is started within does not hear Ctrl-C, which a terminal sends to all: we end it ourselves."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(workers: list[BaseProcess]) -> None:
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(_PATIENCE)
        if worker.is_alive():
            worker.kill()
            worker.join()


def _worker(work: Callable[..., object], common: tuple[Any, ...], number: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # with what libraries do at the end
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work(*common, number)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
