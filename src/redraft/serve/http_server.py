"""uvicorn settings: close idle connections, and stop within a time limit."""

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
        app, host=host, port=port, http=_protocol_with_timeout(limits), ws="none", log_level="warning",
        access_log=False, server_header=False, timeout_graceful_shutdown=math.ceil(limits.shutdown_timeout),
    )  # fmt: skip


def _protocol_with_timeout(limits: Limits) -> type[H11Protocol]:
    """The protocol class of uvicorn with a time limit for request headers, which uvicorn itself does not have."""

    class ProtocolWithTimeout(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._start_timer()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._start_timer()

        def _start_timer(self) -> None:
            self.loop.call_later(limits.receive_timeout, self._close_if_idle, self.cycle)

        def _close_if_idle(self, last_cycle: Any) -> None:
            """`last_cycle`: the latest request when the timer started; idle: there has been none since."""
            if self.cycle is last_cycle:
                self.transport.close()  # after the pending response data is sent
                self.loop.call_later(limits.deadline, self.transport.abort)

    return ProtocolWithTimeout
