"""Who may come in, and with what: names, origins, keys, kinds and sizes, checked before a body is read."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redraft.serve.error_responses import error_response
from redraft.serve.limits import Limits

NEAR = ("localhost", "127.0.0.1", "::1")  # names of this machine for itself
_GUARDED = "/v1/"
_JSON = "application/json"


class AuthMiddleware:
    """Around an application. It refuses

    - 403: a Host that is none of `hosts` (else a web page whose name is made to point here could use the service), and
      pages of other sites, but for `origins`
    - 401: /v1 without the key, where one is set
    - 415: a POST that is not declared as JSON: browsers send other kinds for any page without asking
    - 413 and 408: bodies of more than `max_body` bytes, or not here in time
    """

    def __init__(
        self, app: ASGIApp, *, api_key: str | None, hosts: Iterable[str], origins: Iterable[str], limits: Limits
    ) -> None:
        self._app, self._limits = app, limits
        self._hosts, self._origins = frozenset(map(_plain, hosts)), frozenset(origins)
        self._expected = None if api_key is None else f"Bearer {api_key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
        if refused is not None:
            await refused(scope, receive, send)
            return
        read, is_whole = 0, False
        until = asyncio.get_running_loop().time() + self._limits.receive

        async def counted() -> Message:
            nonlocal read, is_whole
            if is_whole:  # what comes now is that the sender leaves
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise _refused(408, *self._too_slow()) from None
            read += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if read > self._limits.max_body:
                raise _refused(413, *self._too_large())
            return message

        await self._app(scope, counted, send)

    def _refusal(self, method: str, path: str, headers: Headers) -> Response | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if _plain(host) not in self._hosts:
            return error_response(
                403, "the service is not known by the name in the Host header.",
                "Call it by the address it listens on, or start it with --allow-host NAME.",
            )  # fmt: skip
        if origin is not None and not self._is_welcome(origin, host):
            return error_response(
                403, "the page is of another site, as its Origin header says.", "Start the service with --cors ORIGIN."
            )
        if not self._knows(path, headers.get("authorization", "")):
            return error_response(
                401, "the key is missing or wrong.", "Send the header Authorization: Bearer KEY.",
                {"WWW-Authenticate": "Bearer"},
            )  # fmt: skip
        if method == "POST" and headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
            return error_response(415, "the body is not declared as JSON.", f"Send the header Content-Type: {_JSON}.")
        length = headers.get("content-length", "")
        if length.isdecimal() and (len(length) > 18 or int(length) > self._limits.max_body):
            return error_response(413, *self._too_large())
        return None

    def _is_welcome(self, origin: str, host: str) -> bool:
        """A page of the service itself, whose address may begin with https where a proxy stands before it, or told."""
        return origin.partition("://")[2] == host or not self._origins.isdisjoint((origin, "*"))

    def _knows(self, path: str, given: str) -> bool:
        if self._expected is None or not path.startswith(_GUARDED):
            return True
        return hmac.compare_digest(given.encode("latin-1"), self._expected)

    def _too_large(self) -> tuple[str, str]:
        return f"the body is larger than {self._limits.max_body:,} bytes, the limit.", "Send less text at once."

    def _too_slow(self) -> tuple[str, str]:
        return f"the body was not here within {self._limits.receive:g} seconds.", "Send less text at once."


def _refused(status: int, problem: str, hint: str) -> HTTPException:
    return HTTPException(status, {"problem": problem, "hint": hint})  # type: ignore[arg-type]


def _plain(host: str) -> str:
    """A name or address as it is compared: without a port and brackets, in one spelling."""
    bare = host.strip().lower()
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        return str(ip_address(bare))
    except ValueError:
        return bare.removesuffix(".")
