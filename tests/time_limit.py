"""A limit on the time of the processor: a busy machine makes no difference."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class TooLong(BaseException):
    """Something takes longer than it may; no Exception, which the code under test may turn into another."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """TooLong is raised where the processor is kept busy for longer."""

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
