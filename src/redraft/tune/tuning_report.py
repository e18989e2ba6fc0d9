"""The output files of a study: best settings, all trials, a summary of the near-optimal region, and a plot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import optuna

from redraft.decode.config import write_config
from redraft.evaluate.report.plots import line_plot, standalone_svg
from redraft.files import atomic_write
from redraft.tune.search_space import GOALS, Goal
from redraft.tune.study import Tuning, config_of, finished_trials

SETTINGS, TRIALS, SUMMARY, PLOT = "settings.toml", "trials.jsonl", "summary.md", "plot.svg"
_NEAR = 0.5  # trials at most this far below the best count as near-optimal


def write_results(study: optuna.Study, tuning: Tuning, out: Path) -> str:
    """Write all files and return the summary. Before the first complete trial: no files and an empty summary."""
    done = finished_trials(study)
    complete = [trial for trial in done if trial.state == optuna.trial.TrialState.COMPLETE]
    if not complete:
        return ""
    best = max(complete, key=lambda trial: trial.value or 0.0)
    text = _summary(tuning, complete, best, pruned=len(done) - len(complete))
    config, goal = config_of(best, tuning), GOALS[tuning.goal]
    write_config(out / SETTINGS, config, [f"found by redraft tune: {goal} {best.value:.2f} in trial {best.number}"])
    in_order = sorted(done, key=lambda one: one.number)
    _write(out / TRIALS, "".join(json.dumps(_row(trial, tuning.goal)) + "\n" for trial in in_order))
    _write(out / SUMMARY, text)
    if len(complete) > 1:
        _write(out / PLOT, _plot(complete, best, goal))
    return text


def _row(trial: optuna.trial.FrozenTrial, goal: Goal) -> dict[str, Any]:
    return {
        "trial": trial.number,
        "state": trial.state.name.lower(),
        goal: None if trial.value is None else round(trial.value, 4),
        **trial.params,
        "parts": {part: round(value, 4) for part, value in trial.intermediate_values.items()},
        "seconds": trial.user_attrs["seconds"],
    }


def _summary(
    tuning: Tuning, complete: Sequence[optuna.trial.FrozenTrial], best: optuna.trial.FrozenTrial, pruned: int
) -> str:
    near = [trial for trial in complete if (trial.value or 0.0) >= (best.value or 0.0) - _NEAR]
    first = min(complete, key=lambda trial: trial.number)
    lines = [
        f"`{tuning.start.method}`, {tuning.ranges} ranges: {len(complete) + pruned} trials, {pruned} of them pruned.",
        "",
        f"Best: {GOALS[tuning.goal]} {best.value:.2f} (trial {best.number}). First complete trial "
        f"(trial {first.number}): {first.value:.2f}.",
        f"{len(near)} trials are within {_NEAR} of the best. Their settings:",
        "",
        "| setting | best | near-optimal trials | all trials |",
        "|---|---|---|---|",
    ]
    for name in best.params:
        columns = (_spread([trial.params[name] for trial in some if name in trial.params]) for some in (near, complete))
        lines.append(f"| {name} | {_shown(best.params[name])} | {' | '.join(columns)} |")
    return "\n".join(lines) + "\n"


def _spread(values: Sequence[Any]) -> str:
    """The range of numbers, or the count of each choice."""
    if any(isinstance(value, str | bool) for value in values):
        counts = {value: values.count(value) for value in sorted(set(values), key=str)}
        return ", ".join(f"{_shown(value)} {count}" for value, count in counts.items())
    return f"{_shown(min(values))} to {_shown(max(values))}"


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _plot(complete: Sequence[optuna.trial.FrozenTrial], best: optuna.trial.FrozenTrial, goal: str) -> str:
    order = sorted(complete, key=lambda trial: trial.number)
    values = [(float(trial.number), float(trial.value or 0.0)) for trial in order]
    so_far = [(at, max(value for _, value in values[: row + 1])) for row, (at, _) in enumerate(values)]
    return standalone_svg(line_plot([(goal, values), ("best so far", so_far)], "trial", marked=float(best.number)))


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))
