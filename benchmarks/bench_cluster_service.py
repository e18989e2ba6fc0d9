"""The service on a Ray cluster of this machine, beside the single-process service: load, a killed replica, an update.

python -m benchmarks.bench_cluster_service --clients 32 --seconds 60 --out benchmarks/cluster_service_cpu.json

Four runs with the same clients: one process; replicas; replicas of which one is killed after a third of the time; an
update of all replicas after a sixth of the time. Nothing is left running.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.bench_search import machine
from benchmarks.bench_service import SENTENCES, load, one_by_one, wait_for
from redraft.cluster.cluster_processes import connect


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--port", type=int, default=8711)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="as stored")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    expected, _ = one_by_one(SENTENCES.read_text(encoding="utf-8").splitlines(), args.device)
    report = {
        "machine": machine(args), "clients": args.clients, "seconds": args.seconds, "replicas": args.replicas,
        "one_process": in_one_process(args, expected), **on_a_cluster(args, expected),
    }  # fmt: skip
    print(json.dumps(report, indent=1))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    runs = [run for run in report.values() if isinstance(run, dict)]
    if any(run["errors"] or run["different"] for run in runs) or set(report["updated"]["statuses"]) != {"200"}:
        raise SystemExit("requests were lost, refused without a clean 503, or answered differently")


def in_one_process(args: argparse.Namespace, expected: dict[str, str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "redraft.cli", "serve", "--port", str(args.port), "--device", args.device]
    service = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{args.port}/health")
        return load(f"http://127.0.0.1:{args.port}/v1/simplify", expected, args.clients, args.seconds)
    finally:
        service.terminate()
        service.wait(30)


def on_a_cluster(args: argparse.Namespace, expected: dict[str, str]) -> dict[str, Any]:
    from redraft.serve.cluster.deployment import ENVIRONMENT, deploy, start, stop
    from redraft.serve.cluster.replica_settings import ReplicaSettings

    settings = ReplicaSettings(device=args.device, replicas=args.replicas)
    address = f"http://127.0.0.1:{args.port}/v1/simplify"
    began = time.perf_counter()
    with connect(ENVIRONMENT):
        start("127.0.0.1", args.port)
        try:
            deploy({"": settings}, None)
            ready = time.perf_counter() - began
            undisturbed = load(address, expected, args.clients, args.seconds)
            kill = (args.seconds / 3, lambda: os.kill(replica_processes()[0], signal.SIGKILL))
            killed = load(address, expected, args.clients, args.seconds, events=[kill])
            newer = settings.model_copy(update={"queue": settings.queue + 1})
            update_seconds: list[float] = []

            def update() -> None:
                update_began = time.perf_counter()
                deploy({"": newer}, None)
                update_seconds.append(time.perf_counter() - update_began)

            before = set(replica_processes())
            updated = load(address, expected, args.clients, args.seconds, events=[(args.seconds / 6, update)])
            replaced = len(before - set(replica_processes()))
        finally:
            stop([""])
    return {
        "ready_s": ready, "cluster": undisturbed, "killed": killed,
        "updated": {**updated, "update_s": update_seconds[0], "replaced_replicas": replaced},
    }  # fmt: skip


def replica_processes() -> list[int]:
    """Process ids of the replicas of the cluster that this process started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "ray::ServeReplica" in " ".join(process.cmdline()):
                found.append(process.pid)
    return sorted(found)


if __name__ == "__main__":
    main()
