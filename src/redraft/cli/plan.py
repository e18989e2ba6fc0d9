"""`redraft plan predict` and `redraft plan extract`: plans predicted from sentences, or extracted with references."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
from redraft.cli.corpus_command import (
    ClusterOptions,
    Column,
    On,
    ResultFormat,
    RowsPerFile,
    absolute_paths,
    check_cluster_options,
    option_file_digest,
    planner_digest,
    require_out,
    run_on_cluster,
)
from redraft.cli.input_lines import binary_stream, open_lines, reads_standard_input, source_of
from redraft.cli.plan_review import add_plan_files
from redraft.cli.planner_options import load_planner
from redraft.cli.typer_command import add_command, option
from redraft.errors import ConfigError

if TYPE_CHECKING:
    from redraft.plan.edits import EditPlan
    from redraft.plan.planner import Planner
    from redraft.simplify.simplifier import PlannedText, Simplifier

    PlanBatch = Callable[[Iterable[str]], Iterator[PlannedText]]

_EXTRACT_EXAMPLES = """\
examples:
  redraft plan extract --source complex.txt --reference simple.txt > plans.jsonl
  redraft plan extract --source complex.txt --reference simple.txt --words all --html plans.html > plans.jsonl

Unaligned source words become deletions, words aligned to the same word become insertions (they must be kept), and all
other words become substitutions.
"""
_PREDICT_EXAMPLES = """\
examples:
  redraft plan predict "The physician commenced the procedure ."
  redraft plan predict --input complex.txt --strength strong --glossary terms.tsv > plans.jsonl
  redraft simplify --plan plans.jsonl

Each edit has a probability and a reason. You can change the file: edits without a probability count as your own
requests and take precedence over predicted ones. An unchanged file gives the same output as redraft simplify without
--plan.
"""
_HTML_PAIRS = 200
_BATCH = 256  # sentences planned together
_MAX_SHOWN = 10  # notices about sentences without predicted edits
_PREDICT_MAIN = ("input", "strength", "keep", "glossary", "model", "device")
_EXTRACT_MAIN = ("source", "reference", "words", "html", "aligner", "device")


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """Predict a plan for each sentence: the edits that people are likely to make to simplify it."""

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

    out: Annotated[str | None, option("with --on ray: folder of the results", "DIR")] = None
    resume: Annotated[bool, option("with --on ray: continue an earlier run in --out")] = False
    workers: Annotated[str | None, option("with --on ray: processes (default: as many as fit)", "N")] = None
    threads: Annotated[str | None, option("with --on ray: CPU threads of each process (default: 1)", "N")] = None
    on: On = None
    result_format: ResultFormat = None
    column: Column = None
    rows_per_file: RowsPerFile = None


@dataclass(frozen=True, kw_only=True)
class ExtractOptions:
    """Extract the edits that turn each source sentence into its reference, by word alignment."""

    source: Annotated[str, option("source sentences, one per line; - reads standard input", "FILE")]
    reference: Annotated[str, option("reference sentences, one per line, in the same order", "FILE")]
    words: Annotated[
        Literal["content", "all", "thin"],
        option(
            "words that edits are made for: content (words, default), all, or thin, as in the paper: content words "
            "that are more frequent in complex text (deletions, substitutions) or in simple text (insertions)",
            "WHICH",
        ),
    ] = "content"
    html: Annotated[
        str | None, option(f"write a page with the alignments and edits of the first {_HTML_PAIRS} pairs", "FILE")
    ] = None
    aligner: Aligner = "trained"
    encoder: Encoder = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False


def add_plan(app: typer.Typer) -> None:
    plan = typer.Typer(help="Predict, extract, check and show plans: the edits of each sentence.")
    add_command(
        plan, "predict", run_predict, PredictOptions, help="predict plans for sentences",
        examples=_PREDICT_EXAMPLES, main=_PREDICT_MAIN,
    )  # fmt: skip
    add_command(
        plan, "extract", run_extract, ExtractOptions, help="extract plans from sentences and their references",
        examples=_EXTRACT_EXAMPLES, main=_EXTRACT_MAIN,
    )  # fmt: skip
    add_plan_files(plan)
    app.add_typer(plan, name="plan", short_help="predict, extract, check and show plans", rich_help_panel="Plans")


def run_predict(options: PredictOptions) -> int:
    """Run the command and return its exit status."""
    if options.on:
        return _predict_on_cluster(options)
    check_cluster_options(options, more=("out", "resume", "workers", "threads"))
    total: Counter[str] = Counter()
    without_edits: list[str] = []
    texts, source = ([], "-") if reads_standard_input(options.texts, options.input) else (options.texts, options.input)
    if not texts and source is None:
        raise ConfigError("there is nothing to plan.", 'Give sentences ("They remain old .") or --input FILE.')
    with open_lines(texts, source) as lines:
        plan_batch = _load(options)
        remaining = iter(lines)
        while batch := list(islice(remaining, _BATCH)):
            readable = list(takewhile(lambda line: line.error is None, batch))
            for line, planned in zip(readable, plan_batch([source_of(line) for line in readable]), strict=True):
                _write(planned.plan)
                total += Counter([edit.kind for edit in planned.plan.edits] + ["plans"])
                if planned.plan.source.strip() and planned.unchanged:
                    without_edits.append(f"line {line.number}: no edits are predicted, because {planned.unchanged}")
            if len(readable) < len(batch) and (error := batch[len(readable)].error):
                raise error
    for message in [*_statistics(total), *without_edits[:_MAX_SHOWN]]:
        say(message)
    if len(without_edits) > _MAX_SHOWN:
        say(f"no edits are predicted for {len(without_edits) - _MAX_SHOWN:,} more lines")
    return OK


def _predict_on_cluster(options: PredictOptions) -> int:
    """The same plans for many files."""
    if options.texts or options.input in (None, "-"):
        raise ConfigError("--on ray requires --input.", "Give a path or a quoted pattern: --input 'corpus/*.jsonl'.")
    out = require_out(options.out)
    from redraft.decode.model_fingerprint import fingerprint

    settings = {
        **fingerprint(options.model), "planner": planner_digest(options.planner), "strength": options.strength,
        "style": options.style, "keep": option_file_digest(options.keep),
        "glossary": option_file_digest(options.glossary),
    }  # fmt: skip
    return run_on_cluster(
        ClusterOptions(
            input=str(options.input), out=out, task="plans", result_format=options.result_format,
            column=options.column, rows_per_file=options.rows_per_file, workers=options.workers,
            threads=options.threads, device=options.device, resume=options.resume,
        ),
        partial(_simplifier_on_device, absolute_paths(options)),
        settings,
    )  # fmt: skip


def _simplifier_on_device(options: PredictOptions, device: str | None) -> Simplifier:
    options = replace(options, device=device)
    planner, planning = load_planner(options)
    return _simplifier(options, planner, planning)


def _load(options: PredictOptions) -> PlanBatch:
    """The function that plans sentences, with the same planner, model and meaning check as `redraft simplify`."""
    planner, planning = load_planner(options)
    from redraft.decode.eight_bit_model import holds_eight_bit_model
    from redraft.models import bundled
    from redraft.simplify.simplifier import PlannedText

    if options.model is None and not holds_eight_bit_model(bundled("rewriter")):
        say("this installation has no bundled model: substitution targets keep the order of the lexicon")
        return lambda sources: (
            PlannedText(plan, planner.ineligible_reason(plan.source) if plan.strength == "off" else None)
            for plan in planner.plans(sources, **planning)
        )
    return _simplifier(options, planner, planning).planned


def _simplifier(options: PredictOptions, planner: Planner, planning: dict[str, Any]) -> Simplifier:
    from redraft.decode.model_loading import fastest_dtype
    from redraft.decode.redrafter import Redrafter
    from redraft.simplify.simplifier import Simplifier

    redrafter = Redrafter(options.model, device=options.device, dtype=fastest_dtype(options.model, options.device))
    return Simplifier(redrafter, planner, device=options.device, **planning)


def run_extract(options: ExtractOptions) -> int:
    """Run the command and return its exit status."""
    from redraft.align.aligners import make_aligner
    from redraft.align.sentence_pairs import read_aligned
    from redraft.evaluate.report.alignment_page import AlignmentEntry, alignment_html
    from redraft.evaluate.report.report_files import check_report, write_report_text
    from redraft.plan.extraction import extract_all

    if options.html:
        check_report(options.html, [options.source, options.reference])
    aligner = make_aligner(options.aligner, encoder=options.encoder, device=options.device)
    pairs = read_aligned(options.source, options.reference)
    entries: list[AlignmentEntry] = []
    total: Counter[str] = Counter()
    try:
        for pair, links, extracted in extract_all(aligner, pairs, selection=options.words):
            _write(extracted.plan)
            total += extracted.kinds
            total["plans"] += 1
            total["kept_elsewhere"] += extracted.kept_elsewhere
            total["noncontiguous"] += extracted.noncontiguous
            if options.html and len(entries) < _HTML_PAIRS:
                entries.append(AlignmentEntry(pair, links, extracted.plan))
    finally:
        total["too_long"] = aligner.too_long
        for line in _statistics(total):
            say(line)
        if options.html and entries:
            write_report_text(options.html, alignment_html(entries))
    return OK


def _write(plan: EditPlan) -> None:
    """Always in UTF-8, the encoding of plan files, and flushed, so that a killed run leaves only whole lines."""
    out = binary_stream(sys.stdout)
    out.write((json.dumps(plan.to_json(), ensure_ascii=False) + "\n").encode("utf-8"))
    out.flush()


def _statistics(total: Counter[str]) -> list[str]:
    plans = total["plans"]
    if not plans:
        return ["no plans: the input has no lines."]
    kinds = {"insertions": "insert", "deletions": "delete", "substitutions": "substitute"}
    if total["split"]:
        kinds["splits"] = "split"
    per_sentence = ", ".join(f"{total[kind] / plans:.2f} {name}" for name, kind in kinds.items())
    lines = [f"{plans:,} plans; per sentence: {per_sentence}"]
    if total["kept_elsewhere"]:
        lines.append(
            f"edits of a word that the same plan keeps elsewhere (the spans distinguish them): "
            f"{total['kept_elsewhere']:,}"
        )
    if total["noncontiguous"]:
        lines.append(f"alignments ignored because their words are not adjacent: {total['noncontiguous']:,}")
    if total["too_long"]:
        lines.append(too_long_notice(total["too_long"]))
    return lines
