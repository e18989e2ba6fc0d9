"""The simulation of a corpus on a cluster: exact where it can be computed by hand, near what was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.simulate_cluster import WITHIN, Cluster, blocks_of, compare, fit, simulate

RUNS = Path(__file__).resolve().parent.parent / "benchmarks" / "cluster_runs.json"
ONE = Cluster(processes=1, row_seconds=0.1, start_seconds=5, load_seconds=10, block_seconds=0.5, driver_seconds=0)


def test_rows_are_divided_into_blocks() -> None:
    assert blocks_of(250, 100) == [100, 100, 50]
    assert blocks_of(200, 100) == [100, 100]


@pytest.mark.parametrize(
    "cluster, blocks, seconds",
    [
        pytest.param(ONE, [100, 100], 15 + 2 * 10.5, id="one-process"),
        pytest.param(replace(ONE, processes=2), [100, 100], 15 + 10.5, id="two-processes"),
        pytest.param(replace(ONE, processes=2), [100, 100, 100], 15 + 2 * 10.5, id="the-last-block-is-waited-for"),
        pytest.param(replace(ONE, end_seconds=3), [100], 15 + 10.5 + 3, id="the-end"),
        pytest.param(replace(ONE, killed_at=(20.0,)), [100, 100], 20 + 10 + 2 * 10.5, id="killed-in-its-first-block"),
        pytest.param(replace(ONE, killed_at=(1e6,)), [100], 15 + 10.5, id="killed-after-the-end"),
        pytest.param(
            replace(ONE, processes=2, killed_at=(20.0,)), [100] * 3, 20 + 10 + 10.5, id="another-process-goes-on"
        ),
        pytest.param(replace(ONE, slow_share=1.0, slow_factor=2.0), [100], 15 + 20.5, id="a-slow-process"),
        pytest.param(replace(ONE, driver_seconds=100), [100], 5 + 100 + 10.5, id="a-slow-driver"),
    ],
)
def test_the_time_is_that_computed_by_hand(cluster: Cluster, blocks: list[int], seconds: float) -> None:
    assert simulate(blocks, cluster).seconds == pytest.approx(seconds)


def test_failures_come_as_often_as_stated() -> None:
    """Each of 50 processes dies once in an hour on average; a block of a few seconds is lost with it."""
    cluster = replace(ONE, processes=50, failures_an_hour=1.0, row_seconds=0.05)
    outcome = simulate([100] * 36_000, cluster)
    assert outcome.failures == pytest.approx(50 * outcome.seconds / 3600, rel=0.25)
    assert outcome.repeated == outcome.failures
    assert 0.9 < outcome.busy < 1


def test_the_parameters_are_found_in_runs_that_the_simulation_made() -> None:
    sizes = [(150, 50), (450, 150), (450, 15)]
    runs = [
        {"rows": rows, "rows_per_file": size, "seconds": simulate(blocks_of(rows, size), ONE).seconds,
         "start_s": 5.0, "load_s": 10.0}
        for rows, size in sizes
    ]  # fmt: skip
    found = fit(runs)
    assert found.row_seconds == pytest.approx(0.1)
    assert found.block_seconds == pytest.approx(0.5)


def test_predictions_are_near_what_was_measured() -> None:
    """More processes, other sizes and a killed process are predicted from runs of one process."""
    compared = compare(RUNS)
    assert len(compared) >= 4
    assert any(run["killed_at_s"] for run in compared)
    assert [run["name"] for run in compared if abs(run["error"]) > WITHIN] == []
