"""The search itself, by Optuna: trials of any number of processes and machines, in one storage."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.storages import JournalStorage, RetryHeartbeatStaleTrialCallback
from optuna.storages.journal import JournalFileBackend

from redraft.decode.config import DecodeConfig
from redraft.decode.redrafter import Redrafter
from redraft.errors import ConfigError
from redraft.tune.objective import Sample, tried
from redraft.tune.space import Goal, Ranges, as_suggested, suggested

_FINISHED = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
_ALIVE = 60  # seconds between two signs of life of a worker; without any for twice that, its trial is tried again
_FREE = 10  # trials before any is given up early


@dataclass(frozen=True)
class Tuning:
    """What is tuned, and on what; equal for all who share a storage."""

    start: DecodeConfig
    ranges: Ranges
    goal: Goal
    facts: dict[str, Any]  # names and digests of model, plans and references, sample and seed


def open_study(storage: str, tuning: Tuning, seed: int) -> optuna.Study:
    """The study of a storage, made where there is none; an error where it is about something else."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)  # signs of life, groups
    study = optuna.create_study(
        storage=_storage(storage), study_name="redraft", direction="maximize", load_if_exists=True,
        sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True, constant_liar=True),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=_FREE, n_warmup_steps=0),
    )  # fmt: skip
    facts = json.loads(json.dumps({**tuning.facts, "ranges": tuning.ranges, "goal": tuning.goal}))
    known = study.user_attrs.get("facts")
    if known is None:
        study.set_user_attr("facts", facts)
        study.enqueue_trial(as_suggested(tuning.start, tuning.ranges), skip_if_exists=True)
    elif known != facts:
        name = next(name for name in facts if known.get(name) != facts[name])
        raise ConfigError(
            f"{storage} holds another search: its {name} is {known.get(name)!r}, and not {facts[name]!r}.",
            "Choose another --out or --storage, or give the settings it was begun with.",
        )
    return study


def run_trials(
    study: optuna.Study, tuning: Tuning, redrafter: Redrafter, sample: Sample, trials: int, *, batch_size: int,
    told: Callable[[optuna.Study], object] = lambda study: None,
) -> None:  # fmt: skip
    """Until so many are finished in all, whoever did them."""

    def objective(trial: optuna.Trial) -> float:
        config = suggested(trial, tuning.start, tuning.ranges)

        def report(part: int, value: float) -> bool:
            trial.report(value, part)
            return not trial.should_prune()

        found = tried(redrafter, config, sample, report, goal=tuning.goal, batch_size=batch_size)
        trial.set_user_attr("seconds", round(found.seconds, 2))
        if not found.finished:
            raise optuna.TrialPruned
        return found.value

    def enough(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        told(study)
        if len(finished(study)) >= trials:
            study.stop()

    if len(finished(study)) < trials:
        study.optimize(objective, callbacks=[enough])


def finished(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    return study.get_trials(deepcopy=False, states=_FINISHED)


def config_of(trial: optuna.trial.FrozenTrial, tuning: Tuning) -> DecodeConfig:
    return suggested(optuna.trial.FixedTrial(trial.params), tuning.start, tuning.ranges)


def _storage(where: str) -> Any:
    """journal:FILE, or an address as SQLAlchemy takes it: sqlite:///FILE, postgresql://…"""
    if where.startswith("journal:"):
        return JournalStorage(JournalFileBackend(where.removeprefix("journal:")))
    try:
        return optuna.storages.RDBStorage(
            where, heartbeat_interval=_ALIVE, heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback()
        )
    except Exception as error:  # SQLAlchemy has many: a driver that is missing, a server that does not answer
        raise ConfigError(f"--storage {where} cannot be opened: {(str(error).splitlines() or ['?'])[0]}",
                          "Use sqlite:///FILE, postgresql://… or journal:FILE.") from None  # fmt: skip
