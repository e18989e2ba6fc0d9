"""Milliseconds until /v2/check answers for a text of 500 words: a new one, and one in which a sentence has changed.

python -m benchmarks.bench_check --out benchmarks/check_cpu.json

The service runs in a process of its own. `quick` compares the quick plans of /v2/check with those of /v1/plan.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.bench_search import cpu_name
from benchmarks.bench_service import wait_for
from redraft import EditPlan, Simplifier
from redraft.threads import available_cores

FOLDER = Path("experiments/requests")
WORDS = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=20, help="timed texts")
    parser.add_argument("--compared", type=int, default=800, help="sentences whose quick plans are compared")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    sentences = [line for path in sorted(FOLDER.glob("out_of_domain*.txt")) for line in path.read_text().splitlines()]
    warm_up, *timed = list(texts_of(sentences))[: args.texts + 1]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "redraft.cli", "serve", "--port", str(port), "--device", "cpu"]
    service = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        address = f"http://127.0.0.1:{port}/v2/check"
        check(address, warm_up)
        new = [check(address, text) for text in timed]
        changed = [check(address, text.replace(" the ", " this ", 1)) for text in timed]
        same = [check(address, text) for text in timed]
    finally:
        service.terminate()
        service.wait(30)
    report = {
        "machine": cpu_name(),
        "cores": available_cores(),
        "texts": len(timed),
        "words": statistics.median(len(text.split()) for text in timed),
        "matches": statistics.median(matches for _, matches in new),
        "milliseconds": {"new": spread(new), "one sentence changed": spread(changed), "unchanged": spread(same)},
        "quick": compared(sentences[: args.compared]),
    }
    print(json.dumps(report, indent=1))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def texts_of(sentences: list[str]) -> Iterator[str]:
    """Texts of about 500 words, none of which shares a sentence with another."""
    text: list[str] = []
    for sentence in dict.fromkeys(sentences):
        text.append(sentence)
        if sum(len(one.split()) for one in text) >= WORDS:
            yield " ".join(text)
            text = []


def check(address: str, text: str) -> tuple[float, int]:
    """Milliseconds, and the number of matches."""
    body = urlencode({"text": text, "language": "en-US"}).encode()
    began = time.perf_counter()
    with urllib.request.urlopen(address, body, timeout=60) as answer:
        matches = json.load(answer)["matches"]
    return 1000 * (time.perf_counter() - began), len(matches)


def spread(measured: list[tuple[float, int]]) -> dict[str, float]:
    first, median, third = statistics.quantiles([milliseconds for milliseconds, _ in measured], n=4)
    return {"median": round(median, 1), "quartiles": [round(first, 1), round(third, 1)]}  # type: ignore[dict-item]


def compared(sentences: list[str]) -> dict[str, Any]:
    """Substitutions of quick plans and of whole ones: how many there are, and how many have the same first target."""
    simplifier = Simplifier(device="cpu")
    whole = [first_targets(plan) for plan in simplifier.plans(sentences)]
    quick = [first_targets(plan) for plan in simplifier.plans(sentences, quick=True)]
    pairs = list(zip(whole, quick, strict=True))
    return {
        "sentences": len(sentences),
        "substitutions": sum(map(len, whole)),
        "quick substitutions": sum(map(len, quick)),
        "same place and first target": sum(len(one & other) for one, other in pairs),
        "same place, another target": sum(len(places(one - other) & places(other - one)) for one, other in pairs),
        "only in quick plans": sum(len(places(other) - places(one)) for one, other in pairs),
        "only in whole plans": sum(len(places(one) - places(other)) for one, other in pairs),
    }


def first_targets(plan: EditPlan) -> set[tuple[tuple[int, int] | None, str]]:
    return {(edit.span, edit.targets[0]) for edit in plan.edits if edit.kind == "substitute"}


def places(targets: set[tuple[tuple[int, int] | None, str]]) -> set[tuple[int, int] | None]:
    return {span for span, _ in targets}


if __name__ == "__main__":
    main()
