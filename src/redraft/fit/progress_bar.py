"""How far a training is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

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
