"""Read files with one sentence per line. Irregularities are reported, and no line is dropped."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from redraft.errors import CorpusError
from redraft.files import decode_utf8
from redraft.reading import BOM, read_file

_MAX_LISTED = 5  # a notice lists at most this many line numbers


@dataclass(frozen=True, slots=True)
class TextFile:
    """The lines of a file without line endings, and notices about irregularities."""

    path: str
    lines: list[str]
    notices: tuple[str, ...] = ()


def read_text(path: str | os.PathLike[str]) -> TextFile:
    """Read a UTF-8 file ("-": standard input). Only \\n and \\r\\n end a line, as in `wc` and editors."""
    name = "<stdin>" if str(path) == "-" else str(path)
    data = read_file(path)
    notices = []
    if data.startswith(BOM):
        data = data.removeprefix(BOM)
        notices.append(f"{name}: starts with a byte order mark, which is ignored.")
    if data and not data.endswith(b"\n"):
        notices.append(f"{name}: the last line has no line ending; it is still counted.")
    rows = data.removesuffix(b"\n").split(b"\n") if data else []
    lines = [decode_utf8(row, name, number) for number, row in enumerate(rows, 1)]
    windows = [number for number, line in enumerate(lines, 1) if line.endswith("\r")]
    if windows:
        lines = [line.removesuffix("\r") for line in lines]
        which = "" if len(windows) == len(lines) else f" in {format_line_numbers(windows)}, Unix line endings elsewhere"
        notices.append(f"{name}: Windows line endings{which}; they are removed.")
    inside = [number for number, line in enumerate(lines, 1) if "\r" in line]
    if inside:
        notices.append(f"{name}: a carriage return inside {format_line_numbers(inside)}; treated as a space.")
    empty = [number for number, line in enumerate(lines, 1) if not line.strip()]
    if empty:
        notices.append(f"{name}: no text in {format_line_numbers(empty)}; scored as empty text.")
    return TextFile(name, lines, tuple(notices))


def check_aligned(files: Sequence[TextFile], size: int | None = None, *, of: str = "") -> None:
    """Check that every file has `size` lines (default: as many as the first file)."""
    expected = len(files[0].lines) if size is None else size
    for file in files:
        if len(file.lines) == expected:
            continue
        other = of or files[0].path
        hint = f"Line n of every file must belong to sentence n: {file.path} needs exactly {expected:,} lines."
        if len(file.lines) > expected and not any(line.strip() for line in file.lines[expected:]):
            hint = f"The lines after {expected:,} are empty: delete them."
        raise CorpusError(f"{file.path} has {len(file.lines):,} lines, {other} has {expected:,}.", hint)


def format_line_numbers(numbers: Sequence[int]) -> str:
    """Line numbers for a message: a short list in full, a long one as a count."""
    listed = ", ".join(str(number) for number in numbers[:_MAX_LISTED])
    if len(numbers) == 1:
        return f"line {listed}"
    if len(numbers) <= _MAX_LISTED:
        return f"lines {listed}"
    return f"{len(numbers):,} lines ({listed}, …)"
