"""`redraft check`: the risk that outputs do not say the same as their sources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from redraft.cli.common_options import Device
from redraft.cli.console import AT_RISK, OK, say, visible
from redraft.cli.typer_command import add_command, option
from redraft.errors import ConfigError, CorpusError

if TYPE_CHECKING:
    from typer import Typer

    from redraft.check.meaning import Meaning

_EXAMPLES = """\
examples:
  redraft check --source letter.txt --output letter.simple.txt
  redraft check --source letter.txt --output letter.simple.txt --json > checked.jsonl
  redraft check --source letter.txt --output letter.simple.txt --strict --all

Line n of the output file is compared with line n of the source file. The outputs may be written by any program or
person. The table lists the lines that may not say the same, highest risk first. With --json, all lines are printed in
input order.
Exit status: 0 success, 2 error in options or input, 3 with --strict: a line may not say the same, 130 interrupted.
"""
_MAIN = ("source", "output", "keep", "json", "all", "strict", "device")


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Check whether rewritten sentences say the same as their sources."""

    source: Annotated[str, option("source sentences, UTF-8, one per line; - reads standard input", "FILE")]
    output: Annotated[
        str, option("rewritten sentences, one per line, in the same order; - reads standard input", "FILE")
    ]
    keep: Annotated[
        str | None, option("words that every output must keep: one word or phrase per line; # starts a comment", "FILE")
    ] = None
    checker: Annotated[
        str | None, option("checker folder written by redraft train-checker (default: the bundled checker)", "DIR")
    ] = None
    json: Annotated[bool, option("print one JSON object per line: risk from 0 to 1, words concerned, reason")] = False
    all: Annotated[bool, option("list all lines in the table")] = False
    strict: Annotated[bool, option("exit with status 3 if a line may not say the same")] = False
    device: Device = None


def add_check(app: Typer) -> None:
    add_command(
        app, "check", run_check, CheckOptions,
        help="check whether rewritten sentences say the same", examples=_EXAMPLES, main=_MAIN, panel="Measure",
    )  # fmt: skip


def run_check(options: CheckOptions) -> int:
    """Run the command and return its exit status."""
    sources, outputs = _read(options)
    keep = _read_keep(options.keep)
    from redraft.align.encoders import chosen_device
    from redraft.check.meaning_check import MeaningCheck

    if options.device is not None:
        chosen_device(options.device)
    check = MeaningCheck.load(options.checker, device=options.device)
    results: list[Meaning] = []
    for meaning in check.check(zip(sources, outputs, strict=True), stays=keep):
        results.append(meaning)
        if options.json:
            print(json.dumps(meaning.to_json(), ensure_ascii=False), flush=True)
    alarms = sum(meaning.alarm for meaning in results)
    if not options.json:
        for line in _table(sources, outputs, results, options.all):
            print(visible(line))
    say(f"{alarms} of {len(results)} lines may not say the same")
    return AT_RISK if options.strict and alarms else OK


def _read(options: CheckOptions) -> tuple[Sequence[str], Sequence[str]]:
    from redraft.evaluate.text_files import read_text

    if options.source == options.output:
        raise ConfigError("--source and --output are the same file.", "Name two different files.")
    source, output = read_text(options.source), read_text(options.output)
    for notice in (*source.notices, *output.notices):
        say(notice)
    if len(source.lines) != len(output.lines):
        raise CorpusError(
            f"{options.source} has {len(source.lines):,} lines, {options.output} has {len(output.lines):,}.",
            "Give one output per source, in the same order.",
        )
    return source.lines, output.lines


def _read_keep(path: str | None) -> list[str]:
    if path is None:
        return []
    from redraft.evaluate.text_files import read_text

    lines = (line.partition("#")[0].strip() for line in read_text(path).lines)
    return [line for line in lines if line]


def _table(
    sources: Sequence[str], outputs: Sequence[str], results: Sequence[Meaning], all_lines: bool
) -> Iterator[str]:
    """The lines with an alarm, or all lines, highest risk first."""
    order = sorted(range(len(results)), key=lambda number: (not results[number].alarm, -results[number].risk))
    for number in order:
        meaning = results[number]
        if meaning.alarm or all_lines:
            yield f"{'!' if meaning.alarm else ' '} line {number + 1}  {meaning.risk:.0%}  {meaning.why}".rstrip()
            yield f"    {sources[number].strip()}"
            yield f"  → {outputs[number].strip()}"
            yield ""
