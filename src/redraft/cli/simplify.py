"""`redraft simplify`: sentences or plans in, one output line for each."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from redraft.cli.common_options import (
    Device,
    Dtype,
    Glossary,
    Graphs,
    Keep,
    Model,
    PickledWeights,
    PlannerFolder,
    Strength,
    Style,
    Texts,
    Threads,
    TrustRemoteCode,
)
from redraft.cli.console import AT_RISK, OK, SKIPPED, parallel_number, say, whole_number
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
from redraft.cli.document_output import DocumentOutput, is_document_file, read_document_file
from redraft.cli.explain_format import format_explanation
from redraft.cli.input_lines import count_lines, open_lines, read_document, reads_standard_input, sentence_lines
from redraft.cli.output_lines import OutputLine, RunSummary, check_output_path, rewrite_lines, write_results
from redraft.cli.planner_options import given_planner_option, load_planner
from redraft.cli.resume import InputRecord, open_for_results, open_for_resume, skip_finished_lines
from redraft.cli.settings_options import config_from_flags, setting_text
from redraft.cli.typer_command import SettingOptions, add_command, option
from redraft.decode.config import SIMPLIFY, SIMPLIFY_NAME, DecodeConfig
from redraft.documents.simplified_blocks import block_sentences
from redraft.errors import ConfigError, shown
from redraft.files import is_disk_full
from redraft.models import is_scripted, scripted_table
from redraft.plan.phrases import Variants
from redraft.plan.plan_files import OnError
from redraft.progress_bar import count_file_lines, with_progress_bar
from redraft.simplify.batching import WINDOW
from redraft.threads import available_cores, set_threads

if TYPE_CHECKING:
    from typer import Typer

    from redraft.simplify.process_pool import ProcessPool
    from redraft.simplify.simplifier import Simplifier
    from redraft.text.sentences import Sentence

_PRESET = ", ".join(f"{name} {setting_text(value)}" for name, value in SIMPLIFY.items())
_MAX_SHOWN = 20  # entries of a list in the summary

# The options that most people use, in the order of the help.
_MAIN = ("input", "document", "plan", "strength", "keep", "glossary", "out", "json", "explain", "model", "device")

_EXAMPLES = """\
examples:
  redraft simplify "The artisans remain old ."
  redraft simplify --explain "The artisans remain old ."
  redraft simplify --input complex.txt --on-error skip > simple.txt
  redraft simplify --document letter.txt > easier.txt
  redraft simplify --document letter.docx --out letter.simple.docx
  redraft simplify --strength light --keep names.txt --input complex.txt > simple.txt
  redraft simplify --model scripted:examples/by_hand.json --plan examples/by_hand.jsonl
  redraft simplify --model ./my-model --input complex.txt --plan plans.jsonl --json > results.jsonl
  redraft simplify --on ray --input 'corpus/*.jsonl' --out simple

A plan file contains one JSON object per line, for example:
  {"source": "They remain old .", "edits": [{"delete": "remain"}, {"insert": "old"}]}

A sentence that is too long for the model is split between clauses and rewritten in pieces. If the plan of such a
sentence has an edit without a span, this is an error.
Standard output has exactly one line per input line (with --explain, one block of lines). Messages go to standard error.
docs/search.md specifies the settings of the search.
Exit status: 0 success, 1 some lines were skipped, 2 error in options or input, 3 with --strict-meaning: a text
may not say the same as its source, 130 interrupted.
"""


@dataclass(frozen=True, kw_only=True)
class SimplifyOptions:
    """Simplify sentences. Each is rewritten by a predicted plan, or by the edits that you give in a plan file."""

    texts: Texts = field(default_factory=list)
    input: Annotated[str | None, option("UTF-8 text, one sentence per line; - reads standard input", "FILE")] = None
    document: Annotated[
        str | None,
        option(
            "any UTF-8 text, .docx, .odt, .html, .md or .pdf: rewrites its sentences, keeps paragraphs and formatting; "
            "- reads standard input",
            "FILE",
        ),
    ] = None
    no_tracking: Annotated[
        bool,
        option("with a .docx or .html --document: write the new text alone, without tracked changes and comments"),
    ] = False
    plan: Annotated[
        str | None,
        option(
            "plan file (FILE.jsonl; - reads standard input), predict or none. A plan file contains its sentences; if "
            "sentences are given as well, they must be the same. predict chooses the edits (default). none uses no "
            "edits (default with --method beam and with scripted models)",
            "FILE",
        ),
    ] = None
    on_error: Annotated[
        OnError, option("on a bad input line: raise stops (default), skip writes an empty line", "raise|skip")
    ] = "raise"

    strength: Strength = None
    style: Style = None
    keep: Keep = None
    glossary: Glossary = None
    planner: PlannerFolder = None

    model: Model = None
    prompt: Annotated[
        str | None,
        option(
            "prompt of a decoder-only model, with {source} in place of the sentence (default: the prompt recorded by "
            "redraft train, else the sentence alone)",
            "TEXT",
        ),
    ] = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    dtype: Dtype = None
    graphs: Graphs = False
    threads: Threads = None
    workers: Annotated[
        str | None, option("processes that share the work (default: chosen by the length of the input file)", "N")
    ] = None
    batch_size: Annotated[str | None, option("sentences decoded together (default: 8 on a CPU, 512 on a GPU)", "N")] = (
        None
    )

    json: Annotated[bool, option("print one JSON object per line: output, scores and the status of each edit")] = False
    explain: Annotated[bool, option("print each sentence, its rewriting and the status of each edit")] = False
    trace: Annotated[bool, option("add all search steps to each JSON object; requires --json")] = False
    out: Annotated[str | None, option("output file (default: standard output)", "FILE")] = None
    no_check: Annotated[bool, option("skip the meaning check, which reports texts that may not say the same")] = False
    strict_meaning: Annotated[bool, option("exit with status 3 if a text may not say the same as its source")] = False
    resume: Annotated[bool, option("append the missing lines to an existing --out file")] = False

    on: On = None
    result_format: ResultFormat = None
    column: Column = None
    rows_per_file: RowsPerFile = None

    settings: Annotated[
        str | None,
        option(
            "settings file, for example of redraft tune; other options override it. simplify is a preset for models "
            f"that read plans, and the default except for scripted models: {_PRESET}",
            "FILE",
        ),
    ] = None
    variants: Annotated[
        Variants,
        option(
            "forms that match a phrase: exact, case (also capitalised, default) or lemma (also inflected)",
            "|".join(get_args(Variants)),
        ),
    ] = "case"
    search: Annotated[dict[str, str], SettingOptions(DecodeConfig)]

    @property
    def table(self) -> str | None:
        """The table file of a scripted model; None for other models."""
        return None if self.model is None or not is_scripted(self.model) else scripted_table(self.model)


def add_simplify(app: Typer) -> None:
    add_command(
        app, "simplify", run_simplify, SimplifyOptions,
        help="simplify sentences with predicted plans or plans of your own", examples=_EXAMPLES, main=_MAIN,
        panel="Rewrite",
    )  # fmt: skip


def run_simplify(options: SimplifyOptions) -> int:
    """Run the command and return its exit status."""
    scripted = options.table is not None
    if options.plan is None:
        no_edits = options.search.get("method") == "beam" or scripted
        options = replace(options, plan="none" if no_edits else "predict")
    settings = options.settings if options.settings is not None else None if scripted else SIMPLIFY_NAME
    config = config_from_flags(options.search, settings)
    batch_size = None if options.batch_size is None else whole_number("--batch-size", options.batch_size)
    if options.on:
        return _run_on_cluster(options, config, batch_size)
    check_cluster_options(options)
    threads, workers = parallel_number("--threads", options.threads), parallel_number("--workers", options.workers)
    plan = None if options.plan in ("none", "predict") else options.plan
    _check_options(options)
    if reads_standard_input(options.texts, options.input, options.document, plan):
        options = replace(options, texts=[], input="-")
    for text in options.texts:
        if os.path.isfile(text):
            say(
                f"{text} is taken as a sentence, not as a file. To read the file, use --input {text} (one sentence "
                f"per line) or --document {text}."
            )
    if options.document and (options.texts or options.input or plan or options.resume):
        raise ConfigError(
            "--document cannot be combined with TEXT, --input, --plan FILE or --resume.", "Remove one of them."
        )
    set_threads(threads)
    model = options.table or options.model
    inputs = [options.input, options.document, plan, model, options.keep, options.glossary, options.settings]
    check_output_path(options.out, inputs)
    summary = RunSummary()
    sentences, whole = _read_document(options)
    format_line, end = _formatter(options, sentences, whole)
    window = WINDOW if (options.document or options.input or plan) not in (None, "-") else 1
    record = _input_record(options, plan)
    done = 0
    try:
        with ExitStack() as files:
            if options.document:
                lines = sentence_lines(sentences, options.document)
            else:
                lines = files.enter_context(open_lines(options.texts, options.input, plan))
            if options.resume and options.out:
                file = files.enter_context(open_for_resume(options.out))
                done = skip_finished_lines(file, options.out, lines, "json" if options.json else "text", record)
            simplifier = _simplifier_or_pool(options, config, workers, threads, options.input or plan, files)
            if not options.resume:
                file = files.enter_context(io.BytesIO() if whole else open_for_results(options.out))
            if record:
                record.write()
            rewritten = rewrite_lines(
                simplifier, lines, predict=plan is None, batch_size=batch_size, trace=options.trace, window=window
            )
            write_results(
                with_progress_bar(rewritten, options.input or plan, done=done),
                file,
                format_line=format_line,
                end=end,
                on_error=options.on_error,
                report=lambda error: say(f"skipped: {error}"),
                summary=summary,
            )
            if record:
                record.remove()
            if whole:
                whole.write()
    except (KeyboardInterrupt, OSError) as error:
        stopped = isinstance(error, KeyboardInterrupt) or is_disk_full(error)
        if stopped and options.out and not options.document and not options.explain:
            say(f"{count_lines(done + summary.lines)} in {options.out}; rerun the command with --resume to continue")
        raise
    finally:
        _report_summary(summary, options)
    if summary.skipped:
        return SKIPPED
    return AT_RISK if options.strict_meaning and summary.at_risk else OK


def _run_on_cluster(options: SimplifyOptions, config: DecodeConfig, batch_size: int | None) -> int:
    """The same rewriting for many files. The rows of .jsonl and .parquet files may have plans."""
    given = {
        "TEXT": options.texts, "--plan FILE": options.plan not in ("none", "predict"), "--json": options.json,
        "--explain": options.explain, "--trace": options.trace, "--strict-meaning": options.strict_meaning,
        "--no-tracking": options.no_tracking, "--input and --document": options.input and options.document,
    }  # fmt: skip
    for name, is_given in given.items():
        if is_given:
            raise ConfigError(f"{name} cannot be combined with --on ray.", "Remove it; docs/scale_corpora.md says why.")
    pattern = options.document or options.input
    if pattern is None or pattern == "-":
        raise ConfigError(
            "--on ray requires --input or --document.", "Give a path or a quoted pattern: --input 'corpus/*.jsonl'."
        )
    out = require_out(options.out)
    if options.plan != "predict" and (flag := given_planner_option(options)):
        raise ConfigError(f"{flag} applies only to predicted plans.", f"Add --plan predict, or remove {flag}.")
    from redraft.decode.model_fingerprint import fingerprint

    settings = {
        **fingerprint(options.model, prompt=options.prompt, dtype=options.dtype, variants=options.variants),
        "planner": planner_digest(options.planner) if options.plan == "predict" else None,
        "search": asdict(config), "strength": options.strength, "style": options.style, "check": not options.no_check,
        "keep": option_file_digest(options.keep), "glossary": option_file_digest(options.glossary),
    }  # fmt: skip
    options = absolute_paths(options)
    return run_on_cluster(
        ClusterOptions(
            input=pattern, out=out, task="documents" if options.document else "sentences",
            result_format=options.result_format, column=options.column, rows_per_file=options.rows_per_file,
            workers=options.workers, threads=options.threads, device=options.device, batch_size=batch_size,
            resume=options.resume, skip_unreadable=options.on_error == "skip",
        ),
        partial(_simplifier_on_device, options, config),
        settings,
    )  # fmt: skip


def _simplifier_on_device(options: SimplifyOptions, config: DecodeConfig, device: str | None) -> Simplifier:
    return load_simplifier(replace(options, device=device), config)


def _input_record(options: SimplifyOptions, plan: str | None) -> InputRecord | None:
    """For plain-text output files, whose lines do not show which sentence they belong to."""
    if options.out is None or options.json or options.explain or options.document:
        return None
    return InputRecord(options.out, [options.input, plan])


def _check_options(options: SimplifyOptions) -> None:
    """Refuse options that exclude each other."""
    if options.trace and not options.json:
        raise ConfigError("--trace requires --json.", "Add --json.")
    if options.explain and options.json:
        raise ConfigError("--explain and --json cannot be combined.", "Remove one of them.")
    if options.prompt is not None and "{source}" not in options.prompt:
        raise ConfigError(f"--prompt {shown(options.prompt)} lacks {{source}}.", "Write {source} for the sentence.")
    if options.plan != "predict" and (flag := given_planner_option(options)):
        raise ConfigError(f"{flag} applies only to predicted plans.", f"Add --plan predict, or remove {flag}.")
    if options.strict_meaning and options.no_check:
        raise ConfigError("--strict-meaning and --no-check cannot be combined.", "Remove one of them.")
    if options.resume and options.out is None:
        raise ConfigError("--resume requires --out.", "Add --out FILE.")
    if options.resume and options.explain:
        raise ConfigError("--resume and --explain cannot be combined.", "Remove one of them.")


def _report_summary(summary: RunSummary, options: SimplifyOptions) -> None:
    """Print what the user should know about the lines written so far."""
    if summary.in_pieces:
        say(f"too long for the model and therefore rewritten in pieces: {count_lines(summary.in_pieces)}")
    if summary.unchanged:
        what = f"{summary.unchanged} sentences" if options.document else count_lines(summary.unchanged)
        say(f"left unchanged: {what}; --json gives the reasons")
    if summary.not_done:
        say(f"requested edits that were not done:{_bullets(summary.not_done)}")
    if summary.at_risk:
        riskiest_first = [description for _, description in sorted(summary.at_risk, key=lambda entry: -entry[0])]
        say(f"may not say the same, highest risk first:{_bullets(riskiest_first)}")
    if summary.impossible and not options.json:
        say(f"edits that this model cannot write: {summary.impossible}; --json gives the reasons")
    if summary.skipped:
        say(f"{count_lines(summary.lines)} written, {summary.skipped} of them left empty because of bad input")


def _bullets(entries: Sequence[str]) -> str:
    more = [] if len(entries) <= _MAX_SHOWN else [f"and {len(entries) - _MAX_SHOWN} more; see --json"]
    return "".join(f"\n  {entry}" for entry in [*entries[:_MAX_SHOWN], *more])


def _read_document(options: SimplifyOptions) -> tuple[list[Sentence], DocumentOutput | None]:
    """The sentences of --document, and its output if that is written as a whole.

    Plain text is written sentence by sentence, and so are the results of any document with --json and --explain.
    """
    path = options.document
    if path is None or not is_document_file(path):
        if options.no_tracking:
            raise ConfigError("--no-tracking applies only to a .docx or .html --document.", "Remove it.")
        return (read_document(path) if path else []), None
    document = read_document_file(path)
    sentences = [sentence for block in block_sentences(document) for sentence in block]
    if options.json or options.explain:
        return sentences, None
    return sentences, DocumentOutput(document, path, options.out, tracked=not options.no_tracking)


def _formatter(
    options: SimplifyOptions, sentences: Sequence[Sentence], whole: DocumentOutput | None
) -> tuple[Callable[[OutputLine], str], str]:
    """How a result is written, and what follows it."""
    if options.explain:
        return format_explanation, "\n"
    if options.json:
        return OutputLine.to_json_line, "\n"
    if whole:
        return whole.collect, ""
    if options.document:
        return lambda output: sentences[output.line.number - 1].space + output.to_text(), ""
    return OutputLine.to_text, "\n"


def _simplifier_or_pool(
    options: SimplifyOptions, config: DecodeConfig, workers: int | None, threads: int | None, path: str | None,
    files: ExitStack,
) -> Simplifier | ProcessPool:  # fmt: skip
    """A simplifier in this process or, for a long input file, several in processes of their own."""
    from redraft.align.encoders import chosen_device
    from redraft.simplify.process_pool import CPU_THREADS, ProcessPool, workers_for

    device = chosen_device(options.device)
    if workers is not None:
        count = workers
    elif path is None or path == "-" or options.table is not None or not os.path.isfile(path):
        count = 1
    else:
        count = workers_for(count_file_lines(path) or 0, device)
    if count == 1:
        return load_simplifier(options, config)
    say(f"{count} processes")
    factory = partial(load_simplifier, replace(options, texts=[]), config)
    share = threads or max(1, min(available_cores() // count, CPU_THREADS))
    pool = ProcessPool(factory, count, threads=share, on_gpu=device.type == "cuda")
    return files.enter_context(pool)


def load_simplifier(options: SimplifyOptions, config: DecodeConfig) -> Simplifier:
    """The planner and the model of the options. Imports torch, which all checks before this do without."""
    from redraft.align.encoders import chosen_device
    from redraft.decode.model_loading import fastest_dtype
    from redraft.decode.redrafter import Redrafter
    from redraft.simplify.simplifier import Simplifier

    if options.device is not None:
        chosen_device(options.device)
    with ThreadPoolExecutor(1) as background:  # the tables of the planner take as long to load as the model
        loading = background.submit(copy_context().run, load_planner, options) if options.plan == "predict" else None
        redrafter = Redrafter(
            options.model,
            config=config,
            variants=options.variants,
            prompt=options.prompt,
            device=options.device,
            dtype=options.dtype or fastest_dtype(options.model, options.device),
            graphs=options.graphs or None,
        )
        planner, planning = (None, {}) if loading is None else loading.result()
    search_only = options.table is not None and planner is None
    check: Literal["auto"] | None = None if options.no_check or config.method == "beam" else "auto"
    return Simplifier(redrafter, planner, check=check, device=options.device, search_only=search_only, **planning)
