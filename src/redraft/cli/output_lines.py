"""Writes the output: for each input line, one line or (with --explain) one block of lines."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from redraft.cli.input_lines import InputLine
from redraft.decode.result import Candidate, Result
from redraft.errors import ConfigError, RedraftError
from redraft.plan.edits import EditPlan, describe_edit
from redraft.plan.plan_files import OnError
from redraft.plan.verdicts import judge
from redraft.simplify.documents import in_one_line

if TYPE_CHECKING:
    from redraft.simplify.process_pool import ProcessPool
    from redraft.simplify.simplifier import Simplifier


@dataclass(frozen=True, slots=True)
class OutputLine:
    """The outcome of one input line: a result or an error."""

    line: InputLine
    result: Result | None
    error: RedraftError | None = None

    def to_text(self) -> str:
        return in_one_line(self.result.text) if self.result else ""

    def to_json_line(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False)

    def to_json(self) -> dict[str, Any]:
        return self.result.to_json() if self.result else {"error": str(self.error), "line": self.line.number}


def rewrite_lines(
    simplifier: Simplifier | ProcessPool, lines: Iterable[InputLine], *, predict: bool, batch_size: int | None = None,
    window: int = 1, trace: bool = False,
) -> Iterator[OutputLine]:  # fmt: skip
    """One outcome per input line, in input order. Errors are returned as outcomes and do not stop the run.

    `predict`: lines hold sentences, whose plans the simplifier predicts; otherwise their plans are applied unchanged.
    """
    waiting: deque[InputLine] = deque()

    def texts() -> Iterator[EditPlan | str]:
        for line in lines:
            waiting.append(line)
            if line.plan is not None and line.plan.source.strip():
                yield line.plan.source if predict else line.plan

    results = simplifier.pipe(texts(), batch_size=batch_size, window=window, trace=trace, on_error="return")
    for result in results:
        yield from _lines_without_text(waiting)
        line = waiting.popleft()
        if isinstance(result, RedraftError):
            yield OutputLine(line, None, line.with_place(result))
        else:
            yield OutputLine(line, result)
    yield from _lines_without_text(waiting)


def _lines_without_text(waiting: deque[InputLine]) -> Iterator[OutputLine]:
    """The outcomes of the next lines that the model does not see: empty sentences and unreadable lines."""
    while waiting and (waiting[0].plan is None or not waiting[0].plan.source.strip()):
        line = waiting.popleft()
        if line.plan is None:
            yield OutputLine(line, None, line.error)
        else:
            empty = Candidate("", 0.0, 0.0, tuple(judge(line.plan, "")), (), False)
            yield OutputLine(line, Result(line.plan.source, (empty,)))


@dataclass(slots=True)
class RunSummary:
    """Counts and notices of a run."""

    lines: int = 0
    skipped: int = 0
    in_pieces: int = 0  # sentences that were too long for the model
    impossible: int = 0  # edits with the status "impossible"
    unchanged: int = 0  # lines that were not rewritten
    not_done: list[str] = field(default_factory=list)  # edits requested by the user, each with its line number
    at_risk: list[tuple[float, str]] = field(default_factory=list)  # texts that may not say the same: risk, description


def write_results(
    results: Iterable[OutputLine],
    file: IO[bytes],
    *,
    format_line: Callable[[OutputLine], str] = OutputLine.to_text,
    end: str = "\n",
    on_error: OnError = "raise",
    report: Callable[[RedraftError], object] = lambda error: None,
    summary: RunSummary | None = None,
) -> RunSummary:
    """Write each result with its `end` and flush it; `summary` is kept up to date.

    With on_error="raise" the first error is raised after all lines before it are written. With "skip" it is passed to
    `report` and its output line is empty. Fatal errors are raised in both cases.
    """
    summary = summary if summary is not None else RunSummary()
    for output in results:
        if output.error is not None and (on_error == "raise" or output.line.fatal):
            raise output.error
        if output.result is not None:
            summary.in_pieces += output.result.pieces > 1
            summary.impossible += sum(verdict.status == "impossible" for verdict in output.result.verdicts)
            summary.unchanged += output.result.unchanged is not None
            summary.not_done += _not_done(output.line.number, output.result)
            summary.at_risk += _at_risk(output.line.number, output.result)
        file.write(f"{format_line(output)}{end}".encode("utf-8", "replace"))
        file.flush()
        summary.lines += 1
        if output.error is not None:
            summary.skipped += 1
            report(output.error)
    return summary


def _not_done(line: int, result: Result) -> list[str]:
    edits = (verdict.edit for verdict in result.not_done)
    descriptions = (describe_edit(edit) + (f" ({edit.note})" if edit.note else "") for edit in edits)
    return list(dict.fromkeys(f"line {line}: {description}" for description in descriptions))


def _at_risk(line: int, result: Result) -> list[tuple[float, str]]:
    meaning = result.meaning
    if meaning is None or not meaning.alarm:
        return []
    return [(meaning.risk, f"line {line}: {meaning.why} ({meaning.risk:.0%})")]


def check_output_path(out: str | None, inputs: Iterable[str | None]) -> None:
    """Before a model is loaded: refuse an --out that cannot be created or that is also an input file."""
    if out is None:
        return
    hint = "Give the name of a file in an existing folder."
    if not out:
        raise ConfigError("--out is empty.", hint)
    if os.path.isdir(out):
        raise ConfigError(f"--out {out} is a folder.", hint)
    if not os.path.isdir(os.path.dirname(out) or "."):
        raise ConfigError(f"--out {out}: the parent folder does not exist.", hint)
    for path in inputs:
        if path not in (None, "-") and os.path.isfile(out) and os.path.exists(path) and os.path.samefile(out, path):
            raise ConfigError(f"--out {out} is also an input file.", "Choose another output file.")
