"""Load the service with slow connections, costly requests and signals; measure latency, memory and shutdown time.

python -m benchmarks.attack_service --out benchmarks/attack_service.json

The service runs in a separate process, by default with a scripted model. tests/test_attack_service.py is the short
version.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.bench_service import wait_for

JSON = {"Content-Type": "application/json"}
HEADER = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
POST = (
    b"POST /v1/simplify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 500000\r\n\r\n{"
)
SLOW = {"silent": b"", "half a header": HEADER, "half a body": POST}
SOURCE = "The artisans remain old ."
LONG = " ".join([SOURCE] * 75)
PLAIN = {"sentences": [{"source": SOURCE, "edits": []}]}
COSTLY: dict[str, tuple[str, Any]] = {
    "long sentence": ("/v1/simplify", {"sentences": [{"source": LONG, "edits": []}]}),
    "many equal edits": ("/v1/simplify", {"sentences": [{"source": LONG, "edits": [{"insert": "old"}] * 100}]}),
    "traces": ("/v1/simplify", {"text": f"{SOURCE}\n" * 10, "trace": True}),
    "many sentences": ("/v1/plan", {"text": f"{SOURCE}\n" * 25}),
    "evaluation": ("/v1/evaluate", {"sources": [LONG] * 10, "outputs": [LONG] * 10, "references": [[LONG] * 10]}),
    "too long": ("/v1/plan", {"text": "a " * 10_000}),
    "too large": ("/v1/plan", {"text": "a" * 1_000_000}),
    "plain": ("/v1/simplify", PLAIN),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model", default="scripted:examples/by_hand.json", help="as for redraft serve; bundled: the bundled model"
    )
    parser.add_argument("--connections", type=int, default=200, help="number of slow connections")
    parser.add_argument("--clients", type=int, default=8, help="number of regular clients")
    parser.add_argument("--requests", type=int, default=2000, help="mixed requests before memory is measured again")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    report = {
        "beside slow connections": beside_slow_connections(args.model, args.connections, args.clients),
        "memory": memory(args.model, args.requests, args.clients),
        "seconds until SIGTERM ends it": {name: seconds_to_end(args.model, sent) for name, sent in SLOW.items()},
    }
    print(json.dumps(report, indent=1))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


@contextmanager
def service(model: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    named = [] if model == "bundled" else ["--model", model]
    command = [sys.executable, "-m", "redraft.cli", "serve", "--port", str(port), *named]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        yield port, process
    finally:
        process.kill()
        process.wait()


def ask(port: int, path: str, body: Any) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=150)
    try:
        connection.request("POST", path, json.dumps(body), JSON)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def regular_clients(port: int, clients: int, each: int = 10) -> dict[str, Any]:
    """Latency and number of successful answers of clients that each send `each` requests in sequence."""
    times: list[float] = []
    statuses: list[int] = []

    def client() -> None:
        for _ in range(each):
            start = time.perf_counter()
            statuses.append(ask(port, "/v1/simplify", PLAIN))
            times.append(time.perf_counter() - start)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {
        "answered": statuses.count(200),
        "of": clients * each,
        "p95 s": round(statistics.quantiles(times, n=20)[-1], 3),
    }


def beside_slow_connections(model: str, connections: int, clients: int) -> dict[str, Any]:
    with service(model) as (port, _), ExitStack() as slow:
        regular_clients(port, clients, 2)
        alone = regular_clients(port, clients)
        for sent in (SLOW[name] for _ in range(-(-connections // len(SLOW))) for name in SLOW):
            slow.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(sent)
        return {"alone": alone, "beside them": regular_clients(port, clients)}


def memory(model: str, requests: int, clients: int) -> dict[str, Any]:
    """Memory of the service in MB after a warm-up with every kind of request, and after mixed requests."""
    order = random.Random(0).choices(list(COSTLY), k=requests)
    with service(model) as (port, process):
        mixed(port, list(COSTLY) * clients, clients)
        before = megabytes(process.pid)
        counts = mixed(port, order, clients)
        return {"MB before": before, "MB after": megabytes(process.pid), "answers": counts}


def mixed(port: int, order: list[str], clients: int) -> dict[str, int]:
    """The number of answers with each status."""
    statuses: list[int] = []

    def client(number: int) -> None:
        statuses.extend(ask(port, *COSTLY[name]) for name in order[number::clients])

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {str(status): statuses.count(status) for status in sorted(set(statuses))}


def megabytes(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) // 1024


def seconds_to_end(model: str, sent: bytes) -> float:
    with service(model) as (port, process), socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(sent)
        time.sleep(0.5)
        start = time.perf_counter()
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        return round(time.perf_counter() - start, 1)


if __name__ == "__main__":
    main()
