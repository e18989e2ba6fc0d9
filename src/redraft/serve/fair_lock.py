"""One model for several threads: one of them works, the others wait for their turn."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class FairLock:
    """A lock that goes to the thread that has waited longest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # held for moments only
        self._taken = False
        self._waiting: deque[threading.Event] = deque()

    @contextmanager
    def turn(self) -> Iterator[None]:
        self._take()
        try:
            yield
        finally:
            self._give()

    def pass_on(self) -> None:
        """Within a turn: all who wait have theirs first."""
        if self._waiting:
            self._give()
            self._take()

    def _take(self) -> None:
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            given = threading.Event()
            self._waiting.append(given)
        given.wait()

    def _give(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False
