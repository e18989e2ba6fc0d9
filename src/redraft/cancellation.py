"""Places between the steps of long work where whoever runs it may stop it, or let other work go first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

AtPause = Callable[[bool], None]

_at_pauses: ContextVar[AtPause | None] = ContextVar("at_pauses", default=None)


def yield_point(*, alone: bool = False) -> None:
    """Stands between the steps of work that may take long; does nothing unless somebody has asked.

    `alone`: the work is in the middle of something that others share, such as the rows of a model or the buffers of a
    graph. It may be stopped here, but no other work with the same objects may go first.
    """
    called = _at_pauses.get()
    if called is not None:
        called(alone)


@contextmanager
def at_yield_points(called: AtPause) -> Iterator[None]:
    """Within, in this thread, every yield point calls it with `alone`. An exception that it raises ends the work."""
    token = _at_pauses.set(called)
    try:
        yield
    finally:
        _at_pauses.reset(token)
