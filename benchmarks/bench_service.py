"""Throughput and latency of the service with concurrent clients, compared with sequential calls of the same model.

python -m benchmarks.bench_service --clients 32 --seconds 60 --out benchmarks/service_cpu.json

The service runs in a separate process. Each client is a thread that sends one sentence after another.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from benchmarks.bench_search import machine
from redraft import Simplifier

SENTENCES = Path("examples/ten_sentences.txt")
Event = tuple[float, Callable[[], object]]  # after so many seconds, this


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    sources = SENTENCES.read_text(encoding="utf-8").splitlines()
    expected, sequential_rate = one_by_one(sources, args.device)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "redraft.cli", "serve", "--port", str(port), "--device", args.device]
    service = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        address = f"http://127.0.0.1:{port}/v1/simplify"
        loaded = load(address, expected, args.clients, args.seconds)
        beside = beside_a_file(address, sources)
    finally:
        service.terminate()
        service.wait(30)
    report = {
        "machine": machine(args),
        "clients": args.clients,
        "one_by_one": sequential_rate,
        **loaded,
        "beside_a_file": beside,
    }
    print(json.dumps(report, indent=1))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if loaded["errors"] or loaded["different"]:
        raise SystemExit("some requests failed, or their answers differ from those of sequential calls")


def one_by_one(sources: list[str], device: str) -> tuple[dict[str, str], float]:
    """The output for each sentence, and sentences per second."""
    simplifier = Simplifier(device=device)
    simplifier(sources[0])
    began = time.perf_counter()
    found = {source: simplifier(source).text for source in sources}
    return found, len(sources) / (time.perf_counter() - began)


def wait_for(address: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(address, timeout=1).read()
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the service did not start")


def load(
    address: str, expected: dict[str, str], clients: int, seconds: float, *, events: Sequence[Event] = (),
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Run the clients for `seconds`; each waits for its last answer. After a 503, a client waits as it is told.

    `events`: what happens meanwhile, each after so many seconds.
    """
    times: list[float] = []
    statuses: Counter[int] = Counter()
    errors: list[str] = []
    different = 0
    start_time = time.perf_counter()

    def post(source: str) -> urllib.request.Request:
        request = post_request(address, source)
        request.headers.update(headers or {})
        return request

    def client(number: int) -> None:
        nonlocal different
        sources = list(expected)
        while time.perf_counter() < start_time + seconds:
            source = sources[number % len(sources)]
            number += 1
            start = time.perf_counter()
            try:
                answer = json.loads(urllib.request.urlopen(post(source), timeout=180).read())
            except HTTPError as error:
                statuses[error.code] += 1
                body = error.read()
                if not is_clean_refusal(error, body):
                    errors.append(f"{error}: {body[:200]!r}")
                time.sleep(float(error.headers.get("Retry-After", 1)))
                continue
            except (OSError, HTTPException) as error:
                errors.append(repr(error))
                continue
            statuses[200] += 1
            times.append(time.perf_counter() - start)
            different += answer["text"] != expected[source]

    timers = [threading.Timer(after, act) for after, act in events]
    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in (*timers, *threads):
        thread.start()
    for thread in (*threads, *timers):
        thread.join()
    elapsed = time.perf_counter() - start_time
    return {
        "requests": len(times), "errors": len(errors), "first_errors": errors[:3], "different": different,
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
        "a_second": len(times) / elapsed,
        "median_s": statistics.median(times), "p95_s": statistics.quantiles(times, n=20)[-1], "most_s": max(times),
    }  # fmt: skip


def is_clean_refusal(error: HTTPError, body: bytes) -> bool:
    """503 in the shape of the service's errors, with the time to wait."""
    try:
        return error.code == 503 and bool(json.loads(body)["error"]["problem"]) and "Retry-After" in error.headers
    except (ValueError, KeyError, TypeError):
        return False


def beside_a_file(address: str, sources: list[str], count: int = 190, edits: int = 10) -> dict[str, Any]:
    """Seconds of single sentences, one after another, while a request with many sentences is being rewritten."""
    many = [f"{sources[number % len(sources)]} Case {number}." for number in range(count)]
    file = threading.Thread(target=lambda: urllib.request.urlopen(post_request(address, *many), timeout=120).read())
    file.start()
    time.sleep(0.5)
    times = []
    for number in range(edits):
        began = time.perf_counter()
        urllib.request.urlopen(post_request(address, sources[number % len(sources)]), timeout=120).read()
        times.append(time.perf_counter() - began)
    still_running = file.is_alive()
    file.join()
    return {"median_s": statistics.median(times), "most_s": max(times), "file_was_still_running": still_running}


def post_request(address: str, *sources: str) -> urllib.request.Request:
    body = json.dumps({"sentences": [{"source": source} for source in sources]}).encode()
    return urllib.request.Request(address, body, {"Content-Type": "application/json"})


if __name__ == "__main__":
    main()
