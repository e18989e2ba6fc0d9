"""`redraft simplify`: sentences and plans in, one line out for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from redraft.cli.common_options import (
    Batch8,
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
    TrustRemoteCode,
)
from redraft.cli.console import AT_RISK, OK, SKIPPED, say, whole_number
from redraft.cli.explain_format import explained
from redraft.cli.input_lines import count_lines, from_a_pipe, open_lines, read_document, sentence_lines
from redraft.cli.output_lines import OutputLine, RunSummary, check_out, rewrite_lines, write_results
from redraft.cli.planner_options import given_planner_option, load_planner
from redraft.cli.resume import InputNote, begun_file, pass_over, results_file
from redraft.cli.settings_options import config_from_flags, hints_of, setting_text
from redraft.cli.typer_command import SettingOptions, add_command, option
from redraft.decode.config import SIMPLIFY, SIMPLIFY_NAME, DecodeConfig
from redraft.errors import ConfigError, shown
from redraft.files import is_full
from redraft.models import is_scripted, scripted_table
from redraft.plan.phrases import Variants
from redraft.plan.plan_files import OnError
from redraft.progress_bar import with_bar
from redraft.simplify.batching import WINDOW

if TYPE_CHECKING:
    from typer import Typer

    from redraft.simplify.simplifier import Simplifier
    from redraft.text.sentences import Sentence

# The settings most people touch come first in --help, in this order; the rest follow from DecodeConfig.
_FIRST = ("method", "beams", "lambdas", "delta", "alpha", "width", "max_tokens")
_SIMPLIFY = ", ".join(f"{name} {setting_text(value)}" for name, value in SIMPLIFY.items())
_OTHERS = tuple(name for name in hints_of(DecodeConfig) if name not in _FIRST)
_SHOWN = 20  # edits that a person asked for and that were not done

_EXAMPLES = """\
examples:
  redraft simplify "The artisans remain old ."
  redraft simplify --explain "The artisans remain old ."
  redraft simplify --input complex.txt --on-error skip > simple.txt
  redraft simplify --document letter.txt > easier.txt
  redraft simplify --strength light --keep names.txt --input complex.txt > simple.txt
  redraft simplify --model scripted:examples/by_hand.json --plan examples/by_hand.jsonl
  redraft simplify --model ./my-model --input complex.txt --plan plans.jsonl --json > results.jsonl

A plan file has one object on each line, for example:
  {"source": "They remain old .", "edits": [{"delete": "remain"}, {"insert": "old"}]}

A sentence longer than the model reads is rewritten in pieces, clause by clause, or refused where its plan has edits
without a span.
Standard output gets exactly one line for each line of input (with --explain, one block), everything else goes to
standard error.
Exit status: 0 all went well, 1 lines were skipped, 2 a mistake in options or input, 3 with --strict-meaning: a text may
not say the same, 130 interrupted.
"""


_WHAT, _MODEL, _OUT, _SEARCH = "What to rewrite", "The model", "What comes out", "The search"


@dataclass(frozen=True, kw_only=True)
class SimplifyOptions:
    """Rewrite sentences with a model, each by the edits of its plan or by edits that are predicted."""

    texts: Texts = field(default_factory=list)
    input: Annotated[
        str | None, option("one sentence on each line, UTF-8; - is standard input", "FILE", panel=_WHAT)
    ] = None
    document: Annotated[
        str | None,
        option(
            "a text of any form: its sentences are rewritten and put back with their spacing and paragraphs; - is "
            "standard input",
            "FILE",
            panel=_WHAT,
        ),
    ] = None
    plan: Annotated[
        str | None,
        option(
            "edits, and with them the sentences: FILE.jsonl or -. Sentences given as well must be the same, line by "
            "line. predict (default): edits that the software chooses; none: no edits, the default for --method beam "
            "and for scripted models",
            "FILE",
            panel=_WHAT,
        ),
    ] = None
    on_error: Annotated[
        OnError,
        option("at a bad line: raise stops (default), skip leaves its output line empty", "raise|skip", panel=_WHAT),
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
            "what a decoder-only model reads, with {source} where the sentence goes; what it was trained with by "
            "redraft train if not given, else the sentence alone",
            "TEXT",
            panel=_MODEL,
        ),
    ] = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    dtype: Dtype = None
    graphs: Graphs = False
    batch_size: Batch8 = "8"

    json: Annotated[bool, option("one object on each line: output, scores, a verdict for each edit", panel=_OUT)] = (
        False
    )
    explain: Annotated[
        bool, option("to read: each sentence, its rewriting, and what became of each edit", panel=_OUT)
    ] = False
    trace: Annotated[bool, option("with --json: the search, step by step, in every object", panel=_OUT)] = False
    out: Annotated[str | None, option("write there instead of to standard output", "FILE", panel=_OUT)] = None
    no_check: Annotated[bool, option("do not check whether texts still say the same", panel=_OUT)] = False
    strict_meaning: Annotated[bool, option("exit status 3 where a text may not say the same", panel=_OUT)] = False
    resume: Annotated[bool, option("with --out: go on behind the lines that are there", panel=_OUT)] = False

    settings: Annotated[
        str | None,
        option(
            "a file of settings as redraft tune writes it; options below win. simplify: what suits a model that reads "
            f"plans (default, except for scripted models): {_SIMPLIFY}",
            "FILE",
            panel=_SEARCH,
        ),
    ] = None
    variants: Annotated[
        Variants,
        option(
            "forms in which a phrase counts: as it stands, capitalised too, inflected too (default case)",
            "|".join(get_args(Variants)),
            panel=_SEARCH,
        ),
    ] = "case"
    search: Annotated[
        dict[str, str],
        SettingOptions(
            DecodeConfig,
            {
                _SEARCH: _FIRST,
                "The search, finer; docs/search.md says exactly what each does": _OTHERS,
            },
        ),
    ]

    @property
    def table(self) -> str | None:
        """The file of a scripted model, which knows no words but its own; None for other models."""
        return None if self.model is None or not is_scripted(self.model) else scripted_table(self.model)


def add_simplify(app: Typer) -> None:
    add_command(
        app, "simplify", run_simplify, SimplifyOptions,
        help="rewrite sentences, each by its plan or by one that is predicted", examples=_EXAMPLES, panel="Rewrite",
    )  # fmt: skip


def run_simplify(options: SimplifyOptions) -> int:
    """The command itself; returns the exit status."""
    scripted = options.table is not None
    if options.plan is None:
        without = options.search.get("method") == "beam" or scripted
        options = replace(options, plan="none" if without else "predict")
    settings = options.settings if options.settings is not None else None if scripted else SIMPLIFY_NAME
    config = config_from_flags(options.search, settings)
    batch_size = whole_number("--batch-size", options.batch_size)
    plan = None if options.plan in ("none", "predict") else options.plan
    _check_options(options)
    if from_a_pipe(options.texts, options.input, options.document, plan):
        options = replace(options, texts=[], input="-")
    for text in options.texts:
        if os.path.isfile(text):
            say(f"{text} is taken for a sentence; --input {text} reads its lines, --document {text} its sentences")
    if options.document and (options.texts or options.input or plan or options.resume):
        raise ConfigError("--document is a text by itself.", "Leave TEXT, --input, --plan FILE and --resume out.")
    model = options.table or options.model
    inputs = [options.input, options.document, plan, model, options.keep, options.glossary, options.settings]
    check_out(options.out, inputs)
    count = RunSummary()
    sentences = read_document(options.document) if options.document else []
    form, end = _form(options, sentences)
    window = WINDOW if (options.document or options.input or plan) not in (None, "-") else 1
    note = _input_note(options, plan)
    done = 0
    try:
        with ExitStack() as files:
            if options.document:
                lines = sentence_lines(sentences, options.document)
            else:
                lines = files.enter_context(open_lines(options.texts, options.input, plan))
            if options.resume and options.out:
                file = files.enter_context(begun_file(options.out))
                done = pass_over(file, options.out, lines, "json" if options.json else "text", note)
            simplifier = load_simplifier(options, config)
            if not options.resume:
                file = files.enter_context(results_file(options.out))
            if note:
                note.write()
            rewritten = rewrite_lines(
                simplifier, lines, predict=plan is None, batch_size=batch_size, trace=options.trace, window=window
            )
            write_results(
                with_bar(rewritten, options.input or plan, done=done),
                file,
                shown=form,
                end=end,
                on_error=options.on_error,
                report=lambda error: say(f"skipped: {error}"),
                count=count,
            )
            if note:
                note.remove()
    except (KeyboardInterrupt, OSError) as error:
        stopped = isinstance(error, KeyboardInterrupt) or is_full(error)
        if stopped and options.out and not options.document and not options.explain:
            say(f"{count_lines(done + count.lines)} in {options.out}; the same command with --resume goes on")
        raise
    finally:
        _tell(count, options)
    if count.skipped:
        return SKIPPED
    return AT_RISK if options.strict_meaning and count.at_risk else OK


def _input_note(options: SimplifyOptions, plan: str | None) -> InputNote | None:
    """For results of which no line says what it comes from."""
    if options.out is None or options.json or options.explain or options.document:
        return None
    return InputNote(options.out, [options.input, plan])


def _check_options(options: SimplifyOptions) -> None:
    """What cannot be asked for together."""
    if options.trace and not options.json:
        raise ConfigError("--trace has no place in plain text.", "Add --json.")
    if options.explain and options.json:
        raise ConfigError("--explain and --json are two forms of the same.", "Leave one of them out.")
    if options.prompt is not None and "{source}" not in options.prompt:
        raise ConfigError(f"--prompt {shown(options.prompt)} has no place for the sentence.", "Write {source} in it.")
    if options.plan != "predict" and (flag := given_planner_option(options)):
        raise ConfigError(f"{flag} is about plans that are predicted.", "Add --plan predict, or leave it out.")
    if options.strict_meaning and options.no_check:
        raise ConfigError("--strict-meaning needs the check that --no-check leaves out.", "Leave one of them out.")
    if options.resume and (options.out is None or options.explain):
        raise ConfigError("--resume goes on with a file of one line for each line of input.",
                          "Add --out FILE." if options.out is None else "Leave --explain out.")  # fmt: skip


def _tell(count: RunSummary, options: SimplifyOptions) -> None:
    """How the run went, as far as it went."""
    if count.in_pieces:
        say(f"longer than the model reads, so rewritten in pieces: {count_lines(count.in_pieces)}")
    if count.unchanged:
        what = f"{count.unchanged} sentences" if options.document else count_lines(count.unchanged)
        say(f"left as they are (--json says why): {what}")
    if count.not_done:
        more = "" if len(count.not_done) <= _SHOWN else f"\n  and {len(count.not_done) - _SHOWN} more; see --json"
        say("asked for, but not done:\n  " + "\n  ".join(count.not_done[:_SHOWN]) + more)
    if count.at_risk:
        worst = [what for _, what in sorted(count.at_risk, key=lambda one: -one[0])]
        more = "" if len(worst) <= _SHOWN else f"\n  and {len(worst) - _SHOWN} more; see --json"
        say("may not say the same, the riskiest first:\n  " + "\n  ".join(worst[:_SHOWN]) + more)
    if count.impossible and not options.json:
        say(f"edits that this model cannot write: {count.impossible}; --json says which and why")
    if count.skipped:
        say(f"{count_lines(count.lines)} written, {count.skipped} of them left empty for bad input")


def _form(options: SimplifyOptions, sentences: Sequence[Sentence]) -> tuple[Callable[[OutputLine], str], str]:
    """How a result is written, and what follows it."""
    if options.explain:
        return explained, "\n"
    if options.json:
        return OutputLine.to_json_line, "\n"
    if options.document:
        return lambda result: sentences[result.line.number - 1].space + result.to_text(), ""
    return OutputLine.to_text, "\n"


def load_simplifier(options: SimplifyOptions, config: DecodeConfig) -> Simplifier:
    """The planner and the model of the options. torch is imported here, and no earlier."""
    from redraft.align.encoders import chosen_device
    from redraft.decode.redrafter import Redrafter
    from redraft.simplify.simplifier import Simplifier

    if options.device is not None:
        chosen_device(options.device)
    planner, planning = load_planner(options) if options.plan == "predict" else (None, {})
    redrafter = Redrafter(
        options.model,
        config=config,
        variants=options.variants,
        prompt=options.prompt,
        device=options.device,
        dtype=options.dtype,
        graphs=options.graphs,
    )
    search_only = options.table is not None and planner is None
    check: Literal["auto"] | None = None if options.no_check or config.method == "beam" else "auto"
    return Simplifier(redrafter, planner, check=check, device=options.device, search_only=search_only, **planning)
