"""The `redraft` command: a thin front to functions that anyone can import."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from redraft import __version__
from redraft.cli.align import add_align
from redraft.cli.bench import add_bench
from redraft.cli.completion import add_completion
from redraft.cli.evaluate import add_evaluate
from redraft.cli.experiment import add_experiment
from redraft.cli.plan import add_plan
from redraft.cli.serve import add_serve
from redraft.cli.simplify import add_simplify
from redraft.cli.talk import INTERRUPTED, MISTAKE, OK, say
from redraft.cli.train import add_train
from redraft.cli.train_aligner import add_train_aligner
from redraft.cli.train_predictor import add_train_predictor
from redraft.cli.tune import add_tune
from redraft.errors import RedraftError


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="redraft",
        description="Rewrite sentences while inserting, deleting or substituting the words you name.",
        epilog="redraft COMMAND --help explains a command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"redraft {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    add_simplify(commands)
    add_align(commands)
    add_plan(commands)
    add_evaluate(commands)
    add_train(commands)
    add_train_aligner(commands)
    add_train_predictor(commands)
    add_tune(commands)
    add_experiment(commands)
    add_bench(commands)
    add_completion(commands, build_parser)
    add_serve(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """The `redraft` command; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):  # λ in a help text must not fail on a terminal that lacks it
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = _parse(argv)
        return int(options.run(options))
    except RedraftError as error:
        say(error)
        return MISTAKE
    except BrokenPipeError:
        _hush()
        return OK
    except OSError as error:
        say(f"{error.filename}: {error.strerror}" if error.filename else error)
        return MISTAKE
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":
            raise
        say(f"the model does not fit: {str(error).splitlines()[0]}\n  Try a smaller --batch-size or fewer --beams.")
        return MISTAKE


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = build_parser()
    options, rest = parser.parse_known_args(argv)
    unknown = [word for word in rest if word.startswith("-")]
    if unknown:
        parser.error(f"unknown option {unknown[0]}; redraft {options.command} --help lists them")
    if rest and not hasattr(options, "texts"):
        parser.error(f"{rest[0]!r} belongs to no option; redraft {options.command} --help lists them")
    if rest:  # argparse gives up on sentences that come behind an option behind a sentence
        options.texts += rest
    return options


def _hush() -> None:
    """Whoever read our output has left; let the interpreter's last flush go nowhere."""
    with suppress(OSError, ValueError):  # not a real file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
