"""The columns of a result: source, text, plan, verdicts, warnings and error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from redraft.decode.result import Result
from redraft.plan.edits import EditPlan
from redraft.plan.verdicts import judge
from redraft.simplify.documents import Document

# Plans and verdicts are JSON texts: their objects differ from row to row, the columns of a table must not.
JSON_COLUMNS = ("plan", "verdicts")
RESULT_FIELDS = (
    pa.field("source", pa.string()),
    pa.field("text", pa.string()),
    pa.field("plan", pa.string()),
    pa.field("verdicts", pa.string()),
    pa.field("warnings", pa.list_(pa.string())),
    pa.field("unchanged", pa.string()),
    pa.field("error", pa.string()),
)


def sentence_row(result: Result) -> dict[str, Any]:
    return {
        "source": result.source,
        "text": result.text,
        "plan": None if result.plan is None else _json(result.plan.to_json()),
        "verdicts": _json([verdict.to_json() for verdict in result.verdicts]),
        "warnings": result.warnings,
        "unchanged": result.unchanged,
    }


def document_row(document: Document) -> dict[str, Any]:
    """`plan` and `verdicts` are lists with one entry for each sentence."""
    return {
        "source": document.source,
        "text": document.text,
        "plan": _json([None if one.plan is None else one.plan.to_json() for one in document.results]),
        "verdicts": _json([[verdict.to_json() for verdict in one.verdicts] for one in document.results]),
        "warnings": document.warnings,
    }


def plan_row(plan: EditPlan, unchanged: str | None) -> dict[str, Any]:
    """A plan that was predicted and not applied."""
    return {"source": plan.source, "plan": _json(plan.to_json()), "unchanged": unchanged}


def error_row(source: str | None, error: object) -> dict[str, Any]:
    return {"source": source, "error": str(error)}


def empty_row(plan: EditPlan) -> dict[str, Any]:
    """A source without words, which the model does not see."""
    verdicts = _json([verdict.to_json() for verdict in judge(plan, "")])
    return {"source": plan.source, "text": "", "plan": _json(plan.to_json()), "verdicts": verdicts, "warnings": []}


def result_table(kept: pa.Table, rows: Sequence[dict[str, Any]]) -> pa.Table:
    """The columns of the input that are kept, followed by those of the results."""
    results = pa.Table.from_pylist(list(rows), pa.schema(RESULT_FIELDS))
    for name in results.column_names:
        kept = kept.append_column(results.schema.field(name), results.column(name))
    return kept


def json_lines(table: pa.Table) -> Iterable[str]:
    """One JSON object for each row; plans and verdicts are objects in it, and empty fields are left out."""
    for row in table.to_pylist():
        known = {name: value for name, value in row.items() if value is not None}
        for name in JSON_COLUMNS:
            if name in known:
                known[name] = json.loads(known[name])
        yield json.dumps(known, ensure_ascii=False, allow_nan=False)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
