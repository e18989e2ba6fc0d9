"""Cooperative scheduling of long work: points between its steps at which it may be cancelled or may let others run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

YieldCallback = Callable[[bool], None]

_callback: ContextVar[YieldCallback | None] = ContextVar("yield_callback", default=None)


def yield_point(*, cancel_only: bool = False) -> None:
    """Called between the steps of long work; does nothing unless `on_yield_point` is active.

    `cancel_only`: the work is using state that it shares with other work, such as the rows of a model or the buffers of
    a CUDA graph. It may be cancelled here, but no other work with the same objects may run.
    """
    callback = _callback.get()
    if callback is not None:
        callback(cancel_only)


@contextmanager
def on_yield_point(callback: YieldCallback) -> Iterator[None]:
    """Inside this context and thread, every yield point calls `callback(cancel_only)`.

    The callback cancels the work by raising an exception, and lets other work run by waiting.
    """
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)
