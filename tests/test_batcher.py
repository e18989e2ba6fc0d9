"""Sentences of concurrent requests in one thread: batching, limits, timeouts, cancellation."""

import asyncio
import threading
import time
from functools import partial

import pytest

from redraft.cooperative_scheduling import yield_point
from redraft.serve.batcher import BatchAbandoned, Batcher, DeadlineExceeded, QueueFull
from redraft.serve.limits import Limits


class Rewriting:
    """Records each batch; `gate` blocks them; an item "bad" fails."""

    def __init__(self):
        self.calls, self.gate, self.begun = [], threading.Event(), threading.Event()
        self.gate.set()

    def __call__(self, items, key):
        self.calls.append((list(items), key))
        self.begun.set()
        assert self.gate.wait(10)
        if "bad" in items:
            raise ValueError("bad")
        return [item.upper() for item in items]


@pytest.fixture
def rewriting():
    return Rewriting()


def limits(**changes):
    return Limits(**{"max_sentences": 4, "queue": 4, "batch": 3, "wait_ms": 20, "deadline": 10, **changes})


def run(rewriting, scenario, size=lambda item: 0, **changes):
    async def main():
        batcher = Batcher(rewriting, limits(**changes), size=size)
        try:
            await scenario(batcher)
        finally:
            rewriting.gate.set()
            batcher.close()

    asyncio.run(main())


async def held(rewriting, batcher, items=("first",)):
    """A request that is running in the blocked thread."""
    rewriting.gate.clear()
    task = asyncio.create_task(batcher.submit(list(items), "a"))
    while not rewriting.begun.is_set():
        await asyncio.sleep(0.001)
    return task


def test_waiting_requests_with_the_same_key_share_a_batch(rewriting):
    async def scenario(batcher):
        found = await asyncio.gather(
            batcher.submit(["a", "b"], "one"), batcher.submit(["c"], "two"), batcher.submit(["d"], "one")
        )
        assert found == [["A", "B"], ["C"], ["D"]]
        assert rewriting.calls == [(["a", "b", "d"], "one"), (["c"], "two")]
        assert (batcher.batches, batcher.sentences, batcher.waiting) == (2, 4, 0)

    run(rewriting, scenario)


def test_a_long_request_is_split_into_batches(rewriting):
    async def scenario(batcher):
        assert await batcher.submit(list("abcd"), "one") == list("ABCD")
        assert [items for items, _ in rewriting.calls] == [["a", "b", "c"], ["d"]]
        assert await batcher.submit([], "one") == []

    run(rewriting, scenario)


def test_a_full_queue_refuses_immediately(rewriting):
    async def scenario(batcher):
        first = await held(rewriting, batcher)
        waiting = asyncio.create_task(batcher.submit(["b", "c", "d"], "a"))
        await asyncio.sleep(0)
        with pytest.raises(QueueFull, match=r"the queue holds 4 sentences: 3 .*, .* 2"):
            await batcher.submit(["e", "f"], "a")
        rewriting.gate.set()
        assert (await first, await waiting) == (["FIRST"], ["B", "C", "D"])

    run(rewriting, scenario)


def test_a_request_times_out_and_leaves_the_queue(rewriting):
    async def scenario(batcher):
        first = await held(rewriting, batcher)
        with pytest.raises(DeadlineExceeded, match=r"within 0\.1 seconds"):
            await batcher.submit(["b", "c"], "a")
        assert batcher.waiting == 0
        with pytest.raises(DeadlineExceeded):
            await first
        rewriting.gate.set()
        assert await batcher.submit(["d"], "a") == ["D"]
        assert [items for items, _ in rewriting.calls] == [["first"], ["d"]]

    run(rewriting, scenario, deadline=0.1)


def test_a_cancelled_request_is_not_computed(rewriting):
    async def scenario(batcher):
        first = await held(rewriting, batcher)
        gone, stays = (asyncio.create_task(batcher.submit([item], "a")) for item in "bc")
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait({gone})
        assert batcher.waiting == 1
        rewriting.gate.set()
        assert (await first, await stays) == (["FIRST"], ["C"])
        assert gone.cancelled()
        assert [items for items, _ in rewriting.calls] == [["first"], ["c"]]

    run(rewriting, scenario)


def test_an_exception_reaches_its_own_request_only(rewriting):
    async def scenario(batcher):
        good, bad, other = await asyncio.gather(
            batcher.submit(["a"], "one"), batcher.submit(["bad"], "one"), batcher.submit(["c"], "two"),
            return_exceptions=True,
        )  # fmt: skip
        assert (good, other) == (["A"], ["C"])
        assert isinstance(bad, ValueError)
        assert await batcher.submit(["d"], "one") == ["D"]

    run(rewriting, scenario)


def test_the_rest_of_a_failed_request_is_not_computed(rewriting):
    async def scenario(batcher):
        with pytest.raises(ValueError, match="bad"):
            await batcher.submit(["a", "bad", "b", "c"], "one")
        assert batcher.waiting == 0
        await asyncio.sleep(0.05)
        assert [items for items, _ in rewriting.calls] == [["a", "bad", "b"]]

    run(rewriting, scenario)


def test_sentences_of_similar_length_share_a_batch_with_the_oldest(rewriting):
    async def scenario(batcher):
        first = await held(rewriting, batcher)
        waiting = [asyncio.create_task(batcher.submit([item], "k")) for item in ("aaaa", "b", "cccc", "dd")]
        await asyncio.sleep(0.05)
        rewriting.gate.set()
        assert await asyncio.gather(*waiting) == [["AAAA"], ["B"], ["CCCC"], ["DD"]]
        await first
        assert [items for items, _ in rewriting.calls[1:]] == [["aaaa", "cccc"], ["b", "dd"]]

    run(rewriting, scenario, size=len, batch=2, queue=8)


class Pausing:
    """Records starts and ends; an item "slow…" runs while `slow` is set, with yield points."""

    def __init__(self):
        self.begun, self.ended, self.slow = [], [], threading.Event()
        self.slow.set()

    def __call__(self, items, key):
        self.begun.append(list(items))
        while any(item.startswith("slow") for item in items) and self.slow.is_set():
            time.sleep(0.001)
            yield_point()
        self.ended.append(list(items))
        return [item.upper() for item in items]


def paused(rewriting, scenario, **changes):
    async def main():
        batcher = Batcher(rewriting, limits(**{"wait_ms": 0, "time_slice": 0.02, "batch": 1, "queue": 9, **changes}))
        try:
            await asyncio.wait_for(scenario(batcher), 20)
        finally:
            rewriting.slow.clear()
            batcher.close()

    asyncio.run(main())


def test_a_slow_batch_does_not_block_others():
    rewriting = Pausing()

    async def scenario(batcher):
        slow = asyncio.create_task(batcher.submit(["slow"], "k"))
        await asyncio.sleep(0.01)
        assert await asyncio.gather(*(batcher.submit([item], "k") for item in "abc")) == [["A"], ["B"], ["C"]]
        assert rewriting.ended == [["a"], ["b"], ["c"]]
        rewriting.slow.clear()
        assert await slow == ["SLOW"]

    paused(rewriting, scenario)


def test_at_cancel_only_yield_points_no_other_batch_runs(monkeypatch):
    rewriting = Pausing()
    monkeypatch.setattr("test_batcher.yield_point", partial(yield_point, cancel_only=True))

    async def scenario(batcher):
        slow = asyncio.create_task(batcher.submit(["slow"], "k"))
        await asyncio.sleep(0.01)
        other = asyncio.create_task(batcher.submit(["a"], "k"))
        await asyncio.sleep(0.2)
        assert rewriting.begun == [["slow"]]
        slow.cancel()
        assert await other == ["A"]

    paused(rewriting, scenario)


def test_a_request_has_at_most_one_running_batch():
    rewriting = Pausing()

    async def scenario(batcher):
        slow = asyncio.create_task(batcher.submit(["slow 1", "slow 2", "slow 3", "slow 4"], "k"))
        await asyncio.sleep(0.2)
        assert rewriting.begun == [["slow 1"]]
        assert await batcher.submit(["a"], "k") == ["A"]
        slow.cancel()

    paused(rewriting, scenario)


def test_the_number_of_running_batches_is_limited():
    rewriting = Pausing()

    async def scenario(batcher):
        slow = [asyncio.create_task(batcher.submit([f"slow {number}"], "k")) for number in range(4)]
        await asyncio.sleep(0.3)
        assert len(rewriting.begun) == 2
        rewriting.slow.clear()
        assert len(await asyncio.gather(*slow)) == 4

    paused(rewriting, scenario, concurrent_batches=2)


def test_an_abandoned_batch_ends_at_its_next_yield_point():
    rewriting = Pausing()

    async def scenario(batcher):
        with pytest.raises(DeadlineExceeded):
            await batcher.submit(["slow"], "k")
        assert rewriting.slow.is_set()
        assert await batcher.submit(["a"], "k") == ["A"]
        assert rewriting.ended == [["a"]]

    paused(rewriting, scenario, deadline=0.1, time_slice=60)


def test_batches_end_when_the_service_stops():
    rewriting = Pausing()

    async def main():
        batcher = Batcher(rewriting, limits(wait_ms=0))
        slow = asyncio.create_task(batcher.submit(["slow"], "k"))
        await asyncio.sleep(0.05)
        batcher.close()
        with pytest.raises(BatchAbandoned):
            await slow

    asyncio.run(asyncio.wait_for(main(), 20))
    assert rewriting.ended == []


def test_requests_are_served_round_robin(rewriting):
    async def scenario(batcher):
        first = await held(rewriting, batcher)
        long = asyncio.create_task(batcher.submit(list("abcd"), "k"))
        await asyncio.sleep(0.02)
        short = asyncio.create_task(batcher.submit(["x"], "other"))
        await asyncio.sleep(0.02)
        rewriting.gate.set()
        assert (await first, await long, await short) == (["FIRST"], list("ABCD"), ["X"])
        assert [items for items, _ in rewriting.calls[1:]] == [["a", "b"], ["x"], ["c", "d"]]

    run(rewriting, scenario, batch=2, queue=8)


def test_a_small_request_shares_its_batch_with_small_ones_only(rewriting):
    async def scenario(batcher):
        first = await held(rewriting, batcher)
        file = asyncio.create_task(batcher.submit(list("abcdef"), "k"))
        await asyncio.sleep(0.02)
        small = [asyncio.create_task(batcher.submit([item], "k")) for item in "xy"]
        await asyncio.sleep(0.02)
        rewriting.gate.set()
        await asyncio.gather(first, file, *small)
        batches = [items for items, _ in rewriting.calls[1:]]
        assert batches == [["a", "b", "c"], ["x", "y"], ["d", "e", "f"]]

    run(rewriting, scenario, batch=3, queue=8, max_sentences=8)


def test_sentences_of_very_different_length_do_not_share_a_batch(rewriting):
    async def scenario(batcher):
        first = await held(rewriting, batcher)
        items = ["a" * 2000, "b" * 100, "c" * 1000, "d"]
        waiting = [asyncio.create_task(batcher.submit([item], "k")) for item in items]
        await asyncio.sleep(0.05)
        rewriting.gate.set()
        await asyncio.gather(first, *waiting)
        assert [[item[0] for item in items] for items, _ in rewriting.calls[1:]] == [["a", "c"], ["b", "d"]]

    run(rewriting, scenario, size=len, batch=4, queue=8)
