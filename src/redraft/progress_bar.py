"""Progress: bars on a terminal; elsewhere a line per minute for training and tuning, and nothing for files."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

Say = Callable[[str], object]
_LINE_SECONDS = 60  # between lines, without a terminal


class ProgressBar:
    """A bar that counts steps. Messages printed with its `say` do not disturb the bar."""

    def __init__(self, steps: int, done: int, say: Say, *, quiet: bool = False) -> None:
        self._say, self._steps, self._first = say, steps, done
        self._bar = tqdm(total=steps, initial=done, unit="step", disable=quiet or not sys.stderr.isatty())
        self._start = self._last_line = time.monotonic()

    def say(self, message: str) -> None:
        if self._bar.disable:
            self._say(message)
        else:
            with self._bar.external_write_mode(file=sys.stderr):
                self._say(message)

    def step(self, step: int, loss: float | None) -> None:
        """Count one more step; `loss` is the latest one, if known."""
        if loss is not None:
            self._bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
        self._bar.update()
        now = time.monotonic()
        if self._bar.disable and now - self._last_line >= _LINE_SECONDS:
            pace = (step - self._first) / (now - self._start)
            shown_loss = "" if loss is None else f"  loss {loss:.3f}"
            minutes = (self._steps - step) / pace / 60
            self.say(f"step {step:,}/{self._steps:,}{shown_loss}  {pace:.2f} steps/s  at most {minutes:.0f} min left")
            self._last_line = now

    def close(self) -> None:
        self._bar.close()


Item = TypeVar("Item")


def count_file_lines(path: str) -> int | None:
    """The number of lines of a file; None for a pipe or device, which can be read only once."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        return None
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def with_progress_bar(items: Iterable[Item], path: str | None, *, done: int = 0) -> Iterator[Item]:
    """The same items, one per line of the file, with a bar on standard error that counts them."""
    if path is None or path == "-" or not sys.stderr.isatty():
        yield from items
        return
    with tqdm(total=count_file_lines(path), initial=done, desc="redraft", unit=" lines", leave=False) as bar:
        for item in items:
            yield item
            bar.update()
