"""`redraft check`: sources and outputs in, the risk that each output says something else."""

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

Line n of one file is checked against line n of the other, whoever or whatever wrote it. The table has what may not say
the same, the riskiest first. With --json there is one object for each line, in order.
Exit status: 0 all went well, 2 a mistake in options or input, 3 with --strict: something may not say the same,
130 interrupted.
"""


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Check whether rewritten sentences still say the same."""

    source: Annotated[str, option("one sentence on each line, UTF-8; - is standard input", "FILE")]
    output: Annotated[str, option("the rewriting of each, in the same order; - is standard input", "FILE")]
    keep: Annotated[
        str | None, option("words that must stay: a word or a phrase on each line; # begins a remark", "FILE")
    ] = None
    checker: Annotated[
        str | None, option("a folder of redraft train-checker; if not given, what comes with the package", "DIR")
    ] = None
    json: Annotated[bool, option("one object on each line: risk from 0 to 1, words, why")] = False
    all: Annotated[bool, option("in the table, also what seems to say the same")] = False
    strict: Annotated[bool, option("exit status 3 where something may not say the same")] = False
    device: Device = None


def add_check(app: Typer) -> None:
    add_command(
        app, "check", run_check, CheckOptions,
        help="does a rewriting still say the same? The riskiest sentences first", examples=_EXAMPLES, panel="Measure",
    )  # fmt: skip


def run_check(options: CheckOptions) -> int:
    """The command itself; returns the exit status."""
    sources, outputs = _read(options)
    stays = _kept(options.keep)
    from redraft.align.encoders import chosen_device
    from redraft.check.meaning_check import MeaningCheck

    if options.device is not None:
        chosen_device(options.device)
    check = MeaningCheck.load(options.checker, device=options.device)
    found: list[Meaning] = []
    for meaning in check.check(zip(sources, outputs, strict=True), stays=stays):
        found.append(meaning)
        if options.json:
            print(json.dumps(meaning.to_json(), ensure_ascii=False), flush=True)
    alarms = sum(meaning.alarm for meaning in found)
    if not options.json:
        for line in _table(sources, outputs, found, options.all):
            print(visible(line))
    say(f"{alarms} of {len(found)} may not say the same")
    return AT_RISK if options.strict and alarms else OK


def _read(options: CheckOptions) -> tuple[Sequence[str], Sequence[str]]:
    from redraft.evaluate.text_files import read_text

    if options.source == options.output:
        raise ConfigError("--source and --output are the same file.", "Name two files, line by line.")
    source, output = read_text(options.source), read_text(options.output)
    for notice in (*source.notices, *output.notices):
        say(notice)
    if len(source.lines) != len(output.lines):
        raise CorpusError(
            f"{options.source} has {len(source.lines):,} lines, {options.output} has {len(output.lines):,}.",
            "Give one output for each source, in order.",
        )
    return source.lines, output.lines


def _kept(path: str | None) -> list[str]:
    if path is None:
        return []
    from redraft.evaluate.text_files import read_text

    lines = (line.partition("#")[0].strip() for line in read_text(path).lines)
    return [line for line in lines if line]


def _table(sources: Sequence[str], outputs: Sequence[str], found: Sequence[Meaning], every: bool) -> Iterator[str]:
    """To read: the riskiest first."""
    order = sorted(range(len(found)), key=lambda at: (not found[at].alarm, -found[at].risk))
    for at in order:
        meaning = found[at]
        if meaning.alarm or every:
            yield f"{'!' if meaning.alarm else ' '} line {at + 1}  {meaning.risk:.0%}  {meaning.why}".rstrip()
            yield f"    {sources[at].strip()}"
            yield f"  → {outputs[at].strip()}"
            yield ""
