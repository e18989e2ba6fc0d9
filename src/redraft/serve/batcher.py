"""Sentences of many requests on their way through one model: those that wait together are rewritten together."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from redraft.cancellation import at_yield_points
from redraft.errors import RedraftError
from redraft.serve.fair_lock import FairLock
from redraft.serve.limits import Limits

_MANY_TIMES, _SMALL = 4, 100  # sentences of at most 400 characters go together, however short some of them are

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class QueueFull(RedraftError):
    """Too many sentences wait already."""


class DeadlineExceeded(RedraftError):
    """A request was not done in time."""


class BatchAbandoned(Exception):
    """Nobody waits for the batch any more."""


@dataclass(frozen=True, eq=False)
class _Job(Generic[Item, Key, Result]):
    item: Item
    key: Key
    request: object
    future: asyncio.Future[Result]


class Batcher(Generic[Item, Key, Result]):
    """Calls `rewrite(items, key)` in a thread, for at most `limits.batch` items that share their key.

    Requests take turns: a batch begins with a job of the request that has waited longest since its last batch, and has
    those that are most like it in `size`, none of them many times as large or as small: a batch takes as long as its
    longest sentence. Jobs of a request that was cancelled, came too late or failed in part are not computed any more,
    and a batch that nobody waits for ends at its next yield point.

    One batch is computed at a time. One that takes longer than `limits.turn` seconds is slow: at its pauses the next
    batches, of other requests, go first for as long each.
    """

    def __init__(
        self, rewrite: Callable[[Sequence[Item], Key], Sequence[Result]], limits: Limits,
        size: Callable[[Item], int] = lambda item: 0,
    ) -> None:  # fmt: skip
        self._rewrite, self._limits, self._size = rewrite, limits, size
        self._jobs: deque[_Job[Item, Key, Result]] = deque()
        self._threads = ThreadPoolExecutor(limits.under_way, thread_name_prefix="redraft")
        self._turns = FairLock()
        self._under_way: dict[asyncio.Task[None], set[object]] = {}  # batches, with their requests
        self._changed = asyncio.Event()  # new jobs, or a batch that is over
        self._work: asyncio.Task[None] | None = None  # only while there are jobs
        self._closed = False
        self.batches = 0  # rewritten so far
        self.sentences = 0

    @property
    def waiting(self) -> int:
        return len(self._jobs)

    async def submit(self, items: Sequence[Item], key: Key) -> list[Result]:
        """The results of all items, in their order."""
        if len(self._jobs) + len(items) > self._limits.queue:
            raise QueueFull(
                f"{len(self._jobs)} sentences wait already, this request has {len(items)}, "
                f"and the queue holds {self._limits.queue}.",
                "Try again in a moment.",
            )
        loop, request = asyncio.get_running_loop(), object()
        jobs = [_Job[Item, Key, Result](item, key, request, loop.create_future()) for item in items]
        self._jobs.extend(jobs)
        self._changed.set()
        if jobs and (self._work is None or self._work.done()):
            self._work = loop.create_task(self._run())
        try:
            async with asyncio.timeout(self._limits.deadline):
                return await asyncio.gather(*(job.future for job in jobs))
        except TimeoutError:
            raise DeadlineExceeded(
                f"the request was not done within {self._limits.deadline:g} seconds.", "Send less text at once."
            ) from None
        finally:
            for job in jobs:
                job.future.cancel()
            self._jobs = deque(job for job in self._jobs if job.request is not request)

    def close(self) -> None:
        """Requests that still wait are cancelled; batches end at their next yield point."""
        self._closed = True
        if self._work is not None:
            self._work.cancel()
        for job in self._jobs:
            job.future.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self) -> None:
        while self._jobs:
            if len(self._jobs) < self._limits.batch:
                await asyncio.sleep(self._limits.wait_ms / 1000)
            self._changed.clear()
            if jobs := self._taken():
                batch = asyncio.create_task(self._compute(jobs))
                self._under_way[batch] = {job.request for job in jobs}
                batch.add_done_callback(self._is_over)
                await asyncio.wait({batch}, timeout=self._limits.turn)
            elif self._jobs:
                await self._changed.wait()

    def _is_over(self, batch: asyncio.Task[None]) -> None:
        del self._under_way[batch]
        self._changed.set()

    def _taken(self) -> list[_Job[Item, Key, Result]]:
        """The next batch; none while so many are under way, or all that wait belong to requests of these."""
        if len(self._under_way) >= self._limits.under_way:
            return []
        slow = set().union(*self._under_way.values())
        first = next((job for job in self._jobs if job.request not in slow), None)
        if first is None:
            return []
        size = self._size(first.item)
        alike = [
            job for job in self._jobs
            if job.key == first.key and job.request not in slow and _are_alike(self._size(job.item), size)
        ]  # fmt: skip
        alike.sort(key=lambda job: abs(self._size(job.item) - size))  # stable: the first stays first
        taken = [first, *(job for job in alike if job is not first)][: self._limits.batch]
        chosen, served = set(map(id, taken)), {job.request for job in taken}
        left = [job for job in self._jobs if id(job) not in chosen]
        left.sort(key=lambda job: job.request in served)  # stable: behind all others, in their order
        self._jobs = deque(left)
        return taken

    async def _compute(self, jobs: Sequence[_Job[Item, Key, Result]]) -> None:
        """Where a batch of several requests fails, each is tried by itself: no request fails for another."""
        loop = asyncio.get_running_loop()
        jobs = [job for job in jobs if not job.future.done()]
        if not jobs:
            return
        try:
            found = await loop.run_in_executor(self._threads, self._rewritten, jobs)
            for job, result in zip(jobs, found, strict=True):
                if not job.future.done():
                    job.future.set_result(result)
            self.batches += 1
            self.sentences += len(jobs)
        except Exception as error:
            requests = list(dict.fromkeys(job.request for job in jobs))
            if len(requests) > 1:
                for request in requests:
                    await self._compute([job for job in jobs if job.request is request])
                return
            for job in jobs:
                if not job.future.done():
                    job.future.set_exception(error)

    def _rewritten(self, jobs: Sequence[_Job[Item, Key, Result]]) -> Sequence[Result]:
        """In a thread of its own."""
        with self._turns.turn():
            began = time.monotonic()

            def give_way(alone: bool = False) -> None:
                nonlocal began
                if not alone and time.monotonic() - began > self._limits.turn:
                    self._turns.pass_on()
                    began = time.monotonic()
                if self._closed or all(job.future.done() for job in jobs):
                    raise BatchAbandoned

            give_way()
            with at_yield_points(give_way):
                return self._rewrite([job.item for job in jobs], jobs[0].key)


def _are_alike(one: int, other: int) -> bool:
    """Whether two sizes are of one order: neither is many times the other."""
    return max(one, other) <= _MANY_TIMES * (min(one, other) + _SMALL)
