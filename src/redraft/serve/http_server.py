"""How uvicorn runs the service: connections on which nothing happens are closed, and it stops in time."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from redraft.serve.limits import Limits


def uvicorn_config(app: FastAPI, host: str, port: int, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app, host=host, port=port, http=_connection(limits), ws="none", log_level="warning", access_log=False,
        server_header=False, timeout_graceful_shutdown=math.ceil(limits.shutdown),
    )  # fmt: skip


def _connection(limits: Limits) -> type[H11Protocol]:
    """What uvicorn makes of each connection; by itself it would wait for headers for ever."""

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
