"""A bar on a terminal while a file is worked through; nothing in a pipe."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")


def lines_of(path: str) -> int | None:
    """How many lines a file has; None for what can be read only once, such as a pipe."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        return None
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def with_bar(batches: Iterable[Sequence[Item]], path: str | None, *, done: int = 0) -> Iterator[Sequence[Item]]:
    """The batches themselves, with a bar on standard error over the lines of the file they come from."""
    if path is None or path == "-" or not sys.stderr.isatty():
        yield from batches
        return
    with tqdm(total=lines_of(path), initial=done, desc="redraft", unit=" lines", leave=False) as bar:
        for batch in batches:
            yield batch
            bar.update(len(batch))
