"""What is searched: for each method, which settings may take which values."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from redraft.decode.config import DecodeConfig

Goal = Literal["sari", "both"]
GOALS: dict[Goal, str] = {"sari": "SARI", "both": "SARI + BLEU / 3"}
Ranges = Literal["wide", "plus", "paper"]


class Suggests(Protocol):
    """A trial of Optuna, or anything that chooses."""

    def suggest_float(self, name: str, low: float, high: float) -> float: ...
    def suggest_int(self, name: str, low: int, high: int) -> int: ...
    def suggest_categorical(self, name: str, choices: Any) -> Any: ...


def suggested(trial: Suggests, start: DecodeConfig, ranges: Ranges = "wide") -> DecodeConfig:
    """One try: `start` with its method's settings drawn anew.

    "plus" searches what goes beyond the paper too; "paper" is what the paper searched, on its scale.
    """
    if start.method == "edit" and ranges == "paper":
        lambdas = tuple(trial.suggest_float(name, 0.0, 1.0) for name in _LAMBDAS)
        return start.with_changes(lambdas=lambdas, delta=trial.suggest_float("delta", 0.0, 2.0), scale="kind")
    found: dict[str, Any] = {"length_penalty": trial.suggest_float("length_penalty", 0.0, 2.0)}
    if start.method in ("edit", "neurologic"):
        found["alpha"] = trial.suggest_int("alpha", 40, 400)
        found["width"] = trial.suggest_int("width", start.beams, 3 * start.beams)
    if start.method == "neurologic":
        found["beta"] = trial.suggest_int("beta", 0, 10)
    elif start.method == "negative":
        found["ban"] = trial.suggest_categorical("ban", ["word", "token"])
    elif start.method == "edit":
        found["lambdas"] = tuple(trial.suggest_float(name, 0.0, 2.0) for name in _LAMBDAS)
        pruned = trial.suggest_categorical("prunes", [True, False])
        found["delta"] = trial.suggest_float("delta", 0.0, 10.0) if pruned else None
        for name, choices in _WORDS.items():
            found[name] = trial.suggest_categorical(
                name, choices + _MORE.get(name, []) if ranges == "plus" else choices
            )
        if ranges == "plus":
            in_order = trial.suggest_categorical("in_order", [True, False])
            found["ahead"] = trial.suggest_int("ahead", 0, 3) if in_order else None
            found["admit_unmet"] = trial.suggest_categorical("admit_unmet", [True, False])
            found["admit_gap"] = trial.suggest_float("admit_gap", 5.0, 30.0)
            found["begun"] = trial.suggest_categorical("begun", [True, False])
            found["forbid"] = trial.suggest_categorical("forbid", [True, False])
            found["strict"] = trial.suggest_categorical("strict", [True, False])
    return start.with_changes(**found)


_LAMBDAS = ("lambda_insert", "lambda_delete", "lambda_substitute")
_WORDS = {
    "scale": ["edit", "kind"],
    "group_by": ["all", "positive"],
    "end": ["always", "likeliest", "met"],
    "choose": ["edits", "sum"],
}
_MORE = {"end": ["either"]}


def as_suggested(config: DecodeConfig, ranges: Ranges = "wide") -> dict[str, Any]:
    """The choices that lead to these settings: what the first trial is told, so that the start is never lost."""
    taken: dict[str, Any] = {}
    lambdas = dict(zip(_LAMBDAS, config.lambdas, strict=True))

    class Recalled:
        def suggest_float(self, name: str, low: float, high: float) -> float:
            value = lambdas[name] if name in lambdas else getattr(config, name)
            taken[name] = min(max(value, low), high)
            return float(taken[name])

        def suggest_int(self, name: str, low: int, high: int) -> int:
            value = config.row_width if name == "width" else getattr(config, name)
            taken[name] = min(max(value, low), high)
            return int(taken[name])

        def suggest_categorical(self, name: str, choices: Any) -> Any:
            there = {"prunes": config.delta, "in_order": config.ahead}
            taken[name] = there[name] is not None if name in there else getattr(config, name)
            return taken[name]

    suggested(Recalled(), config, ranges)
    return taken
