"""Output files that a later run can continue: locks, finished lines, and the check that the input is the same."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from redraft.cli.console import say
from redraft.cli.input_lines import InputLine, binary_stream, count_lines, source_of
from redraft.errors import ConfigError, shown
from redraft.files import atomic_write, digest, disk_full_errors, lock_file

OutputFormat = Literal["text", "json"]
_START_AGAIN = "Choose another output file, or start again without --resume."


@contextmanager
def open_for_results(out: str | None) -> Iterator[IO[bytes]]:
    """An empty file, locked against other processes, or standard output."""
    if out is None:
        yield binary_stream(sys.stdout)
        return
    with disk_full_errors(out), open(out, "ab") as file:
        lock_file(file, f"--out {out}")
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.truncate(0)
        yield file


@contextmanager
def open_for_resume(out: str) -> Iterator[IO[bytes]]:
    """The file of an earlier run, or a new one, locked against other processes."""
    if os.path.exists(out) and not os.path.isfile(out):  # reading a device may never end
        raise ConfigError(
            f"--out {out} is not a regular file and cannot be resumed.", "Choose another file, or remove --resume."
        )
    with disk_full_errors(out), open(out, "r+b" if os.path.exists(out) else "w+b") as file:
        lock_file(file, f"--out {out}")
        yield file


def skip_finished_lines(
    file: IO[bytes],
    out: str,
    lines: Iterator[InputLine],
    output_format: OutputFormat,
    record: InputRecord | None = None,
) -> int:
    """Skip the input lines whose results the file already has, and cut off an incomplete last line.

    Returns the number of finished lines. A file with results of another input is refused before it is changed.
    """
    done = end = 0
    for row in file:
        if not row.endswith(b"\n"):
            break
        line = next(lines, None)
        if line is None:
            total = done + 1 + sum(later.endswith(b"\n") for later in file)
            raise ConfigError(f"--out {out} has {count_lines(total)}, but the input has only {done}.",
                              "The file belongs to another input. Choose another output file.")  # fmt: skip
        _check_row(row, f"--out {out}, line {done + 1}", line, output_format)
        done, end = done + 1, end + len(row)
    if record and done:  # without finished lines, the record may be left from an earlier run
        record.check(out, done)
    file.truncate(end)
    file.seek(end)
    return done


def _check_row(row: bytes, place: str, line: InputLine, output_format: OutputFormat) -> None:
    """An error if the row is not the result of this input line, as far as the row shows."""
    found = _json_object(row)
    is_result = found is not None and ("output" in found or "error" in found)
    if output_format == "text":
        if is_result:
            raise ConfigError(f"{place} is a JSON result, but --json is not given.",
                              "Add --json, or choose another output file.")  # fmt: skip
        return
    if found is None or not is_result:
        raise ConfigError(f"{place} is not a JSON result.", _START_AGAIN)
    if "source" in found:
        if found["source"] != source_of(line):
            raise ConfigError(
                f"{place} is the result of {shown(found['source'])}, but this line of the input is "
                f"{shown(source_of(line))}.",
                f"The input has changed. {_START_AGAIN}",
            )
    elif found.get("line") != line.number:
        raise ConfigError(
            f"{place} is the result of input line {shown(found.get('line'))}, not {line.number}.", _START_AGAIN
        )


def _json_object(row: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(row)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


class InputRecord:
    """A hidden file beside an unfinished output file, with the size and digest of each input file.

    It is needed for plain text, whose lines do not show which sentence they belong to.
    """

    def __init__(self, out: str, inputs: Sequence[str | None]) -> None:
        path = Path(out)
        self._path = path.with_name(f".{path.name}.resume")
        self._inputs = [name for name in inputs if name not in (None, "-") and _is_regular(name)]

    def write(self) -> None:
        recorded = [{"size": os.path.getsize(name), "digest": _prefix_digest(name, None)} for name in self._inputs]
        with atomic_write(self._path) as file:
            file.write(json.dumps(recorded).encode("utf-8"))

    def check(self, out: str, done: int) -> None:
        """An error unless the input files begin with the recorded content. Lines may have been appended."""
        try:
            recorded = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            say(f"there is no record of the input of {out}; its {count_lines(done)} are taken as the first results")
            return
        same = len(recorded) == len(self._inputs)
        if not same or any(
            _prefix_digest(name, one["size"]) != one["digest"] for name, one in zip(self._inputs, recorded, strict=True)
        ):
            raise ConfigError(f"the input has changed since --out {out} was started.", _START_AGAIN)

    def remove(self) -> None:
        with suppress(FileNotFoundError):
            self._path.unlink()


def _is_regular(path: str | None) -> bool:
    return path is not None and os.path.isfile(path)


def _prefix_digest(path: str | None, size: int | None) -> str:
    """The digest of the first `size` bytes, or of the whole file."""
    with open(str(path), "rb") as file:
        return digest(file.read() if size is None else file.read(size))
