"""The files of a corpus: finds them, counts their rows, and divides them into parts that one process rewrites."""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from redraft.errors import ConfigError, CorpusError, RedraftError, shown
from redraft.files import DIGITS
from redraft.reading import LONGEST_LINE

FileFormat = Literal["text", "jsonl", "parquet"]
Unreadable = Literal["raise", "skip"]
ROWS_PER_PART = 1000
_ENDINGS: dict[str, FileFormat] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_WILDCARDS = "*?["
_BUFFER = 1 << 20
_BYTES_PER_ROW = 256  # a part ends after this many bytes for each of its rows: a few long documents make a part
_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of the corpus. `digest` is that of its content; `error` says why it cannot be read."""

    path: str
    size: int
    rows: int
    digest: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive rows of one file: bytes `start` to `end` of a text file, rows `start` to `end` of a Parquet file."""

    path: str  # absolute: processes may start in another folder
    name: str  # the path as it was given
    format: FileFormat
    whole: bool  # the file is one row: a document
    line: int  # number of the first row in its file, from 1
    rows: int
    start: int
    end: int
    error: str = ""  # why the row cannot be read


@dataclass(frozen=True, slots=True)
class InputPart:
    """The rows that a process rewrites together, written to one output file; `row` counts from 0 over all files."""

    row: int
    rows: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    files: tuple[InputFile, ...]
    parts: tuple[InputPart, ...]

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)


def open_file_system(path: str) -> tuple[pafs.FileSystem, str]:
    """The file system of a path or address, and the path in it."""
    if "://" not in path:
        return pafs.LocalFileSystem(), os.path.abspath(path)
    try:
        found: tuple[pafs.FileSystem, str] = pafs.FileSystem.from_uri(path)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path}: {_reason(error)}.", "Give a path, or an address such as s3://bucket/folder."
        ) from None
    return found


def find_files(patterns: str | Sequence[str]) -> list[str]:
    """The files that match paths, folders or patterns with * ? [ ] and **, sorted by name within each pattern."""
    found: dict[str, None] = {}
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        some = sorted(_remote_matches(pattern) if "://" in pattern else _local_matches(pattern))
        if not some:
            raise CorpusError(f"no file matches {shown(pattern)}.", "Check the path; put a pattern in quotation marks.")
        found |= dict.fromkeys(some)
    return list(found)


def _local_matches(pattern: str) -> Iterator[str]:
    names = glob.glob(pattern, recursive=True) if not os.path.exists(pattern) else [pattern]
    for name in names:
        if os.path.isdir(name):
            if name == pattern:  # a folder that was named, not one that a pattern met
                yield from (entry.path for entry in os.scandir(name) if _is_visible_file(entry))
        else:
            yield name


def _is_visible_file(entry: os.DirEntry[str]) -> bool:
    return entry.is_file() and not entry.name.startswith((".", "_"))


def _remote_matches(pattern: str) -> Iterator[str]:
    scheme = pattern.split("://", 1)[0]
    wildcard = next((at for at, letter in enumerate(pattern) if letter in _WILDCARDS), None)
    base = pattern if wildcard is None else pattern[:wildcard].rpartition("/")[0]
    file_system, path = open_file_system(base)
    try:
        if file_system.get_file_info(path).type == pafs.FileType.File:
            yield pattern
            return
        entries = file_system.get_file_info(pafs.FileSelector(path, recursive=wildcard is not None))
    except OSError as error:
        raise CorpusError(
            f"{pattern} cannot be read: {_reason(error)}.", "Check the address and your permissions."
        ) from None
    wanted = f"{path}{pattern[len(base) :]}"
    for entry in entries:
        if entry.type == pafs.FileType.File and (wildcard is None or fnmatch.fnmatchcase(entry.path, wanted)):
            yield f"{scheme}://{entry.path.lstrip('/') if scheme != 'file' else entry.path}"


def read_corpus(
    paths: Sequence[str],
    *,
    rows_per_part: int = ROWS_PER_PART,
    documents: bool = False,
    unreadable: Unreadable = "raise",
) -> Corpus:
    """Reads every file once: its digest, its rows, and where its parts begin.

    With `documents`, a text file is one row. Unreadable files are refused together, before any work starts; with
    unreadable="skip", each is one row, which will have an error.
    """
    files, pieces = [], []
    for path in paths:
        file, some = _scan(path, rows_per_part, documents)
        files.append(file)
        pieces += some
    bad = [file for file in files if file.error]
    if bad and unreadable == "raise":
        names = "".join(f"\n  {file.path}: {file.error}" for file in bad[:_MAX_SHOWN])
        more = f"\n  and {len(bad) - _MAX_SHOWN} more" if len(bad) > _MAX_SHOWN else ""
        raise CorpusError(
            f"{len(bad)} of {len(files)} input files cannot be read:{names}{more}",
            "Correct or remove them; with --on-error skip, each becomes one row with an error.",
        )
    return Corpus(tuple(files), tuple(_parts(pieces, rows_per_part)))


def format_of(path: str) -> FileFormat:
    return _ENDINGS.get(os.path.splitext(path)[1].lower(), "text")


def _scan(path: str, rows_per_part: int, documents: bool) -> tuple[InputFile, list[Piece]]:
    file_format = format_of(path)
    whole = documents and file_format == "text"
    place = path if "://" in path else os.path.abspath(path)
    try:
        file_system, inner = open_file_system(path)
        if file_system.get_file_info(inner).type != pafs.FileType.File:
            raise CorpusError("it does not exist or is not a regular file.")
        with file_system.open_input_file(inner) as file:
            hashed = _HashingReader(file)
            if file_format == "parquet":
                ranges = list(_parquet_ranges(file, rows_per_part))
                file.seek(0)
                hashed.read_to_end()
            elif whole:
                hashed.read_to_end()
                ranges = [_Range(1, 1, 0, hashed.size, _too_long("the document", hashed.size))]
            else:
                lengths = _line_lengths(io.BufferedReader(hashed, _BUFFER))
                ranges = list(_line_ranges(lengths, rows_per_part))
    except (OSError, ValueError, pa.ArrowException, RedraftError) as error:
        reason = _reason(error)
        return InputFile(path, 0, 1, error=reason), [Piece(place, path, file_format, whole, 1, 1, 0, 0, reason)]
    pieces = [Piece(place, path, file_format, whole, *one) for one in ranges]
    return InputFile(path, hashed.size, sum(piece.rows for piece in pieces), hashed.hexdigest()), pieces


class _Range(NamedTuple):
    """The last fields of a `Piece`."""

    line: int
    rows: int
    start: int
    end: int
    error: str = ""


class _HashingReader(io.RawIOBase):
    """Reads a file from its start to its end, and computes the digest of what was read."""

    def __init__(self, file: Any) -> None:
        self._file, self._digest, self.size = file, hashlib.sha256(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self._digest.update(data)
        self.size += len(data)
        buffer[: len(data)] = data
        return len(data)

    def read_to_end(self) -> None:
        while self.read(_BUFFER):
            pass

    def hexdigest(self) -> str:
        return self._digest.hexdigest()[:DIGITS]


def _line_lengths(file: IO[bytes]) -> Iterator[int]:
    """The length of each line in bytes; no line is in the memory as a whole if it is too long."""
    length = 0
    while part := file.readline(_BUFFER):
        length += len(part)
        if part.endswith(b"\n"):
            yield length
            length = 0
    if length:
        yield length


def _line_ranges(lengths: Iterable[int], rows_per_part: int) -> Iterator[_Range]:
    """Ranges of lines; a line that is too long to be read is a range of its own."""
    line, rows, start, at = 1, 0, 0, 0
    for length in lengths:
        error = _too_long("the line", length)
        if rows and (error or rows >= rows_per_part or at - start >= rows_per_part * _BYTES_PER_ROW):
            yield _Range(line, rows, start, at)
            line, rows, start = line + rows, 0, at
        rows, at = rows + 1, at + length
        if error:
            yield _Range(line, 1, start, at, error)
            line, rows, start = line + 1, 0, at
    if rows:
        yield _Range(line, rows, start, at)


def _too_long(what: str, size: int) -> str:
    return f"{what} is longer than {LONGEST_LINE:,} bytes." if size > LONGEST_LINE else ""


def _parquet_ranges(file: Any, rows_per_part: int) -> Iterator[_Range]:
    total = pq.ParquetFile(file).metadata.num_rows
    for start in range(0, total, rows_per_part):
        end = min(start + rows_per_part, total)
        yield _Range(start + 1, end - start, start, end)


def _parts(pieces: Iterable[Piece], rows_per_part: int) -> Iterator[InputPart]:
    """Pieces joined to parts: many small files make one part."""
    row, some = 0, list[Piece]()
    for piece in pieces:
        rows, size = sum(one.rows for one in some), sum(_size(one) for one in some)
        if some and (rows + piece.rows > rows_per_part or size + _size(piece) > rows_per_part * _BYTES_PER_ROW):
            yield InputPart(row, rows, tuple(some))
            row, some = row + rows, []
        some.append(piece)
    if some:
        yield InputPart(row, sum(one.rows for one in some), tuple(some))


def _size(piece: Piece) -> int:
    """In bytes, where it is known."""
    return 0 if piece.format == "parquet" else piece.end - piece.start


def _reason(error: Exception) -> str:
    """The cause of an error in one line."""
    cause = error.problem if isinstance(error, RedraftError) else getattr(error, "strerror", None) or str(error)
    return next((line.strip() for line in str(cause).splitlines() if line.strip()), type(error).__name__)
