"""Blocks for writers of new documents: whole tables, and stretches of text with the same formatting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from urllib.parse import urlsplit

from redraft.documents.blocks import Block, DocumentError, Formatting

MAX_CELLS = 20_000  # of a table, empty ones included
_SCHEMES = ("http", "https", "mailto", "tel", "ftp", "")  # no scripts; "": inside the document or beside it


def tables_and_blocks(blocks: Sequence[Block]) -> Iterator[Block | list[Block]]:
    """In order; the consecutive cells of a table as one list."""
    for table, group in groupby(blocks, key=lambda block: block.table_place and block.table_place.table):
        if table is None:
            yield from group
        else:
            yield list(group)


def table_of(blocks: Sequence[Block]) -> list[list[list[Block]]]:
    """The blocks of each cell, by row and column."""
    places = [block.table_place for block in blocks if block.table_place is not None]
    if places != sorted(places, key=lambda place: (place.row, place.column)):
        raise DocumentError("the cells of a table are not in order.", "Send them row by row, each from left to right.")
    rows, columns = max(one.row for one in places) + 1, max(one.column for one in places) + 1
    if rows * columns > MAX_CELLS:
        raise DocumentError(
            f"a table has {rows:,} rows and {columns:,} columns, and the limit is {MAX_CELLS:,} cells.",
            "Divide the table.",
        )
    cells: list[list[list[Block]]] = [[[] for _ in range(columns)] for _ in range(rows)]
    for block, place in zip(blocks, places, strict=True):
        cells[place.row][place.column].append(block)
    return cells


def formatted_stretches(block: Block) -> Iterator[tuple[str, tuple[Formatting, ...]]]:
    """The text in stretches, each with the formatting of all its characters."""
    length = len(block.text)
    ends = {end for one in block.formatting for end in (one.start, one.end) if 0 < end < length}
    for start, end in pairwise(sorted({0, length} | ends)):
        yield block.text[start:end], tuple(one for one in block.formatting if one.start <= start and end <= one.end)


def link_target(formatting: Sequence[Formatting]) -> str | None:
    """The address of the link among these, if it is safe to write into a document."""
    target = next((one.target for one in formatting if one.style == "link"), None)
    if not target or not target.strip() or any(not character.isprintable() for character in target):
        return None
    try:
        return target if urlsplit(target.strip()).scheme.lower() in _SCHEMES else None
    except ValueError:  # brackets of an IPv6 address that do not match
        return None
