"""Simulates a corpus on a cluster: blocks in a queue, processes that start, fail and are slow, results as files.

python -m benchmarks.simulate_cluster --measured benchmarks/cluster_runs.json    # predictions beside measured runs
python -m benchmarks.simulate_cluster --plan                                     # the tables of docs/scale.md

The model, in the order of a block's life: the driver gives it to a process with fewest blocks (its own time for each
block is spent one block after another); the process rewrites it, at its own speed; the result is written and counted.
A process that dies is started again, and its blocks are repeated. Time is in seconds.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

WITHIN = 0.2  # how far a prediction may be from what was measured


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """`processes` rewrite; each has `row_seconds` for a row when it is alone on its cores."""

    processes: int
    row_seconds: float
    start_seconds: float  # from the command until the first process begins
    load_seconds: float  # until a new process can work: imports and models
    end_seconds: float = 0.0  # after the last block
    block_seconds: float = 0.0  # of a process for each block, whatever its size: reading, handing over, writing
    driver_seconds: float = 0.002  # of the one driver for each block
    spread: float = 0.0  # of the speeds of blocks: standard deviation of their logarithm
    slow_share: float = 0.0  # of the processes that are stragglers
    slow_factor: float = 3.0
    failures_an_hour: float = 0.0  # of a process
    killed_at: tuple[float, ...] = ()  # the first process, at these times
    seed: int = 0


@dataclass
class Outcome:
    seconds: float
    repeated: int = 0  # blocks that were started again after a failure
    failures: int = 0
    busy: float = 0.0  # share of the time of the processes in which a block was rewritten that counted
    driver: float = 0.0  # share of the time in which the driver was busy


@dataclass
class _Process:
    speed: float
    free_at: float
    dies_at: float
    kills: deque[float] = field(default_factory=deque)


def simulate(blocks: Sequence[int], cluster: Cluster) -> Outcome:
    """`blocks`: their rows."""
    chance = random.Random(cluster.seed)
    ready = cluster.start_seconds + cluster.load_seconds
    processes = []
    for number in range(cluster.processes):
        kills = deque(sorted(cluster.killed_at) if number == 0 else ())
        slow = cluster.slow_factor if chance.random() < cluster.slow_share else 1.0
        processes.append(_Process(slow, ready, _death(ready, cluster, chance, kills), kills))
    queue = [(process.free_at, number) for number, process in enumerate(processes)]
    heapq.heapify(queue)
    waiting = deque(blocks)
    driver_free, finished, useful = cluster.start_seconds, 0.0, 0.0
    outcome = Outcome(0.0)
    while waiting:
        _, number = heapq.heappop(queue)
        process, rows = processes[number], waiting.popleft()
        driver_free = max(driver_free, process.free_at - cluster.row_seconds * rows) + cluster.driver_seconds
        start = max(process.free_at, driver_free)
        noise = chance.lognormvariate(-(cluster.spread**2) / 2, cluster.spread) if cluster.spread else 1.0
        seconds = rows * cluster.row_seconds * process.speed * noise + cluster.block_seconds
        if start + seconds > process.dies_at:
            outcome.failures += 1
            outcome.repeated += 1
            waiting.appendleft(rows)
            process.free_at = max(start, process.dies_at) + cluster.load_seconds
            process.dies_at = _death(process.free_at, cluster, chance, process.kills)
        else:
            process.free_at = start + seconds
            useful += seconds
            finished = max(finished, process.free_at)
        heapq.heappush(queue, (process.free_at, number))
    outcome.seconds = finished + cluster.end_seconds
    outcome.busy = useful / (cluster.processes * outcome.seconds)
    outcome.driver = len(blocks) * cluster.driver_seconds / outcome.seconds
    return outcome


def _death(now: float, cluster: Cluster, chance: random.Random, kills: deque[float]) -> float:
    """When the process dies next: by chance, or by the next of its `kills`."""
    by_chance = now + chance.expovariate(cluster.failures_an_hour / 3600) if cluster.failures_an_hour else float("inf")
    while kills and kills[0] <= now:
        kills.popleft()
    return min([by_chance, *list(kills)[:1]])


def blocks_of(rows: int, rows_per_block: int) -> list[int]:
    full, rest = divmod(rows, rows_per_block)
    return [rows_per_block] * full + ([rest] if rest else [])


# What was measured: one process gives the parameters, other runs test the predictions.


def fit(runs: Sequence[dict[str, Any]]) -> Cluster:
    """The parameters, from the runs of one process: the seconds of a row and of a block by least squares."""
    start = sum(run["start_s"] for run in runs) / len(runs)
    load = sum(run["load_s"] for run in runs) / len(runs)
    working = [run["seconds"] - start - load for run in runs]
    rows = [run["rows"] for run in runs]
    counts = [len(blocks_of(run["rows"], run["rows_per_file"])) for run in runs]
    row, block = _two_unknowns(rows, counts, working)
    return Cluster(processes=1, row_seconds=row, start_seconds=start, load_seconds=load, block_seconds=block)


def _two_unknowns(first: Sequence[float], second: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """a, b ≥ 0 with the least squares of a · first + b · second − values."""
    ff, ss = sum(one * one for one in first), sum(one * one for one in second)
    fs = sum(one * other for one, other in zip(first, second, strict=True))
    fv = sum(one * value for one, value in zip(first, values, strict=True))
    sv = sum(one * value for one, value in zip(second, values, strict=True))
    determinant = ff * ss - fs * fs
    a, b = (fv * ss - sv * fs) / determinant, (sv * ff - fv * fs) / determinant
    return (a, b) if b > 0 else (fv / ff, 0.0)


def compare(path: Path) -> list[dict[str, Any]]:
    """Each run that was not used for the parameters, with its prediction."""
    measured = json.loads(path.read_text(encoding="utf-8"))["runs"]
    base = fit([run for run in measured if run["fits"]])
    compared = []
    for run in measured:
        if run["fits"]:
            continue
        killed = (run["killed_at_s"],) if run["killed_at_s"] else ()
        cluster = replace(base, processes=run["workers"], killed_at=killed)
        predicted = simulate(blocks_of(run["rows"], run["rows_per_file"]), cluster).seconds
        compared.append({**run, "predicted_s": predicted, "error": predicted / run["seconds"] - 1})
    return compared


# From here on: estimates.


@dataclass(frozen=True)
class Prices:
    """Assumptions, in US dollars; round numbers of public price lists, without discounts and taxes."""

    core_hour: float = 0.045
    gpu_hour: float = 4.0  # one H200 with 16 cores
    gigabyte_month: float = 0.023
    thousand_writes: float = 0.005


@dataclass(frozen=True)
class Kind:
    """A kind of machine: what it rewrites in a second (docs/speed.md) and what it costs in an hour."""

    name: str
    processes: int
    sentences_a_second: float
    hour: float


def kinds(prices: Prices) -> list[Kind]:
    return [
        Kind("16 cores", 16, 16 * 13.5, 16 * prices.core_hour),
        Kind("1 H200", 14, 1558, prices.gpu_hour),
    ]


def plan(prices: Prices, source_bytes: float, result_bytes: float) -> str:
    """The table of docs/scale.md: what a corpus takes on so many machines, with failures and stragglers."""
    lines = [
        "| sentences | machines | rows a file | files | time | driver busy | repeated | compute | storage a month |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    cases = [(10**6, 1, 1000), (10**6, 4, 1000), (10**8, 16, 10_000), (10**9, 64, 10_000)]
    for kind in kinds(prices):
        for sentences, machines, rows in cases:
            blocks = blocks_of(sentences, rows)
            outcome = simulate(blocks, _large(kind, machines))
            machine_hours = machines * outcome.seconds / 3600
            gigabytes = sentences * (source_bytes + result_bytes) / 1e9
            lines.append(
                f"| {sentences:,} | {machines} × {kind.name} | {rows:,} | {len(blocks):,} | {_time(outcome.seconds)} "
                f"| {outcome.driver:.1%} | {outcome.repeated:,} | ${machine_hours * kind.hour:,.0f} "
                f"| {gigabytes:,.0f} GB, ${gigabytes * prices.gigabyte_month:,.2f} |"
            )
    return "\n".join(lines)


def _large(kind: Kind, machines: int) -> Cluster:
    """Machines that are taken away once in ten hours on average, and one slow process of a hundred."""
    return Cluster(
        processes=machines * kind.processes,
        row_seconds=kind.processes / kind.sentences_a_second,
        start_seconds=120,  # machines and images
        load_seconds=15,
        block_seconds=0.3,
        spread=0.2,
        slow_share=0.01,
        failures_an_hour=0.1,
    )


def _time(seconds: float) -> str:
    hours = seconds / 3600
    return f"{seconds / 60:.0f} min" if hours < 2 else f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured", type=Path)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--source-bytes", type=float, default=120, help="of a sentence in the corpus")
    parser.add_argument("--result-bytes", type=float, default=900, help="of a sentence in the results")
    args = parser.parse_args()
    if args.plan:
        print(plan(Prices(), args.source_bytes, args.result_bytes))
    if args.measured:
        compared = compare(args.measured)
        print("| run | measured | predicted | difference |\n|---|---|---|---|")
        for run in compared:
            print(f"| {run['name']} | {run['seconds']:.1f} s | {run['predicted_s']:.1f} s | {run['error']:+.0%} |")
        if any(abs(run["error"]) > WITHIN for run in compared):
            raise SystemExit(f"a prediction is more than {WITHIN:.0%} from what was measured")


if __name__ == "__main__":
    main()
