"""The parallel map over processes."""

from __future__ import annotations

import os

import pytest
import torch

from redraft.fit.worker_pool import data_processes, parallel_map


@pytest.mark.parametrize("processes", [0, 2])
def test_results_come_in_order(processes):
    table = {number: -number for number in range(50)}  # inherited by the processes
    assert list(parallel_map(lambda number: table[number], range(50), processes)) == [-number for number in range(50)]


def test_processes_do_the_work():
    assert os.getpid() not in parallel_map(lambda number: os.getpid(), range(4), 2)
    assert {*parallel_map(lambda number: os.getpid(), range(4), 0)} == {os.getpid()}


def test_an_error_in_a_process_is_raised_here():
    with pytest.raises(ZeroDivisionError):
        list(parallel_map(lambda number: 1 // number, [1, 0], 2))


def test_only_items_that_are_soon_needed_are_taken():
    taken: list[int] = []

    def items():
        for number in range(1000):
            taken.append(number)
            yield number

    results = parallel_map(lambda number: number, items(), 2)
    assert next(results) == 0
    assert len(taken) < 20


def test_processes_run_beside_a_gpu_alone():
    assert data_processes(torch.device("cpu")) == 0
    assert data_processes(torch.device("cuda")) >= 1
