"""Files that come from outside, read within bounds: neither a device without an end nor a bomb fills the memory."""

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
from redraft.files import decoded

BOM = b"\xef\xbb\xbf"  # editors on Windows begin with it
LONGEST_LINE = 1 << 24  # bytes
_CHUNK = 1 << 20
_WRITER_SECONDS = 3.0  # in which a program has to open a named pipe for writing
_RATIO, _ROOM = 200, 1 << 26  # what is packed may be so many times as long, and this long in any case


def open_binary(path: str | os.PathLike[str]) -> IO[bytes]:
    """A file to read from. A named pipe that nobody has opened for writing is an error, and no wait without an end."""
    if not _is_pipe(path):
        return open(path, "rb")
    found: list[IO[bytes]] = []
    opening = threading.Thread(target=lambda: found.append(open(path, "rb")), daemon=True)
    opening.start()
    opening.join(_WRITER_SECONDS)
    if not found:
        raise ConfigError(
            f"{os.fspath(path)} is a named pipe, and nothing has opened it for writing within {_WRITER_SECONDS:g} s.",
            "Start the program that writes into it first, or name a file.",
        )
    return found[0]


def _is_pipe(path: str | os.PathLike[str]) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):  # opening it says what is wrong
        return False


def read_file(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file ("-" is standard input); what ends in .xz is unpacked."""
    name = os.fspath(path)
    if name == "-":
        return read_all(sys.stdin.buffer, "<stdin>")
    try:
        with open_binary(name) as file:
            data = read_all(file, name)
    except FileNotFoundError:
        raise CorpusError(
            f"{name or 'a file without a name'} does not exist.",
            "Check the path; a relative one starts here: " + os.getcwd(),
        ) from None
    except IsADirectoryError:
        raise CorpusError(f"{name} is a folder.", "Name a file in it.") from None
    except (OSError, ValueError) as error:  # a name with NUL is a ValueError
        raise CorpusError(f"{name} cannot be read: {reason(error)}.", "Check the path.") from None
    return unpacked(data, name) if name.endswith(".xz") else data


def read_given(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file that an option names."""
    try:
        with open_binary(path) as file:
            return read_all(file, os.fspath(path))
    except (OSError, ValueError) as error:
        name = os.fspath(path) or "a file without a name"
        raise ConfigError(f"{name} cannot be read: {reason(error)}.", "Check the path.") from None


def read_toml(path: str | os.PathLike[str], example: str) -> dict[str, Any]:
    """What a settings file holds; `example` is the next step where it is no TOML."""
    data = read_given(path)
    try:
        return tomllib.loads(data.removeprefix(BOM).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not TOML: {error}.", example) from None


def read_json(path: str | os.PathLike[str]) -> Any:
    """What a JSON file holds; a ValueError says what is wrong with it."""
    with open(path, "rb") as file:
        data = read_all(file, os.fspath(path))
    try:
        return json.loads(data.removeprefix(BOM).decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def member(obj: Any, name: str, *kinds: type) -> Any:
    """A value of an object that was read from a file, if it is of one of these types; a number must be finite."""
    if not isinstance(obj, dict) or name not in obj:
        raise ValueError(f"there is no {shown(name)}")
    value = obj[name]
    typed = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if not typed or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{name} is {shown(value)}")
    return value


def numbers(obj: Any, name: str) -> dict[str, Any]:
    """An object in such an object, all of whose values are numbers."""
    found = member(obj, name, dict)
    return {key: member(found, key, int, float) for key in found}


def reason(error: OSError | ValueError) -> str:
    """Why a file cannot be opened."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def read_all(file: IO[bytes], name: str) -> bytes:
    chunks: list[bytes] = []
    since = 0  # bytes since the last line end
    while chunk := file.read(_CHUNK):
        end = chunk.rfind(b"\n")
        since = since + len(chunk) if end < 0 else len(chunk) - end - 1
        if since > LONGEST_LINE:
            raise _too_long(name, 1 + sum(one.count(b"\n") for one in (*chunks, chunk)))
        chunks.append(chunk)
    return b"".join(chunks)


def lines_of(file: IO[AnyStr], name: str) -> Iterator[AnyStr]:
    """The lines of a file, one at a time, with their ends."""
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
    """The lines of a table with their numbers, from 1, without their ends. Only \\n and \\r\\n end a line."""
    for number, raw in enumerate(read_file(path).removeprefix(BOM).removesuffix(b"\n").split(b"\n"), 1):
        yield number, decoded(raw, str(path), number).rstrip("\r")


def unpacked(data: bytes, name: str | Path) -> bytes:
    """What .xz holds, or an error where that is damaged, or as long as only a bomb is."""
    most = max(_ROOM, _RATIO * len(data))
    try:
        with lzma.open(io.BytesIO(data)) as file:
            found = file.read(most + 1)
    except (lzma.LZMAError, EOFError) as error:
        raise CorpusError(
            f"{name} cannot be unpacked: {error}.", "Make it again with xz, or unpack it first."
        ) from None
    if len(found) > most:
        raise CorpusError(
            f"{name} has {len(data):,} bytes and unpacks to more than {most:,}.",
            "If that is right, unpack it with xz -d and name the plain file.",
        )
    return found
