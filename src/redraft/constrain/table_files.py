"""Tables that come with a model: cells between tabs, sorted lines, .xz."""

from __future__ import annotations

import io
import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from redraft.errors import ModelError, shown
from redraft.files import replacing

Row = TypeVar("Row")


def write_rows(path: str | Path, rows: Iterable[Sequence[object]]) -> None:
    lines = sorted("\t".join(map(str, row)) + "\n" for row in rows)
    with replacing(Path(path)) as file:
        file.write(lzma.compress("".join(lines).encode("utf-8"), preset=9))


def read_rows(path: str | Path, parse: Callable[[list[str]], Row]) -> Iterator[Row]:
    """What `parse` makes of the cells of each line; its ValueError becomes an error that names the line."""
    try:
        lines = io.StringIO(lzma.decompress(Path(path).read_bytes()).decode("utf-8"))  # only \n ends a line
    except (OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise ModelError(f"{path} cannot be read: {error}", "Name a folder of redraft train-predictor.") from None
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        try:
            row = parse(line.split("\t"))
        except ValueError:
            raise ModelError(f"{path}, line {number}: {shown(line, 80)} is no entry.", "Make the file again.") from None
        yield row
