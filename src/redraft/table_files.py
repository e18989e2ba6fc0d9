"""Tables that come with a model: cells between tabs, sorted lines, .xz."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from redraft.errors import CorpusError, ModelError, shown
from redraft.files import replacing
from redraft.reading import unpacked

Row = TypeVar("Row")

_LARGEST = 1 << 53  # whole numbers up to here are floats too


def write_rows(path: str | Path, rows: Iterable[Sequence[object]]) -> None:
    lines = sorted("\t".join(map(str, row)) + "\n" for row in rows)
    with replacing(Path(path)) as file:
        file.write(lzma.compress("".join(lines).encode("utf-8"), preset=9))


def read_rows(path: str | Path, parse: Callable[[list[str]], Row]) -> Iterator[Row]:
    """What `parse` makes of the cells of each line; its ValueError becomes an error that names the line."""
    try:
        text = unpacked(Path(path).read_bytes(), path).decode("utf-8")
    except (OSError, CorpusError, UnicodeDecodeError) as error:
        why = error.problem if isinstance(error, CorpusError) else error
        raise ModelError(f"{path} cannot be read: {why}", "Name a folder of redraft train-planner.") from None
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            row = parse(line.removesuffix("\r").split("\t"))
        except ValueError:
            raise ModelError(f"{path}, line {number}: {shown(line, 80)} is no entry.", "Make the file again.") from None
        yield row


def count(cell: str) -> int:
    """A whole number that tables count with, from 0."""
    found = int(cell)
    if not 0 <= found < _LARGEST:
        raise ValueError
    return found
