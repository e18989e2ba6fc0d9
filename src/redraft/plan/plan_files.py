"""Reads and writes plan files: JSON Lines, one line at a time."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, Self, TypeVar

from redraft.errors import ConfigError, PlanError, shown
from redraft.files import atomic_write, utf8_hint
from redraft.plan.edits import EditPlan
from redraft.reading import bounded_lines, open_binary

PathOrFile = str | os.PathLike[str] | IO[bytes] | IO[str]
OnError = Literal["raise", "skip"]
T = TypeVar("T")


def read_plans(
    path_or_file: PathOrFile, *, on_error: OnError = "raise", report: Callable[[PlanError], None] | None = None
) -> PlanReader:
    """Read the plans of a file ("-" is standard input), keeping one line in memory.

    With on_error="skip", the error of an invalid line is passed to `report` and reading continues. Without `report`,
    the errors and their count are written to standard error.
    """
    return PlanReader(path_or_file, EditPlan.from_json, on_error=on_error, report=report)


def write_plans(path_or_file: PathOrFile, plans: Iterable[EditPlan]) -> int:
    """Write plans as JSON Lines ("-" is standard output) and return their number."""
    return write_jsonl(path_or_file, (plan.to_json() for plan in plans))


def write_jsonl(path_or_file: PathOrFile, objects: Iterable[Any]) -> int:
    """Write one object per line in UTF-8 and return their number.

    A path is replaced atomically at the end, so an interrupted run leaves no partial file. NaN and infinity raise a
    ValueError, because they are not valid JSON.
    """
    count = 0
    with _writer(path_or_file) as write:
        for obj in objects:
            write(json.dumps(obj, ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    return count


class JsonlReader(Iterator[T]):
    """Iterates over the objects of a JSON Lines file, parsed by `parse`, and counts valid and skipped lines.

    `parse` raises PlanError for an invalid object; the reader adds the file and the line number.
    """

    def __init__(
        self,
        path_or_file: PathOrFile,
        parse: Callable[[object], T],
        *,
        on_error: OnError = "raise",
        report: Callable[[PlanError], None] | None = None,
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise ConfigError(f"on_error is {shown(on_error)}.", 'Write on_error="raise" or on_error="skip".')
        self.read = 0
        self.skipped = 0
        self.path, self._file, self._opened = _open(path_or_file)
        readable: Any = self._file
        is_file = hasattr(readable, "readline")  # else an iterable of lines
        lines = bounded_lines(readable, self.path or "plans") if is_file else iter(readable)
        self._lines: Iterator[bytes | str] = lines
        self._closed = False
        self._number = 0  # of the current line
        self._offset = 0  # of the next line, in bytes
        self._parse = parse
        self._on_error = on_error
        self._report = report

    def __next__(self) -> T:
        while True:
            item = self.next_line()
            if isinstance(item, PlanError):
                self._handle_error(item)
            elif item is not None:
                self.read += 1
                return item

    @property
    def line(self) -> int:
        """The number of the line read last, from 1."""
        return self._number

    def next_line(self) -> T | PlanError | None:
        """The item of the next line, its error, or None if the line is blank, regardless of `on_error`."""
        line = self._next_line()
        if line is None:
            raise StopIteration
        try:
            text = self._decode(line).rstrip("\r\n")  # otherwise a truncated line is reported at column 1 of the next
            return self._parse(_parse_json(text)) if text.strip() else None
        except PlanError as error:
            return error.at(path=self.path, line=self._number)

    def close(self) -> None:
        """Stop reading, and close the file if this reader opened it."""
        self._closed = True
        if self._opened:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next_line(self) -> bytes | str | None:
        try:
            line = None if self._closed else next(self._lines, None)
        except UnicodeDecodeError as error:  # from a text file object, whose decoder cannot continue
            self.close()
            raise PlanError(
                f"the text after this line is not valid {error.encoding}: {error.reason}.",
                'Open the file with mode "rb", so that only the invalid line is lost.',
                path=self.path,
                line=self._number,
            ) from None
        if line is not None:
            self._number += 1
        elif not self._closed:
            self.close()
            if self.skipped and self._report is None:
                print(f"{self.path or 'plans'}: {self.read} read, {self.skipped} skipped", file=sys.stderr)
        return line

    def _decode(self, line: bytes | str) -> str:
        if isinstance(line, bytes):
            start, self._offset = self._offset, self._offset + len(line)
            try:
                line = line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise PlanError(
                    f"not UTF-8: 0x{error.object[error.start]:02x} is byte {error.start + 1} of the line "
                    f"(offset {start + error.start} in the file).",
                    utf8_hint(error.object),
                ) from None
        return line.removeprefix("\ufeff") if self._number == 1 else line  # some Windows editors write a BOM

    def _handle_error(self, error: PlanError) -> None:
        if self._on_error == "raise":
            self.close()
            raise error from None
        self.skipped += 1
        if self._report is None:
            print(f"skipped: {error}", file=sys.stderr)
        else:
            self._report(error)


class PlanReader(JsonlReader[EditPlan]):
    """Iterates over the plans of a file; `read` and `skipped` count the lines so far."""


def _parse_json(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except PlanError:
        raise
    except json.JSONDecodeError as error:
        raise PlanError(
            f"invalid JSON at column {error.colno}: {error.msg}.",
            'Write one complete object on each line, for example {"source": "They remain old .", "edits": []}.',
        ) from None
    except (ValueError, RecursionError) as error:  # thousands of digits, thousands of brackets
        hint = "Check whether the line is corrupted."
        raise PlanError(f"JSON beyond the limits of Python: {error}.", hint) from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raise PlanError for duplicate keys, of which Python would silently keep the last."""
    obj: dict[str, Any] = {}
    for key, value in pairs:
        if key in obj:
            raise PlanError(
                f"the key {shown(key)} appears twice in one object.",
                "Keep one of them; write two edits as two objects of the list.",
                field=shown(key)[1:-1],
            )
        obj[key] = value
    return obj


_DECODER = json.JSONDecoder(object_pairs_hook=_without_duplicates)


def _open(path_or_file: PathOrFile) -> tuple[str | None, IO[bytes] | IO[str], bool]:
    """The name for messages, the file, and whether the reader must close it."""
    if path_or_file == "-":
        return "<stdin>", getattr(sys.stdin, "buffer", sys.stdin), False
    if isinstance(path_or_file, str | os.PathLike):
        return os.fspath(path_or_file), open_binary(path_or_file), True
    name = getattr(path_or_file, "name", None)
    return name if isinstance(name, str) else None, path_or_file, False


@contextmanager
def _writer(path_or_file: PathOrFile) -> Iterator[Callable[[str], object]]:
    if path_or_file == "-":
        sys.stdout.flush()
        with _writer(getattr(sys.stdout, "buffer", sys.stdout)) as write:
            yield write
    elif isinstance(path_or_file, str | os.PathLike):
        with atomic_write(Path(os.path.realpath(path_or_file))) as file:
            yield lambda text: file.write(text.encode("utf-8"))
    else:
        as_text: Any = path_or_file
        yield as_text.write if hasattr(as_text, "encoding") else lambda text: as_text.write(text.encode("utf-8"))
        path_or_file.flush()
