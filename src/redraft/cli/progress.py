"""A bar on a terminal while a file is worked through; nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")


def with_bar(batches: Iterable[Sequence[Item]], path: str | None, *, done: int = 0) -> Iterator[Sequence[Item]]:
    """The batches themselves, with a bar on standard error over the lines of the file they come from."""
    if path in (None, "-") or not sys.stderr.isatty():
        yield from batches
        return
    with tqdm(total=_lines(str(path)), initial=done, desc="redraft", unit=" lines", leave=False) as bar:
        for batch in batches:
            yield batch
            bar.update(len(batch))


def _lines(path: str) -> int:
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
