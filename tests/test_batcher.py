"""Sentences of many requests through one thread: joined, bounded, given up, dropped."""

import asyncio
import threading

import pytest

from redraft.serve.batcher import Batcher, Full, TooLate
from redraft.serve.limits import Limits


class Rewriting:
    """Notes each batch; `gate` holds them up; an item "bad" fails."""

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
    """A request that is under way in the thread, which is held up."""
    rewriting.gate.clear()
    task = asyncio.create_task(batcher.submit(list(items), "a"))
    while not rewriting.begun.is_set():
        await asyncio.sleep(0.001)
    return task


def test_requests_that_wait_together_are_joined_by_key_in_order(rewriting):
    async def scenario(batcher):
        found = await asyncio.gather(
            batcher.submit(["a", "b"], "one"), batcher.submit(["c"], "two"), batcher.submit(["d"], "one")
        )
        assert found == [["A", "B"], ["C"], ["D"]]
        assert rewriting.calls == [(["a", "b", "d"], "one"), (["c"], "two")]
        assert (batcher.batches, batcher.sentences, batcher.waiting) == (2, 4, 0)

    run(rewriting, scenario)


def test_a_long_request_goes_in_several_batches(rewriting):
    async def scenario(batcher):
        assert await batcher.submit(list("abcd"), "one") == list("ABCD")
        assert [items for items, _ in rewriting.calls] == [["a", "b", "c"], ["d"]]
        assert await batcher.submit([], "one") == []

    run(rewriting, scenario)


def test_a_full_queue_refuses_at_once(rewriting):
    async def scenario(batcher):
        first = await held(rewriting, batcher)
        waiting = asyncio.create_task(batcher.submit(["b", "c", "d"], "a"))
        await asyncio.sleep(0)
        with pytest.raises(Full, match="3 sentences wait already, this request has 2, and the queue holds 4"):
            await batcher.submit(["e", "f"], "a")
        rewriting.gate.set()
        assert (await first, await waiting) == (["FIRST"], ["B", "C", "D"])

    run(rewriting, scenario)


def test_after_the_deadline_a_request_is_given_up_and_its_place_is_free(rewriting):
    async def scenario(batcher):
        first = await held(rewriting, batcher)
        with pytest.raises(TooLate, match=r"within 0\.1 seconds"):
            await batcher.submit(["b", "c"], "a")
        assert batcher.waiting == 0
        with pytest.raises(TooLate):
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


def test_sentences_of_like_length_go_together_and_the_oldest_always_goes(rewriting):
    async def scenario(batcher):
        first = await held(rewriting, batcher)
        waiting = [asyncio.create_task(batcher.submit([item], "k")) for item in ("aaaa", "b", "cccc", "dd")]
        await asyncio.sleep(0.05)
        rewriting.gate.set()
        assert await asyncio.gather(*waiting) == [["AAAA"], ["B"], ["CCCC"], ["DD"]]
        await first
        assert [items for items, _ in rewriting.calls[1:]] == [["aaaa", "cccc"], ["b", "dd"]]

    run(rewriting, scenario, size=len, batch=2, queue=8)
