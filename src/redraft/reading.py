"""Bounded reading of untrusted files: neither an endless device nor a decompression bomb fills the memory."""

from __future__ import annotations

import io
import json
import lzma
import math
import os
import stat
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, AnyStr

from redraft.errors import ConfigError, CorpusError, shown
from redraft.files import decode_utf8

BOM = b"\xef\xbb\xbf"  # written at the start of a file by editors on Windows
LONGEST_LINE = 1 << 24  # bytes
_CHUNK = 1 << 20
_WRITER_SECONDS = 3.0  # the time another program has to open a named pipe for writing
# Decompressed data may be this many times as long as the compressed data, and always this many bytes.
_MAX_RATIO, _MIN_LIMIT = 200, 1 << 26


def open_binary(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading. A named pipe that no program opens for writing is an error, not an endless wait."""
    if not _is_pipe(path):
        return open(path, "rb")
    found: list[IO[bytes]] = []
    opening = threading.Thread(target=lambda: found.append(open(path, "rb")), daemon=True)
    opening.start()
    opening.join(_WRITER_SECONDS)
    if not found:
        raise ConfigError(
            f"{os.fspath(path)} is a named pipe, and no program opened it for writing within {_WRITER_SECONDS:g} s.",
            "Start the program that writes to it first, or name a file.",
        )
    return found[0]


def _is_pipe(path: str | os.PathLike[str]) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):  # opening the file will report the error
        return False


def read_file(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file ("-" is standard input); a name ending in .xz is decompressed."""
    name = os.fspath(path)
    if name == "-":
        return read_bounded(sys.stdin.buffer, "<stdin>")
    try:
        with open_binary(name) as file:
            data = read_bounded(file, name)
    except FileNotFoundError:
        raise CorpusError(
            f"{name or 'a file without a name'} does not exist.",
            "Check the path; relative paths start at " + os.getcwd(),
        ) from None
    except IsADirectoryError:
        raise CorpusError(f"{name} is a folder.", "Name a file in it.") from None
    except (OSError, ValueError) as error:  # a name with NUL is a ValueError
        raise CorpusError(f"{name} cannot be read: {failure_reason(error)}.", "Check the path.") from None
    return decompress_xz(data, name) if name.endswith(".xz") else data


def read_option_file(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file named by an option."""
    try:
        with open_binary(path) as file:
            return read_bounded(file, os.fspath(path))
    except (OSError, ValueError) as error:
        name = os.fspath(path) or "a file without a name"
        raise ConfigError(f"{name} cannot be read: {failure_reason(error)}.", "Check the path.") from None


def read_toml(path: str | os.PathLike[str], example: str) -> dict[str, Any]:
    """The contents of a settings file; `example` is the next step if it is not TOML."""
    data = read_option_file(path)
    try:
        return tomllib.loads(data.removeprefix(BOM).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not TOML: {error}.", example) from None


def read_json(path: str | os.PathLike[str]) -> Any:
    """The contents of a JSON file; a ValueError says what is wrong with it."""
    with open(path, "rb") as file:
        data = read_bounded(file, os.fspath(path))
    try:
        return json.loads(data.removeprefix(BOM).decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def typed_member(obj: Any, name: str, *kinds: type) -> Any:
    """A member of a JSON object, checked to have one of these types; a number must be finite."""
    if not isinstance(obj, dict) or name not in obj:
        raise ValueError(f"there is no {shown(name)}")
    value = obj[name]
    typed = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if not typed or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{name} is {shown(value)}")
    return value


def number_members(obj: Any, name: str) -> dict[str, Any]:
    """A member that is an object whose values are all numbers."""
    found = typed_member(obj, name, dict)
    return {key: typed_member(found, key, int, float) for key in found}


def failure_reason(error: OSError | ValueError) -> str:
    """Why a file cannot be opened, in words."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def read_bounded(file: IO[bytes], name: str) -> bytes:
    """All bytes of an open file; a line longer than LONGEST_LINE is an error."""
    chunks: list[bytes] = []
    pending = 0  # bytes since the last line end
    while chunk := file.read(_CHUNK):
        end = chunk.rfind(b"\n")
        pending = pending + len(chunk) if end < 0 else len(chunk) - end - 1
        if pending > LONGEST_LINE:
            raise _too_long(name, 1 + sum(one.count(b"\n") for one in (*chunks, chunk)))
        chunks.append(chunk)
    return b"".join(chunks)


def bounded_lines(file: IO[AnyStr], name: str) -> Iterator[AnyStr]:
    """The lines of a file, one at a time, with their line ends; a longer line than LONGEST_LINE is an error."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise _too_long(name, number)
        yield line


def _too_long(name: str, line: int) -> CorpusError:
    return CorpusError(
        f"{name}, line {line:,}: is longer than {LONGEST_LINE:,} bytes.",
        "Check that this is the right file, with one sentence, pair or object on each line.",
    )


def numbered_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """The numbered lines of a table, from 1, without their line ends. Only \\n and \\r\\n end a line."""
    for number, raw in enumerate(read_file(path).removeprefix(BOM).removesuffix(b"\n").split(b"\n"), 1):
        yield number, decode_utf8(raw, str(path), number).rstrip("\r")


def decompress_xz(data: bytes, name: str | Path) -> bytes:
    """The decompressed contents of .xz data; damaged data and suspiciously long contents are errors."""
    most = max(_MIN_LIMIT, _MAX_RATIO * len(data))
    try:
        with lzma.open(io.BytesIO(data)) as file:
            found = file.read(most + 1)
    except (lzma.LZMAError, EOFError) as error:
        raise CorpusError(
            f"{name} cannot be decompressed: {error}.", "Compress it again with xz, or decompress it first."
        ) from None
    if len(found) > most:
        raise CorpusError(
            f"{name} has {len(data):,} bytes and decompresses to more than {most:,}.",
            "If that is correct, decompress it with xz -d and name the resulting file.",
        )
    return found
