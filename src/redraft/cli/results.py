"""What goes out: one line, or one block to read, for each line that came in."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from redraft.cli.lines import Line, binary
from redraft.constrain.edits import EditPlan
from redraft.constrain.plan_files import OnError
from redraft.constrain.verdicts import Verdict, judge
from redraft.constrain.wishes import KEPT, WANTED
from redraft.decode.decoded import Candidate, Decoded
from redraft.errors import ConfigError, RedraftError

if TYPE_CHECKING:
    from redraft.cli.planner import Planning
    from redraft.decode.redrafter import Redrafter


@dataclass(frozen=True, slots=True)
class Result:
    """What one line of input comes to: a rewritten sentence, or an error."""

    line: Line
    decoded: Decoded | None
    error: RedraftError | None = None
    pieces: int = 1  # in which a sentence was rewritten
    unchanged: str | None = None  # why it was left as it is

    def to_text(self) -> str:
        # str.splitlines knows more line ends than \n, and so do many readers.
        return " ".join(self.decoded.output.splitlines()) if self.decoded else ""

    def to_json_line(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False)

    def to_json(self) -> dict[str, Any]:
        if self.decoded is None:
            return {"error": str(self.error), "line": self.line.number}
        pieces = {"pieces": self.pieces} if self.pieces > 1 else {}
        return {**self.decoded.to_json(), **pieces, **({"unchanged": self.unchanged} if self.unchanged else {})}


def rewrite_lines(
    redrafter: Redrafter, lines: Iterable[Line], *, planning: Planning | None = None, batch_size: int = 8,
    trace: bool = False,
) -> Iterator[list[Result]]:  # fmt: skip
    """Results batch by batch, one for each line and in their order. An error is a result and stops nothing.

    With `planning` the plans are predicted: the lines have none.
    """
    lines = iter(lines)
    while batch := list(islice(lines, batch_size)):
        asked = [line for line in batch if line.plan is not None and line.plan.source.strip()]
        results = [_untouched(line, planning) for line in asked] if planning else []
        done = {id(result.line): result for result in results if result}
        rest = [line for line in asked if id(line) not in done]
        found = {id(result.line): result for result in _rewritten(redrafter, rest, planning, batch_size, trace)}
        yield [found.get(id(line)) or done.get(id(line)) or _unasked(line) for line in batch]


def _untouched(line: Line, planning: Planning) -> Result | None:
    """The result of a text that no rewriting would do good; None for one to be rewritten."""
    if line.plan is None or (why := planning.unreadable(line.plan.source)) is None:
        return None
    (asked,) = planning.plans([line.plan.source])  # nothing but what the user wants
    same = Candidate(line.plan.source.strip(), 0.0, 0.0, tuple(judge(asked, line.plan.source)), (), False)
    return Result(line, Decoded(line.plan.source, (same,)), unchanged=why)


def _rewritten(
    redrafter: Redrafter, lines: Sequence[Line], planning: Planning | None, batch_size: int, trace: bool
) -> list[Result]:
    if not lines:
        return []
    asked = [_pieces(redrafter, line.plan) for line in lines if line.plan is not None]
    try:
        if planning:
            from redraft.decode.fitting import fitted

            planned = fitted(redrafter, planning.plans([plan.source for plans in asked for plan in plans]))
            asked = [list(islice(planned, len(plans))) for plans in asked]
        outputs = redrafter.rewrite([plan for plans in asked for plan in plans], batch_size=batch_size, trace=trace)
    except ConfigError:
        raise
    except RedraftError as error:
        if len(lines) == 1:
            return [Result(lines[0], None, lines[0].located(error))]
        alone = (_rewritten(redrafter, [line], planning, batch_size, trace) for line in lines)  # whose is it?
        return [result for results in alone for result in results]
    found = iter(outputs)
    return [
        Result(line, _joined(line, list(islice(found, len(plans)))), pieces=len(plans))
        for line, plans in zip(lines, asked, strict=True)
    ]


def _pieces(redrafter: Redrafter, plan: EditPlan) -> list[EditPlan]:
    """A sentence too long for the model in pieces; with edits it stays whole, since they may reach across."""
    return [plan] if plan.edits else [EditPlan(piece) for piece in redrafter.pieces(plan.source)]


def _joined(line: Line, parts: Sequence[Decoded]) -> Decoded:
    """The result of a sentence from those of its pieces; of several pieces, the best candidate of each."""
    if len(parts) == 1 or line.plan is None:
        return parts[0]
    best = Candidate(
        " ".join(part.output for part in parts),
        sum(part.log_prob for part in parts),
        sum(part.edit_score for part in parts),
        tuple(_verdicts(line.plan.source, parts)),
        tuple(token for part in parts for token in part.candidates[0].tokens),
        any(part.truncated for part in parts),
    )
    return Decoded(line.plan.source, (best,), tuple(step for part in parts for step in part.trace))


def _verdicts(source: str, parts: Sequence[Decoded]) -> Iterator[Verdict]:
    """Those of all pieces, with the spans that their edits have in the whole sentence."""
    start = 0
    for part in parts:
        start = source.index(part.source, start)
        for verdict in part.edits:
            span = verdict.edit.span
            moved = replace(verdict.edit, span=(span[0] + start, span[1] + start)) if span else verdict.edit
            yield replace(verdict, edit=moved)
        start += len(part.source)


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
    in_pieces: int = 0  # sentences that were too long for the model
    impossible: int = 0  # edits of the lines written
    unchanged: int = 0  # lines that were left as they are
    unmet: list[str] = field(default_factory=list)  # wishes of the user, each with its line


def write_results(
    batches: Iterable[list[Result]],
    file: IO[bytes],
    *,
    shown: Callable[[Result], str] = Result.to_text,
    on_error: OnError = "raise",
    report: Callable[[RedraftError], object] = lambda error: None,
    count: Written | None = None,
) -> Written:
    """Each result as it is `shown`, flushed at the end of each batch; `count` keeps up while it runs.

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
                count.in_pieces += result.pieces > 1
                count.impossible += sum(verdict.status == "impossible" for verdict in result.decoded.edits)
                count.unchanged += result.unchanged is not None
                count.unmet += _unmet_wishes(result.line.number, result.decoded)
            lines.append(shown(result))
        file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        file.flush()
        count.lines += len(lines)
        count.skipped += len(skipped)
        for error in skipped:
            report(error)
        if stop is not None:
            raise stop
    return count


def _unmet_wishes(line: int, decoded: Decoded) -> list[str]:
    wishes = [verdict for verdict in decoded.edits if verdict.edit.note in (KEPT, WANTED)]
    return [f"line {line}: {verdict.edit.phrase} ({verdict.edit.note})" for verdict in wishes
            if verdict.status != "satisfied"]  # fmt: skip


@contextmanager
def opened(out: str | None) -> Iterator[IO[bytes]]:
    if out is None:
        yield binary(sys.stdout)
    else:
        with open(out, "wb") as file:
            yield file


def check_out(out: str | None, inputs: Iterable[str | None]) -> None:
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
