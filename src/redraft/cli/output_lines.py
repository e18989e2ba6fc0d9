"""What goes out: one line, or one block to read, for each line that came in."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from redraft.cli.input_lines import Line
from redraft.decode.result import Candidate, Result
from redraft.errors import ConfigError, RedraftError
from redraft.plan.edits import EditPlan, described
from redraft.plan.plan_files import OnError
from redraft.plan.verdicts import judge
from redraft.simplify.documents import in_one_line

if TYPE_CHECKING:
    from redraft.simplify.simplifier import Simplifier


@dataclass(frozen=True, slots=True)
class OutputLine:
    """What one line of input comes to: a rewritten sentence, or an error."""

    line: Line
    result: Result | None
    error: RedraftError | None = None

    def to_text(self) -> str:
        return in_one_line(self.result.text) if self.result else ""

    def to_json_line(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False)

    def to_json(self) -> dict[str, Any]:
        return self.result.to_json() if self.result else {"error": str(self.error), "line": self.line.number}


def rewrite_lines(
    simplifier: Simplifier, lines: Iterable[Line], *, predict: bool, batch_size: int = 8, window: int = 1,
    trace: bool = False,
) -> Iterator[OutputLine]:  # fmt: skip
    """One for each line, in their order. An error is a result and stops nothing.

    `predict`: lines are sentences, whose plans the simplifier chooses; else plans are applied as they stand.
    """
    begun: deque[Line] = deque()

    def texts() -> Iterator[EditPlan | str]:
        for line in lines:
            begun.append(line)
            if line.plan is not None and line.plan.source.strip():
                yield line.plan.source if predict else line.plan

    found = simplifier.pipe(texts(), batch_size=batch_size, window=window, trace=trace, on_error="return")
    for result in found:
        yield from _without_model(begun)
        line = begun.popleft()
        if isinstance(result, RedraftError):
            yield OutputLine(line, None, line.located(result))
        else:
            yield OutputLine(line, result)
    yield from _without_model(begun)


def _without_model(begun: deque[Line]) -> Iterator[OutputLine]:
    """The next lines, as far as no model needs to see them."""
    while begun and (begun[0].plan is None or not begun[0].plan.source.strip()):
        line = begun.popleft()
        if line.plan is None:
            yield OutputLine(line, None, line.error)
        else:
            nothing = Candidate("", 0.0, 0.0, tuple(judge(line.plan, "")), (), False)
            yield OutputLine(line, Result(line.plan.source, (nothing,)))


@dataclass(slots=True)
class RunSummary:
    """How a run went."""

    lines: int = 0
    skipped: int = 0
    in_pieces: int = 0  # sentences that were too long for the model
    impossible: int = 0  # edits of the lines written
    unchanged: int = 0  # lines that were left as they are
    not_done: list[str] = field(default_factory=list)  # edits that a person asked for, each with its line
    at_risk: list[tuple[float, str]] = field(default_factory=list)  # texts that may not say the same: risk, and why


def write_results(
    results: Iterable[OutputLine],
    file: IO[bytes],
    *,
    shown: Callable[[OutputLine], str] = OutputLine.to_text,
    end: str = "\n",
    on_error: OnError = "raise",
    report: Callable[[RedraftError], object] = lambda error: None,
    count: RunSummary | None = None,
) -> RunSummary:
    """Each result as it is `shown`, with its `end`, flushed at once; `count` keeps up while it runs.

    With on_error="raise" the first error is raised when all lines before it are written; with "skip" it goes to
    `report` and its line stays empty. Sentences and plans that do not belong together are raised in either case.
    """
    count = count if count is not None else RunSummary()
    for one in results:
        if one.error is not None and (on_error == "raise" or one.line.fatal):
            raise one.error
        if one.result is not None:
            count.in_pieces += one.result.pieces > 1
            count.impossible += sum(verdict.status == "impossible" for verdict in one.result.verdicts)
            count.unchanged += one.result.unchanged is not None
            count.not_done += _not_done(one.line.number, one.result)
            count.at_risk += _at_risk(one.line.number, one.result)
        file.write(f"{shown(one)}{end}".encode("utf-8", "replace"))
        file.flush()
        count.lines += 1
        if one.error is not None:
            count.skipped += 1
            report(one.error)
    return count


def _not_done(line: int, decoded: Result) -> list[str]:
    found = (described(one.edit) + (f" ({one.edit.note})" if one.edit.note else "") for one in decoded.not_done)
    return list(dict.fromkeys(f"line {line}: {what}" for what in found))


def _at_risk(line: int, decoded: Result) -> list[tuple[float, str]]:
    meaning = decoded.meaning
    if meaning is None or not meaning.alarm:
        return []
    return [(meaning.risk, f"line {line}: {meaning.why} ({meaning.risk:.0%})")]


def check_out(out: str | None, inputs: Iterable[str | None]) -> None:
    """Refuse, before a model is loaded, a file that cannot be made or that is still to be read."""
    if out is None:
        return
    if not out:
        raise ConfigError("--out has no name.", "Name a file in a folder that exists.")
    folder = os.path.dirname(out) or "."
    if os.path.isdir(out) or not os.path.isdir(folder):
        what = "is a folder" if os.path.isdir(out) else "has no folder to be in"
        raise ConfigError(f"--out {out} {what}.", "Name a file in a folder that exists.")
    for path in inputs:
        if path not in (None, "-") and os.path.isfile(out) and os.path.exists(path) and os.path.samefile(out, path):
            raise ConfigError(f"--out {out} is also what is read.", "Write to another file.")
