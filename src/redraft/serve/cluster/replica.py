"""One replica: the whole single-process service with its own model and its own batches, behind the proxy of Ray."""

from __future__ import annotations

import os
from typing import Any

from ray import serve
from ray.serve import Application
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from redraft.serve.cluster.ray_metrics import RayMetrics
from redraft.serve.cluster.replica_settings import ReplicaSettings
from redraft.serve.limits import Limits
from redraft.serve.request_log import log_to_standard_error

API_KEY = "REDRAFT_API_KEY"  # environment variable
DEPLOYMENT = "Replica"


class Replica:
    """Ray starts it, asks it for its application and sends it requests."""

    def __init__(self, settings: ReplicaSettings, api_key: str | None = None) -> None:
        from redraft.trust import trusting

        self._settings, self._api_key = settings, api_key or os.environ.get(API_KEY) or None
        with trusting(remote_code=settings.trust_remote_code, pickled_weights=settings.pickled_weights):
            self._app = self._load()

    def _load(self) -> ASGIApp:
        from redraft.serve.app import create_app
        from redraft.serve.auth_middleware import LOCAL_HOSTS
        from redraft.serve.served_models import limits_for, load_simplifier
        from redraft.threads import set_threads

        settings = self._settings
        set_threads(settings.threads)
        log_to_standard_error()
        simplifier = load_simplifier(settings.model, settings.device)
        return create_app(
            simplifier, limits=limits_for(simplifier, batch_size=settings.batch_size, queue=settings.queue),
            api_key=self._api_key, hosts=(*LOCAL_HOSTS, *settings.allow_host), cors=settings.cors,
            log_text=settings.log_text, watch_metrics=RayMetrics().publish,
        )  # fmt: skip

    def __serve_build_asgi_app__(self) -> ASGIApp:
        return _WithoutPrefix(self._app)


class _WithoutPrefix:
    """Removes the prefix of a further model from the path.

    The service decides by the path which requests need a key, so everything in it has to see the same path.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        prefix = scope.get("root_path", "")
        if scope["type"] != "http" or not prefix:
            await self._app(scope, receive, send)
        elif scope["path"] == prefix:  # addresses in the page are relative to the folder
            await RedirectResponse(f"{prefix}/")(scope, receive, send)
        else:
            await self._app({**scope, "path": scope["path"].removeprefix(prefix), "root_path": ""}, receive, send)


def application(settings: ReplicaSettings, api_key: str | None = None) -> Application:
    """The application that Ray deploys."""
    bound: Application = deployment(settings).bind(settings, api_key)
    return bound


def build(settings: ReplicaSettings) -> Application:
    """`import_path` of a Serve configuration file; the key comes from the environment of the replicas."""
    return application(settings)


def deployment(settings: ReplicaSettings) -> Any:
    """How many replicas, what each of them needs, and how requests are given to them.

    A replica counts its sentences and refuses those beyond its queue by itself, as the single process does, so Ray
    must give it more requests than that. Requests wait in the proxy only while no replica can take them.
    """
    scaling: dict[str, Any] = {"num_replicas": settings.replicas}
    if settings.max_replicas is not None:
        scaling = {
            "autoscaling_config": {
                "min_replicas": settings.replicas,
                "max_replicas": max(settings.replicas, settings.max_replicas),
                "target_ongoing_requests": 2 * settings.expected_batch,  # one batch is computed, one waits
            }
        }
    return serve.deployment(
        serve.ingress()(Replica),
        name=DEPLOYMENT,
        max_ongoing_requests=2 * settings.queue,
        max_queued_requests=settings.queue,
        health_check_period_s=2,
        graceful_shutdown_wait_loop_s=0.2,
        graceful_shutdown_timeout_s=Limits.deadline,  # a request in progress takes no longer
        ray_actor_options={"num_cpus": settings.threads, "num_gpus": int(settings.uses_gpu)},
        **scaling,
    )
