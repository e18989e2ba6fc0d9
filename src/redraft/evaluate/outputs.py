"""The outputs of a system: plain lines, or results of `redraft simplify --json` with their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from redraft.constrain.edits import Edit
from redraft.constrain.plan_files import JsonlReader
from redraft.constrain.verdicts import Status, Verdict
from redraft.errors import CorpusError, PlanError, shown
from redraft.evaluate.text_files import read_text


@dataclass(frozen=True)
class Outputs:
    """What a system wrote, sentence by sentence."""

    name: str
    texts: Sequence[str]
    sources: Sequence[str] | None = None  # as the results name them
    verdicts: Sequence[Sequence[Verdict]] | None = None
    notices: tuple[str, ...] = ()


def read_outputs(path: str) -> Outputs:
    """A file of outputs; one that ends in .jsonl holds results."""
    if not path.endswith(".jsonl"):
        file = read_text(path)
        return Outputs(path, file.lines, notices=file.notices)
    with JsonlReader(path, _result) as reader:
        results = list(reader)
    sources, texts, verdicts = zip(*results, strict=True) if results else ((), (), ())
    return Outputs(path, texts, sources, verdicts)


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
    if not isinstance(obj, dict) or not isinstance(obj.get("output"), str) or not isinstance(obj.get("source"), str):
        problem = "this line says that its sentence failed." if isinstance(obj, dict) and "error" in obj else (
            "this is no result: it has no source and output."
        )  # fmt: skip
        raise PlanError(problem, hint)
    return obj["source"], obj["output"], tuple(_verdict(edit, hint) for edit in obj.get("edits", ()))


def _verdict(obj: Any, hint: str) -> Verdict:
    if not isinstance(obj, dict) or obj.get("status") not in get_args(Status):
        raise PlanError("an edit has no verdict.", hint, field="edits")
    rest = {key: value for key, value in obj.items() if key not in ("status", "chosen_over", "reason")}
    return Verdict(Edit.from_json(rest), obj["status"], obj.get("chosen_over"), obj.get("reason"))
