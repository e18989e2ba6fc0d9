"""Several processes write what one writes, in the same order, and leave nothing behind."""

import os
import pickle
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import torch

from redraft import Edit, EditPlan, Simplifier
from redraft.errors import ConfigError, ModelError, PlanError, RedraftError
from redraft.simplify import process_pool
from redraft.simplify.process_pool import ProcessPool, workers_for

MODEL = f"scripted:{Path(__file__).resolve().parent.parent / 'examples' / 'by_hand.json'}"
FACTORY = partial(Simplifier, MODEL)
PLANS = [EditPlan("The artisans remain old .", (Edit.insert(word),)) for word in ("old", "young", "craftsmen")] * 4


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(process_pool, "_CHUNK", 2)


@pytest.fixture
def pool(small_chunks):
    with ProcessPool(FACTORY, 2) as found:
        yield found


def test_results_and_their_order_are_those_of_one_process(pool):
    expected = [result.to_json() for result in FACTORY().pipe(PLANS, candidates=2)]
    assert [result.to_json() for result in pool.pipe(PLANS, candidates=2)] == expected
    assert list(pool.pipe([])) == []


def test_a_text_that_cannot_be_rewritten_is_an_error_in_its_place(pool):
    texts = [*PLANS[:3], EditPlan(""), PLANS[3]]
    found = list(pool.pipe(texts, on_error="return"))
    expected = list(FACTORY().pipe(texts, on_error="return"))
    assert [isinstance(one, RedraftError) for one in found] == [isinstance(one, RedraftError) for one in expected]
    assert [str(one) for one in found] == [str(one) for one in expected]


def test_wrong_settings_are_raised(pool):
    with pytest.raises(ConfigError, match="Did you mean beams"):
        list(pool.pipe(PLANS, beam=3))
    assert len(list(pool.pipe(PLANS))) == len(PLANS)  # and the processes go on


def test_a_model_that_cannot_be_loaded_is_named():
    with (
        ProcessPool(partial(Simplifier, "./no-such-model"), 1) as pool,
        pytest.raises(ModelError, match="no-such-model"),
    ):
        list(pool.pipe(PLANS))


def test_texts_are_read_only_as_they_are_needed(pool):
    read = []
    results = pool.pipe(read.append(plan) or plan for plan in PLANS * 10)
    next(results)
    assert len(read) < len(PLANS) * 10 / 2
    results.close()


def test_a_worker_that_was_killed_is_replaced(pool):
    first = list(pool.pipe(PLANS))
    for worker in list(pool._workers):
        os.kill(worker._process.pid, signal.SIGKILL)
    assert list(pool.pipe(PLANS)) == first


def test_workers_that_always_die_are_an_error(small_chunks):
    with (
        ProcessPool(partial(os._exit, 3), 1) as pool,
        pytest.raises(RedraftError, match="ended with status 3 while it rewrote 2 texts"),
    ):
        list(pool.pipe(PLANS))


class OutOfMemory:
    """A simplifier that finds no memory."""

    def pipe(self, texts, **options):
        raise RuntimeError("CUDA error: not enough memory")


def test_too_little_memory_is_an_error(small_chunks, monkeypatch):
    found = process_pool._outcomes(OutOfMemory(), PLANS[:2], {})
    assert isinstance(found, RedraftError)
    assert "out of memory in a worker process: CUDA error" in str(found)
    assert "fewer --workers" in found.hint


def test_no_process_is_left(small_chunks):
    with ProcessPool(FACTORY, 2) as pool:
        next(pool.pipe(PLANS * 20))
        workers = [worker._process for worker in pool._workers]
    assert all(worker.poll() is not None for worker in workers)


def test_workers_end_with_the_process_that_started_them(tmp_path):
    """Even if it is killed: their input ends."""
    code = (
        "from redraft.simplify.process_pool import ProcessPool; from functools import partial; import time, redraft\n"
        f"pool = ProcessPool(partial(redraft.Simplifier, {MODEL!r}), 1)\n"
        "list(pool.pipe(['The artisans remain old .']))\n"
        "print(pool._workers[0]._process.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    for _ in range(200):
        if not Path(f"/proc/{worker}").exists() or "Z" in Path(f"/proc/{worker}/stat").read_text().split(")")[1][:3]:
            return
        time.sleep(0.1)
    pytest.fail("the worker is still running")


@pytest.mark.parametrize(
    "texts, cores, device, free, expected",
    [
        (100, 16, "cpu", None, 1),
        (100_000, 2, "cpu", None, 1),
        (100_000, 16, "cpu", None, 8),
        (1_000, 16, "cuda", None, 2),
        (100_000, 16, "cuda", None, 14),
        (100_000, 16, "cuda", 5 << 30, 2),
        (100_000, 64, "cuda", None, 14),
        (100_000, 16, "cpu", 1 << 30, 1),
    ],
)
def test_the_number_of_processes(monkeypatch, texts, cores, device, free, expected):
    monkeypatch.setattr(process_pool, "available_cores", lambda: cores)
    monkeypatch.setattr(process_pool, "free_memory", lambda device: free)
    assert workers_for(texts, torch.device(device)) == expected


def test_the_command_writes_the_same_with_several_processes(command, tmp_path):
    (tmp_path / "in.txt").write_text("The artisans remain old .\n\nThe old artisans remain .\n" * 5)
    one = command("simplify", "--model", MODEL, "--input", "in.txt")
    two = command("simplify", "--model", MODEL, "--input", "in.txt", "--workers", "2")
    assert one[:2] == two[:2]
    assert "2 processes" in two[2]


def test_errors_survive_the_way_between_processes():
    error = PlanError("wrong.", "Change it.", path="a", line=3, field="edits[1]")
    back = pickle.loads(pickle.dumps(error))
    assert (str(back), back.line, back.field) == (str(error), 3, "edits[1]")
