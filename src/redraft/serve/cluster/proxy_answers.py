"""Turns what Ray's own proxy answers, instead of a replica, into errors of the service that clients can act on."""

from __future__ import annotations

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redraft.serve.error_responses import error_response
from redraft.serve.security_headers import SECURITY_HEADERS

# Ray calls it in each proxy: the value of the environment variable RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH.
CALLBACK = "redraft.serve.cluster.proxy_answers.middleware"
# 404: no application yet, or no longer; 429, 503: all queues are full, or no replica; 408: a time limit of Ray.
_STATUSES = (404, 408, 429, 503)
_OWN_PATHS = "/-/"  # of the proxy: health and routes
_RETRY_AFTER = "1"  # seconds; other replicas answer at once


def middleware() -> list[Middleware]:
    return [Middleware(ProxyAnswers)]


class ProxyAnswers:
    """Answers 503 with Retry-After where no replica answered.

    Answers of a replica have the security headers. If a replica dies, the proxy does not answer at all.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_OWN_PATHS):
            await self._app(scope, receive, send)
            return
        is_answered = False

        async def send_of_replicas(message: Message) -> None:
            nonlocal is_answered
            is_answered = is_answered or (message["type"] == "http.response.start" and not _is_of_the_proxy(message))
            if is_answered:
                await send(message)

        await self._app(scope, receive, send_of_replicas)
        if not is_answered:
            response = error_response(
                503, "the part of the service that had this request has stopped, or none is ready.",
                "Nothing was changed. Try again in a moment.", {"Retry-After": _RETRY_AFTER}, path=scope["path"],
            )  # fmt: skip
            response.raw_headers.extend(SECURITY_HEADERS)
            await response(scope, receive, send)


def _is_of_the_proxy(start: Message) -> bool:
    names = {name for name, _ in start["headers"]}
    return start["status"] in _STATUSES and SECURITY_HEADERS[0][0] not in names
