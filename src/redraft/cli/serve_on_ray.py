"""`redraft serve --on ray`: the same service, as replicas on a Ray cluster."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from redraft.cli.console import OK, require_package, say, whole_number
from redraft.cli.worker_processes import terminable
from redraft.errors import ConfigError, shown

if TYPE_CHECKING:
    from redraft.cli.serve import ServeOptions
    from redraft.serve.cluster.replica_settings import ReplicaSettings

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_TAKEN = ("v1", "v2", "static", "docs", "health", "metrics", "redraft")  # paths and the name of the main model


def serve_on_ray(
    options: ServeOptions, *, port: int, batch_size: int | None, queue: int, threads: int | None, api_key: str | None
) -> int:
    """Deploy the models, and keep them until SIGTERM or Ctrl-C; returns the exit status."""
    require_package("ray", "redraft serve --on ray", "ray")
    from redraft.serve.cluster.replica_settings import ReplicaSettings

    fewest, most = _replicas(options.replicas or "1")
    main = ReplicaSettings(
        model=options.model, device=options.device, batch_size=batch_size, queue=queue, threads=threads or 1,
        replicas=fewest, max_replicas=most, allow_host=(options.host, *options.allow_host), cors=tuple(options.cors),
        trust_remote_code=options.trust_remote_code, pickled_weights=options.pickled_weights,
        log_text=options.log_text,
    )  # fmt: skip
    models = {"": main, **_further_models(options.also, main)}
    from redraft.cluster.cluster_processes import connect
    from redraft.serve.cluster.deployment import ENVIRONMENT, check_address, check_room, deploy, start, stop

    with connect(ENVIRONMENT, log_to_driver=True), terminable():
        check_room(models)
        start(options.host, port)
        try:
            deploy(models, api_key)
            check_address(options.host, port)
            say(f"ready: open http://{options.host}:{port} in a browser; press Ctrl-C to stop")
            threading.Event().wait()
        except KeyboardInterrupt:
            say("finishing the requests in progress")
        except RuntimeError as error:
            raise ConfigError(
                f"a model could not be started: {str(error).splitlines()[0]}",
                "The messages above, and /tmp/ray/session_latest/logs/serve, have the cause.",
            ) from None
        finally:
            stop(models)
    return OK


def _replicas(text: str) -> tuple[int, int | None]:
    """ "3" → 3 replicas; "1-4" → 1 to 4."""
    fewest, dash, most = text.partition("-")
    if not dash:
        return whole_number("--replicas", fewest, example=2), None
    first = whole_number("--replicas", fewest, example=2)
    return first, whole_number("--replicas", most, least=first, example=4)


def _further_models(also: list[str], main: ReplicaSettings) -> dict[str, ReplicaSettings]:
    models: dict[str, ReplicaSettings] = {}
    for entry in also:
        name, _, model = entry.partition("=")
        if not _NAME.fullmatch(name) or name in _TAKEN or name in models or not model:
            raise ConfigError(
                f"--also: {shown(entry)} is not NAME=MODEL with a new name of small letters, digits and hyphens.",
                f"Not as a name: {', '.join(_TAKEN)}. Example: --also small=./small-model.",
            )
        models[name] = main.model_copy(update={"model": model})
    return models
