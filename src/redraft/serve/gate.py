"""Who may come in, and with how much: keys and sizes, checked before a body is read."""

from __future__ import annotations

import hmac

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redraft.serve.answers import error_answer

_GUARDED = "/v1/"


class Gate:
    """Around an application: 401 without the key where one is set, 413 for bodies of more than `max_body` bytes."""

    def __init__(self, app: ASGIApp, *, api_key: str | None, max_body: int) -> None:
        self._app, self._max_body = app, max_body
        self._expected = None if api_key is None else f"Bearer {api_key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if not self._knows(scope["path"], headers.get(b"authorization", b"")):
            answer = error_answer(
                401, "the key is missing or wrong.", "Send the header Authorization: Bearer KEY.",
                {"WWW-Authenticate": "Bearer"},
            )  # fmt: skip
            await answer(scope, receive, send)
            return
        length = headers.get(b"content-length", b"")
        if length.isdigit() and (len(length) > 18 or int(length) > self._max_body):
            await error_answer(413, *self._too_large())(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._max_body:
                problem, hint = self._too_large()
                raise HTTPException(413, {"problem": problem, "hint": hint})  # type: ignore[arg-type]
            return message

        await self._app(scope, counted, send)

    def _knows(self, path: str, given: bytes) -> bool:
        if self._expected is None or not path.startswith(_GUARDED):
            return True
        return hmac.compare_digest(given, self._expected)

    def _too_large(self) -> tuple[str, str]:
        return f"the body is larger than {self._max_body:,} bytes, the limit.", "Send less text at once."
