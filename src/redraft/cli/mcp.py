"""`redraft mcp`: a server for assistants, over standard input and output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.cli.common_options import Device, Model, PickledWeights, Threads, TrustRemoteCode
from redraft.cli.console import OK, parallel_number
from redraft.cli.typer_command import add_command
from redraft.errors import ConfigError
from redraft.serve.served_models import default_batch, load_simplifier
from redraft.threads import set_threads

if TYPE_CHECKING:
    from typer import Typer

    from redraft.serve.service import Service

_EXAMPLES = """\
examples:
  redraft mcp
  redraft mcp --model ./my-model --device cuda

An assistant starts the command by itself; docs/integrations.md has the settings. Standard output has nothing but
the protocol. The models are loaded when a tool is called for the first time.
"""


@dataclass(frozen=True, kw_only=True)
class McpOptions:
    """Let an assistant plan, simplify and check texts (Model Context Protocol over standard input and output)."""

    model: Model = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    threads: Threads = None


def add_mcp(app: Typer) -> None:
    add_command(
        app, "mcp", run_mcp, McpOptions, help="serve assistants by the Model Context Protocol", examples=_EXAMPLES,
        panel="Rewrite",
    )  # fmt: skip


def run_mcp(options: McpOptions) -> int:
    """Run the command and return its exit status."""
    threads = parallel_number("--threads", options.threads)
    try:
        from redraft.serve.mcp_server import create_server
    except ImportError as error:
        raise ConfigError(
            f"redraft mcp needs {error.name}, which is not installed.", "Install it: pip install 'redraft[mcp]'"
        ) from None
    set_threads(threads)
    services: list[Service] = []

    def load() -> Service:
        from redraft.serve.limits import Limits
        from redraft.serve.service import Service

        simplifier = load_simplifier(options.model, options.device)
        services.append(Service(simplifier, Limits(batch=default_batch(simplifier))))
        return services[0]

    try:
        create_server(load).run("stdio")
    finally:
        for service in services:
            service.batcher.close()
    return OK
