"""Collects sentences of concurrent requests into batches for one model."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from redraft.cooperative_scheduling import on_yield_point
from redraft.errors import RedraftError
from redraft.serve.fair_lock import FairLock
from redraft.serve.limits import Limits

# Sizes are similar up to this ratio, after adding the constant: all sentences of up to 400 characters are similar.
_SIZE_RATIO, _SIZE_OFFSET = 4, 100
_URGENT = 2  # sentences of a request that somebody is likely to wait for, such as one edit on the page

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class QueueFull(RedraftError):
    """The queue has no room for the sentences of a request."""


class DeadlineExceeded(RedraftError):
    """A request was not finished in time."""


class BatchAbandoned(Exception):
    """No request is waiting for the batch any more."""


@dataclass(frozen=True, eq=False)
class _Job(Generic[Item, Key, Result]):
    item: Item
    key: Key
    request: object
    future: asyncio.Future[Result]
    urgent: bool


class Batcher(Generic[Item, Key, Result]):
    """Calls `compute(items, key)` in a thread, for at most `limits.batch` items with the same key.

    Requests are served in turn. A batch starts with a job of the request that has waited longest since its last batch,
    and is filled with the waiting jobs closest to it in `size`, up to a maximum ratio, because a batch takes as long as
    its longest sentence. A batch that starts with a small request is not filled with sentences of large ones, so that
    somebody who waits for one sentence waits for little else. Jobs of a request that was cancelled, timed out or failed
    in part are dropped, and a batch that no request waits for ends at its next yield point.

    One batch is computed at a time. A batch that takes longer than `limits.time_slice` seconds lets batches of other
    requests run at its yield points, for one time slice each.
    """

    def __init__(
        self, compute: Callable[[Sequence[Item], Key], Sequence[Result]], limits: Limits,
        size: Callable[[Item], int] = lambda item: 0,
    ) -> None:  # fmt: skip
        self._compute, self._limits, self._size = compute, limits, size
        self._jobs: deque[_Job[Item, Key, Result]] = deque()
        self._executor = ThreadPoolExecutor(limits.concurrent_batches, thread_name_prefix="redraft")
        self._model_lock = FairLock()
        self._running: dict[asyncio.Task[None], set[object]] = {}  # batch → the requests it belongs to
        self._changed = asyncio.Event()  # jobs were added or a batch finished
        self._scheduler: asyncio.Task[None] | None = None  # runs only while there are jobs
        self._closed = False
        self.batches = 0  # computed so far
        self.sentences = 0

    @property
    def waiting(self) -> int:
        return len(self._jobs)

    async def submit(self, items: Sequence[Item], key: Key) -> list[Result]:
        """The results in the order of the items."""
        if len(self._jobs) + len(items) > self._limits.queue:
            raise QueueFull(
                f"the queue holds {self._limits.queue} sentences: {len(self._jobs)} are waiting, "
                f"and this request has {len(items)}.",
                "Try again in a moment.",
            )
        loop, request = asyncio.get_running_loop(), object()
        urgent = len(items) <= _URGENT
        jobs = [_Job[Item, Key, Result](item, key, request, loop.create_future(), urgent) for item in items]
        self._jobs.extend(jobs)
        self._changed.set()
        if jobs and (self._scheduler is None or self._scheduler.done()):
            self._scheduler = loop.create_task(self._schedule())
        try:
            async with asyncio.timeout(self._limits.deadline):
                return await asyncio.gather(*(job.future for job in jobs))
        except TimeoutError:
            raise DeadlineExceeded(
                f"the request was not finished within {self._limits.deadline:g} seconds.", "Send less text per request."
            ) from None
        finally:
            for job in jobs:
                job.future.cancel()
            self._jobs = deque(job for job in self._jobs if job.request is not request)

    def close(self) -> None:
        """Cancel waiting requests; running batches end at their next yield point."""
        self._closed = True
        if self._scheduler is not None:
            self._scheduler.cancel()
        for job in self._jobs:
            job.future.cancel()
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _schedule(self) -> None:
        while self._jobs:
            if len(self._jobs) < self._limits.batch:
                await asyncio.sleep(self._limits.wait_ms / 1000)
            self._changed.clear()
            if jobs := self._next_batch():
                batch = asyncio.create_task(self._run_batch(jobs))
                self._running[batch] = {job.request for job in jobs}
                batch.add_done_callback(self._on_batch_done)
                await asyncio.wait({batch}, timeout=self._limits.time_slice)
            elif self._jobs:
                await self._changed.wait()

    def _on_batch_done(self, batch: asyncio.Task[None]) -> None:
        del self._running[batch]
        self._changed.set()

    def _next_batch(self) -> list[_Job[Item, Key, Result]]:
        """Take jobs off the queue; none while the limit of running batches is reached.

        A request has at most one running batch, so none either if only requests with a running batch have jobs.
        """
        if len(self._running) >= self._limits.concurrent_batches:
            return []
        busy = set().union(*self._running.values())
        first = next((job for job in self._jobs if job.request not in busy), None)
        if first is None:
            return []
        size = self._size(first.item)
        candidates = [
            job for job in self._jobs
            if job.key == first.key and job.request not in busy and (job.urgent or not first.urgent)
            and _are_similar(self._size(job.item), size)
        ]  # fmt: skip
        candidates.sort(key=lambda job: abs(self._size(job.item) - size))
        batch = [first, *(job for job in candidates if job is not first)][: self._limits.batch]
        chosen, served = set(map(id, batch)), {job.request for job in batch}
        remaining = [job for job in self._jobs if id(job) not in chosen]
        remaining.sort(key=lambda job: job.request in served)  # to the end of the queue; stable
        self._jobs = deque(remaining)
        return batch

    async def _run_batch(self, jobs: Sequence[_Job[Item, Key, Result]]) -> None:
        """If a batch of several requests fails, run each request separately, so that none fails because of another."""
        loop = asyncio.get_running_loop()
        jobs = [job for job in jobs if not job.future.done()]
        if not jobs:
            return
        try:
            results = await loop.run_in_executor(self._executor, self._compute_in_thread, jobs)
            for job, result in zip(jobs, results, strict=True):
                if not job.future.done():
                    job.future.set_result(result)
            self.batches += 1
            self.sentences += len(jobs)
        except Exception as error:
            requests = list(dict.fromkeys(job.request for job in jobs))
            if len(requests) > 1:
                for request in requests:
                    await self._run_batch([job for job in jobs if job.request is request])
                return
            for job in jobs:
                if not job.future.done():
                    job.future.set_exception(error)

    def _compute_in_thread(self, jobs: Sequence[_Job[Item, Key, Result]]) -> Sequence[Result]:
        with self._model_lock.held():
            slice_start = time.monotonic()

            def at_yield_point(cancel_only: bool = False) -> None:
                nonlocal slice_start
                if not cancel_only and time.monotonic() - slice_start > self._limits.time_slice:
                    self._model_lock.let_others_run()
                    slice_start = time.monotonic()
                if self._closed or all(job.future.done() for job in jobs):
                    raise BatchAbandoned

            at_yield_point()
            with on_yield_point(at_yield_point):
                return self._compute([job.item for job in jobs], jobs[0].key)


def _are_similar(size: int, other: int) -> bool:
    return max(size, other) <= _SIZE_RATIO * (min(size, other) + _SIZE_OFFSET)
