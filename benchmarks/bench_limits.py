"""Time limits on single operations: inputs that a quadratic algorithm or a backtracking pattern would make slow.

python -m benchmarks.bench_limits

Seconds depend on the machine, so the tests only count operations or guard against hangs. The limits here are for an
idle machine with a current CPU. Exit status 1: at least one limit is exceeded.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bench_search import cpu_name
from redraft import Edit, EditPlan


@dataclass(frozen=True)
class Limit:
    """An operation and its limit. `prepare` is not timed and returns the function that is."""

    name: str
    seconds: float
    prepare: Callable[[], Callable[[], Any]]


def occurrence_thresholds_of_equal_edits() -> Callable[[], Any]:
    from redraft.plan.phrases import occurrence_thresholds

    plan = EditPlan("w " * 2_000, tuple(Edit.insert(f"w{number // 2}") for number in range(2_000)))
    return lambda: occurrence_thresholds(plan)


def judge_overlapping_edits() -> Callable[[], Any]:
    from redraft.plan.verdicts import judge

    deleted = [Edit.delete("a", span=(2 * at, 2 * at + 1)) for at in range(300)]
    plan = EditPlan("a " * 600, (*deleted, *[Edit.insert("a a")] * 300))
    return lambda: judge(plan, plan.source)


def judge_equal_edits() -> Callable[[], Any]:
    from redraft.plan.verdicts import judge

    plan = EditPlan("The old men .", (Edit.delete("old"),) * 10_000 + (Edit.insert("Old men"),) * 10_000)
    return lambda: judge(plan, "old men " * 50)


def apply_user_constraints() -> Callable[[], Any]:
    from redraft.plan.user_constraints import UserConstraint, UserConstraints

    phrases = ["a", *(f"a a a b{number}" for number in range(499))]
    constraints = UserConstraints(tuple(UserConstraint.of(phrase) for phrase in phrases))
    deleted = tuple(Edit.delete("a", span=(2 * at, 2 * at + 1)) for at in range(0, 4_000, 20))
    plan = EditPlan("a " * 4_000, deleted)
    return lambda: constraints.apply_to(plan)


def match_address() -> Callable[[], Any]:
    from redraft.text.protected_spans import is_address

    text = "a." * 20_000 + "!?x!"
    return lambda: is_address(text)


def find_protected_spans(unit: str) -> Callable[[], Callable[[], Any]]:
    def prepare() -> Callable[[], Any]:
        from redraft.text.protected_spans import protected_spans

        text = (unit * 100_000)[:100_000]
        return lambda: protected_spans(text)

    return prepare


def load_bundled_model() -> Callable[[], Any]:
    from redraft.decode.model_loading import load_model

    load_model(device="cpu")  # imports transformers
    return lambda: load_model(device="cpu")


def import_redraft() -> Callable[[], Any]:
    return lambda: subprocess.run([sys.executable, "-c", "import redraft"], check=True)


LIMITS = [
    Limit("occurrence thresholds, 2,000 edits", 0.1, occurrence_thresholds_of_equal_edits),
    Limit("judge, 600 overlapping edits", 0.5, judge_overlapping_edits),
    Limit("judge, 20,000 equal edits", 1, judge_equal_edits),
    Limit("apply 500 user constraints to 4,000 words", 0.5, apply_user_constraints),
    Limit("match an address, 40,004 characters", 0.1, match_address),
    *(
        Limit(
            f"protected spans, 100,000 characters {unit!r}", 0.2 if len(unit) == 1 else 0.6, find_protected_spans(unit)
        )
        for unit in ("a", "1", "[", "<", "/", "http://", "[a](", "x@y.", "<!--", "01 234 ", "\t ")
    ),
    Limit("load the bundled model, transformers imported", 1, load_bundled_model),
    Limit("import redraft in a new process", 1, import_redraft),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="runs of each operation; the minimum counts (default 3)")
    parser.add_argument("--only", default="", help="only operations whose name contains this text")
    parser.add_argument("--out", type=Path, help="write the results as JSON")
    args = parser.parse_args()
    print(f"{cpu_name()}\n\n| operation | seconds | limit | |\n|---|---|---|---|", flush=True)
    results: dict[str, Any] = {}
    for limit in LIMITS:
        if args.only in limit.name:
            seconds = shortest(limit.prepare(), args.repeats)
            results[limit.name] = {"seconds": round(seconds, 4), "limit": limit.seconds}
            note = "" if seconds <= limit.seconds else "EXCEEDED"
            print(f"| {limit.name} | {seconds:.3f} | {limit.seconds:g} | {note} |", flush=True)
    if args.out:
        args.out.write_text(json.dumps({"machine": cpu_name(), **results}, indent=1) + "\n", encoding="utf-8")
    if any(result["seconds"] > result["limit"] for result in results.values()):
        sys.exit("at least one limit is exceeded")


def shortest(run: Callable[[], Any], repeats: int) -> float:
    """The minimum time of several runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
