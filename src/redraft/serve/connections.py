"""Connections that are closed when no request comes in over them, or nobody takes the answer."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from redraft.serve.limits import Limits


def connection_for(limits: Limits) -> type[H11Protocol]:
    """What uvicorn makes of each connection. By itself it would wait for headers for ever."""

    class Connection(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._await_headers()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._await_headers()

        def _await_headers(self) -> None:
            self.loop.call_later(limits.receive, self._close_unless_asked, self.cycle)

        def _close_unless_asked(self, before: Any) -> None:
            """`before` is the request that was the last one when the wait began."""
            if self.cycle is before:
                self.transport.close()  # when all of the answer is taken
                self.loop.call_later(limits.deadline, self.transport.abort)

    return Connection
