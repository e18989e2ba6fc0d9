"""Files of one sentence a line. What is odd about a file is named, and no line is ever lost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from redraft.errors import CorpusError
from redraft.files import decoded
from redraft.reading import BOM, read_file

_NAMED = 5  # line numbers that a notice lists before it only counts


@dataclass(frozen=True, slots=True)
class TextFile:
    """The lines of a file, without their ends, and what a person should know about it."""

    path: str
    lines: list[str]
    notices: tuple[str, ...] = ()


def read_text(path: str | os.PathLike[str]) -> TextFile:
    """Read a whole UTF-8 file ("-" is standard input). Only \\n and \\r\\n end a line, as for `wc` and an editor."""
    name = "<stdin>" if str(path) == "-" else str(path)
    data = read_file(path)
    notices = []
    if data.startswith(BOM):
        data = data.removeprefix(BOM)
        notices.append(f"{name}: begins with a byte order mark, which is left out.")
    if data and not data.endswith(b"\n"):
        notices.append(f"{name}: the last line has no line end; it is counted all the same.")
    rows = data.removesuffix(b"\n").split(b"\n") if data else []
    lines = [decoded(row, name, number) for number, row in enumerate(rows, 1)]
    windows = [number for number, line in enumerate(lines, 1) if line.endswith("\r")]
    if windows:
        lines = [line.removesuffix("\r") for line in lines]
        which = "" if len(windows) == len(lines) else f" in {places(windows)}, and others elsewhere"
        notices.append(f"{name}: Windows line ends{which}; they are left out.")
    inside = [number for number, line in enumerate(lines, 1) if "\r" in line]
    if inside:
        notices.append(f"{name}: a carriage return inside {places(inside)}; it counts as a space.")
    empty = [number for number, line in enumerate(lines, 1) if not line.strip()]
    if empty:
        notices.append(f"{name}: nothing in {places(empty)}; scored as empty text.")
    return TextFile(name, lines, tuple(notices))


def check_aligned(files: Sequence[TextFile], size: int | None = None, *, of: str = "") -> None:
    """Every file has as many lines as the first, or as many as the corpus is known to have."""
    wanted = len(files[0].lines) if size is None else size
    for file in files:
        if len(file.lines) == wanted:
            continue
        rival = of or files[0].path
        hint = f"Line n of every file belongs to sentence n; give {file.path} exactly {wanted:,} lines."
        if len(file.lines) > wanted and not any(line.strip() for line in file.lines[wanted:]):
            hint = f"The lines after {wanted:,} are empty: delete them."
        raise CorpusError(f"{file.path} has {len(file.lines):,} lines, {rival} has {wanted:,}.", hint)


def places(numbers: Sequence[int]) -> str:
    """Line numbers for a person: a few are listed, many are counted."""
    few = ", ".join(str(number) for number in numbers[:_NAMED])
    if len(numbers) == 1:
        return f"line {few}"
    if len(numbers) <= _NAMED:
        return f"lines {few}"
    return f"{len(numbers):,} lines ({few}, …)"
