"""The `redraft` command: a thin front to functions that anyone can import."""

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
from redraft.cli.plan import add_plan
from redraft.cli.serve import add_serve
from redraft.cli.simplify import add_simplify
from redraft.cli.train import add_train
from redraft.cli.train_aligner import add_train_aligner
from redraft.cli.train_checker import add_train_checker
from redraft.cli.train_planner import add_train_planner
from redraft.cli.tune import add_tune
from redraft.errors import RedraftError
from redraft.files import is_full
from redraft.memory import is_out_of_memory

# What typer raises for words that it cannot read: click's UsageError, of which newer versions have their own copy.
_Misspelt: Any = typer.BadParameter.__base__


@cache
def commands() -> Any:
    """The whole command line, in the order of its help."""
    app = typer.Typer(help="Rewrite sentences while inserting, deleting or substituting the words you name.",
                      epilog="redraft COMMAND --help explains a command.", callback=_redraft)  # fmt: skip
    add_simplify(app)
    add_serve(app)
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
    """The `redraft` command; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):  # λ in a help text must not fail on a terminal that lacks it
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    words = sys.argv[1:] if argv is None else list(argv)
    if any("\0" in word for word in words):  # no shell passes one on, and no name of a file may hold one
        say("an argument holds the character NUL.\n  Leave it out.")
        return MISTAKE
    try:
        chosen = commands().main(words or ["--help"], prog_name="redraft", standalone_mode=False)
        # A number: help was asked for, or nothing was.
        status = int(chosen()) if not isinstance(chosen, int) else chosen if words else MISTAKE
        print(end="", flush=True)  # what cannot be written is an error here, and not after the last word
        return status
    except _Misspelt as error:
        say(_explained(error))
        return MISTAKE
    except RedraftError as error:
        say(error)
        return MISTAKE
    except BrokenPipeError:
        _hush()
        return OK
    except OSError as error:
        say(_of_the_system(error))
        if is_full(error) and not error.filename:
            _hush()
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
        why = next(iter(str(error).splitlines()), "") or "it could not be had"
        say(f"the memory is too small: {why}\n  Try a smaller --batch-size, fewer --beams, or a shorter input.")
        return MISTAKE


def _version(wanted: bool) -> None:
    if wanted:
        print(f"redraft {__version__}")
        raise typer.Exit


def _redraft(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_version),
    ] = False,
) -> None:
    """What can be given before a command."""


def _explained(error: Any) -> str:
    """A mistake in the words themselves, and where to look."""
    command = error.ctx.command_path if error.ctx else "redraft"
    return f"{error.format_message()}\n  {command} --help lists what can be written."


def _of_the_system(error: OSError) -> object:
    if is_full(error):  # of files that we open, errors have names
        name = error.filename or "standard output"
        return f"{name} cannot be written: {error.strerror}.\n  Make room and give the same command again."
    if error.filename is None:
        return error
    return f"{error.filename or 'a file without a name'}: {error.strerror}\n  Check the path."


def _hush() -> None:
    """Nobody reads our output any more, or it has no room; let the interpreter's last flush go nowhere."""
    with suppress(OSError, ValueError):  # not a real file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
