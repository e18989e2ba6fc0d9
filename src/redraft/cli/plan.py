"""`redraft plan extract` and `redraft plan predict`: plans from references, and plans from sentences alone."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, get_args

from redraft.cli.align import add_aligner_options, too_long_notice
from redraft.cli.lines import binary, open_lines, source_of
from redraft.cli.plan_files import add_plan_files
from redraft.cli.planner import add_planner_options, load_planner
from redraft.cli.talk import OK, add_command, say
from redraft.errors import ConfigError, shown

if TYPE_CHECKING:
    from redraft.constrain.edits import EditPlan

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

Each edit carries its probability and the reason for it. Change the file as you like before you give it to simplify.
"""
_SHOWN = 200  # pairs on the page
_BATCH = 256  # sentences planned together
_TOLD = 10  # lines without edits


def add_plan(commands: Any) -> None:
    about = "Make plans, check and show them."
    plan = commands.add_parser("plan", help="make plans, check and show them", description=about, allow_abbrev=False)
    kinds = plan.add_subparsers(dest="what", metavar="WHAT", required=True)
    extract = add_command(
        kinds,
        "extract",
        run_extract,
        help="plans that turn sentences into their references",
        usage="redraft plan extract --source FILE --reference FILE [options]",
        about="The edits that turn each source into its reference, from links between their words.",
        examples=_EXAMPLES,
    )
    extract.add_argument("--source", metavar="FILE", help="sources, one on each line; - is standard input")
    extract.add_argument("--reference", metavar="FILE", help="their references, line by line")
    extract.add_argument("--words", metavar="WHICH", default="content",
                         help="which words edits are made for: content (default), all, or thin as in the paper: of "
                              "content words those that simplifying makes rarer or, to keep, commoner")  # fmt: skip
    extract.add_argument("--html", metavar="FILE", help=f"a page with the links and edits of the first {_SHOWN} pairs")
    add_aligner_options(extract)

    predict = add_command(
        kinds,
        "predict",
        run_predict,
        help="plans for sentences that have no reference",
        usage="redraft plan predict [options] [TEXT ...]",
        about="The edits that would make each sentence simpler, by what people did with such words.",
        examples=_PREDICT_EXAMPLES,
    )
    predict.add_argument("texts", nargs="*", metavar="TEXT", help="one sentence for each argument")
    predict.add_argument("--input", metavar="FILE", help="one sentence on each line, UTF-8; - is standard input")
    add_planner_options(predict)
    predict.add_argument("--device", metavar="NAME", help="cpu, cuda, …; a GPU where there is one if not given")
    add_plan_files(kinds)


def run_predict(options: argparse.Namespace) -> int:
    """The command itself; returns the exit status."""
    total: Counter[str] = Counter()
    why: list[str] = []
    if not options.texts and options.input is None:
        raise ConfigError("there is nothing to plan.", 'Give sentences ("They remain old .") or --input FILE.')
    with open_lines(options.texts, options.input) as lines:
        planner, planning = load_planner(options)
        waiting = iter(lines)
        while batch := list(islice(waiting, _BATCH)):
            good = list(takewhile(lambda line: line.error is None, batch))
            for line, plan in zip(good, planner.plans([source_of(line) for line in good], **planning), strict=True):
                _write(plan)
                total += Counter([edit.kind for edit in plan.edits] + ["plans"])
                if plan.source.strip() and (reason := planner.unreadable(plan.source)):
                    why.append(f"line {line.number}: no edits are predicted, since {reason}")
            binary(sys.stdout).flush()
            if len(good) < len(batch) and (error := batch[len(good)].error):
                raise error
    for message in [*_statistics(total), *why[:_TOLD]]:
        say(message)
    if len(why) > _TOLD:
        say(f"and so for {len(why) - _TOLD:,} other lines")
    return OK


def run_extract(options: argparse.Namespace) -> int:
    """The command itself; returns the exit status."""
    from redraft.align.aligners import make_aligner
    from redraft.align.pairs import read_aligned
    from redraft.constrain.oracle import Which, extract_all
    from redraft.evaluate.report.links_page import Shown, links_page
    from redraft.evaluate.report.writers import check_report, write_page

    if options.words not in get_args(Which):
        raise ConfigError(f"--words {shown(options.words)} is not known.", f"Use one of {', '.join(get_args(Which))}.")
    if not options.source or not options.reference:
        missing = "--reference" if options.source else "--source"
        raise ConfigError(f"{missing} is missing.", f"Add {missing} FILE; --help shows examples.")
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
        binary(sys.stdout).flush()
        total["too_long"] = aligner.too_long
        for line in _statistics(total):
            say(line)
        if options.html and page:
            write_page(options.html, links_page(page))
    return OK


def _write(plan: EditPlan) -> None:
    """In UTF-8, whatever the terminal takes: that is how plan files are read."""
    binary(sys.stdout).write((json.dumps(plan.to_json(), ensure_ascii=False) + "\n").encode("utf-8"))


def _statistics(total: Counter[str]) -> list[str]:
    plans = total["plans"]
    if not plans:
        return ["no plans: there are no lines."]
    kinds = {"insertions": "insert", "deletions": "delete", "substitutions": "substitute"}
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
