"""Checks host, origin, API key, content type and body size before a body is read."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redraft.serve.error_responses import LANGUAGETOOL, error_response, http_error
from redraft.serve.limits import Limits

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
_PROTECTED = "/v1/"  # paths that need the API key
_JSON = "application/json"
_LESS_TEXT = "Send less text per request."


class ApiKey:
    """The key that callers need; without a key, everybody may call."""

    def __init__(self, key: str | None) -> None:
        self._key = None if key is None else key.encode()

    def is_in(self, headers: Headers) -> bool:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        return self.is_key(key if scheme == "Bearer" else "")

    def is_key(self, key: str) -> bool:
        return self._key is None or hmac.compare_digest(key.encode("utf-8", "surrogatepass"), self._key)


class AuthMiddleware:
    """Refuses requests with

    - 403: a Host not in `hosts`, against DNS rebinding (a web page whose host name resolves to this machine), or a
      page of another origin that is not in `origins`
    - 401: a missing or wrong API key for /v1, if a key is set
    - 415: a POST without the content type JSON; browsers send other types for any page without a CORS preflight.
      Clients of LanguageTool send forms, so that /v2 relies on the Origin header
    - 413 and 408: a body that is larger than the limit of its path, or one that does not arrive in time
    """

    def __init__(
        self, app: ASGIApp, *, key: ApiKey, hosts: Iterable[str], origins: Iterable[str], limits: Limits
    ) -> None:
        self._app, self._limits, self._key = app, limits, key
        self._hosts, self._origins = frozenset(map(_normalised_host, hosts)), frozenset(origins)

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
        if _normalised_host(headers.get("host", "")) not in self._hosts:
            return error_response(
                403, "the name in the Host header is not a name of this service.",
                "Use the address it listens on, or start it with --allow-host NAME.", path=path,
            )  # fmt: skip
        if not self._is_from_allowed_page(path, headers):
            return error_response(
                403, "pages of the site in the Origin header may not call this service.",
                "Start the service with --cors ORIGIN.", path=path,
            )  # fmt: skip
        if path.startswith(_PROTECTED) and not self._key.is_in(headers):
            return error_response(
                401, "the API key is missing or wrong.", "Send the header Authorization: Bearer KEY.",
                {"WWW-Authenticate": "Bearer"},
            )  # fmt: skip
        content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and content_type != _JSON and not path.startswith(LANGUAGETOOL):
            return error_response(
                415, "the content type of the request is not JSON.", f"Send the header Content-Type: {_JSON}."
            )
        length, max_body = headers.get("content-length", ""), self._limits.body_of(path)
        if length.isdecimal() and (len(length) > 18 or int(length) > max_body):
            return error_response(413, _body_too_large(max_body), _LESS_TEXT, path=path)
        return None

    def _is_from_allowed_page(self, path: str, headers: Headers) -> bool:
        """Not from a page; from one of the service itself (http, or https behind a proxy), or of the given origins.

        Browsers send no Origin with a GET for an image or a link, but they say that another site asks.
        """
        origin = headers.get("origin")
        if origin is None:
            return not (path.startswith(LANGUAGETOOL) and headers.get("sec-fetch-site") == "cross-site")
        return origin.partition("://")[2] == headers.get("host", "") or not self._origins.isdisjoint((origin, "*"))


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
