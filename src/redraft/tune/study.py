"""The search itself, by Optuna: trials of any number of processes and machines, in one storage."""

from __future__ import annotations

import json
import os
import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from sqlalchemy.exc import SQLAlchemyError

from redraft.decode.config import DecodeConfig
from redraft.decode.redrafter import Redrafter
from redraft.errors import ConfigError
from redraft.files import writing
from redraft.tune.objective import Sample, tried
from redraft.tune.search_space import Goal, Ranges, as_suggested, suggested

_State = optuna.trial.TrialState
_FINISHED = (_State.COMPLETE, _State.PRUNED)
_JOURNAL = "journal:"
_PROCESS = "process"  # the attribute of a trial that says who works on it
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
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # a trial that fails is told by its error, or was stopped
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
    elif known != facts:
        name = next(name for name in {**facts, **known} if known.get(name) != facts.get(name))
        raise ConfigError(
            f"{shown_storage(storage)} holds another search: its {name} is {known.get(name)!r}, "
            f"and not {facts.get(name)!r}.",
            "Choose another --out or --storage, or give the settings it was begun with.",
        )
    return study


def take_up(study: optuna.Study, tuning: Tuning) -> None:
    """See that the start is tried, and again what processes that have died were trying."""
    _revive(study)
    first = as_suggested(tuning.start, tuning.ranges)
    tries = [trial for trial in study.get_trials(deepcopy=False) if trial.system_attrs.get("fixed_params") == first]
    if all(trial.state == _State.FAIL for trial in tries):
        study.enqueue_trial(first)


def _revive(study: optuna.Study) -> None:
    """A trial of a process of this machine that has died is tried again; of another machine's, signs of life tell."""
    for trial in study.get_trials(deepcopy=False, states=(_State.RUNNING,)):
        if _is_dead(trial.user_attrs.get(_PROCESS)):
            study.tell(trial.number, state=_State.FAIL, skip_if_finished=True)
            _try_again(study, trial)


def _try_again(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
    again = optuna.create_trial(
        state=_State.WAITING, params=trial.params, distributions=trial.distributions, system_attrs=trial.system_attrs
    )
    study.add_trial(again)


def _is_dead(process: Sequence[Any] | None) -> bool:
    """Whether nobody works on the trial that noted this `_this_process`."""
    if process is None or process[0] != _machine() or os.name != "posix":
        return False
    if process[1] == os.getpid():  # we ask between two trials of our own
        return True
    try:
        os.kill(process[1], 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # another user's
        pass
    return False


def _this_process() -> tuple[str, int]:
    return _machine(), os.getpid()


@cache
def _machine() -> str:
    """Where the numbers of processes mean the same: containers have their own, and may share a name."""
    parts = [platform.node()]
    with suppress(OSError):  # not Linux
        parts += [Path("/proc/sys/kernel/random/boot_id").read_text().strip(), os.readlink("/proc/self/ns/pid")]
    return " ".join(parts)


def run_trials(
    study: optuna.Study, tuning: Tuning, redrafter: Redrafter, sample: Sample, trials: int, *, batch_size: int,
    told: Callable[[optuna.Study], object] = lambda study: None,
) -> None:  # fmt: skip
    """Until so many are finished in all, whoever did them, and none waits to be tried again."""

    def objective(trial: optuna.Trial) -> float:
        trial.set_user_attr(_PROCESS, _this_process())
        config = suggested(trial, tuning.start, tuning.ranges)

        def report(part: int, value: float) -> bool:
            trial.report(value, part)
            return not trial.should_prune()

        found = tried(redrafter, config, sample, report, goal=tuning.goal, batch_size=batch_size)
        trial.set_user_attr("seconds", round(found.seconds, 2))
        if not found.finished:
            raise optuna.TrialPruned
        return found.value

    def is_enough() -> bool:
        waiting = study.get_trials(deepcopy=False, states=(_State.WAITING,))
        return len(finished(study)) >= trials and not waiting

    def after(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        told(study)
        _revive(study)
        if is_enough():
            study.stop()

    if not is_enough():
        study.optimize(objective, callbacks=[after])


def finished(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    return study.get_trials(deepcopy=False, states=_FINISHED)


def config_of(trial: optuna.trial.FrozenTrial, tuning: Tuning) -> DecodeConfig:
    return suggested(optuna.trial.FixedTrial(trial.params), tuning.start, tuning.ranges)


@contextmanager
def storing(where: str) -> Iterator[None]:
    """Whatever goes wrong in a storage is an error that names it."""
    try:
        with writing(where.removeprefix(_JOURNAL)):
            yield
    except (optuna.exceptions.StorageInternalError, SQLAlchemyError) as error:
        raise ConfigError(f"{shown_storage(where)} cannot be used: {_reason(where, error)}",
                          "Mend that; finished trials are kept, and the same command goes on.") from None  # fmt: skip


def _storage(where: str) -> Any:
    """journal:FILE, or an address as SQLAlchemy takes it: sqlite:///FILE, postgresql://…"""
    try:
        if where.startswith(_JOURNAL):
            return JournalStorage(JournalFileBackend(where.removeprefix(_JOURNAL)))
        return optuna.storages.RDBStorage(where, heartbeat_interval=_ALIVE, heartbeat_stale_trial_callback=_try_again)
    except Exception as error:  # SQLAlchemy has many: a driver that is missing, a server that does not answer
        raise ConfigError(f"--storage {shown_storage(where)} cannot be opened: {_reason(where, error)}",
                          "Use sqlite:///FILE, postgresql://… or journal:FILE.") from None  # fmt: skip


def shown_storage(where: str) -> str:
    """A storage without what its address says before the @ and behind the ?: a name and a password may stand there."""
    if where.startswith((_JOURNAL, "sqlite:")):
        return where
    scheme, slashes, rest = where.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}" if slashes else f"{scheme.partition(':')[0]}:…"


def _reason(where: str, error: BaseException) -> str:
    """What an error says, in a line, without a password."""
    if isinstance(error, optuna.exceptions.StorageInternalError) and error.__cause__ is not None:
        error = error.__cause__
    said = (str(getattr(error, "orig", None) or error).splitlines() or [""])[0] or type(error).__name__
    if shown_storage(where) == where:
        return said
    user, _, place = where.partition("://")[2].rpartition("@")
    password = user.partition(":")[2]
    query = [part.partition("=")[2] for part in place.partition("?")[2].split("&")]
    secrets = {where, password, unquote(password), *password.split("@"), *query, *map(unquote, query)} - {""}
    for secret in sorted(secrets, key=len, reverse=True):
        said = said.replace(secret, "…")
    return said
