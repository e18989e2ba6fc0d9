"""Tables of a model: sorted lines of tab-separated cells, compressed as .xz."""

from __future__ import annotations

import lzma
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from redraft.errors import CorpusError, ModelError, shown
from redraft.files import atomic_write
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
    """A table whose rows are parsed on access.

    The lines stay in one piece, found by the hashes of their keys: a dictionary of lines would take ten times as much.
    """

    def __init__(self, path: str | Path, parse: Callable[[list[str]], tuple[str, Value]]) -> None:
        import numpy as np

        self._path, self._parse = path, parse
        self._text = _read_text(path).encode("utf-8")
        starts, hashes = array("q"), array("q")
        for key, start in self._keys():
            starts.append(start)
            hashes.append(hash(key))
        order = np.argsort(np.array(hashes, np.int64), kind="stable").tolist()
        self._hashes = array("q", (hashes[at] for at in order))
        self._starts = array("q", (starts[at] for at in order))
        self._values: dict[str, Value] = {}

    def _keys(self) -> Iterator[tuple[bytes, int]]:
        """Each key, and where its line starts."""
        start, text = 0, self._text
        while start < len(text):
            end = text.find(b"\n", start)
            end = len(text) if end < 0 else end
            tab = text.find(b"\t", start, end)
            yield text[start : end if tab < 0 else tab], start
            start = end + 1

    def _line(self, key: str) -> tuple[int, bytes] | None:
        """Where the line of a key starts, and the line."""
        raw = key.encode("utf-8", "surrogatepass")
        wanted = hash(raw)
        at = bisect_left(self._hashes, wanted)
        while at < len(self._hashes) and self._hashes[at] == wanted:
            start = self._starts[at]
            end = self._text.find(b"\n", start)
            line = self._text[start : len(self._text) if end < 0 else end]
            if line.partition(b"\t")[0] == raw:
                return start, line
            at += 1
        return None

    def __getitem__(self, key: str) -> Value:
        if key not in self._values:
            found = self._line(key)
            if found is None:
                raise KeyError(key)
            start, line = found
            try:
                _, self._values[key] = self._parse(_cells(line.decode("utf-8")))
            except ValueError:
                number = self._text.count(b"\n", 0, start) + 1
                raise _invalid(self._path, number, line.decode("utf-8")) from None
        return self._values[key]

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and (key in self._values or self._line(key) is not None)

    def __iter__(self) -> Iterator[str]:
        return (key.decode("utf-8") for key, _ in self._keys())

    def __len__(self) -> int:
        return len(self._hashes)


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
