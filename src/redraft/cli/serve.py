"""`redraft serve`: an HTTP service with a web page."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from errno import EACCES, EADDRINUSE
from typing import TYPE_CHECKING, Annotated, Any, Literal

from redraft.cli.common_options import Device, Model, PickledWeights, Threads, TrustRemoteCode
from redraft.cli.console import OK, parallel_number, say, whole_number
from redraft.cli.typer_command import add_command, option
from redraft.errors import ConfigError
from redraft.threads import set_threads

if TYPE_CHECKING:
    from typer import Typer

KEY = "REDRAFT_API_KEY"  # environment variable
_LAST_PORT = 65_535

_EXAMPLES = """\
examples:
  redraft serve
  redraft serve --host 0.0.0.0 --port 8080 --api-key KEY
  redraft serve --model ./my-model --device cuda --batch-size 32
  redraft serve --on ray --replicas 1-4 --also small=./small-model

The web page is at http://127.0.0.1:8000, the API description at /openapi.json, Prometheus metrics at /metrics.
"""
_MAIN = ("host", "port", "api_key", "model", "device", "batch_size")


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Start an HTTP service for planning, simplifying and evaluating, with a web page."""

    host: Annotated[str, option("address to listen on (default 127.0.0.1: this machine only)", "NAME")] = "127.0.0.1"
    port: Annotated[str, option("port to listen on (default 8000)", "N")] = "8000"
    api_key: Annotated[
        str | None, option(f"API key required for /v1 (default: the environment variable {KEY}, if set)", "KEY")
    ] = None
    allow_host: Annotated[
        list[str], option("host names accepted in requests, in addition to localhost and --host", "NAME ...")
    ] = field(default_factory=list)
    cors: Annotated[
        list[str],
        option("origins of web pages that may call the service, for example https://example.org", "ORIGIN ..."),
    ] = field(default_factory=list)
    model: Model = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    threads: Threads = None
    batch_size: Annotated[str | None, option("sentences decoded together (default: 4 on a CPU, 32 on a GPU)", "N")] = (
        None
    )
    queue: Annotated[str, option("sentences that may wait; further requests are refused (default 256)", "N")] = "256"
    on: Annotated[
        Literal["ray"] | None,
        option("where to work: ray, replicas on a cluster (RAY_ADDRESS, or one on this machine)", "ray"),
    ] = None
    replicas: Annotated[
        str | None, option("with --on ray: processes with a model, or FEWEST-MOST, started as needed (default 1)", "N")
    ] = None
    also: Annotated[list[str], option("with --on ray: further models, served under /NAME", "NAME=MODEL ...")] = field(
        default_factory=list
    )
    log_text: Annotated[bool, option("include sentences in the log (default: no text is logged)")] = False


def add_serve(app: Typer) -> None:
    add_command(
        app, "serve", run_serve, ServeOptions, help="start an HTTP service with a web page", examples=_EXAMPLES,
        main=_MAIN, panel="Rewrite",
    )  # fmt: skip


def run_serve(options: ServeOptions) -> int:
    """Run the command and return its exit status."""
    port = whole_number("--port", options.port, example=8080)
    batch = whole_number("--batch-size", options.batch_size) if options.batch_size is not None else None
    queue = whole_number("--queue", options.queue)
    threads = parallel_number("--threads", options.threads)
    if port > _LAST_PORT:
        raise ConfigError(f"--port {port} is not a valid port.", f"Use a number from 1 to {_LAST_PORT}.")
    api_key = os.environ.get(KEY) or None if options.api_key is None else options.api_key
    try:
        import uvicorn

        from redraft.serve.app import create_app
        from redraft.serve.auth_middleware import LOCAL_HOSTS
        from redraft.serve.http_server import uvicorn_config
        from redraft.serve.request_log import log_to_standard_error
        from redraft.serve.served_models import limits_for, load_simplifier
    except ImportError as error:
        raise ConfigError(
            f"redraft serve needs {error.name}, which is not installed.", "Install it: pip install 'redraft[serve]'"
        ) from None
    if api_key is None and options.host not in LOCAL_HOSTS:
        say(f"no API key is set: anyone who can reach {options.host} can use the service. Set a key with --api-key.")
    if options.on is None and (options.replicas or options.also):
        raise ConfigError("--replicas and --also need a cluster.", "Add --on ray.")
    if options.on is None or not os.environ.get("RAY_ADDRESS"):
        _check_free(options.host, port)
    if options.on is not None:
        from redraft.cli.serve_on_ray import serve_on_ray

        return serve_on_ray(options, port=port, batch_size=batch, queue=queue, threads=threads, api_key=api_key)
    set_threads(threads, spare=1)
    simplifier = load_simplifier(options.model, options.device)
    limits = limits_for(simplifier, batch_size=batch, queue=queue)
    app = create_app(
        simplifier, limits=limits, api_key=api_key, hosts=(*LOCAL_HOSTS, options.host, *options.allow_host),
        cors=options.cors, log_text=options.log_text,
    )  # fmt: skip
    log_to_standard_error()

    class Server(uvicorn.Server):
        async def startup(self, *args: Any, **named: Any) -> None:
            await super().startup(*args, **named)
            say(f"ready: open http://{options.host}:{port} in a browser; press Ctrl-C to stop")

    Server(uvicorn_config(app, options.host, port, limits)).run()
    return OK


def _check_free(host: str, port: int) -> None:
    """Before a model is loaded: an error if the service cannot listen on this address."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as candidate:
            candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as uvicorn does
            candidate.bind(address)
    except OSError as error:
        other_port = f"Choose another port, for example --port {port % _LAST_PORT + 1}."
        other_host = "Check --host: it must be a name or address of this machine."
        hint = other_port if error.errno in (EADDRINUSE, EACCES) else other_host
        raise ConfigError(f"cannot listen on http://{host}:{port}: {error.strerror}.", hint) from None
