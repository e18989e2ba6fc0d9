"""Corpora on Ray and by the plain command: texts compared, then seconds for two lengths; memory over many rows.

python -m benchmarks.bench_corpora --data EVAL --out benchmarks/corpora_cpu.json

The time of a sentence is the difference of two lengths, so that the start of the processes is known apart from it. Each
process has one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.bench_search import machine
from redraft.evaluate.corpora import load_corpus

ROOT = Path(__file__).resolve().parent.parent
SCRIPTED = f"scripted:{ROOT}/examples/by_hand.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the corpus asset")
    parser.add_argument("--short", type=int, default=200)
    parser.add_argument("--long", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--rows", type=int, default=200_000, help="for the memory")
    parser.add_argument("--skip", default="", help="speed or memory")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    args.device, args.dtype = "cpu", "int8"
    report: dict[str, Any] = {"machine": machine(args)}
    if args.out and args.out.exists():
        report = {**json.loads(args.out.read_text(encoding="utf-8")), **report}
    if args.skip != "speed":
        report["speed"] = speed(args)
    if args.skip != "memory":
        report["memory"] = memory(args.rows)
    text = json.dumps(report, indent=1)
    if args.out:
        args.out.write_text(text + "\n", encoding="utf-8")
    print(text)


def speed(args: argparse.Namespace) -> dict[str, Any]:
    corpus = load_corpus("asset", "valid", data=args.data)
    sources = (list(corpus.sources) * (args.long // len(corpus.sources) + 1))[: args.long]
    ways = [(where, workers) for workers in (1, 2) for where in ("plain", "ray")]
    seconds: dict[tuple[str, int, int], list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts: dict[int, list[str]] = {}
        for _ in range(args.repeats):
            for count in (args.short, args.long):
                (folder / "in.txt").write_text("".join(f"{text}\n" for text in sources[:count]), encoding="utf-8")
                for number, (where, workers) in enumerate(ways):
                    out = folder / f"{where}-{workers}-{count}-{time.monotonic_ns()}"
                    start = time.monotonic()
                    found = rewrite(where, workers, folder / "in.txt", out, -(-count // (4 * workers)))
                    seconds.setdefault((where, workers, count), []).append(time.monotonic() - start)
                    if number == 0:
                        texts[count] = found
                    assert found == texts[count], f"{where}, {workers} processes: other texts"
    report: dict[str, Any] = {"sentences": [args.short, args.long], "repeats": args.repeats, "equal texts": True}
    for where, workers in ways:
        short, long = (statistics.median(seconds[where, workers, count]) for count in (args.short, args.long))
        rate = (args.long - args.short) / (long - short)
        start = short - args.short / rate
        report[f"{where}, {workers}"] = {
            "seconds": [round(short, 1), round(long, 1)], "sentences a second": round(rate, 2),
            "start, seconds": round(start, 1), "20,000 sentences, seconds": round(start + 20_000 / rate),
        }  # fmt: skip
    for workers in (1, 2):
        plain, ray = (report[f"{where}, {workers}"] for where in ("plain", "ray"))
        report[f"ray / plain, {workers}"] = round(ray["sentences a second"] / plain["sentences a second"], 3)
        both = [one["20,000 sentences, seconds"] for one in (plain, ray)]
        report[f"ray / plain for 20,000 sentences, {workers}"] = round(both[0] / both[1], 3)
    rates = [report[f"ray, {workers}"]["sentences a second"] for workers in (1, 2)]
    report["2 processes / 1 on ray"] = round(rates[1] / rates[0], 3)
    return report


def rewrite(where: str, workers: int, source: Path, out: Path, rows: int) -> list[str]:
    common = ["--input", str(source), "--out", str(out), "--workers", str(workers), "--threads", "1"]
    own = ["--on", "ray", "--rows-per-file", str(rows)] if where == "ray" else ["--json"]
    run(["simplify", *common, *own])
    if where == "plain":
        return [json.loads(line)["output"] for line in out.read_bytes().splitlines()]
    return [row["text"] for row in sorted(rows_of(out), key=lambda row: row["row"])]


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in (out / "results").iterdir() for line in path.read_bytes().splitlines()]


def run(words: list[str]) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "redraft.cli", *words], env=environment, check=True, capture_output=True)


def memory(rows: int) -> dict[str, Any]:
    """The memory of all processes while `rows` rows are rewritten by a scripted model."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with open(folder / "in.txt", "w", encoding="utf-8") as file:
            file.writelines(f"The artisans remain old {number} .\n" for number in range(rows))
        words = ["simplify", "--on", "ray", "--input", str(folder / "in.txt"), "--out", str(folder / "out")]
        thread = threading.Thread(target=run, args=([*words, "--model", SCRIPTED, "--workers", "2"],))
        start = time.monotonic()
        thread.start()
        samples: list[tuple[int, int, int]] = []  # finished files, MB of the command, MB of the largest process
        while thread.is_alive():
            samples.append((finished(folder / "out"), *megabytes()))
            time.sleep(1)
        seconds = time.monotonic() - start
        files = -(-rows // 1000)
        assert sum(path.read_bytes().count(b"\n") for path in (folder / "out" / "results").iterdir()) == rows
        quarter = [one for one in samples if files // 4 <= one[0] < files // 2]
        last = [one for one in samples if one[0] >= 3 * files // 4]
        report: dict[str, Any] = {"rows": rows, "seconds": round(seconds)}
        for name, at in (("command", 1), ("largest process that rewrites", 2)):
            report[f"MB of the {name}: second quarter, last quarter"] = [
                max(one[at] for one in some) for some in (quarter, last)
            ]
        return report


def finished(out: Path) -> int:
    return sum(1 for _ in (out / "results").glob("*.jsonl"))


def megabytes() -> tuple[int, int]:
    command, workers = 0, [0]
    for process in psutil.Process().children(recursive=True):
        try:
            size = process.memory_full_info().uss >> 20
            if process.name().startswith("ray::MapWorke"):
                workers.append(size)
            elif "redraft.cli" in process.cmdline():
                command = size
        except psutil.Error:  # it has ended
            continue
    return command, max(workers)


if __name__ == "__main__":
    main()
