"""The command line: `redraft simplify`, a thin front to functions that anyone can import.

Settings of the search are read from DecodeConfig, so a field added there is an option here.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields
from itertools import islice
from types import NoneType
from typing import IO, TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from redraft import __version__
from redraft.constrain.edits import EditPlan
from redraft.constrain.phrases import Variants
from redraft.constrain.plan_files import OnError, PlanReader, read_plans
from redraft.constrain.verdicts import judge
from redraft.decode.config import DecodeConfig
from redraft.decode.decoded import Candidate, Decoded
from redraft.errors import ConfigError, PlanError, RedraftError, shown

if TYPE_CHECKING:
    from redraft.decode.redrafter import Redrafter

OK, SKIPPED, MISTAKE, INTERRUPTED = 0, 1, 2, 130

# The settings most people touch come first in --help, in this order; the rest follow from DecodeConfig.
_FIRST = ("method", "beams", "lambdas", "delta", "alpha", "width", "max_tokens")
_DTYPES = ("float32", "bfloat16", "float16", "float64")
_METAVARS = {int: "N", float: "X"}


# ---- settings ----


def config_from_flags(flags: Mapping[str, str]) -> DecodeConfig:
    """Settings written as text, by the names of DecodeConfig: {"beams": "4", "lambdas": "1,2,1", "delta": "none"}."""
    return DecodeConfig(**{name: parse_setting(name, text) for name, text in flags.items()})


def parse_setting(name: str, text: str) -> Any:
    """One setting from its text, by the type that DecodeConfig gives it."""
    hint = _HINTS[name]
    kinds = _kinds(hint)
    choices = _choices(hint)
    word = text.strip()
    if word in choices:
        return {"true": True, "false": False, "none": None}.get(word, word) if _is_open(hint) else word
    if get_origin(hint) is tuple:
        return tuple(_number(float, name, part) for part in word.split(","))
    for kind in (int, float):
        if kind in kinds:
            return _number(kind, name, word)
    raise ConfigError(f"{_flag(name)} {shown(text)} is not known.", f"Use one of {', '.join(choices)}.")


def _number(kind: Callable[[str], Any], name: str, text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        none = ", or none" if "none" in _choices(_HINTS[name]) else ""
        example = f"{_flag(name)} {_default(name)}" if _DEFAULTS[name] is not None else f"{_flag(name)} 40"
        raise ConfigError(
            f"{_flag(name)}: {shown(text)} is not {what}{none}.", f"Write for example {example}."
        ) from None


_HINTS = get_type_hints(DecodeConfig)
_DEFAULTS = {field.name: field.default for field in fields(DecodeConfig)}


def _kinds(hint: Any) -> tuple[Any, ...]:
    return (hint,) if hint in (int, float, bool) or get_origin(hint) in (tuple, Literal) else get_args(hint)


def _is_open(hint: Any) -> bool:
    """Whether other things than words are allowed, so that true, false and none are not words."""
    return get_origin(hint) is not Literal


def _choices(hint: Any) -> tuple[str, ...]:
    """The words that may be written for a setting; numbers aside."""
    words: tuple[str, ...] = ()
    for kind in _kinds(hint):
        if get_origin(kind) is Literal:
            words += get_args(kind)
        elif kind is bool:
            words += ("true", "false")
        elif kind is NoneType:
            words += ("none",)
    return words


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _default(name: str) -> str:
    value = _DEFAULTS[name]
    if isinstance(value, tuple):
        return ",".join(f"{part:g}" for part in value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


# ---- lines in ----


@dataclass(frozen=True, slots=True)
class Line:
    """One line of input: what to do, or why that cannot be known."""

    number: int  # from 1
    plan: EditPlan | None = None
    error: RedraftError | None = None
    path: str | None = None
    fatal: bool = False  # nothing after this line can be trusted

    def located(self, error: RedraftError) -> RedraftError:
        """An error of this line's sentence, with the place it is in."""
        if isinstance(error, PlanError):
            return error.at(path=self.path, line=self.number)
        place = f"{self.path}:{self.number}" if self.path else f"line {self.number}"
        return RedraftError(f"{place}: {error.problem}", error.hint)


@contextmanager
def open_lines(
    texts: Sequence[str] = (), source: str | None = None, plan: str | None = None
) -> Iterator[Iterator[Line]]:
    """The lines of sentences, of a file of sentences, of a plan file, or of plans and the sentences they belong to.

    Files are opened now ("-" is standard input) and read as the lines are asked for.
    """
    if texts and source is not None:
        raise ConfigError("both sentences and --input are given.", "Leave one of them out.")
    if not texts and source is None and plan is None:
        raise ConfigError(
            "there is nothing to rewrite.",
            'Give sentences ("They remain old ."), --input FILE, or --plan FILE.jsonl; --help shows examples.',
        )
    if source == plan == "-":
        raise ConfigError("--input and --plan are both standard input.", "Put one of them in a file.")
    with ExitStack() as files:
        sentences = _text_lines(texts)
        if source is not None:
            sentences = _file_lines(_open_input(source, files), _shown_path(source))
        if plan is None:
            yield sentences
            return
        plans = _plan_lines(files.enter_context(read_plans(plan)))
        if texts or source is not None:
            name = "the text given" if source is None else _shown_path(source)
            plans = _agreed(sentences, plans, name, _shown_path(plan))
        yield plans


def _open_input(path: str, files: ExitStack) -> IO[bytes]:
    if path == "-":
        return _binary(sys.stdin)
    return files.enter_context(open(path, "rb"))


def _binary(stream: Any) -> IO[bytes]:
    binary: IO[bytes] = stream.buffer
    return binary


def _text_lines(texts: Sequence[str]) -> Iterator[Line]:
    for number, text in enumerate(texts, 1):
        yield _sentence(number, text, None)


def _file_lines(file: IO[bytes], path: str) -> Iterator[Line]:
    for number, raw in enumerate(file, 1):
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            bad = PlanError(
                f"not UTF-8: 0x{raw[error.start]:02x} is byte {error.start + 1} of the line.",
                "Save the file as UTF-8; from Latin-1: iconv -f LATIN1 -t UTF-8 OLD > NEW",
            )
            yield Line(number, error=bad.at(path=path, line=number), path=path)
        else:
            yield _sentence(number, text, path)


def _sentence(number: int, text: str, path: str | None) -> Line:
    try:
        return Line(number, EditPlan(text), path=path)
    except PlanError as error:
        return Line(number, error=error.at(path=path, line=number), path=path)


def _plan_lines(reader: PlanReader) -> Iterator[Line]:
    while True:
        try:
            item = reader.next_line()
        except StopIteration:
            return
        if isinstance(item, PlanError):
            yield Line(reader.line, error=item, path=reader.path)
        else:  # a blank line is an empty sentence, so that output and plan file stay side by side
            yield Line(reader.line, EditPlan("") if item is None else item, path=reader.path)


def _agreed(sentences: Iterator[Line], plans: Iterator[Line], source: str, plan: str) -> Iterator[Line]:
    """The plans, each checked to be for its sentence."""
    number = 0
    while True:
        number += 1
        here, wanted = next(sentences, None), next(plans, None)
        if here is None and wanted is None:
            return
        if here is None or wanted is None:
            short, long, rest = (source, plan, wanted) if here is None else (plan, source, here)
            yield _disagreement(
                number, f"{short} ends after {_lines(number - 1)}, but {long} goes on: {_quoted(rest)}."
            )
            return
        if here.error or wanted.error:
            yield here if here.error else wanted
        elif here.plan and wanted.plan and here.plan.source.strip() != wanted.plan.source.strip():
            yield _disagreement(number, f"{source} has {_quoted(here)}, but {plan} has {_quoted(wanted)}.")
            return
        else:
            yield wanted


def _disagreement(number: int, problem: str) -> Line:
    hint = "Give the same sentences in the same order in both, or leave the sentences out: the plans hold them too."
    return Line(number, error=ConfigError(f"line {number}: {problem}", hint), fatal=True)


def _quoted(line: Line | None) -> str:
    return shown(line.plan.source, 300) if line is not None and line.plan is not None else "a line that cannot be read"


def _lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"


def _shown_path(path: str) -> str:
    return "<stdin>" if path == "-" else path


# ---- lines out ----


@dataclass(frozen=True, slots=True)
class Result:
    """What one line of input comes to: a rewritten sentence, or an error."""

    line: Line
    decoded: Decoded | None
    error: RedraftError | None = None

    def to_text(self) -> str:
        # str.splitlines knows more line ends than \n, and so do many readers.
        return " ".join(self.decoded.output.splitlines()) if self.decoded else ""

    def to_json(self) -> dict[str, Any]:
        return self.decoded.to_json() if self.decoded else {"error": str(self.error), "line": self.line.number}


def rewrite_lines(
    redrafter: Redrafter, lines: Iterable[Line], *, batch_size: int = 8, trace: bool = False
) -> Iterator[list[Result]]:
    """Results batch by batch, one for each line and in their order. An error is a result and stops nothing."""
    lines = iter(lines)
    while batch := list(islice(lines, batch_size)):
        asked = [line for line in batch if line.plan is not None and line.plan.source.strip()]
        found = {id(result.line): result for result in _rewritten(redrafter, asked, trace)}
        yield [found.get(id(line)) or _unasked(line) for line in batch]


def _rewritten(redrafter: Redrafter, lines: Sequence[Line], trace: bool) -> list[Result]:
    plans = [line.plan for line in lines if line.plan is not None]
    if not plans:
        return []
    try:
        outputs = list(redrafter.stream(plans, batch_size=len(plans), trace=trace))
    except ConfigError:
        raise
    except RedraftError as error:
        if len(lines) == 1:
            return [Result(lines[0], None, lines[0].located(error))]
        return [result for line in lines for result in _rewritten(redrafter, [line], trace)]  # to find whose it is
    return [Result(line, decoded) for line, decoded in zip(lines, outputs, strict=True)]


def _unasked(line: Line) -> Result:
    """A line that no model needs to see."""
    if line.plan is None:
        return Result(line, None, line.error)
    nothing = Candidate("", 0.0, 0.0, tuple(judge(line.plan, "")), (), False)
    return Result(line, Decoded(line.plan.source, (nothing,)))


@dataclass(slots=True)
class Written:
    """How a run went."""

    lines: int = 0
    skipped: int = 0
    impossible: int = 0  # edits of the lines written


def write_results(
    batches: Iterable[list[Result]],
    file: IO[bytes],
    *,
    as_json: bool = False,
    on_error: OnError = "raise",
    report: Callable[[RedraftError], object] = lambda error: None,
    count: Written | None = None,
) -> Written:
    """One line for each result, flushed at the end of each batch; `count` keeps up while it runs.

    With on_error="raise" the first error is raised when all lines before it are written; with "skip" it goes to
    `report` and its line stays empty. Sentences and plans that do not belong together are raised in either case.
    """
    count = count if count is not None else Written()
    for batch in batches:
        lines: list[str] = []
        skipped: list[RedraftError] = []
        stop: RedraftError | None = None
        for result in batch:
            if result.error is not None:
                if on_error == "raise" or result.line.fatal:
                    stop = result.error
                    break
                skipped.append(result.error)
            if result.decoded is not None:
                count.impossible += sum(verdict.status == "impossible" for verdict in result.decoded.edits)
            lines.append(_as_json(result) if as_json else result.to_text())
        file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        file.flush()
        count.lines += len(lines)
        count.skipped += len(skipped)
        for error in skipped:
            report(error)
        if stop is not None:
            raise stop
    return count


def _as_json(result: Result) -> str:
    return json.dumps(result.to_json(), ensure_ascii=False, allow_nan=False)


@contextmanager
def _opened(out: str | None) -> Iterator[IO[bytes]]:
    if out is None:
        yield _binary(sys.stdout)
    else:
        with open(out, "wb") as file:
            yield file


def _check_out(out: str | None, inputs: Iterable[str | None]) -> None:
    """Refuse, before a model is loaded, a file that cannot be made or that is still to be read."""
    if out is None:
        return
    folder = os.path.dirname(out) or "."
    if os.path.isdir(out) or not os.path.isdir(folder):
        what = "is a folder" if os.path.isdir(out) else "has no folder to be in"
        raise ConfigError(f"--out {out} {what}.", "Name a file in a folder that exists.")
    for path in inputs:
        if path not in (None, "-") and os.path.isfile(out) and os.path.exists(path) and os.path.samefile(out, path):
            raise ConfigError(f"--out {out} is also what is read.", "Write to another file.")


# ---- the command ----


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
    _add_simplify(commands)
    return parser


_EXAMPLES = """\
examples:
  redraft simplify --model scripted:examples/by_hand.json --plan examples/by_hand.jsonl
  redraft simplify --model facebook/bart-base --beams 8 "They remain old ."
  redraft simplify --model ./my-model --input complex.txt --plan plans.jsonl --json > results.jsonl

A plan file has one object on each line, for example:
  {"source": "They remain old .", "edits": [{"delete": "remain"}, {"insert": "old"}]}

Standard output gets exactly one line for each line of input, everything else goes to standard error.
Exit status: 0 all went well, 1 lines were skipped, 2 a mistake in options or input, 130 interrupted.
"""


def _add_simplify(commands: Any) -> None:
    simplify = commands.add_parser(
        "simplify",
        help="rewrite sentences, each by its plan",
        usage="redraft simplify --model NAME [options] [TEXT ...]",
        description="Rewrite sentences with a model, each by the edits that its plan asks for.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    what = simplify.add_argument_group("what to rewrite")
    what.add_argument("texts", nargs="*", metavar="TEXT", help="one sentence for each argument")
    what.add_argument("--input", metavar="FILE", help="one sentence on each line, UTF-8; - is standard input")
    what.add_argument("--plan", metavar="FILE", default="none",
                      help="edits, and with them the sentences: FILE.jsonl, - or none (default none). Sentences given "
                           "as well must be the same, line by line")  # fmt: skip
    what.add_argument("--on-error", choices=get_args(OnError), default="raise",
                      help="at a bad line: raise stops (default), skip leaves its output line empty")  # fmt: skip

    model = simplify.add_argument_group("the model")
    model.add_argument(
        "--model", metavar="NAME", help="a name on the Hugging Face hub, a folder, or scripted:TABLE.json"
    )
    model.add_argument("--prompt", metavar="TEXT", default="{source}",
                       help="what a decoder-only model reads, with {source} where the sentence goes")  # fmt: skip
    model.add_argument("--device", metavar="NAME", help="cpu, cuda, cuda:1, …; a GPU where there is one if not given")
    model.add_argument("--dtype", choices=_DTYPES, help="type of the weights; as they are stored if not given")
    model.add_argument("--batch-size", metavar="N", default="8", help="sentences searched together (default 8)")

    out = simplify.add_argument_group("what comes out")
    out.add_argument(
        "--json", action="store_true", help="one object on each line: output, scores, a verdict for each edit"
    )
    out.add_argument("--trace", action="store_true", help="with --json: the search, step by step, in every object")
    out.add_argument("--out", metavar="FILE", help="write there instead of to standard output")

    search = simplify.add_argument_group("the search")
    for name in _FIRST:
        _add_setting(search, name)
    search.add_argument("--variants", choices=get_args(Variants), default="case",
                        help="forms in which a phrase counts: as it stands, capitalised too, inflected too "
                             "(default case)")  # fmt: skip
    finer = simplify.add_argument_group("the search, finer settings", "docs/search.md says exactly what they do")
    for name in _HINTS:
        if name not in _FIRST:
            _add_setting(finer, name)


def _add_setting(group: Any, name: str) -> None:
    """An option for one field of DecodeConfig. Its text is parsed later, so that all doors give the same errors."""
    hint, help = _HINTS[name], DecodeConfig.__dataclass_fields__[name].metadata["help"].replace("%", "%%")
    if _DEFAULTS[name] is not None:  # the help says what no value means
        help = f"{help} (default {_default(name)})"
    if hint is bool:
        group.add_argument(_flag(name), action="store_const", const="true", default=argparse.SUPPRESS,
                           dest=f"setting_{name}", help=help)  # fmt: skip
        return
    words = _choices(hint)
    numbers = [sign for kind, sign in _METAVARS.items() if kind in _kinds(hint)]
    metavar = "I,D,R" if get_origin(hint) is tuple else "|".join([*numbers, *words])
    metavar = numbers[0] if numbers and words == ("none",) and _DEFAULTS[name] is None else metavar
    metavar = metavar if numbers or not words else "{" + ",".join(words) + "}"
    group.add_argument(_flag(name), metavar=metavar, default=argparse.SUPPRESS, dest=f"setting_{name}", help=help)


def simplify(options: argparse.Namespace) -> int:
    """The command itself; returns the exit status."""
    flags = {name.removeprefix("setting_"): text for name, text in vars(options).items() if name.startswith("setting_")}
    config = config_from_flags(flags)
    batch_size = _whole_number("--batch-size", options.batch_size)
    if options.trace and not options.json:
        raise ConfigError("--trace has no place in plain text.", "Add --json.")
    if "{source}" not in options.prompt:
        raise ConfigError(f"--prompt {shown(options.prompt)} has no place for the sentence.", "Write {source} in it.")
    if options.model is None:
        raise ConfigError(
            "no model is given, and there is none built in yet.",
            "Add --model with a name on the Hugging Face hub, a folder, or scripted:TABLE.json.",
        )
    plan = None if options.plan == "none" else options.plan
    _check_out(options.out, [options.input, plan, options.model.removeprefix("scripted:")])
    count = Written()
    try:
        with open_lines(options.texts, options.input, plan) as lines:
            redrafter = load_redrafter(options, config)
            with _opened(options.out) as file:
                write_results(
                    rewrite_lines(redrafter, lines, batch_size=batch_size, trace=options.trace),
                    file,
                    as_json=options.json,
                    on_error=options.on_error,
                    report=lambda error: _say(f"skipped: {error}"),
                    count=count,
                )
    finally:
        if count.impossible and not options.json:
            _say(f"edits that this model cannot write: {count.impossible}; --json says which and why")
        if count.skipped:
            _say(f"{_lines(count.lines)} written, {count.skipped} of them left empty for bad input")
    return SKIPPED if count.skipped else OK


def load_redrafter(options: argparse.Namespace, config: DecodeConfig) -> Redrafter:
    """The model of the options. torch is imported here, and no earlier."""
    import torch

    from redraft.decode.redrafter import Redrafter

    if options.device is not None:
        try:
            kind = torch.device(options.device).type
        except RuntimeError:
            raise ConfigError(f"--device {shown(options.device)} is not known.", "Use cpu, cuda or cuda:0.") from None
        if kind == "cuda" and not torch.cuda.is_available():
            raise ConfigError(f"--device {options.device}: no GPU can be used here.", "Use --device cpu.")
    return Redrafter(
        options.model,
        config=config,
        variants=options.variants,
        prompt=options.prompt,
        device=options.device,
        dtype=options.dtype,
    )


def _whole_number(flag: str, text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"{flag}: {shown(text)} is not a whole number of at least 1.", f"Write for example {flag} 8.")
    return int(text)


def _say(message: object) -> None:
    print(f"redraft: {message}", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """The `redraft` command; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):  # λ in a help text must not fail on a terminal that lacks it
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return simplify(_parse(argv))
    except RedraftError as error:
        _say(error)
        return MISTAKE
    except BrokenPipeError:
        _hush()
        return OK
    except OSError as error:
        _say(f"{error.filename}: {error.strerror}" if error.filename else error)
        return MISTAKE
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":
            raise
        _say(f"the model does not fit: {str(error).splitlines()[0]}\n  Try a smaller --batch-size or fewer --beams.")
        return MISTAKE


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = build_parser()
    options, rest = parser.parse_known_args(argv)
    unknown = [word for word in rest if word.startswith("-")]
    if unknown:
        parser.error(f"unknown option {unknown[0]}; redraft {options.command} --help lists them")
    options.texts += rest  # argparse gives up on sentences that come behind an option behind a sentence
    return options


def _hush() -> None:
    """Whoever read our output has left; let the interpreter's last flush go nowhere."""
    with suppress(OSError, ValueError):  # not a real file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
