"""What a search leaves behind: the settings found, every trial, how flat the optimum is, and a plot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import optuna

from redraft.decode.config import write_config
from redraft.evaluate.report.plots import alone, curves
from redraft.files import replacing
from redraft.tune.search_space import GOALS, Goal
from redraft.tune.study import Tuning, config_of, finished

SETTINGS, TRIALS, SUMMARY, PLOT = "settings.toml", "trials.jsonl", "summary.md", "plot.svg"
_NEAR = 0.5  # points below the best within which settings count as about as good


def write_outcome(study: optuna.Study, tuning: Tuning, out: Path) -> str:
    """All files, whole; returns the summary, which is empty, as there are no files, before a trial is done."""
    done = finished(study)
    whole = [trial for trial in done if trial.state == optuna.trial.TrialState.COMPLETE]
    if not whole:
        return ""
    best = max(whole, key=lambda trial: trial.value or 0.0)
    text = _summary(tuning, whole, best, given_up=len(done) - len(whole))
    config, goal = config_of(best, tuning), GOALS[tuning.goal]
    write_config(out / SETTINGS, config, [f"found by redraft tune: {goal} {best.value:.2f} in trial {best.number}"])
    in_order = sorted(done, key=lambda one: one.number)
    _write(out / TRIALS, "".join(json.dumps(_row(trial, tuning.goal)) + "\n" for trial in in_order))
    _write(out / SUMMARY, text)
    if len(whole) > 1:
        _write(out / PLOT, _plot(whole, best, goal))
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
    tuning: Tuning, whole: Sequence[optuna.trial.FrozenTrial], best: optuna.trial.FrozenTrial, given_up: int
) -> str:
    near = [trial for trial in whole if (trial.value or 0.0) >= (best.value or 0.0) - _NEAR]
    first = min(whole, key=lambda trial: trial.number)
    lines = [
        f"`{tuning.start.method}`, {tuning.ranges} ranges: {len(whole) + given_up} trials, {given_up} of them given up "
        "early.",
        "",
        f"Best: {GOALS[tuning.goal]} {best.value:.2f} (trial {best.number}). The first trial finished, number "
        f"{first.number}: {first.value:.2f}.",
        f"{len(near)} trials are within {_NEAR} of the best; what they have:",
        "",
        "| setting | best | among those | among all |",
        "|---|---|---|---|",
    ]
    for name in best.params:
        columns = (_spread([trial.params[name] for trial in some if name in trial.params]) for some in (near, whole))
        lines.append(f"| {name} | {_shown(best.params[name])} | {' | '.join(columns)} |")
    return "\n".join(lines) + "\n"


def _spread(values: Sequence[Any]) -> str:
    """From least to most, or how often each."""
    if any(isinstance(value, str | bool) for value in values):
        counts = {value: values.count(value) for value in sorted(set(values), key=str)}
        return ", ".join(f"{_shown(value)} {count}" for value, count in counts.items())
    return f"{_shown(min(values))} to {_shown(max(values))}"


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def _plot(whole: Sequence[optuna.trial.FrozenTrial], best: optuna.trial.FrozenTrial, goal: str) -> str:
    order = sorted(whole, key=lambda trial: trial.number)
    values = [(float(trial.number), float(trial.value or 0.0)) for trial in order]
    so_far = [(at, max(value for _, value in values[: place + 1])) for place, (at, _) in enumerate(values)]
    return alone(curves([(goal, values), ("best so far", so_far)], "trial", marked=float(best.number)))


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode("utf-8"))
