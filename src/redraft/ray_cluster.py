"""Connects this process to a Ray cluster: that of RAY_ADDRESS, or a new one on this machine that ends with it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from redraft.errors import ConfigError

_OBJECT_STORE = 100_000_000  # bytes, on this machine; requests and blocks of sentences are small


@contextmanager
def connected_to_ray(environment: Mapping[str, str] | None = None) -> Iterator[bool]:
    """Whether the cluster was started here. `environment`: variables for all processes that are started for this one."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    address = os.environ.get("RAY_ADDRESS")
    own = {} if address else {"include_dashboard": False, "object_store_memory": _OBJECT_STORE}
    try:
        ray.init(
            address or "local", runtime_env={"env_vars": dict(environment or {})}, logging_level=logging.WARNING, **own
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ConfigError(
            f"there is no connection to Ray at {address or 'this machine'}: {str(error).splitlines()[0]}",
            "Check the environment variable RAY_ADDRESS; without it, Ray is started on this machine.",
        ) from None
    try:
        yield not address
    finally:
        ray.shutdown()
