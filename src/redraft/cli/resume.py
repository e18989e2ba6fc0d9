"""Results in a file: one process writes them, and a later one goes on where it was stopped."""

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
from redraft.cli.input_lines import Line, binary, count_lines, source_of
from redraft.errors import ConfigError, shown
from redraft.files import digest, replacing, writing

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Form = Literal["text", "json"]
_OTHER_FILE = "Write to another file, or start again without --resume."


@contextmanager
def results_file(out: str | None) -> Iterator[IO[bytes]]:
    """An empty file that no other process writes to, or standard output."""
    if out is None:
        yield binary(sys.stdout)
        return
    with writing(out), open(out, "ab") as file:
        _lock(file, out)
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.truncate(0)
        yield file


@contextmanager
def begun_file(out: str) -> Iterator[IO[bytes]]:
    """The file that an earlier run has begun, or a new one, that no other process writes to."""
    if os.path.exists(out) and not os.path.isfile(out):  # some devices never end
        raise ConfigError(f"--out {out} is no file that can be gone on with.", "Name a file, or leave --resume out.")
    with writing(out), open(out, "r+b" if os.path.exists(out) else "w+b") as file:
        _lock(file, out)
        yield file


def _lock(file: IO[bytes], out: str) -> None:
    """Held until the file is closed."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError(f"--out {out} is being written by another redraft.",
                          "Wait for it to end, or name another file.") from None  # fmt: skip
    except OSError:  # a file system without locks
        pass


def pass_over(file: IO[bytes], out: str, lines: Iterator[Line], form: Form, note: InputNote | None = None) -> int:
    """Pass over the input lines whose results a file has, and cut off what a killed run left behind them.

    A file with the results of something else is refused before it is touched.
    """
    done = end = 0
    for row in file:
        if not row.endswith(b"\n"):
            break
        line = next(lines, None)
        if line is None:
            whole = done + 1 + sum(later.endswith(b"\n") for later in file)
            raise ConfigError(f"--out {out} has {count_lines(whole)}, and the input only {done}.",
                              "It belongs to another input; write to another file.")  # fmt: skip
        _compare(row, f"--out {out}, line {done + 1}", line, form)
        done, end = done + 1, end + len(row)
    if note and done:  # with no lines, the note may be an earlier run's
        note.check(out, done)
    file.truncate(end)
    file.seek(end)
    return done


def _compare(row: bytes, place: str, line: Line, form: Form) -> None:
    found = _json_object(row)
    is_result = found is not None and ("output" in found or "error" in found)
    if form == "text":
        if found is not None and is_result:
            raise ConfigError(f"{place} is a result of --json.", "Add --json, or write to another file.")
        return
    if found is None or not is_result:
        raise ConfigError(f"{place} is no result of --json.", _OTHER_FILE)
    if "source" in found:
        if found["source"] != source_of(line):
            raise ConfigError(
                f"{place} is about {shown(found['source'])}, and this line of the input is {shown(source_of(line))}.",
                "The input has changed: " + _OTHER_FILE[0].lower() + _OTHER_FILE[1:],
            )
    elif found.get("line") != line.number:
        raise ConfigError(f"{place} is about line {shown(found.get('line'))} of its input.", _OTHER_FILE)


def _json_object(row: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(row)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


class InputNote:
    """A hidden file beside the results that says which inputs they come from, for as long as they are not finished.

    Lines of plain text do not say whose they are.
    """

    def __init__(self, out: str, inputs: Sequence[str | None]) -> None:
        path = Path(out)
        self._path = path.with_name(f".{path.name}.resume")
        self._inputs = [name for name in inputs if name not in (None, "-") and _is_regular(name)]

    def write(self) -> None:
        noted = [{"size": os.path.getsize(name), "digest": _head(name, None)} for name in self._inputs]
        with replacing(self._path) as file:
            file.write(json.dumps(noted).encode("utf-8"))

    def check(self, out: str, done: int) -> None:
        """Refuse inputs that do not begin as they did."""
        try:
            noted = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            say(f"nothing says what the {count_lines(done)} in {out} come from; they are taken for the first ones")
            return
        same = len(noted) == len(self._inputs)
        if not same or any(
            _head(name, one["size"]) != one["digest"] for name, one in zip(self._inputs, noted, strict=True)
        ):
            raise ConfigError(f"the input is not the one from which --out {out} was begun.", _OTHER_FILE)

    def remove(self) -> None:
        with suppress(FileNotFoundError):
            self._path.unlink()


def _is_regular(path: str | None) -> bool:
    return path is not None and os.path.isfile(path)


def _head(path: str | None, size: int | None) -> str:
    """A digest of the first so many bytes."""
    with open(str(path), "rb") as file:
        return digest(file.read() if size is None else file.read(size))
