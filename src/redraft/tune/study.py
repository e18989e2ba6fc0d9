"""The Optuna study. Any number of processes and machines can share one storage."""

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
from redraft.files import disk_full_errors
from redraft.tune.objective import Sample, evaluate_config
from redraft.tune.search_space import Goal, Ranges, parameters_of, suggest_config

_State = optuna.trial.TrialState
_FINISHED = (_State.COMPLETE, _State.PRUNED)
_JOURNAL = "journal:"
_PROCESS = "process"  # trial attribute: the process that runs the trial
_HEARTBEAT_SECONDS = 60  # a worker without a heartbeat for twice this time counts as dead
_STARTUP_TRIALS = 10  # trials before pruning starts


@dataclass(frozen=True)
class Tuning:
    """A tuning task; all workers that share a storage have the same one."""

    start: DecodeConfig
    ranges: Ranges
    goal: Goal
    facts: dict[str, Any]  # identify the task: digests of model, plans and references; sample size; seed


def open_study(storage: str, tuning: Tuning, seed: int) -> optuna.Study:
    """Open or create the study in a storage. Raises ConfigError if it belongs to a different task."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # failed trials raise their own errors
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)  # heartbeat, group
    study = optuna.create_study(
        storage=_storage(storage), study_name="redraft", direction="maximize", load_if_exists=True,
        sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True, constant_liar=True),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=_STARTUP_TRIALS, n_warmup_steps=0),
    )  # fmt: skip
    facts = json.loads(json.dumps({**tuning.facts, "ranges": tuning.ranges, "goal": tuning.goal}))
    stored = study.user_attrs.get("facts")
    if stored is None:
        study.set_user_attr("facts", facts)
    elif stored != facts:
        name = next(name for name in {**facts, **stored} if stored.get(name) != facts.get(name))
        raise ConfigError(
            f"{shown_storage(storage)} contains a different study: {name} is {stored.get(name)!r} there "
            f"and {facts.get(name)!r} here.",
            "Choose another --out or --storage, or use the same options as before.",
        )
    return study


def prepare_study(study: optuna.Study, tuning: Tuning) -> None:
    """Enqueue the start settings unless evaluated, and retry the trials of dead processes."""
    _retry_dead_trials(study)
    first = parameters_of(tuning.start, tuning.ranges)
    attempts = [trial for trial in study.get_trials(deepcopy=False) if trial.system_attrs.get("fixed_params") == first]
    if all(trial.state == _State.FAIL for trial in attempts):
        study.enqueue_trial(first)


def _retry_dead_trials(study: optuna.Study) -> None:
    """Retry the running trials of dead processes on this machine. On other machines, the heartbeat detects them."""
    for trial in study.get_trials(deepcopy=False, states=(_State.RUNNING,)):
        if _process_is_dead(trial.user_attrs.get(_PROCESS)):
            study.tell(trial.number, state=_State.FAIL, skip_if_finished=True)
            _retry_trial(study, trial)


def _retry_trial(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
    waiting = optuna.create_trial(
        state=_State.WAITING, params=trial.params, distributions=trial.distributions, system_attrs=trial.system_attrs
    )
    study.add_trial(waiting)


def _process_is_dead(process: Sequence[Any] | None) -> bool:
    """Whether the process that stored this `_this_process()` in its trial has ended."""
    if process is None or process[0] != _machine() or os.name != "posix":
        return False
    if process[1] == os.getpid():  # called between trials, so this process runs none
        return True
    try:
        os.kill(process[1], 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it belongs to another user
        pass
    return False


def _this_process() -> tuple[str, int]:
    return _machine(), os.getpid()


@cache
def _machine() -> str:
    """Identifies the PID namespace. Containers have their own process ids and may share a host name."""
    parts = [platform.node()]
    with suppress(OSError):  # not Linux
        parts += [Path("/proc/sys/kernel/random/boot_id").read_text().strip(), os.readlink("/proc/self/ns/pid")]
    return " ".join(parts)


def run_trials(
    study: optuna.Study, tuning: Tuning, redrafter: Redrafter, sample: Sample, trials: int, *, batch_size: int,
    on_trial: Callable[[optuna.Study], object] = lambda study: None,
) -> None:  # fmt: skip
    """Run trials until `trials` are finished, counting all workers, and none is waiting for a retry."""

    def objective(trial: optuna.Trial) -> float:
        trial.set_user_attr(_PROCESS, _this_process())
        config = suggest_config(trial, tuning.start, tuning.ranges)

        def report(part: int, value: float) -> bool:
            trial.report(value, part)
            return not trial.should_prune()

        result = evaluate_config(redrafter, config, sample, report, goal=tuning.goal, batch_size=batch_size)
        trial.set_user_attr("seconds", round(result.seconds, 2))
        if not result.finished:
            raise optuna.TrialPruned
        return result.value

    def is_done() -> bool:
        waiting = study.get_trials(deepcopy=False, states=(_State.WAITING,))
        return len(finished_trials(study)) >= trials and not waiting

    def after(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        on_trial(study)
        _retry_dead_trials(study)
        if is_done():
            study.stop()

    if not is_done():
        study.optimize(objective, callbacks=[after])


def finished_trials(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    return study.get_trials(deepcopy=False, states=_FINISHED)


def config_of(trial: optuna.trial.FrozenTrial, tuning: Tuning) -> DecodeConfig:
    return suggest_config(optuna.trial.FixedTrial(trial.params), tuning.start, tuning.ranges)


@contextmanager
def storage_errors(where: str) -> Iterator[None]:
    """Turn storage failures into errors that name the storage."""
    try:
        with disk_full_errors(where.removeprefix(_JOURNAL)):
            yield
    except (optuna.exceptions.StorageInternalError, SQLAlchemyError) as error:
        raise ConfigError(f"{shown_storage(where)} cannot be used: {_reason(where, error)}",
                          "Fix the cause and rerun the same command; finished trials are kept.") from None  # fmt: skip


def _storage(where: str) -> Any:
    """journal:FILE, or an SQLAlchemy URL: sqlite:///FILE, postgresql://…"""
    try:
        if where.startswith(_JOURNAL):
            return JournalStorage(JournalFileBackend(where.removeprefix(_JOURNAL)))
        return optuna.storages.RDBStorage(
            where, heartbeat_interval=_HEARTBEAT_SECONDS, heartbeat_stale_trial_callback=_retry_trial
        )
    except Exception as error:  # of many types: missing driver, unreachable server, …
        raise ConfigError(f"--storage {shown_storage(where)} cannot be opened: {_reason(where, error)}",
                          "Use sqlite:///FILE, postgresql://… or journal:FILE.") from None  # fmt: skip


def shown_storage(where: str) -> str:
    """The storage URL without user info and query, which may contain a password."""
    if where.startswith((_JOURNAL, "sqlite:")):
        return where
    scheme, slashes, rest = where.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}" if slashes else f"{scheme.partition(':')[0]}:…"


def _reason(where: str, error: BaseException) -> str:
    """The first line of the error message, with secrets removed."""
    if isinstance(error, optuna.exceptions.StorageInternalError) and error.__cause__ is not None:
        error = error.__cause__
    message = (str(getattr(error, "orig", None) or error).splitlines() or [""])[0] or type(error).__name__
    if shown_storage(where) == where:
        return message
    user, _, place = where.partition("://")[2].rpartition("@")
    password = user.partition(":")[2]
    query = [part.partition("=")[2] for part in place.partition("?")[2].split("&")]
    secrets = {where, password, unquote(password), *password.split("@"), *query, *map(unquote, query)} - {""}
    for secret in sorted(secrets, key=len, reverse=True):
        message = message.replace(secret, "…")
    return message
