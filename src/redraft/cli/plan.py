"""`redraft plan extract` and `redraft plan predict`: plans from references, and plans from sentences alone."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from redraft.cli.align import too_long_notice
from redraft.cli.common_options import (
    Aligner,
    Device,
    Encoder,
    Glossary,
    Input,
    Keep,
    Model,
    PickledWeights,
    PlannerFolder,
    Strength,
    Style,
    Texts,
    TrustRemoteCode,
)
from redraft.cli.console import OK, say
from redraft.cli.input_lines import binary, from_a_pipe, open_lines, source_of
from redraft.cli.plan_review import add_plan_files
from redraft.cli.planner_options import load_planner
from redraft.cli.typer_command import add_command, option
from redraft.errors import ConfigError

if TYPE_CHECKING:
    from redraft.plan.edits import EditPlan
    from redraft.simplify.simplifier import PlannedText

    Planned = Callable[[Iterable[str]], Iterator[PlannedText]]

_EXAMPLES = """\
examples:
  redraft plan extract --source complex.txt --reference simple.txt > plans.jsonl
  redraft plan extract --source complex.txt --reference simple.txt --words all --html plans.html > plans.jsonl

A source word without a link is deleted, one linked to the same word is kept (an insertion), any other is substituted.
"""
_PREDICT_EXAMPLES = """\
examples:
  redraft plan predict "The physician commenced the procedure ."
  redraft plan predict --input complex.txt --strength strong --glossary terms.tsv > plans.jsonl
  redraft simplify --plan plans.jsonl

Each edit carries its probability and the reason for it. As it stands, the file gives the same texts as simplify without
a plan. Change it as you like: an edit without a probability counts as asked for by you, and comes before the others.
"""
_SHOWN = 200  # pairs on the page
_BATCH = 256  # sentences planned together
_TOLD = 10  # lines without edits


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """The edits that would make each sentence simpler, by what people did with such words."""

    texts: Texts = field(default_factory=list)
    input: Input = None
    strength: Strength = None
    style: Style = None
    keep: Keep = None
    glossary: Glossary = None
    planner: PlannerFolder = None
    model: Model = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False


@dataclass(frozen=True, kw_only=True)
class ExtractOptions:
    """The edits that turn each source into its reference, from links between their words."""

    source: Annotated[str, option("sources, one on each line; - is standard input", "FILE")]
    reference: Annotated[str, option("their references, line by line", "FILE")]
    words: Annotated[
        Literal["content", "all", "thin"],
        option(
            "which words edits are made for: content (default), all, or thin as in the paper: of content words those "
            "that simplifying makes rarer or, to keep, commoner",
            "WHICH",
        ),
    ] = "content"
    html: Annotated[str | None, option(f"a page with the links and edits of the first {_SHOWN} pairs", "FILE")] = None
    aligner: Aligner = "trained"
    encoder: Encoder = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False


def add_plan(app: typer.Typer) -> None:
    about = "make plans, check and show them"
    plan = typer.Typer(help=about)
    add_command(
        plan, "predict", run_predict, PredictOptions, help="plans for sentences that have no reference",
        examples=_PREDICT_EXAMPLES,
    )  # fmt: skip
    add_command(
        plan, "extract", run_extract, ExtractOptions, help="plans that turn sentences into their references",
        examples=_EXAMPLES,
    )  # fmt: skip
    add_plan_files(plan)
    app.add_typer(plan, name="plan", rich_help_panel="Plans")


def run_predict(options: PredictOptions) -> int:
    """The command itself; returns the exit status."""
    total: Counter[str] = Counter()
    why: list[str] = []
    texts, source = ([], "-") if from_a_pipe(options.texts, options.input) else (options.texts, options.input)
    if not texts and source is None:
        raise ConfigError("there is nothing to plan.", 'Give sentences ("They remain old .") or --input FILE.')
    with open_lines(texts, source) as lines:
        planned = _load(options)
        waiting = iter(lines)
        while batch := list(islice(waiting, _BATCH)):
            good = list(takewhile(lambda line: line.error is None, batch))
            for line, one in zip(good, planned([source_of(line) for line in good]), strict=True):
                _write(one.plan)
                total += Counter([edit.kind for edit in one.plan.edits] + ["plans"])
                if one.plan.source.strip() and one.unchanged:
                    why.append(f"line {line.number}: no edits are predicted, since {one.unchanged}")
            if len(good) < len(batch) and (error := batch[len(good)].error):
                raise error
    for message in [*_statistics(total), *why[:_TOLD]]:
        say(message)
    if len(why) > _TOLD:
        say(f"and so for {len(why) - _TOLD:,} other lines")
    return OK


def _load(options: PredictOptions) -> Planned:
    """The way from sentences to plans: that of `redraft simplify`, with its model and check."""
    planner, planning = load_planner(options)
    from redraft.decode.eight_bit_model import holds_eight_bit_model
    from redraft.decode.redrafter import Redrafter
    from redraft.models import bundled
    from redraft.simplify.simplifier import PlannedText, Simplifier

    if options.model is None and not holds_eight_bit_model(bundled("rewriter")):
        say("this copy of redraft comes without its model: targets are in the order of the lexical table")
        return lambda sources: (
            PlannedText(plan, planner.ineligible_reason(plan.source) if plan.strength == "off" else None)
            for plan in planner.plans(sources, **planning)
        )
    redrafter = Redrafter(options.model, device=options.device)
    return Simplifier(redrafter, planner, device=options.device, **planning).planned


def run_extract(options: ExtractOptions) -> int:
    """The command itself; returns the exit status."""
    from redraft.align.aligners import make_aligner
    from redraft.align.sentence_pairs import read_aligned
    from redraft.evaluate.report.alignment_page import Shown, links_page
    from redraft.evaluate.report.report_files import check_report, write_page
    from redraft.plan.extraction import extract_all

    if options.html:
        check_report(options.html, [options.source, options.reference])
    aligner = make_aligner(options.aligner, encoder=options.encoder, device=options.device)
    pairs = read_aligned(options.source, options.reference)
    page: list[Shown] = []
    total: Counter[str] = Counter()
    try:
        for pair, links, extracted in extract_all(aligner, pairs, which=options.words):
            _write(extracted.plan)
            total += Counter({**extracted.kinds, "plans": 1, "shared": extracted.shared, "parted": extracted.parted})
            if options.html and len(page) < _SHOWN:
                page.append(Shown(pair, links, extracted.plan))
    finally:
        total["too_long"] = aligner.too_long
        for line in _statistics(total):
            say(line)
        if options.html and page:
            write_page(options.html, links_page(page))
    return OK


def _write(plan: EditPlan) -> None:
    """In UTF-8, whatever the terminal takes: that is how plan files are read. At once, so that no kill tears a line."""
    out = binary(sys.stdout)
    out.write((json.dumps(plan.to_json(), ensure_ascii=False) + "\n").encode("utf-8"))
    out.flush()


def _statistics(total: Counter[str]) -> list[str]:
    plans = total["plans"]
    if not plans:
        return ["no plans: there are no lines."]
    kinds = {"insertions": "insert", "deletions": "delete", "substitutions": "substitute"}
    if total["split"]:
        kinds["splits"] = "split"
    a_sentence = ", ".join(f"{total[kind] / plans:.2f} {name}" for name, kind in kinds.items())
    lines = [f"{plans:,} plans, a sentence: {a_sentence}"]
    if total["shared"]:
        lines.append(
            f"edits on a word that the same plan keeps elsewhere, told apart by their spans: {total['shared']:,}"
        )
    if total["parted"]:
        lines.append(f"phrases whose parts stand apart, of which one was replaced: {total['parted']:,}")
    if total["too_long"]:
        lines.append(too_long_notice(total["too_long"]))
    return lines
