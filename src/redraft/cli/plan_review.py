"""`redraft plan check` and `redraft plan show`: validate a plan file, print its plans for reading."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, get_args

from redraft.cli.console import MISTAKE, OK, say
from redraft.cli.typer_command import add_command, argument, option
from redraft.errors import PlanError, shown
from redraft.plan.edits import ALL_KINDS, KINDS, STRENGTHS, EditPlan
from redraft.plan.phrases import Variants, check_spans, find_spans, occurrences, starts_source, surface_forms
from redraft.plan.plan_files import read_plans

if TYPE_CHECKING:
    from typer import Typer

_MAX_SHOWN = 20  # errors
_CHECK_EXAMPLES = """\
examples:
  redraft plan check plans.jsonl

A deletion or substitution must name words of its source; an insertion may name any words.
Exit status: 0 every line is a valid plan, 2 some lines are not. Each error names the line and how to fix it.
"""
_SHOW_EXAMPLES = """\
examples:
  redraft plan show plans.jsonl
  redraft plan predict "The physician commenced the procedure ." | redraft plan show -

[-deleted words-], {word → replacement}, underlined: words to keep, ⏎: start of a new sentence.
"""


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Validate a plan file and report every error in it."""

    file: Annotated[str, argument("plan file, one plan per line; - reads standard input", "FILE")]
    variants: Annotated[
        Variants,
        option(
            "forms in which the source may contain a phrase: exact, case (also capitalised, default) or lemma (also "
            "inflected); use the value that you use with redraft simplify",
            "|".join(get_args(Variants)),
        ),
    ] = "case"


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Print each sentence with its edits marked on the words."""

    file: Annotated[str, argument("plan file, one plan per line; - reads standard input", "FILE")]


def add_plan_files(app: Typer) -> None:
    add_command(app, "check", run_check, CheckOptions, help="validate a plan file", examples=_CHECK_EXAMPLES)
    add_command(
        app, "show", run_show, ShowOptions, help="print plans with the edits marked on the words",
        examples=_SHOW_EXAMPLES,
    )  # fmt: skip


def run_check(options: CheckOptions) -> int:
    """Run the command and return its exit status."""
    errors: list[str] = []
    kinds: Counter[str] = Counter()
    strengths: Counter[str | None] = Counter()
    with read_plans(options.file, on_error="skip", report=lambda error: errors.append(str(error))) as plans:
        count = 0
        for plan in plans:
            try:
                check_spans(plan)
                _check_phrases_in_source(plan, options.variants)
            except PlanError as error:
                errors.append(str(error.at(path=plans.path, line=plans.line)))
                continue
            count += 1
            kinds.update(edit.kind for edit in plan.edits)
            strengths[plan.strength] += 1
    for message in errors[:_MAX_SHOWN]:
        say(message)
    if len(errors) > _MAX_SHOWN:
        say(f"{len(errors) - _MAX_SHOWN:,} more errors")
    edits = ", ".join(f"{kinds[kind]:,} {kind}" for kind in ALL_KINDS if kind in KINDS or kinds[kind])
    stated = ", ".join(f"{strengths[name]:,} {name}" for name in STRENGTHS if strengths[name])
    print(f"{count:,} plans ({edits}{stated and f'; strength: {stated}'}), {len(errors):,} bad lines")
    return MISTAKE if errors else OK


def _check_phrases_in_source(plan: EditPlan, variants: Variants) -> None:
    """An error if the source does not contain the phrase of a deletion or substitution, which would have no effect.

    Phrases are matched as verdicts match them. `check_spans` has already checked the edits with a span.
    """
    for number, edit in enumerate(plan.edits):
        if edit.kind not in ("delete", "substitute") or edit.span is not None:
            continue
        forms = surface_forms(edit.phrase, variants, at_source_start=starts_source(plan.source, edit.phrase))
        if find_spans(plan.source, forms):
            continue
        similar = [plan.source[start:end] for start, end in occurrences(plan.source, edit, any_case=True)]
        hint = f"Write it as in the source: {shown(similar[0])}." if similar else "Name words of the source."
        raise PlanError(f"{shown(edit.phrase)} is not in the source.", hint, field=f"edits[{number}].{edit.kind}")


def run_show(options: ShowOptions) -> int:
    """Run the command and return its exit status."""
    from redraft.cli.terminal_colour import colour_wanted, plan_marked, rendered

    with read_plans(options.file) as plans:
        for plan in plans:
            print(rendered(plan_marked(plan), colour=colour_wanted()))
    return OK
