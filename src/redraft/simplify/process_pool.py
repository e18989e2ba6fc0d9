"""Several processes that rewrite parts of a long input, each with its own simplifier; on a GPU they share the device.

Around its matrix products, rewriting is work in Python, which one process does on one core. A worker is started as
`python -m redraft.simplify.process_pool`, reads chunks of texts from its standard input and writes the outcomes to its
standard output; it ends when its input ends.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, Literal

from redraft.errors import RedraftError
from redraft.memory import free_memory, is_out_of_memory
from redraft.simplify.gpu_sharing import SharedGpu
from redraft.threads import available_cores, set_threads
from redraft.trust import Trust, current_trust, trusting

if TYPE_CHECKING:
    import torch

    from redraft.simplify.simplifier import Simplifier, Text

_CHUNK, _GPU_CHUNK = 256, 2048  # texts that a worker gets at once
_READ_AHEAD = 2  # chunks for each worker
_GRACE_SECONDS = 5  # before a worker that does not end is killed
_TRIES = 2  # for a chunk whose worker died
_MOST_WORKERS, CPU_THREADS = 14, 2  # threads of each process
_TEXTS_PER_WORKER = 500  # a process takes as long to start as these to rewrite
_MEMORY_OF_WORKER = 2 << 30
_LESS_MEMORY = "use fewer --workers or a smaller --batch-size."


def workers_for(texts: int, device: torch.device) -> int:
    """The number of processes for an input of this length: more than one only if their start pays."""
    cores = available_cores()
    most = min(_MOST_WORKERS, cores - 2 if device.type == "cuda" else cores // CPU_THREADS)
    free = free_memory(device)
    if free is not None:
        most = min(most, free // _MEMORY_OF_WORKER)
    return max(1, min(most, texts // _TEXTS_PER_WORKER))


class ProcessPool:
    """`count` processes that rewrite texts as one `Simplifier` does, in the same order and with the same results.

    `factory` makes the simplifier of a process: a function of a module, or a `functools.partial` of one.
    """

    def __init__(
        self, factory: Callable[[], Simplifier], count: int, *, threads: int = 1, on_gpu: bool = False
    ) -> None:
        self._setup = pickle.dumps((factory, current_trust(), threads))
        self._threads, self._count, self._closed = threads, count, False
        self._chunk = _GPU_CHUNK if on_gpu else _CHUNK
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._gpu = SharedGpu() if on_gpu and count > 1 else None
        self._workers = [self._new_worker() for _ in range(count)]
        for worker in self._workers:
            self._idle.put(worker)
        self._executor = ThreadPoolExecutor(count, thread_name_prefix="redraft-worker")

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; chunks that are being rewritten are dropped."""
        self._closed = True
        for worker in self._workers:
            worker.stop()
        self._executor.shutdown(wait=True, cancel_futures=True)
        if self._gpu is not None:
            self._gpu.close()

    def _new_worker(self) -> _Worker:
        return _Worker(self._setup, self._threads, {} if self._gpu is None else self._gpu.environment)

    def pipe(
        self, texts: Iterable[Text], *, on_error: Literal["raise", "return"] = "raise", **options: Any
    ) -> Iterator[Any]:
        """As `Simplifier.pipe`."""
        options = {**options, "on_error": "return"}
        waiting = iter(texts)
        chunks = iter(lambda: list(islice(waiting, self._chunk)), [])
        pending: deque[Future[list[Any]]] = deque()
        try:
            while True:
                for chunk in islice(chunks, _READ_AHEAD * self._count - len(pending)):
                    pending.append(self._executor.submit(self._rewrite, chunk, options))
                if not pending:
                    return
                for outcome in pending.popleft().result():
                    if on_error == "raise" and isinstance(outcome, RedraftError):
                        raise outcome
                    yield outcome
        finally:
            for future in pending:
                future.cancel()

    def _rewrite(self, chunk: list[Text], options: dict[str, Any]) -> list[Any]:
        worker = self._idle.get()
        try:
            for attempt in range(_TRIES):
                try:
                    return worker.rewrite(chunk, options)
                except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
                    if isinstance(error, RedraftError):
                        raise
                    status = worker.stop(patience=1)
                    if self._closed:
                        return []
                    if attempt == _TRIES - 1:
                        raise RedraftError(
                            f"a worker process ended with status {status} while it rewrote {len(chunk)} texts.",
                            f"If memory ran out: {_LESS_MEMORY}",
                        ) from None
                    self._workers.remove(worker)
                    worker = self._new_worker()
                    self._workers.append(worker)
            raise AssertionError("unreachable")
        finally:
            self._idle.put(worker)


class _Worker:
    """A process with a simplifier, used by one thread at a time."""

    def __init__(self, setup: bytes, threads: int, more: Mapping[str, str]) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), **more}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "redraft.simplify.process_pool"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
        )  # fmt: skip
        with suppress(BrokenPipeError):  # reported when a chunk is sent
            self._input.write(setup)
            self._input.flush()

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def rewrite(self, chunk: list[Text], options: dict[str, Any]) -> list[Any]:
        assert self._process.stdout is not None
        pickle.dump((chunk, options), self._input)
        self._input.flush()
        found = pickle.load(self._process.stdout)
        if isinstance(found, BaseException):
            raise found
        outcomes: list[Any] = found
        return outcomes

    def stop(self, patience: float = 0) -> int:
        """End the process, by force after `patience` seconds; returns its exit status."""
        with suppress(OSError, ValueError):  # it may be gone, or its chunk half written
            self._input.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(patience)
        self._process.terminate()  # does nothing if the process has ended
        try:
            return self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
        finally:
            if self._process.stdout is not None:
                self._process.stdout.close()


def main() -> None:
    """The program of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes; the first one ends the others
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not stand among the answers
    factory, trust, threads = pickle.load(requests)
    set_threads(threads)
    with _trusted(trust):
        simplifier, failure = _made(factory)
        while True:
            try:
                chunk, options = pickle.load(requests)
            except EOFError:
                return
            pickle.dump(failure or _outcomes(simplifier, chunk, options), answers)
            answers.flush()


def _trusted(trust: Trust) -> Any:
    return trusting(remote_code=trust.remote_code, pickled_weights=trust.pickled_weights)


def _made(factory: Callable[[], Simplifier]) -> tuple[Any, RedraftError | None]:
    try:
        return factory(), None
    except RedraftError as error:
        return None, error


def _outcomes(simplifier: Simplifier, chunk: list[Text], options: dict[str, Any]) -> Any:
    """The outcome of each text; instead, an error of the arguments or too little memory."""
    try:
        return list(simplifier.pipe(chunk, **options))
    except RedraftError as error:
        return error
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        cause = next(iter(str(error).splitlines()), "") or "an allocation failed"
        return RedraftError(f"out of memory in a worker process: {cause}", _LESS_MEMORY)


if __name__ == "__main__":
    main()
