"""The search space: for each method, the tuned settings and their ranges."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from redraft.decode.config import DecodeConfig

Goal = Literal["sari", "both"]
GOALS: dict[Goal, str] = {"sari": "SARI", "both": "SARI + BLEU / 3"}
Ranges = Literal["wide", "plus", "paper"]


class Suggester(Protocol):
    """The part of Optuna's Trial that the search space uses."""

    def suggest_float(self, name: str, low: float, high: float) -> float: ...
    def suggest_int(self, name: str, low: int, high: int) -> int: ...
    def suggest_categorical(self, name: str, choices: Any) -> Any: ...


def suggest_config(trial: Suggester, start: DecodeConfig, ranges: Ranges = "wide") -> DecodeConfig:
    """`start` with new values for the tuned settings of its method.

    "plus" also tunes the settings that go beyond the paper; "paper" tunes what the paper tuned, on its scale.
    """
    if start.method == "edit" and ranges == "paper":
        lambdas = tuple(trial.suggest_float(name, 0.0, 1.0) for name in _LAMBDAS)
        return start.with_changes(lambdas=lambdas, delta=trial.suggest_float("delta", 0.0, 2.0), scale="kind")
    changes: dict[str, Any] = {"length_penalty": trial.suggest_float("length_penalty", 0.0, 2.0)}
    if start.method in ("edit", "neurologic"):
        changes["alpha"] = trial.suggest_int("alpha", 40, 400)
        changes["width"] = trial.suggest_int("width", start.beams, 3 * start.beams)
    if start.method == "neurologic":
        changes["beta"] = trial.suggest_int("beta", 0, 10)
    elif start.method == "negative":
        changes["ban"] = trial.suggest_categorical("ban", ["word", "token"])
    elif start.method == "edit":
        changes["lambdas"] = tuple(trial.suggest_float(name, 0.0, 2.0) for name in _LAMBDAS)
        pruned = trial.suggest_categorical("prunes", [True, False])
        changes["delta"] = trial.suggest_float("delta", 0.0, 10.0) if pruned else None
        for name, choices in _CHOICES.items():
            changes[name] = trial.suggest_categorical(
                name, choices + _MORE_CHOICES.get(name, []) if ranges == "plus" else choices
            )
        if ranges == "plus":
            in_order = trial.suggest_categorical("in_order", [True, False])
            changes["ahead"] = trial.suggest_int("ahead", 0, 3) if in_order else None
            changes["admit_unmet"] = trial.suggest_categorical("admit_unmet", [True, False])
            changes["admit_gap"] = trial.suggest_float("admit_gap", 5.0, 30.0)
            changes["begun"] = trial.suggest_categorical("begun", [True, False])
            changes["forbid"] = trial.suggest_categorical("forbid", [True, False])
            changes["strict"] = trial.suggest_categorical("strict", [True, False])
    return start.with_changes(**changes)


_LAMBDAS = ("lambda_insert", "lambda_delete", "lambda_substitute")
_CHOICES = {
    "scale": ["edit", "kind"],
    "group_by": ["all", "positive"],
    "end": ["always", "likeliest", "met"],
    "choose": ["edits", "sum"],
}
_MORE_CHOICES = {"end": ["either"]}


def parameters_of(config: DecodeConfig, ranges: Ranges = "wide") -> dict[str, Any]:
    """The trial parameters that produce these settings. The first trial uses them to evaluate the start settings."""
    parameters: dict[str, Any] = {}
    lambdas = dict(zip(_LAMBDAS, config.lambdas, strict=True))

    class Recorder:
        def suggest_float(self, name: str, low: float, high: float) -> float:
            value = lambdas[name] if name in lambdas else getattr(config, name)
            parameters[name] = min(max(value, low), high)
            return float(parameters[name])

        def suggest_int(self, name: str, low: int, high: int) -> int:
            value = config.row_width if name == "width" else getattr(config, name)
            parameters[name] = min(max(value, low), high)
            return int(parameters[name])

        def suggest_categorical(self, name: str, choices: Any) -> Any:
            optional = {"prunes": config.delta, "in_order": config.ahead}
            parameters[name] = optional[name] is not None if name in optional else getattr(config, name)
            return parameters[name]

    suggest_config(Recorder(), config, ranges)
    return parameters
