"""`redraft serve`: the same over HTTP, with a page to try it."""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import dataclass, field
from errno import EACCES, EADDRINUSE
from typing import TYPE_CHECKING, Annotated, Any

from redraft.cli.common_options import Device, Model, PickledWeights, TrustRemoteCode
from redraft.cli.console import OK, say, whole_number
from redraft.cli.typer_command import add_command, option
from redraft.errors import ConfigError
from redraft.models import is_scripted

if TYPE_CHECKING:
    from typer import Typer

KEY = "REDRAFT_API_KEY"  # the variable that holds the key
_LAST_PORT = 65_535

_EXAMPLES = """\
examples:
  redraft serve
  redraft serve --host 0.0.0.0 --port 8080 --api-key KEY
  redraft serve --model ./my-model --device cuda --batch-size 32

The page is at http://127.0.0.1:8000, what programs may ask at /openapi.json, figures for Prometheus at /metrics.
"""


_WHERE, _LOAD = "Where", "Load"


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Plan, simplify and evaluate over HTTP, with a page to try it."""

    host: Annotated[
        str, option("address to listen on (default 127.0.0.1: this machine only)", "NAME", panel=_WHERE)
    ] = "127.0.0.1"
    port: Annotated[str, option("port to listen on (default 8000)", "N", panel=_WHERE)] = "8000"
    api_key: Annotated[
        str | None, option(f"what callers of /v1 must know; {KEY} if not given, where it is set", "KEY", panel=_WHERE)
    ] = None
    allow_host: Annotated[
        list[str],
        option(
            "further names by which the service may be called, beside localhost and --host", "NAME ...", panel=_WHERE
        ),
    ] = field(default_factory=list)
    cors: Annotated[
        list[str],
        option(
            "origins of pages that may call the service, for example https://example.org", "ORIGIN ...", panel=_WHERE
        ),
    ] = field(default_factory=list)
    model: Model = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    batch_size: Annotated[
        str | None, option("sentences rewritten together; if not given, 4 on a CPU, 32 on a GPU", "N", panel=_LOAD)
    ] = None
    queue: Annotated[str, option("sentences that may wait; more are refused (default 256)", "N", panel=_LOAD)] = "256"
    log_text: Annotated[
        bool, option("write sentences to the log; without it no text ever stands there", panel=_LOAD)
    ] = False


def add_serve(app: Typer) -> None:
    add_command(
        app,
        "serve",
        run_serve,
        ServeOptions,
        help="answer over HTTP, with a page to try it",
        examples=_EXAMPLES,
        panel="Rewrite",
    )


def run_serve(options: ServeOptions) -> int:
    """The command itself; returns the exit status."""
    port = whole_number("--port", options.port, example=8080)
    batch = whole_number("--batch-size", options.batch_size) if options.batch_size is not None else None
    queue = whole_number("--queue", options.queue)
    if port > _LAST_PORT:
        raise ConfigError(f"--port {port} is no port.", f"Use a number from 1 to {_LAST_PORT}.")
    api_key = os.environ.get(KEY) or None if options.api_key is None else options.api_key
    try:
        import uvicorn

        from redraft.serve.app import create_app
        from redraft.serve.auth_middleware import NEAR
        from redraft.serve.http_server import uvicorn_config
        from redraft.serve.limits import Limits
    except ImportError as error:
        raise ConfigError(
            f"{error.name} is not installed, and the service needs it.", "Install it: pip install 'redraft[serve]'"
        ) from None
    _check_free(options.host, port)
    simplifier = _load(options)
    limits = Limits(batch=batch or _batch_for(simplifier), queue=queue, max_sentences=min(queue, Limits.max_sentences))
    app = create_app(
        simplifier, limits=limits, api_key=api_key, hosts=(*NEAR, options.host, *options.allow_host), cors=options.cors,
        log_text=options.log_text,
    )  # fmt: skip
    if api_key is None and options.host not in NEAR:
        say(f"no key is set: whoever reaches {options.host} can use the service; --api-key sets one")
    _log_to_standard_error()

    class Server(uvicorn.Server):
        async def startup(self, *args: Any, **named: Any) -> None:
            await super().startup(*args, **named)
            say(f"ready: open http://{options.host}:{port} in a browser; Ctrl-C stops")

    Server(uvicorn_config(app, options.host, port, limits)).run()
    return OK


def _check_free(host: str, port: int) -> None:
    """Before a model is loaded."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as uvicorn does
            tried.bind(address)
    except OSError as error:
        taken = f"Choose another port, for example --port {port % _LAST_PORT + 1}."
        hint = taken if error.errno in (EADDRINUSE, EACCES) else "Check --host: a name or address of this machine."
        raise ConfigError(f"http://{host}:{port} cannot be listened on: {error.strerror}.", hint) from None


def _load(options: ServeOptions) -> Any:
    """As `redraft simplify` does: scripted models get no predicted plans."""
    from redraft.align.encoders import chosen_device
    from redraft.decode.redrafter import Redrafter
    from redraft.simplify.simplifier import Simplifier

    if options.device is not None:
        chosen_device(options.device)
    if options.model is not None and is_scripted(options.model):
        return Simplifier(Redrafter(options.model), search_only=True)
    return Simplifier(options.model, device=options.device)


def _batch_for(simplifier: Any) -> int:
    """On two CPU cores batches of 4 do more sentences a second than single ones, and batches of 16 do fewer."""
    device = getattr(simplifier.redrafter.model, "device", None)
    return 32 if getattr(device, "type", "cpu") != "cpu" else 4


def _log_to_standard_error() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("redraft.serve")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
