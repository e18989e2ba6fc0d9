"""A first-in, first-out lock for the threads that share one model."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class FairLock:
    """A lock that is handed to the thread that has waited longest."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()  # protects the two fields below; held only briefly
        self._is_held = False
        self._waiting: deque[threading.Event] = deque()

    @contextmanager
    def held(self) -> Iterator[None]:
        self._acquire()
        try:
            yield
        finally:
            self._release()

    def let_others_run(self) -> None:
        """While holding the lock: let every waiting thread hold it once, then continue."""
        if self._waiting:
            self._release()
            self._acquire()

    def _acquire(self) -> None:
        with self._mutex:
            if not self._is_held:
                self._is_held = True
                return
            handed_over = threading.Event()
            self._waiting.append(handed_over)
        handed_over.wait()

    def _release(self) -> None:
        with self._mutex:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_held = False
