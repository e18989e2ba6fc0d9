"""The `redraft` command: parses arguments, calls the library, reports errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Annotated, Any

import typer

from redraft import __version__
from redraft.cli.align import add_align
from redraft.cli.bench import add_bench
from redraft.cli.check import add_check
from redraft.cli.console import INTERRUPTED, MISTAKE, OK, TERMINATED, Terminated, say
from redraft.cli.evaluate import add_evaluate
from redraft.cli.experiment import add_experiment
from redraft.cli.mcp import add_mcp
from redraft.cli.plan import add_plan
from redraft.cli.serve import add_serve
from redraft.cli.simplify import add_simplify
from redraft.cli.train import add_train
from redraft.cli.train_aligner import add_train_aligner
from redraft.cli.train_checker import add_train_checker
from redraft.cli.train_planner import add_train_planner
from redraft.cli.tune import add_tune
from redraft.errors import RedraftError
from redraft.files import is_disk_full
from redraft.memory import is_out_of_memory

# What typer raises for arguments it cannot parse: click's UsageError, or typer's own copy of it in newer versions.
_UsageError: Any = typer.BadParameter.__base__


@cache
def commands() -> Any:
    """All commands, in the order of the help."""
    app = typer.Typer(help="Rewrite sentences while inserting, deleting or substituting the words you name.",
                      epilog="Run redraft COMMAND --help for the options of a command.",
                      callback=_redraft)  # fmt: skip
    add_simplify(app)
    add_serve(app)
    add_mcp(app)
    add_plan(app)
    add_align(app)
    add_check(app)
    add_evaluate(app)
    add_experiment(app)
    add_bench(app)
    add_train(app)
    add_train_aligner(app)
    add_train_planner(app)
    add_train_checker(app)
    add_tune(app)
    return typer.main.get_command(app)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `redraft` command and return its exit status."""
    for stream in (sys.stdout, sys.stderr):  # λ in a help text must not fail on a terminal without Greek letters
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    args = sys.argv[1:] if argv is None else list(argv)
    if any("\0" in arg for arg in args):  # shells never pass NUL, and file names cannot contain it
        say("an argument contains the character NUL.\n  Remove it.")
        return MISTAKE
    try:
        parsed = commands().main(args or ["--help"], prog_name="redraft", standalone_mode=False)
        # --help and --version give a status instead of a command to run.
        status = int(parsed()) if not isinstance(parsed, int) else parsed if args else MISTAKE
        print(end="", flush=True)  # a write error must surface here, not when the interpreter exits
        return status
    except _UsageError as error:
        say(_usage_message(error))
        return MISTAKE
    except RedraftError as error:
        say(error)
        return MISTAKE
    except BrokenPipeError:
        _discard_output()
        return OK
    except OSError as error:
        say(_os_error_message(error))
        if is_disk_full(error) and not error.filename:
            _discard_output()
        return MISTAKE
    except Terminated:
        say("terminated")
        return TERMINATED
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        cause = next(iter(str(error).splitlines()), "") or "an allocation failed"
        say(f"out of memory: {cause}\n  Try a smaller --batch-size, fewer --beams or a shorter input.")
        return MISTAKE


def _print_version(requested: bool) -> None:
    if requested:
        print(f"redraft {__version__}")
        raise typer.Exit


def _redraft(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Options that are valid without a command."""


def _usage_message(error: Any) -> str:
    command = error.ctx.command_path if error.ctx else "redraft"
    return f"{error.format_message()}\n  Run {command} --help for usage."


def _os_error_message(error: OSError) -> object:
    if is_disk_full(error):  # errors of files that redraft opens have a name
        name = error.filename or "standard output"
        return f"{name} cannot be written: {error.strerror}.\n  Free some disk space and rerun the same command."
    if error.filename is None:
        return error
    return f"{error.filename or 'the empty file name'}: {error.strerror}\n  Check the path."


def _discard_output() -> None:
    """The reader closed the pipe, or the disk is full: suppress the error of the interpreter's final flush."""
    with suppress(OSError, ValueError):  # in tests, standard output is not a real file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
