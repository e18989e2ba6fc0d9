"""A CPU time limit that guards against hangs. Other load on the machine does not count."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class TooLong(BaseException):
    """The CPU time limit was reached. Not an Exception, so that the code under test cannot catch it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooLong in the block after `seconds` of CPU time."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
