"""Measures small runs of `redraft simplify --on ray` on this machine, for benchmarks/simulate_cluster.py.

python -m benchmarks.measure_cluster --out benchmarks/cluster_runs.json

Runs with one process give the parameters of the simulation; the others test its predictions. In the last one, a process
is killed. The results of each run are complete, or the measurement ends with an error.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.bench_search import machine
from benchmarks.bench_service import SENTENCES

# name, processes, rows, rows of each file, seconds until a process is killed, whether it fits the parameters
RUNS = (
    ("1 process, 150 rows, files of 50", 1, 150, 50, None, True),
    ("1 process, 450 rows, files of 150", 1, 450, 150, None, True),
    ("1 process, 450 rows, files of 15", 1, 450, 15, None, True),
    ("1 process, 800 rows, files of 50", 1, 800, 50, None, False),
    ("2 processes, 800 rows, files of 25", 2, 800, 25, None, False),
    ("2 processes, 600 rows, files of 200", 2, 600, 200, None, False),
    ("2 processes, 800 rows, files of 50, one killed", 2, 800, 50, 25.0, False),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="as stored")
    args = parser.parse_args()
    runs = [measured(*run) for run in RUNS]
    report = {"machine": machine(args), "runs": runs}
    print(json.dumps(report, indent=1))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def measured(
    name: str, workers: int, rows: int, rows_per_file: int, kill_after: float | None, fits: bool
) -> dict[str, Any]:
    print(name, file=sys.stderr, flush=True)
    sources = SENTENCES.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        corpus, out = Path(folder) / "corpus.txt", Path(folder) / "out"
        lines = [f"{sources[number % len(sources)]} Case {number}." for number in range(rows)]
        corpus.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        command = [
            sys.executable, "-m", "redraft.cli", "simplify", "--on", "ray", "--input", str(corpus), "--out", str(out),
            "--workers", str(workers), "--threads", "1", "--device", "cpu", "--rows-per-file", str(rows_per_file),
        ]  # fmt: skip
        began = time.time()
        run = subprocess.Popen(command)
        watch = _Watch(run.pid, began, kill_after)
        watch.start()
        if run.wait() != 0:
            raise SystemExit(f"{name}: the command failed")
        seconds = time.time() - began
        watch.join()
        results = [path for path in out.rglob("*.jsonl") if path.stat().st_size]
        written = sum(len(path.read_bytes().splitlines()) for path in results)
        if written != rows:
            raise SystemExit(f"{name}: {written} of {rows} rows in the results")
        first = min(path.stat().st_mtime for path in results)
        sizes = {path: path.stat().st_size for path in out.rglob("*") if path.is_file()}
        return {
            "name": name, "workers": workers, "rows": rows, "rows_per_file": rows_per_file, "fits": fits,
            "seconds": seconds, "start_s": watch.process_started, "load_s": watch.load_seconds,
            "killed_at_s": watch.killed_at, "first_result_s": first - began,
            "source_bytes": corpus.stat().st_size / rows, "result_bytes": sum(sizes[one] for one in results) / rows,
            "other_bytes": (sum(sizes.values()) - sum(sizes[one] for one in results)) / rows,
        }  # fmt: skip


class _Watch(threading.Thread):
    """Observes the processes of a run: when the first that rewrites starts, how long it loads; may kill one."""

    def __init__(self, pid: int, began: float, kill_after: float | None) -> None:
        super().__init__()
        self._pid, self._began, self._kill_after = pid, began, kill_after
        self.process_started = self.load_seconds = 0.0
        self.killed_at: float | None = None

    def run(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            while not (workers := self._workers()):
                time.sleep(0.1)
            self.process_started = time.time() - self._began
            # Ray names a process after the method that it runs: submit, when the models are loaded.
            while psutil.Process(self._pid).is_running():
                if self._kill_after and self.killed_at is None and time.time() - self._began > self._kill_after:
                    workers = self._workers()
                    os.kill(workers[0].pid, signal.SIGKILL)
                    self.killed_at = time.time() - self._began
                if not self.load_seconds and any(
                    "MapBatches(SimplifyBatches).submit" in _title(one) for one in workers
                ):
                    self.load_seconds = time.time() - self._began - self.process_started
                time.sleep(0.2)

    def _workers(self) -> list[psutil.Process]:
        return [one for one in psutil.Process(self._pid).children(recursive=True) if "MapWorker" in _title(one)]


def _title(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return " ".join(process.cmdline())
    return ""


if __name__ == "__main__":
    main()
