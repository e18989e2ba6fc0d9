"""What comes in: sentences and plans, one line at a time, with their places kept for errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any

from redraft.errors import ConfigError, CorpusError, PlanError, RedraftError, shown
from redraft.plan.edits import EditPlan
from redraft.plan.plan_files import PlanReader, read_plans
from redraft.reading import lines_of, open_binary, read_all
from redraft.text.sentences import Sentence, split_document


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
            'Give sentences ("They remain old ."), --input FILE, --document FILE or --plan FILE.jsonl; '
            "--help shows examples.",
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


def read_document(path: str) -> list[Sentence]:
    """The sentences of a text with the white space before each; "-" is standard input."""
    with ExitStack() as files:
        raw = read_all(_open_input(path, files), _shown_path(path))
    try:
        return split_document(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise PlanError(
            f"not UTF-8: 0x{raw[error.start]:02x} is byte {error.start + 1}.",
            "Save the file as UTF-8; from Latin-1: iconv -f LATIN1 -t UTF-8 OLD > NEW",
        ).at(path=_shown_path(path)) from None


def sentence_lines(sentences: Sequence[Sentence], path: str) -> Iterator[Line]:
    """Numbered as sentences, not as lines of the file."""
    for number, sentence in enumerate(sentences, 1):
        yield _sentence(number, sentence.text, _shown_path(path))


def _open_input(path: str, files: ExitStack) -> IO[bytes]:
    if path == "-":
        return binary(sys.stdin)
    return files.enter_context(open_binary(path))


def from_a_pipe(texts: Sequence[str], *files: str | None) -> bool:
    """Whether standard input is meant: by a dash alone, or where nothing is named and another program writes to us."""
    if texts or any(files):
        return list(texts) == ["-"]
    peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
    return peek is not None and not sys.stdin.isatty() and bool(peek(1))


def binary(stream: Any) -> IO[bytes]:
    binary: IO[bytes] = stream.buffer
    return binary


def _text_lines(texts: Sequence[str]) -> Iterator[Line]:
    for number, text in enumerate(texts, 1):
        yield _sentence(number, text, None)


def _file_lines(file: IO[bytes], path: str) -> Iterator[Line]:
    number = 0
    try:
        for number, raw in enumerate(lines_of(file, path), 1):
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
    except CorpusError as error:  # a line without an end
        yield Line(number + 1, error=error, path=path, fatal=True)


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
        except CorpusError as error:  # a line without an end
            yield Line(reader.line + 1, error=error, path=reader.path, fatal=True)
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
                number, f"{short} ends after {count_lines(number - 1)}, but {long} goes on: {_quoted(rest)}."
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


def source_of(line: Line) -> str:
    return line.plan.source if line.plan else ""


def count_lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"


def _shown_path(path: str) -> str:
    return "<stdin>" if path == "-" else path
