"""`redraft completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from redraft.cli.talk import OK, add_command
from redraft.errors import ConfigError

_SHELLS = ("bash", "zsh", "tcsh")
_EXAMPLES = """\
examples:
  redraft completion bash > ~/.local/share/bash-completion/completions/redraft
  redraft completion zsh > ~/.zfunc/_redraft
"""


def add_completion(commands: Any, whole: Callable[[], argparse.ArgumentParser]) -> None:
    """`whole` makes the parser of all commands."""
    completion = add_command(
        commands, "completion", lambda options: run_completion(options, whole()),
        help="completion for your shell", usage="redraft completion bash|zsh|tcsh",
        about="Print a script that completes commands and options.", examples=_EXAMPLES,
    )  # fmt: skip
    completion.add_argument("shell", metavar="SHELL", choices=_SHELLS, help="bash, zsh or tcsh")


def run_completion(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """The command itself; returns the exit status."""
    try:
        import shtab
    except ImportError:
        raise ConfigError("completion needs shtab.", "pip install 'redraft[completion]'") from None
    print(shtab.complete(parser, options.shell))
    return OK
