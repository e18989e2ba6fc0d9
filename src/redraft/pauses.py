"""Places between the steps of long work where whoever runs it may stop it, or let other work go first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_at_pauses: ContextVar[Callable[[], None] | None] = ContextVar("at_pauses", default=None)


def pause() -> None:
    """Stands between the steps of work that may take long; does nothing unless somebody has asked."""
    called = _at_pauses.get()
    if called is not None:
        called()


@contextmanager
def at_pauses(called: Callable[[], None]) -> Iterator[None]:
    """Within, in this thread, every pause calls it. An exception that it raises ends the work."""
    token = _at_pauses.set(called)
    try:
        yield
    finally:
        _at_pauses.reset(token)
