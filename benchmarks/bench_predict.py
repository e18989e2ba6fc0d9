"""Time of plan prediction relative to the search, and of one look-up in the lexicon.

python -m benchmarks.bench_predict --sources asset.test.orig --device cpu --out benchmarks/predict_cpu.json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.bench_search import machine
from redraft import DecodeConfig, EditPlan, Planner, Redrafter
from redraft.decode.config import SIMPLIFY
from redraft.simplify.target_ranking import rank_targets
from redraft.text.words import split_words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", required=True, help="one sentence on each line")
    parser.add_argument("--model", help="a folder or name (default: the bundled model)")
    parser.add_argument("--planner", help="a folder (default: the bundled planner)")
    parser.add_argument("--limit", type=int, default=100, help="sentences (default 100)")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", default="float32", help="dtype of the model (default float32)")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    sources = Path(args.sources).read_text(encoding="utf-8").splitlines()[: args.limit]
    planner = Planner.load(args.planner, device=args.device)
    redrafter = Redrafter(
        args.model, device=args.device, dtype=args.dtype, config=DecodeConfig(**{**SIMPLIFY, "beams": 20})
    )
    rows = {**measured(planner, redrafter, sources, args), "lookup_us": lookup(planner, sources)}
    report = {"machine": machine(args), "sentences": len(sources), "batch": args.batch, **rows}
    print(json.dumps(report, indent=1))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def measured(planner: Planner, redrafter: Redrafter, sources: list[str], args: argparse.Namespace) -> dict[str, float]:
    """Seconds per sentence for planning, target ranking and search: the minimum of several runs on the same plans."""
    parts = [sources[at : at + args.batch] for at in range(0, len(sources), args.batch)]

    def plan() -> list[list[EditPlan]]:
        return [list(planner.plans(part, alternatives=6)) for part in parts]

    def fit() -> list[list[EditPlan]]:
        return [list(rank_targets(redrafter, some)) for some in planned]

    def search() -> None:
        for some in fitting:
            redrafter.rewrite(some, batch_size=args.batch)

    planned = plan()
    fitting = fit()
    times = {name: shortest(run, args.repeats, args.device) / len(sources) for name, run in
             (("plan", plan), ("fit", fit), ("search", search))}  # fmt: skip
    return {**times, "ratio": (times["plan"] + times["fit"]) / times["search"]}


def shortest(run: Callable[[], Any], repeats: int, device: str) -> float:
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        found.append(time.perf_counter() - start)
    return min(found)


def lookup(planner: Planner, sources: list[str]) -> float:
    """Microseconds per look-up of a word."""
    words = [word.text for source in sources for word in split_words(source)]
    lexicon = planner.classifier.tables.lexicon
    start = time.perf_counter()
    for word in words:
        lexicon.entry(word)
    return 1e6 * (time.perf_counter() - start) / len(words)


if __name__ == "__main__":
    main()
