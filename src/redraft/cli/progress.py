"""A bar on a terminal while a file is worked through; nothing in a pipe."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from tqdm import tqdm

Item = TypeVar("Item")


def lines_of(path: str | None) -> float:
    """How many lines a file has; of standard input nobody knows."""
    if path in (None, "-"):
        return math.inf
    with open(str(path), "rb") as file:
        return sum(1 for _ in file)


def with_bar(batches: Iterable[Sequence[Item]], path: str | None, *, done: int = 0) -> Iterator[Sequence[Item]]:
    """The batches themselves, with a bar on standard error over the lines of the file they come from."""
    if path in (None, "-") or not sys.stderr.isatty():
        yield from batches
        return
    with tqdm(total=lines_of(path), initial=done, desc="redraft", unit=" lines", leave=False) as bar:
        for batch in batches:
            yield batch
            bar.update(len(batch))
