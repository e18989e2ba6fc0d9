"""Tables of a model: sorted lines of tab-separated cells, compressed as .xz."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from redraft.errors import CorpusError, ModelError, shown
from redraft.files import atomic_write
from redraft.line_index import LineIndex
from redraft.models import is_bundled
from redraft.reading import decompress_xz

Row = TypeVar("Row")
Value = TypeVar("Value")

_LARGEST = 1 << 53  # integers up to here are exact as floats


def write_rows(path: str | Path, rows: Iterable[Sequence[object]]) -> None:
    lines = sorted("\t".join(map(str, row)) + "\n" for row in rows)
    with atomic_write(Path(path)) as file:
        file.write(lzma.compress("".join(lines).encode("utf-8"), preset=9))


def read_rows(path: str | Path, parse: Callable[[list[str]], Row]) -> Iterator[Row]:
    """The rows of a table, parsed from their cells; a ValueError of `parse` becomes an error that names the line."""
    for number, line in enumerate(_read_lines(path), 1):
        yield _parse_line(path, number, line, parse)


def read_table(path: str | Path, parse: Callable[[list[str]], tuple[str, Value]]) -> Mapping[str, Value]:
    """A table by the keys in its first column. The rows of bundled tables are parsed when they are first looked up:
    parsing all of them would take a second at every start. Other tables are checked completely."""
    return BundledTable(path, parse) if is_bundled(path) else dict(read_rows(path, parse))


class BundledTable(Mapping[str, Value]):
    """A table whose rows are parsed on access."""

    def __init__(self, path: str | Path, parse: Callable[[list[str]], tuple[str, Value]]) -> None:
        self._path, self._parse = path, parse
        self._lines = LineIndex(_read_text(path).encode("utf-8"), b"\t")
        self._values: dict[str, Value] = {}

    def __getitem__(self, key: str) -> Value:
        if key not in self._values:
            start, line = next(self._lines.lines(key), (0, None))
            if line is None:
                raise KeyError(key)
            try:
                _, self._values[key] = self._parse(_cells(line))
            except ValueError:
                raise _invalid(self._path, self._lines.number_at(start), line) from None
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def _read_text(path: str | Path) -> str:
    try:
        text = decompress_xz(Path(path).read_bytes(), path).decode("utf-8")
    except (OSError, CorpusError, UnicodeDecodeError) as error:
        why = error.problem if isinstance(error, CorpusError) else error
        hint = "Name a folder that redraft train-planner has written."
        raise ModelError(f"{path} cannot be read: {why}", hint) from None
    return text.removesuffix("\n")


def _read_lines(path: str | Path) -> Sequence[str]:
    text = _read_text(path)
    return text.split("\n") if text else ()


def _parse_line(path: str | Path, number: int, line: str, parse: Callable[[list[str]], Row]) -> Row:
    try:
        return parse(_cells(line))
    except ValueError:
        raise _invalid(path, number, line) from None


def _cells(line: str) -> list[str]:
    return line.removesuffix("\r").split("\t")


def _invalid(path: str | Path, number: int, line: str) -> ModelError:
    problem = f"{path}, line {number}: {shown(line, 80)} is not a valid entry."
    return ModelError(problem, "Restore the file, or train again.")


def parse_count(cell: str) -> int:
    """A count: an integer of at least 0."""
    found = int(cell)
    if not 0 <= found < _LARGEST:
        raise ValueError
    return found
