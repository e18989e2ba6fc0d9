"""How many processes a cluster of Ray has room for, and what each of them gets."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import ray

from redraft.errors import ConfigError

_STORE_BYTES = 256 << 20  # of a cluster that this process starts: blocks are small, and few wait at a time


@dataclass(frozen=True)
class Processes:
    count: int
    cpus: int
    gpus: float

    @classmethod
    def of_cluster(cls, count: int | None, threads: int, device: str | None, *, most: int) -> Processes:
        """`count` processes, or as many as fit, but not more than `most`; each is on one machine.

        A process that does not fit would wait without a message: this is an error.
        """
        alive: Any = ray.nodes
        nodes = [node["Resources"] for node in alive() if node["Alive"]]
        on_gpu = device != "cpu" and any(node.get("GPU", 0) for node in nodes)
        if device not in (None, "cpu", "cuda"):
            raise ConfigError(f"--device {device} cannot be chosen on Ray, which assigns GPUs.", "Use cpu or cuda.")
        if device == "cuda" and not on_gpu:
            raise ConfigError("--device cuda, but the cluster of Ray has no GPU.", "Use --device cpu.")
        gpus = 0.0
        if on_gpu:
            total = sum(node.get("GPU", 0) for node in nodes)
            gpus = 1.0 if count is None or count <= total else int(100 * total / count) / 100  # Ray keeps 4 digits
        room = sum(_room(node, threads, gpus) for node in nodes)
        if room < (count or 1):
            what = f"{threads} {'CPU' if threads == 1 else 'CPUs'}" + (f" and {gpus:g} GPU" if gpus else "")
            raise ConfigError(
                f"the cluster of Ray has room for {room} processes with {what} each, not for {count or 1}.",
                "Use fewer --workers or --threads, or add machines.",
            )
        return cls(min(count or room, most), threads, gpus)


def _room(node: dict[str, float], cpus: int, gpus: float) -> int:
    by_cpus = int(node.get("CPU", 0) // cpus)
    return min(by_cpus, int((node.get("GPU", 0) + 1e-6) / gpus)) if gpus else by_cpus


@contextmanager
def connect(environment: Mapping[str, str] | None = None, *, log_to_driver: bool = False) -> Iterator[None]:
    """Connected to the cluster that RAY_ADDRESS names or that runs on this machine; otherwise, to a new one.

    Usage statistics are not sent. A connection that was there before is used and kept. `environment`: variables of all
    processes that are started for this one; `log_to_driver`: what they write to standard error is shown here.
    """
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # alarming lines on standard error about nothing
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": log_to_driver}
    if environment:
        options["runtime_env"] = {"env_vars": dict(environment)}
    try:
        if os.environ.get("RAY_ADDRESS"):
            ray.init(**options)
        else:
            ray.init(include_dashboard=False, object_store_memory=_STORE_BYTES, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), "")
        raise ConfigError(f"Ray cannot be reached: {reason}", "Check RAY_ADDRESS, or unset it.") from None
    try:
        yield
    finally:
        ray.shutdown()
