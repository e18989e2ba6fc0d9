"""`redraft plan check` and `redraft plan show`: is a plan file right, and what does it ask for?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from redraft.cli.console import MISTAKE, OK, say
from redraft.cli.typer_command import add_command, argument
from redraft.errors import PlanError
from redraft.plan.edits import ALL_KINDS, KINDS, STRENGTHS
from redraft.plan.phrases import check_spans
from redraft.plan.plan_files import read_plans

if TYPE_CHECKING:
    from typer import Typer

_TOLD = 20  # mistakes
_CHECK_EXAMPLES = """\
examples:
  redraft plan check plans.jsonl

Exit status: 0 every line is a plan, 2 some are not; each is named with its line and what to write instead.
"""
_SHOW_EXAMPLES = """\
examples:
  redraft plan show plans.jsonl
  redraft plan predict "The physician commenced the procedure ." | redraft plan show -

[-words-] are left out, {one → another} is replaced, underlined words stay, ⏎ begins a new sentence.
"""


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Read a plan file and name every mistake in it."""

    file: Annotated[str, argument("plans, one on each line; - is standard input", "FILE")]


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Print each sentence with its edits marked on the words."""

    file: Annotated[str, argument("plans, one on each line; - is standard input", "FILE")]


def add_plan_files(app: Typer) -> None:
    add_command(app, "check", run_check, CheckOptions, help="is a plan file right?", examples=_CHECK_EXAMPLES)
    add_command(
        app, "show", run_show, ShowOptions, help="plans to read, with edits marked on the words",
        examples=_SHOW_EXAMPLES,
    )  # fmt: skip


def run_check(options: CheckOptions) -> int:
    """The command itself; returns the exit status."""
    mistakes: list[str] = []
    kinds: Counter[str] = Counter()
    strengths: Counter[str | None] = Counter()
    with read_plans(options.file, on_error="skip", report=lambda error: mistakes.append(str(error))) as plans:
        count = 0
        for plan in plans:
            try:
                check_spans(plan)
            except PlanError as error:
                mistakes.append(str(error.at(path=plans.path, line=plans.line)))
                continue
            count += 1
            kinds.update(edit.kind for edit in plan.edits)
            strengths[plan.strength] += 1
    for mistake in mistakes[:_TOLD]:
        say(mistake)
    if len(mistakes) > _TOLD:
        say(f"and {len(mistakes) - _TOLD:,} more")
    edits = ", ".join(f"{kinds[kind]:,} {kind}" for kind in ALL_KINDS if kind in KINDS or kinds[kind])
    stated = ", ".join(f"{strengths[name]:,} {name}" for name in STRENGTHS if strengths[name])
    print(f"{count:,} plans ({edits}{stated and f'; strength: {stated}'}), {len(mistakes):,} bad lines")
    return MISTAKE if mistakes else OK


def run_show(options: ShowOptions) -> int:
    """The command itself; returns the exit status."""
    from redraft.cli.terminal_colour import plan_marked, rendered, wanted

    with read_plans(options.file) as plans:
        for plan in plans:
            print(rendered(plan_marked(plan), colour=wanted()))
    return OK
