"""Files that are whole or not there at all, and lines that are text or an error."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from redraft.errors import CorpusError


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of `path` when all has gone well."""
    if path.exists() and not path.is_file():  # a pipe or a device must stay what it is
        with open(path, "wb") as file:
            yield file
        return
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as file:
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
    return hashlib.sha256(data).hexdigest()[:16]
