"""Checks host, origin, API key, content type and body size before a body is read."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redraft.serve.error_responses import error_response, http_error
from redraft.serve.limits import Limits

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
_PROTECTED = "/v1/"  # paths that need the API key
_JSON = "application/json"
_LESS_TEXT = "Send less text per request."


class AuthMiddleware:
    """Refuses requests with

    - 403: a Host not in `hosts`, against DNS rebinding (a web page whose host name resolves to this machine), or a
      page of another origin that is not in `origins`
    - 401: a missing or wrong API key for /v1, if a key is set
    - 415: a POST without the content type JSON; browsers send other types for any page without a CORS preflight
    - 413 and 408: a body that is larger than the limit of its path, or one that does not arrive in time
    """

    def __init__(
        self, app: ASGIApp, *, api_key: str | None, hosts: Iterable[str], origins: Iterable[str], limits: Limits
    ) -> None:
        self._app, self._limits = app, limits
        self._hosts, self._origins = frozenset(map(_normalised_host, hosts)), frozenset(origins)
        self._authorization = None if api_key is None else f"Bearer {api_key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        size, is_complete, max_body = 0, False, self._limits.body_of(scope["path"])
        deadline = asyncio.get_running_loop().time() + self._limits.receive_timeout

        async def limited_receive() -> Message:
            nonlocal size, is_complete
            if is_complete:  # what follows the body is the disconnect
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise http_error(
                    408, f"the body did not arrive within {self._limits.receive_timeout:g} seconds.", _LESS_TEXT
                ) from None
            size += len(message.get("body", b""))
            is_complete = not message.get("more_body", False)
            if size > max_body:
                raise http_error(413, _body_too_large(max_body), _LESS_TEXT)
            return message

        await self._app(scope, limited_receive, send)

    def _refusal(self, method: str, path: str, headers: Headers) -> Response | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if _normalised_host(host) not in self._hosts:
            return error_response(
                403, "the name in the Host header is not a name of this service.",
                "Use the address it listens on, or start it with --allow-host NAME.",
            )  # fmt: skip
        if origin is not None and not self._is_allowed_origin(origin, host):
            return error_response(
                403, "pages of the site in the Origin header may not call this service.",
                "Start the service with --cors ORIGIN.",
            )  # fmt: skip
        if not self._is_authorized(path, headers.get("authorization", "")):
            return error_response(
                401, "the API key is missing or wrong.", "Send the header Authorization: Bearer KEY.",
                {"WWW-Authenticate": "Bearer"},
            )  # fmt: skip
        if method == "POST" and headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
            return error_response(
                415, "the content type of the request is not JSON.", f"Send the header Content-Type: {_JSON}."
            )
        length, max_body = headers.get("content-length", ""), self._limits.body_of(path)
        if length.isdecimal() and (len(length) > 18 or int(length) > max_body):
            return error_response(413, _body_too_large(max_body), _LESS_TEXT)
        return None

    def _is_allowed_origin(self, origin: str, host: str) -> bool:
        """Pages of the service itself (http, or https behind a proxy) and of the given origins."""
        return origin.partition("://")[2] == host or not self._origins.isdisjoint((origin, "*"))

    def _is_authorized(self, path: str, authorization: str) -> bool:
        if self._authorization is None or not path.startswith(_PROTECTED):
            return True
        return hmac.compare_digest(authorization.encode("latin-1"), self._authorization)


def _body_too_large(limit: int) -> str:
    return f"the body is larger than the limit of {limit:,} bytes."


def _normalised_host(host: str) -> str:
    """Without port and brackets; addresses in their standard form."""
    name = host.strip().lower()
    if name.startswith("["):
        name = name[1:].partition("]")[0]
    elif name.count(":") == 1:
        name = name.partition(":")[0]
    try:
        return str(ip_address(name))
    except ValueError:
        return name.removesuffix(".")
