"""Progress bars on a terminal; elsewhere a line now and then for a training, nothing for a file."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

Say = Callable[[str], object]
_SECONDS = 60  # from one plain line to the next


class ProgressBar:
    """Counts steps; `say` keeps the bar and what is said apart."""

    def __init__(self, steps: int, done: int, say: Say, *, quiet: bool = False) -> None:
        self._say, self._steps, self._first = say, steps, done
        self._bar = tqdm(total=steps, initial=done, unit="step", disable=quiet or not sys.stderr.isatty())
        self._began = self._last = time.monotonic()

    def say(self, message: str) -> None:
        if self._bar.disable:
            self._say(message)
        else:
            with self._bar.external_write_mode(file=sys.stderr):
                self._say(message)

    def step(self, step: int, loss: float | None) -> None:
        """One more step is done; `loss` is the last that is known."""
        if loss is not None:
            self._bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
        self._bar.update()
        now = time.monotonic()
        if self._bar.disable and now - self._last >= _SECONDS:
            pace = (step - self._first) / (now - self._began)
            known = "" if loss is None else f"  loss {loss:.3f}"
            left = (self._steps - step) / pace / 60
            self.say(f"step {step:,}/{self._steps:,}{known}  {pace:.2f} steps/s  {left:.0f} min left at most")
            self._last = now

    def close(self) -> None:
        self._bar.close()


Item = TypeVar("Item")


def lines_of(path: str) -> int | None:
    """How many lines a file has; None for what can be read only once, such as a pipe."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        return None
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def with_bar(items: Iterable[Item], path: str | None, *, done: int = 0) -> Iterator[Item]:
    """The items themselves, one for each line of a file, with a bar on standard error over these lines."""
    if path is None or path == "-" or not sys.stderr.isatty():
        yield from items
        return
    with tqdm(total=lines_of(path), initial=done, desc="redraft", unit=" lines", leave=False) as bar:
        for item in items:
            yield item
            bar.update()
