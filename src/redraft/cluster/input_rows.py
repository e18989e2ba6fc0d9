"""Reads the rows of a part: sentences, documents or plans, each with its number, its name and its error."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from redraft.cluster.input_files import InputPart, Piece, open_file_system
from redraft.errors import CorpusError, PlanError, RedraftError, shown
from redraft.files import decode_utf8
from redraft.plan.edits import PLAN_KEYS, EditPlan
from redraft.plan.plan_files import JsonlReader
from redraft.reading import BOM

TEXT_COLUMNS = ("source", "text", "sentence", "document")  # the first that a row has
INPUT_SCHEMA = pa.schema([
    pa.field("row", pa.int64()),  # from 0, over all files
    pa.field("id", pa.string()),  # that of the input, or file:line
    pa.field("source", pa.string()),
    pa.field("plan", pa.string()),  # JSON, if one was given
    pa.field("error", pa.string()),
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class InputRow:
    """One row: a text with or without a plan, or the error of a row that cannot be read."""

    id: str
    source: str | None = None
    plan: EditPlan | None = None
    error: str | None = None


def read_part(part: InputPart, column: str | None = None, done: Collection[int] = ()) -> pa.Table:
    """The rows of a part as a table, without those whose numbers are `done`."""
    rows = (row for piece in part.pieces for row in _read_piece(piece, column))
    found = [
        {"row": number, "id": row.id, "source": row.source, "error": row.error,
         "plan": json.dumps(row.plan.to_json(), ensure_ascii=False) if row.plan else None}
        for number, row in enumerate(rows, part.row) if number not in done
    ]  # fmt: skip
    return pa.Table.from_pylist(found, INPUT_SCHEMA)


def _read_piece(piece: Piece, column: str | None) -> Iterator[InputRow]:
    """Always as many rows as the piece has: a file that has changed or disappeared gives errors."""
    if piece.error:
        yield InputRow(_place(piece, 0), error=f"{_place(piece, 0)}: {piece.error}")
        return
    at = 0
    try:
        for row in _rows(piece, column):
            if at < piece.rows:
                yield row
                at += 1
    except (OSError, RedraftError, pa.ArrowException) as error:
        problem = f"cannot be read: {error}"
    else:
        problem = "is missing: the file has become shorter."
    for missing in range(at, piece.rows):
        yield InputRow(_place(piece, missing), error=f"{_place(piece, missing)}: {problem}")


def _rows(piece: Piece, column: str | None) -> Iterator[InputRow]:
    file_system, inner = open_file_system(piece.path)
    with file_system.open_input_file(inner) as file:
        if piece.format == "parquet":
            yield from _parquet_rows(piece, file, column)
            return
        file.seek(piece.start)
        data = file.read(piece.end - piece.start)
    if piece.start == 0:
        data = data.removeprefix(BOM)
    if piece.format == "jsonl":
        yield from _json_rows(piece, data, column)
    else:
        lines = [data] if piece.whole else data.removesuffix(b"\n").split(b"\n")
        for at, raw in enumerate(lines):
            yield _text_row(piece, at, raw if piece.whole else raw.removesuffix(b"\r"))


def _text_row(piece: Piece, at: int, raw: bytes) -> InputRow:
    place = _place(piece, at)
    try:
        text = decode_utf8(raw, piece.name, piece.line + at)
        EditPlan(text)  # refuses what no text may contain
    except RedraftError as error:
        return InputRow(place, error=str(_with_place(error, piece, at)))
    return InputRow(place, text)


def _json_rows(piece: Piece, data: bytes, column: str | None) -> Iterator[InputRow]:
    reader = JsonlReader(io.BytesIO(data), lambda obj: _row_of(obj, column))
    at = 0
    while True:
        try:
            found = reader.next_line()
        except StopIteration:
            return
        place = _place(piece, at)
        if isinstance(found, PlanError):
            problem = PlanError(found.problem, found.hint, field=found.field).at(path=piece.name, line=piece.line + at)
            yield InputRow(place, error=str(problem))
        else:  # a blank line is an empty text, so that rows and lines have the same numbers
            yield _named(found, place) if found else InputRow(place, "")
        at += 1


def _parquet_rows(piece: Piece, file: Any, column: str | None) -> Iterator[InputRow]:
    parquet = pq.ParquetFile(file)
    names = [*((column,) if column else TEXT_COLUMNS), "id", "plan"]
    wanted = [name for name in parquet.schema_arrow.names if name in names]
    first, groups = 0, []
    for group in range(parquet.num_row_groups):
        rows = parquet.metadata.row_group(group).num_rows
        if first < piece.end and first + rows > piece.start:
            groups.append((first, group))
        first += rows
    start = groups[0][0] if groups else 0
    table = parquet.read_row_groups([group for _, group in groups], columns=wanted)
    for at, obj in enumerate(table.slice(piece.start - start, piece.rows).to_pylist()):
        place = _place(piece, at)
        try:
            yield _named(_row_of({name: value for name, value in obj.items() if value is not None}, column), place)
        except PlanError as error:
            yield InputRow(place, error=str(_with_place(error, piece, at)))


def _row_of(obj: object, column: str | None) -> InputRow:
    """The row of one object: a text, a plan as in a plan file, or an object with a plan in `plan`."""
    if isinstance(obj, str):
        obj = {"source": obj}
    if not isinstance(obj, Mapping):
        raise PlanError(f"a row is {shown(obj)}.", 'Write an object, for example {"text": "They remain old ."}.')
    name = column or next((name for name in TEXT_COLUMNS if name in obj), None)
    row_id = "" if obj.get("id") is None else str(obj["id"])
    if obj.get("plan") is not None:
        plan = EditPlan.from_json(_parsed(obj["plan"]))
    elif "edits" in obj:
        plan = EditPlan.from_json({key: obj[key] for key in PLAN_KEYS if key in obj})
    elif name is None or name not in obj:
        raise PlanError(
            f"the row has no {shown(column) if column else 'text'}.",
            f"Name its field with --column, or call it {', '.join(TEXT_COLUMNS[:-1])} or {TEXT_COLUMNS[-1]}.",
        )
    else:
        return InputRow(row_id, EditPlan(obj[name]).source)
    return InputRow(row_id, plan.source, plan)


def _parsed(plan: object) -> object:
    if not isinstance(plan, str):
        return plan
    try:
        found: object = json.loads(plan)
    except (ValueError, RecursionError):
        raise PlanError(f"{shown(plan)} is not JSON.", "Write a plan object.", field="plan") from None
    return found


def _named(row: InputRow, place: str) -> InputRow:
    return InputRow(row.id or place, row.source, row.plan)


def _place(piece: Piece, at: int) -> str:
    return piece.name if piece.whole else f"{piece.name}:{piece.line + at}"


def _with_place(error: RedraftError, piece: Piece, at: int) -> RedraftError:
    if isinstance(error, PlanError):
        return error.at(path=piece.name, line=piece.line + at)
    return (
        error if isinstance(error, CorpusError) else RedraftError(f"{_place(piece, at)}: {error.problem}", error.hint)
    )
