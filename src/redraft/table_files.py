"""Tables of a model: sorted lines of tab-separated cells, compressed as .xz."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from redraft.errors import CorpusError, ModelError, shown
from redraft.files import atomic_write
from redraft.reading import decompress_xz

Row = TypeVar("Row")

_LARGEST = 1 << 53  # integers up to here are exact as floats


def write_rows(path: str | Path, rows: Iterable[Sequence[object]]) -> None:
    lines = sorted("\t".join(map(str, row)) + "\n" for row in rows)
    with atomic_write(Path(path)) as file:
        file.write(lzma.compress("".join(lines).encode("utf-8"), preset=9))


def read_rows(path: str | Path, parse: Callable[[list[str]], Row]) -> Iterator[Row]:
    """The rows of a table, parsed from their cells; a ValueError of `parse` becomes an error that names the line."""
    try:
        text = decompress_xz(Path(path).read_bytes(), path).decode("utf-8")
    except (OSError, CorpusError, UnicodeDecodeError) as error:
        why = error.problem if isinstance(error, CorpusError) else error
        hint = "Name a folder that redraft train-planner has written."
        raise ModelError(f"{path} cannot be read: {why}", hint) from None
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), 1):
        try:
            row = parse(line.removesuffix("\r").split("\t"))
        except ValueError:
            problem = f"{path}, line {number}: {shown(line, 80)} is not a valid entry."
            raise ModelError(problem, "Restore the file, or train again.") from None
        yield row


def parse_count(cell: str) -> int:
    """A count: an integer of at least 0."""
    found = int(cell)
    if not 0 <= found < _LARGEST:
        raise ValueError
    return found
