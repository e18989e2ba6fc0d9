"""Worker processes that stop when the work is done, when the command is stopped and when it is killed."""

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

_GRACE_SECONDS = 5  # between SIGTERM and SIGKILL


@contextmanager
def terminable() -> Iterator[None]:
    """Raise an exception on SIGTERM, as Python does on SIGINT, so that results so far can be saved."""

    def stop(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run_in_processes(work: Callable[..., object], common: tuple[Any, ...], count: int) -> list[int]:
    """Run `work(*common, number)` in `count` processes and return their exit statuses."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_worker, args=(work, common, number), daemon=True) for number in range(count)]
    started: list[BaseProcess] = []
    try:
        for worker in workers:
            with _ignoring_interrupts():
                worker.start()
            started.append(worker)
        running = list(started)
        while running:
            ended = wait([worker.sentinel for worker in running])
            for process in [process for process in running if process.sentinel in ended]:
                process.join()  # at once: until it is joined, the other workers see it as alive
                running.remove(process)
    finally:
        _stop(started)
    return [worker.exitcode or 0 for worker in workers]


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Processes started in this context ignore SIGINT, which a terminal sends to all: `_stop` ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stop(workers: list[BaseProcess]) -> None:
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join(_GRACE_SECONDS)
        if worker.is_alive():
            worker.kill()
            worker.join()


def _worker(work: Callable[..., object], common: tuple[Any, ...], number: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # runs the exit handlers of libraries
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    work(*common, number)


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
