"""The outputs of a system: plain lines, or results of `redraft simplify --json` with their verdicts."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from redraft.errors import CorpusError, PlanError, shown
from redraft.evaluate.text_files import places, read_text
from redraft.plan.edits import Edit
from redraft.plan.plan_files import JsonlReader
from redraft.plan.verdicts import Status, Verdict


@dataclass(frozen=True)
class Outputs:
    """What a system wrote, sentence by sentence."""

    name: str
    texts: Sequence[str]
    sources: Sequence[str] | None = None  # as the results name them
    verdicts: Sequence[Sequence[Verdict]] | None = None
    notices: tuple[str, ...] = ()


def read_outputs(path: str) -> Outputs:
    """A file of outputs, or standard input ("-"). Results are known by their ending .jsonl or by their first line."""
    file = read_text(path)
    if not path.endswith(".jsonl") and not _looks_like_results(file.lines):
        return Outputs(file.path, file.lines, notices=file.notices)
    with JsonlReader(io.StringIO("\n".join(file.lines)), _result) as reader:
        reader.path = file.path
        results = list(reader)
    sources, texts, verdicts = zip(*results, strict=True) if results else ((), (), ())
    empty = [number for number, text in enumerate(texts, 1) if not text.strip()]
    notices = (f"{file.path}: the output is empty in {places(empty)}.",) if empty else ()
    return Outputs(file.path, texts, sources, verdicts, notices)


def _looks_like_results(lines: Sequence[str]) -> bool:
    return bool(lines) and lines[0].startswith("{") and '"output"' in lines[0]


def check_sources(outputs: Outputs, sources: Sequence[str], corpus: str) -> None:
    """Results name their sources: they must be those of the corpus."""
    for number, (own, wanted) in enumerate(zip(outputs.sources or (), sources, strict=False), 1):
        if own.split() != wanted.split():
            raise CorpusError(
                f"{outputs.name}, line {number}: the source is {shown(own)}, but in {corpus} it is {shown(wanted)}.",
                "Score results with the corpus and split they were made from.",
            )


def _result(obj: object) -> tuple[str, str, tuple[Verdict, ...]]:
    hint = "Write results with redraft simplify --json, or give plain lines in a file of another ending."
    if isinstance(obj, dict) and "error" in obj:
        raise PlanError("this line says that its sentence failed.", "Mend it and run redraft simplify again.")
    if not isinstance(obj, dict) or not _is_text(obj.get("output")) or not _is_text(obj.get("source")):
        raise PlanError("this is no result: it has no source and output.", hint)
    edits = obj.get("edits", [])
    if not isinstance(edits, list):
        raise PlanError("must be a list.", hint, field="edits")
    return obj["source"], obj["output"], tuple(_verdict(edit, hint) for edit in edits)


def _is_text(value: object) -> bool:
    """Text that can be written: half of a surrogate pair, which JSON allows, cannot."""
    return isinstance(value, str) and value.encode("utf-8", "ignore").decode() == value


def _verdict(obj: Any, hint: str) -> Verdict:
    if not isinstance(obj, dict) or obj.get("status") not in get_args(Status):
        raise PlanError("an edit has no verdict.", hint, field="edits")
    if obj.get("chosen_over") not in (True, False, None):
        raise PlanError("must be true, false or null.", hint, field="edits.chosen_over")
    if not isinstance(obj.get("reason"), str | None):
        raise PlanError("must be a text.", hint, field="edits.reason")
    rest = {key: value for key, value in obj.items() if key not in ("status", "chosen_over", "reason")}
    return Verdict(Edit.from_json(rest), obj["status"], obj.get("chosen_over"), obj.get("reason"))
