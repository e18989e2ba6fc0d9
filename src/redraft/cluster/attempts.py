"""Marks of parts whose process died: a text that ends every process that rewrites it is found, and left out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TypeVar

import pyarrow.fs as pafs

from redraft.cluster.input_files import open_file_system

Item = TypeVar("Item")
_TOGETHER = 2  # tries of a whole part: a process may also die with its machine


@dataclass
class _Mark:
    died: int = 0  # processes
    at: int | None = None  # the text that a process rewrote alone when it died
    bad: list[int] = field(default_factory=list)


class Attempts:
    """The tries of one part; the mark is a file that a process leaves behind when it dies."""

    def __init__(self, folder: str, part: int) -> None:
        self._file_system, inner = open_file_system(folder)
        self._path = f"{inner}/{part}.json"
        self._mark = self._read()
        if self._mark.at is not None:
            self._mark.bad.append(self._mark.at)
        self._mark = _Mark(self._mark.died + 1, None, self._mark.bad)

    @contextmanager
    def pieces(self, items: Sequence[Item]) -> Iterator[Iterator[tuple[Sequence[Item], bool]]]:
        """The items together or, after several deaths, one by one; and whether they are bad and must be left out."""
        yield self._pieces(items)
        self._file_system.delete_file(self._path)

    def _pieces(self, items: Sequence[Item]) -> Iterator[tuple[Sequence[Item], bool]]:
        if self._mark.died <= _TOGETHER:
            self._write()
            yield items, False
            return
        for at, item in enumerate(items):
            self._mark.at = at
            self._write()
            yield [item], at in self._mark.bad

    def _read(self) -> _Mark:
        if self._file_system.get_file_info(self._path).type != pafs.FileType.File:
            return _Mark()
        with self._file_system.open_input_file(self._path) as file:
            data = file.read()
        try:
            return _Mark(**json.loads(data))
        except (ValueError, TypeError):  # the process died while it wrote this
            return _Mark(_TOGETHER)

    def _write(self) -> None:
        with self._file_system.open_output_stream(self._path) as file:
            file.write(json.dumps(asdict(self._mark)).encode())
