"""Files that are whole or not there at all, and lines that are text or an error."""

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

from redraft.errors import CorpusError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DIGITS = 16  # of a digest
# Model cards, logs, plots, states of optimizers, and weights for other libraries.
_ABOUT = (".md", ".log", ".jsonl", ".svg", ".pt", ".h5", ".msgpack", ".onnx", ".ot")
_REPORT = "training.json"


def is_full(error: BaseException) -> bool:
    """Whether it says that there is no room to write."""
    return isinstance(error, OSError) and error.errno in _FULL


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """A full disk is one kind of error, whatever library meets it, and names the file or folder."""
    try:
        yield
    except Exception as error:
        number = _number_of_full(error) or _number_of_full(error.__context__)  # torch raises another one meanwhile
        if number is None:
            raise
        name = getattr(error, "filename", None) or os.fspath(path)
        raise OSError(number, os.strerror(number), name) from error


def _number_of_full(error: BaseException | None) -> int | None:
    written_in_rust = re.search(r"\(os error (\d+)\)", str(error))
    number = error.errno if isinstance(error, OSError) else int(written_in_rust[1]) if written_in_rust else None
    return number if number in _FULL else None


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of `path` when all has gone well."""
    if path.exists() and not path.is_file():  # a pipe or a device must stay what it is
        with writing(path), open(path, "wb") as file:
            yield file
        return
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with writing(path), open(part, "xb") as file:
            yield file
        if path.exists():
            shutil.copymode(path, part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def whole_lines(path: Path) -> bytes:
    """The lines of a file that are whole; what a killed run left behind them is cut off."""
    if not path.exists():
        return b""
    text = path.read_bytes()
    end = text.rfind(b"\n") + 1
    with open(path, "r+b") as file:
        file.truncate(end)
    return text[:end]


def json_lines(data: bytes) -> list[Any]:
    """What each line holds. Parted as bytes: str.splitlines also takes U+2028 and U+0085, which JSON may hold."""
    return [json.loads(line) for line in data.split(b"\n") if line]


def decoded(raw: bytes, path: str, line: int) -> str:
    """A line of a file as text, or an error that names the place of the byte that is none."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}, line {line}: not UTF-8: 0x{raw[error.start]:02x} is byte {error.start + 1} of the line.",
            "Save the file as UTF-8; from Latin-1: iconv -f LATIN1 -t UTF-8 OLD > NEW",
        ) from None


def digest(data: bytes) -> str:
    """Enough of a hash to tell one file from another in a report."""
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def digest_of_folder(folder: Path) -> str:
    """Tells what a folder holds from what it held before, by the content of its files.

    Hidden files, folders in it, and what says something about a model and is no part of it are left out.
    """
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        about = path.suffix in _ABOUT or path.name == _REPORT or path.name.startswith(".")
        if path.is_file() and not about:
            with open(path, "rb") as file:
                whole.update(path.name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:_DIGITS]
