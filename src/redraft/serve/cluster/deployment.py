"""Starts, updates and stops the models of a service on the connected Ray cluster."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

import ray
from ray import serve
from ray.serve.config import HTTPOptions, ProxyLocation
from ray.serve.schema import LoggingConfig

from redraft.errors import ConfigError
from redraft.serve.cluster.proxy_answers import CALLBACK
from redraft.serve.cluster.replica import application
from redraft.serve.cluster.replica_settings import ReplicaSettings
from redraft.serve.limits import Limits

MAIN = "redraft"  # the application of the model without a prefix
_WAIT_FOR_A_REPLICA = 60  # seconds, in the proxy; then the request is answered with 503
_SECONDS_TO_CONNECT = 10
_WAIT_FOR_THE_END = 30  # seconds beyond the longest request
_BETWEEN_QUESTIONS = 0.3
# Replicas have a request log of their own, without texts.
_LOGGING = LoggingConfig(log_level="WARNING", enable_access_log=False)
# For all processes of Ray: the proxies read it when they start.
ENVIRONMENT = {"RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH": CALLBACK}


def start(host: str, port: int) -> None:
    """Start the proxies, one on each node with a replica. They answer 503 until `deploy`."""
    os.environ.update(ENVIRONMENT)  # a proxy may be started by this process
    options = HTTPOptions(host=host, port=port, request_timeout_s=Limits.deadline + _WAIT_FOR_A_REPLICA)
    serve.start(ProxyLocation.EveryNode, options, logging_config=_LOGGING)


def deploy(models: Mapping[str, ReplicaSettings], api_key: str | None) -> None:
    """Start the models, or update them one replica after another; returns when all of them answer.

    The model with an empty name is at /, each of the others at /NAME.
    """
    for name, settings in models.items():
        serve.run(application(settings, api_key), name=name or MAIN, route_prefix=f"/{name}", logging_config=_LOGGING)


def check_room(models: Mapping[str, ReplicaSettings]) -> None:
    """An error if a cluster on this machine cannot hold the replicas: it does not grow, so they would never start."""
    if os.environ.get("RAY_ADDRESS"):
        return
    resources: Any = ray.cluster_resources
    cluster = resources()
    for what, resource, needed in (
        ("cores", "CPU", sum(one.replicas * one.threads for one in models.values())),
        ("GPUs", "GPU", sum(one.replicas for one in models.values() if one.uses_gpu)),
    ):
        if needed > cluster.get(resource, 0):
            raise ConfigError(
                f"the replicas need {needed} {what}, and there are {cluster.get(resource, 0):g}.",
                "Lower --replicas, --threads or the number of models, or set RAY_ADDRESS to a larger cluster.",
            )


def check_address(host: str, port: int) -> None:
    """An error if the proxies listen elsewhere: those of a service that ran before keep their address."""
    with closing(socket.socket()) as candidate:
        candidate.settimeout(_SECONDS_TO_CONNECT)
        if candidate.connect_ex((host, port)) != 0:
            raise ConfigError(
                f"the cluster has a service already, and it does not listen on {host}:{port}.",
                "Give its --host and --port, or stop it first: serve shutdown -y.",
            )


def stop(names: Iterable[str]) -> None:
    """Accept no more requests for these models, finish those in progress, and end the processes of the service.

    The proxies remain if the cluster serves other applications too.
    """
    ours = {name or MAIN for name in names}
    for name in ours & set(serve.status().applications):
        serve.delete(name, _blocking=False)  # by itself it waits for a minute, and a request may take two
    until = time.monotonic() + Limits.deadline + _WAIT_FOR_THE_END
    while ours & set(serve.status().applications) and time.monotonic() < until:
        time.sleep(_BETWEEN_QUESTIONS)
    if not serve.status().applications:
        shut_down: Any = serve.shutdown
        shut_down()
