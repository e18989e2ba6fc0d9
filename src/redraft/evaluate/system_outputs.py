"""Read system outputs: plain lines, or results of `redraft simplify --json` with the status of each edit."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from redraft.errors import CorpusError, PlanError, shown
from redraft.evaluate.text_files import format_line_numbers, read_text
from redraft.plan.edits import Edit
from redraft.plan.plan_files import JsonlReader
from redraft.plan.verdicts import Status, Verdict


@dataclass(frozen=True)
class SystemOutputs:
    """The outputs of a system, one for each sentence."""

    name: str
    texts: Sequence[str]
    sources: Sequence[str] | None = None  # if the results contain them
    verdicts: Sequence[Sequence[Verdict]] | None = None
    notices: tuple[str, ...] = ()


def read_outputs(path: str) -> SystemOutputs:
    """Read a file of outputs ("-": standard input). Results are recognised by the suffix .jsonl or the first line."""
    file = read_text(path)
    if not path.endswith(".jsonl") and not _looks_like_results(file.lines):
        return SystemOutputs(file.path, file.lines, notices=file.notices)
    with JsonlReader(io.StringIO("\n".join(file.lines)), _result) as reader:
        reader.path = file.path
        results = list(reader)
    sources, texts, verdicts = zip(*results, strict=True) if results else ((), (), ())
    empty = [number for number, text in enumerate(texts, 1) if not text.strip()]
    notices = (f"{file.path}: the output is empty in {format_line_numbers(empty)}.",) if empty else ()
    return SystemOutputs(file.path, texts, sources, verdicts, notices)


def _looks_like_results(lines: Sequence[str]) -> bool:
    return bool(lines) and lines[0].startswith("{") and '"output"' in lines[0]


def check_sources(outputs: SystemOutputs, sources: Sequence[str], corpus: str) -> None:
    """Check that the sources in the results are those of the corpus."""
    for number, (own, expected) in enumerate(zip(outputs.sources or (), sources, strict=False), 1):
        if own.split() != expected.split():
            raise CorpusError(
                f"{outputs.name}, line {number}: the source is {shown(own)}, but in {corpus} it is {shown(expected)}.",
                "Use the corpus and split that the results were made from.",
            )


def _result(obj: object) -> tuple[str, str, tuple[Verdict, ...]]:
    hint = "Write results with redraft simplify --json, or give plain lines in a file with another suffix."
    if isinstance(obj, dict) and "error" in obj:
        raise PlanError(
            "this line reports an error instead of a result.", "Fix the error and run redraft simplify again."
        )
    if not isinstance(obj, dict) or not _is_text(obj.get("output")) or not _is_text(obj.get("source")):
        raise PlanError("not a result: it has no source and output.", hint)
    edits = obj.get("edits", [])
    if not isinstance(edits, list):
        raise PlanError("must be a list.", hint, field="edits")
    return obj["source"], obj["output"], tuple(_verdict(edit, hint) for edit in edits)


def _is_text(value: object) -> bool:
    """Whether the value is text that can be encoded. JSON allows lone surrogates; UTF-8 does not."""
    return isinstance(value, str) and value.encode("utf-8", "ignore").decode() == value


def _verdict(obj: Any, hint: str) -> Verdict:
    if not isinstance(obj, dict) or obj.get("status") not in get_args(Status):
        raise PlanError("an edit has no status.", hint, field="edits")
    if obj.get("chosen_over") not in (True, False, None):
        raise PlanError("must be true, false or null.", hint, field="edits.chosen_over")
    if not isinstance(obj.get("reason"), str | None):
        raise PlanError("must be a string.", hint, field="edits.reason")
    rest = {key: value for key, value in obj.items() if key not in ("status", "chosen_over", "reason")}
    return Verdict(Edit.from_json(rest), obj["status"], obj.get("chosen_over"), obj.get("reason"))
