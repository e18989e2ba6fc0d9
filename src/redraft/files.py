"""Atomic writes, errors of a full disk, UTF-8 decoding with the place of errors, and content digests."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from redraft.errors import ConfigError, CorpusError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# The longer marks come first: UTF-32 in little-endian order begins like UTF-16.
_BOMS = ((b"\xff\xfe\0\0", "UTF-32"), (b"\0\0\xfe\xff", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
DIGITS = 16  # of a digest
# Files that do not define a model: cards, logs, plots, optimizer states, and weights for other libraries.
_IGNORED = (".md", ".log", ".jsonl", ".svg", ".pt", ".h5", ".msgpack", ".onnx", ".ot")
_REPORT = "training.json"


def is_disk_full(error: BaseException) -> bool:
    """Whether an error reports a full disk or an exceeded quota."""
    return isinstance(error, OSError) and error.errno in _DISK_FULL


@contextmanager
def disk_full_errors(path: str | Path) -> Iterator[None]:
    """Turn every library's error of a full disk into an OSError that names the file or folder."""
    try:
        yield
    except Exception as error:
        # torch raises another error while it handles this one.
        number = _disk_full_errno(error) or _disk_full_errno(error.__context__)
        if number is None:
            raise
        name = getattr(error, "filename", None) or os.fspath(path)
        raise OSError(number, os.strerror(number), name) from error


def _disk_full_errno(error: BaseException | None) -> int | None:
    from_rust = re.search(r"\(os error (\d+)\)", str(error))
    number = error.errno if isinstance(error, OSError) else int(from_rust[1]) if from_rust else None
    return number if number in _DISK_FULL else None


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """A new file that replaces `path` once it has been written completely."""
    if path.exists() and not path.is_file():  # a pipe or a device cannot be replaced
        with disk_full_errors(path), open(path, "wb") as file:
            yield file
        return
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with disk_full_errors(path), open(part, "xb") as file:
            yield file
        if path.exists():
            shutil.copymode(path, part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def lock_file(file: IO[bytes], name: str) -> None:
    """Lock an open file until it is closed; an error if another process has locked it."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError(f"{name} is being written by another redraft process.",
                          "Wait for it to finish, or choose another output.") from None  # fmt: skip
    except OSError:  # a file system without locks
        pass


def truncate_to_whole_lines(path: Path) -> bytes:
    """The complete lines of a file; an incomplete last line, left by a killed run, is removed from the file."""
    if not path.exists():
        return b""
    text = path.read_bytes()
    end = text.rfind(b"\n") + 1
    with open(path, "r+b") as file:
        file.truncate(end)
    return text[:end]


def parse_json_lines(data: bytes) -> list[Any]:
    """The value of each line. Split as bytes: str.splitlines also splits at U+2028 and U+0085, valid in JSON."""
    return [json.loads(line) for line in data.split(b"\n") if line]


def utf8_hint(raw: bytes) -> str:
    """The next step after a decoding error: how to convert a file whose first bytes, or a line of which, are `raw`.

    A byte order mark or NUL bytes indicate UTF-16 or UTF-32. Other files are probably in a one-byte encoding.
    """
    name = next((name for bom, name in _BOMS if raw.startswith(bom)), "Latin-1")
    if name == "Latin-1" and b"\0" in raw:
        name = "UTF-32" if 3 * raw.count(b"\0") > 2 * len(raw) else "UTF-16"
    command = f"iconv -f {name.replace('Latin-1', 'LATIN1')} -t UTF-8 OLD > NEW"
    return f"Save the file as UTF-8. If it is {name}: {command}"


def decode_utf8(raw: bytes, path: str, line: int) -> str:
    """A line of a file as text, or an error that names the place of the invalid byte."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}, line {line}: not UTF-8: 0x{raw[error.start]:02x} is byte {error.start + 1} of the line.",
            utf8_hint(raw),
        ) from None


def digest(data: bytes) -> str:
    """A shortened SHA-256 that identifies a file in a report."""
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def file_digest(path: Path) -> str:
    """The digest of a file, which is read in parts."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]


def folder_digest(folder: Path) -> str:
    """A digest of the contents of the files in a folder, to detect changes.

    Hidden files, subfolders and files that only describe a model, such as its card and logs, are ignored.
    """
    total = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        ignored = path.suffix in _IGNORED or path.name == _REPORT or path.name.startswith(".")
        if path.is_file() and not ignored:
            with open(path, "rb") as file:
                total.update(path.name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:DIGITS]
