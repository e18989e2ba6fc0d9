"""Reads the input: sentences and plans, one line at a time, each with its line number for error messages."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any

from redraft.errors import ConfigError, CorpusError, PlanError, RedraftError, shown
from redraft.files import utf8_hint
from redraft.plan.edits import EditPlan
from redraft.plan.plan_files import PlanReader, read_plans
from redraft.reading import bounded_lines, open_binary, read_bounded
from redraft.text.sentences import Sentence, split_document


@dataclass(frozen=True, slots=True)
class InputLine:
    """One line of input: its plan, or why it has none."""

    number: int  # from 1
    plan: EditPlan | None = None
    error: RedraftError | None = None
    path: str | None = None
    fatal: bool = False  # reading cannot continue after this line

    def with_place(self, error: RedraftError) -> RedraftError:
        """The error with the file and line number of this line."""
        if isinstance(error, PlanError):
            return error.at(path=self.path, line=self.number)
        place = f"{self.path}:{self.number}" if self.path else f"line {self.number}"
        return RedraftError(f"{place}: {error.problem}", error.hint)


@contextmanager
def open_lines(
    texts: Sequence[str] = (), source: str | None = None, plan: str | None = None
) -> Iterator[Iterator[InputLine]]:
    """The lines of sentences, of a file of sentences, of a plan file, or of a plan file and its sentences.

    Files are opened now ("-" is standard input) and read lazily.
    """
    if texts and source is not None:
        raise ConfigError("TEXT and --input cannot be combined.", "Remove one of them.")
    if not texts and source is None and plan is None:
        raise ConfigError(
            "there is nothing to rewrite.",
            'Give sentences ("They remain old ."), --input FILE, --document FILE or --plan FILE.jsonl; '
            "--help shows examples.",
        )
    if source == plan == "-":
        raise ConfigError("--input and --plan cannot both read standard input.", "Put one of them in a file.")
    with ExitStack() as files:
        sentences = _text_lines(texts)
        if source is not None:
            sentences = _file_lines(_open_input(source, files), _shown_path(source))
        if plan is None:
            yield sentences
            return
        plans = _plan_lines(files.enter_context(read_plans(plan)))
        if texts or source is not None:
            name = "the command line" if source is None else _shown_path(source)
            plans = _check_same_sentences(sentences, plans, name, _shown_path(plan))
        yield plans


def read_document(path: str) -> list[Sentence]:
    """The sentences of a text, each with the white space before it; "-" is standard input."""
    with ExitStack() as files:
        raw = read_bounded(_open_input(path, files), _shown_path(path))
    try:
        return split_document(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise PlanError(f"not UTF-8: 0x{raw[error.start]:02x} is byte {error.start + 1}.", utf8_hint(raw)).at(
            path=_shown_path(path)
        ) from None


def sentence_lines(sentences: Sequence[Sentence], path: str) -> Iterator[InputLine]:
    """The sentences of a document as lines. Their numbers count sentences, not lines of the file."""
    for number, sentence in enumerate(sentences, 1):
        yield _sentence_line(number, sentence.text, _shown_path(path))


def _open_input(path: str, files: ExitStack) -> IO[bytes]:
    if path == "-":
        return binary_stream(sys.stdin)
    return files.enter_context(open_binary(path))


def reads_standard_input(texts: Sequence[str], *files: str | None) -> bool:
    """Whether to read standard input: a single "-" is given, or no input at all while another program pipes data in."""
    if texts or any(files):
        return list(texts) == ["-"]
    peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
    return peek is not None and not sys.stdin.isatty() and bool(peek(1))


def binary_stream(stream: Any) -> IO[bytes]:
    """The byte stream below a text stream."""
    binary: IO[bytes] = stream.buffer
    return binary


def _text_lines(texts: Sequence[str]) -> Iterator[InputLine]:
    for number, text in enumerate(texts, 1):
        yield _sentence_line(number, text, None)


def _file_lines(file: IO[bytes], path: str) -> Iterator[InputLine]:
    number = 0
    try:
        for number, raw in enumerate(bounded_lines(file, path), 1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                problem = f"not UTF-8: 0x{raw[error.start]:02x} is byte {error.start + 1} of the line."
                bad = PlanError(problem, utf8_hint(raw))
                yield InputLine(number, error=bad.at(path=path, line=number), path=path)
            else:
                yield _sentence_line(number, text, path)
    except CorpusError as error:  # a line that is too long
        yield InputLine(number + 1, error=error, path=path, fatal=True)


def _sentence_line(number: int, text: str, path: str | None) -> InputLine:
    try:
        return InputLine(number, EditPlan(text), path=path)
    except PlanError as error:
        return InputLine(number, error=error.at(path=path, line=number), path=path)


def _plan_lines(reader: PlanReader) -> Iterator[InputLine]:
    while True:
        try:
            item = reader.next_line()
        except StopIteration:
            return
        except CorpusError as error:  # a line that is too long
            yield InputLine(reader.line + 1, error=error, path=reader.path, fatal=True)
            return
        if isinstance(item, PlanError):
            yield InputLine(reader.line, error=item, path=reader.path)
        else:  # a blank line counts as an empty sentence, so that line n of the output belongs to line n of the plans
            yield InputLine(reader.line, EditPlan("") if item is None else item, path=reader.path)


def _check_same_sentences(
    sentences: Iterator[InputLine], plans: Iterator[InputLine], source: str, plan: str
) -> Iterator[InputLine]:
    """The plans, each compared with its sentence; the first difference is a fatal error."""
    number = 0
    while True:
        number += 1
        from_source, from_plan = next(sentences, None), next(plans, None)
        if from_source is None and from_plan is None:
            return
        if from_source is None or from_plan is None:
            short, long, rest = (source, plan, from_plan) if from_source is None else (plan, source, from_source)
            yield _difference(
                number, f"{short} ends after {count_lines(number - 1)}, but {long} continues: {_quoted(rest)}."
            )
            return
        if from_source.error or from_plan.error:
            yield from_source if from_source.error else from_plan
        elif from_source.plan and from_plan.plan and from_source.plan.source.strip() != from_plan.plan.source.strip():
            yield _difference(number, f"{source} has {_quoted(from_source)}, but {plan} has {_quoted(from_plan)}.")
            return
        else:
            yield from_plan


def _difference(number: int, problem: str) -> InputLine:
    hint = "Give the same sentences in the same order, or give the plan file only: it contains the sentences."
    return InputLine(number, error=ConfigError(f"line {number}: {problem}", hint), fatal=True)


def _quoted(line: InputLine | None) -> str:
    return shown(line.plan.source, 300) if line is not None and line.plan is not None else "an unreadable line"


def source_of(line: InputLine) -> str:
    return line.plan.source if line.plan else ""


def count_lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"


def _shown_path(path: str) -> str:
    return "<stdin>" if path == "-" else path
