"""What goes out: one line, or one block to read, for each line that came in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from redraft.cli.input_lines import Line, source_of
from redraft.decode.result import Candidate, Result
from redraft.errors import ConfigError, RedraftError
from redraft.plan.edits import described
from redraft.plan.plan_files import OnError
from redraft.plan.verdicts import judge

if TYPE_CHECKING:
    from redraft.simplify.simplifier import Simplifier


@dataclass(frozen=True, slots=True)
class OutputLine:
    """What one line of input comes to: a rewritten sentence, or an error."""

    line: Line
    decoded: Result | None
    error: RedraftError | None = None

    def to_text(self) -> str:
        # str.splitlines knows more line ends than \n, and so do many readers.
        return " ".join(self.decoded.output.splitlines()) if self.decoded else ""

    def to_json_line(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False)

    def to_json(self) -> dict[str, Any]:
        return self.decoded.to_json() if self.decoded else {"error": str(self.error), "line": self.line.number}


def rewrite_lines(
    simplifier: Simplifier, lines: Iterable[Line], *, predict: bool, batch_size: int = 8, trace: bool = False,
    batches: int = 1,
) -> Iterator[list[OutputLine]]:  # fmt: skip
    """Results one for each line and in their order. An error is a result and stops nothing.

    `predict`: lines are sentences, whose plans the simplifier chooses; else plans are carried out as they stand.
    So many `batches` are read at a time and made of lines of like length: the search takes as long as its longest line.
    """
    lines = iter(lines)
    while some := list(islice(lines, batch_size * batches)):
        asked = [line for line in some if line.plan is not None and line.plan.source.strip()]
        if batches > 1:
            asked.sort(key=lambda line: len(source_of(line)))
        parts = (asked[start : start + batch_size] for start in range(0, len(asked), batch_size))
        results = (result for part in parts for result in _rewritten(simplifier, part, predict, batch_size, trace))
        found = {id(result.line): result for result in results}
        yield [found.get(id(line)) or _unasked(line) for line in some]


def _rewritten(
    simplifier: Simplifier, lines: Sequence[Line], predict: bool, batch_size: int, trace: bool
) -> list[OutputLine]:
    if not lines:
        return []
    texts = [line.plan.source if predict else line.plan for line in lines if line.plan is not None]
    try:
        found = list(simplifier.stream(texts, batch_size=batch_size, trace=trace))
    except ConfigError:
        raise
    except RedraftError as error:
        if len(lines) == 1:
            return [OutputLine(lines[0], None, lines[0].located(error))]
        alone = (_rewritten(simplifier, [line], predict, batch_size, trace) for line in lines)  # whose is it?
        return [result for results in alone for result in results]
    return [OutputLine(line, decoded) for line, decoded in zip(lines, found, strict=True)]


def _unasked(line: Line) -> OutputLine:
    """A line that no model needs to see."""
    if line.plan is None:
        return OutputLine(line, None, line.error)
    nothing = Candidate("", 0.0, 0.0, tuple(judge(line.plan, "")), (), False)
    return OutputLine(line, Result(line.plan.source, (nothing,)))


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
    batches: Iterable[Sequence[OutputLine]],
    file: IO[bytes],
    *,
    shown: Callable[[OutputLine], str] = OutputLine.to_text,
    end: str = "\n",
    on_error: OnError = "raise",
    report: Callable[[RedraftError], object] = lambda error: None,
    count: RunSummary | None = None,
) -> RunSummary:
    """Each result as it is `shown`, with its `end`, flushed at the end of each batch; `count` keeps up while it runs.

    With on_error="raise" the first error is raised when all lines before it are written; with "skip" it goes to
    `report` and its line stays empty. Sentences and plans that do not belong together are raised in either case.
    """
    count = count if count is not None else RunSummary()
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
                count.in_pieces += result.decoded.pieces > 1
                count.impossible += sum(verdict.status == "impossible" for verdict in result.decoded.edits)
                count.unchanged += result.decoded.unchanged is not None
                count.not_done += _not_done(result.line.number, result.decoded)
                count.at_risk += _at_risk(result.line.number, result.decoded)
            lines.append(shown(result))
        file.write("".join(f"{line}{end}" for line in lines).encode("utf-8", "replace"))
        file.flush()
        count.lines += len(lines)
        count.skipped += len(skipped)
        for error in skipped:
            report(error)
        if stop is not None:
            raise stop
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
