"""Sentences of many requests on their way through one model: those that wait together are rewritten together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from redraft.errors import RedraftError
from redraft.serve.limits import Limits

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class Full(RedraftError):
    """Too many sentences wait already."""


class TooLate(RedraftError):
    """A request was not done in time."""


@dataclass(frozen=True, eq=False)
class _Job(Generic[Item, Key, Result]):
    item: Item
    key: Key
    request: object
    future: asyncio.Future[Result]


class Batcher(Generic[Item, Key, Result]):
    """Calls `rewrite(items, key)` in one thread, for at most `limits.batch` items that share their key.

    The job that has waited longest is always taken, and with it those that are most like it in `size`: the search takes
    as long as its longest sentence. Those of a request that was cancelled, came too late or failed in part are not
    computed any more, except where they are under way.
    """

    def __init__(
        self, rewrite: Callable[[Sequence[Item], Key], Sequence[Result]], limits: Limits,
        size: Callable[[Item], int] = lambda item: 0,
    ) -> None:  # fmt: skip
        self._rewrite, self._limits, self._size = rewrite, limits, size
        self._jobs: deque[_Job[Item, Key, Result]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="redraft")
        self._work: asyncio.Task[None] | None = None  # only while there are jobs
        self.batches = 0  # rewritten so far
        self.sentences = 0

    @property
    def waiting(self) -> int:
        return len(self._jobs)

    async def submit(self, items: Sequence[Item], key: Key) -> list[Result]:
        """The results of all items, in their order."""
        if len(self._jobs) + len(items) > self._limits.queue:
            raise Full(
                f"{len(self._jobs)} sentences wait already, this request has {len(items)}, "
                f"and the queue holds {self._limits.queue}.",
                "Try again in a moment.",
            )
        loop, request = asyncio.get_running_loop(), object()
        jobs = [_Job[Item, Key, Result](item, key, request, loop.create_future()) for item in items]
        self._jobs.extend(jobs)
        if jobs and (self._work is None or self._work.done()):
            self._work = loop.create_task(self._run())
        try:
            async with asyncio.timeout(self._limits.deadline):
                return await asyncio.gather(*(job.future for job in jobs))
        except TimeoutError:
            raise TooLate(
                f"the request was not done within {self._limits.deadline:g} seconds.", "Send less text at once."
            ) from None
        finally:
            for job in jobs:
                job.future.cancel()
            self._jobs = deque(job for job in self._jobs if job.request is not request)

    def close(self) -> None:
        """Requests that still wait are cancelled."""
        if self._work is not None:
            self._work.cancel()
        for job in self._jobs:
            job.future.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self) -> None:
        while self._jobs:
            if len(self._jobs) < self._limits.batch:
                await asyncio.sleep(self._limits.wait_ms / 1000)
            if jobs := self._taken():
                await self._compute(jobs)

    def _taken(self) -> list[_Job[Item, Key, Result]]:
        """The job that has waited longest, and those that share its key and are nearest to it in size."""
        if not self._jobs:
            return []
        first = self._jobs[0]
        alike = [job for job in self._jobs if job.key == first.key]
        alike.sort(key=lambda job: abs(self._size(job.item) - self._size(first.item)))  # stable: the first stays first
        taken = alike[: self._limits.batch]
        chosen = set(map(id, taken))
        self._jobs = deque(job for job in self._jobs if id(job) not in chosen)
        return taken

    async def _compute(self, jobs: Sequence[_Job[Item, Key, Result]]) -> None:
        """Where a batch of several requests fails, each is tried by itself: no request fails for another."""
        loop = asyncio.get_running_loop()
        jobs = [job for job in jobs if not job.future.done()]
        if not jobs:
            return
        try:
            found = await loop.run_in_executor(self._thread, self._rewrite, [job.item for job in jobs], jobs[0].key)
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
