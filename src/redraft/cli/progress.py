"""A bar on a terminal while a file is worked through; nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")


def with_bar(batches: Iterable[Sequence[Item]], path: str | None, *, done: int = 0) -> Iterator[Sequence[Item]]:
    """The batches themselves, with a bar on standard error over the lines of the file they come from."""
    if path in (None, "-") or not sys.stderr.isatty():
        yield from batches
        return
    columns = TextColumn("redraft:"), BarColumn(), MofNCompleteColumn(), TextColumn("lines"), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=_lines(str(path)), completed=done)
        for batch in batches:
            yield batch
            progress.advance(task, len(batch))


def _lines(path: str) -> int:
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
