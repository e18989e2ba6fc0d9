"""Error responses, all in one JSON shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from redraft.errors import PlanError, RedraftError
from redraft.serve.batcher import DeadlineExceeded, QueueFull

_SEE_DOCS = "See /docs for all requests and their fields."
_MAX_PLACE = 300  # characters of a place, which may contain field names of the sender
# Errors of pydantic by their type; braces name values of the error's context.
_VALIDATION_MESSAGES = {
    "missing": "is required",
    "extra_forbidden": "is not a known field",
    "json_invalid": "is not valid JSON at character {position}: {error}",
    "value_error": "{error}",
    "string_type": "must be a string",
    "string_unicode": "must be valid Unicode",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing_size": "is too large",
    "float_type": "must be a number",
    "list_type": "must be a list",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
}
# Errors that FastAPI and Starlette raise without a useful message.
_HTTP_MESSAGES = {
    400: "the body cannot be decoded: its encoding is not UTF-8, its nesting is too deep, or a number is too long.",
    404: "there is nothing at this path.",
    405: "this path does not support this HTTP method.",
}


def error_response(status: int, problem: str, hint: str = "", headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": {"problem": problem, "hint": hint}}, status, headers)


async def on_redraft_error(request: Request, error: Exception) -> JSONResponse:
    """A `RedraftError`: a mistake in the request, or an overloaded service."""
    assert isinstance(error, RedraftError)
    if isinstance(error, QueueFull):
        return error_response(429, error.problem, error.hint, {"Retry-After": "1"})
    place = f"{error.field}: " if isinstance(error, PlanError) and error.field else ""
    return error_response(504 if isinstance(error, DeadlineExceeded) else 400, place + error.problem, error.hint)


async def on_validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place, values = first["loc"], dict(first.get("ctx", {}))
    if first["type"] == "json_invalid":
        place, values["position"] = place[:1], place[-1]
    message = _VALIDATION_MESSAGES.get(first["type"])
    problem = first["msg"] if message is None else message.format(**values)
    return error_response(422, f"{_place(place)}: {problem}.", _SEE_DOCS)


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    """`detail` is a dict if the error was raised by `http_error`, else a text of FastAPI or Starlette."""
    assert isinstance(error, HTTPException)
    detail: Any = error.detail
    if not isinstance(detail, dict):
        detail = {"problem": _HTTP_MESSAGES.get(error.status_code, f"{detail}."), "hint": _SEE_DOCS}
    return error_response(error.status_code, detail["problem"], detail["hint"], error.headers)


def http_error(status: int, problem: str, hint: str) -> HTTPException:
    return HTTPException(status, {"problem": problem, "hint": hint})  # type: ignore[arg-type]


def _place(parts: tuple[int | str, ...]) -> str:
    """As in Python: body.sentences[2].source. Field names come from the sender and can be any text."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)[1:]
    return text[:_MAX_PLACE].encode("utf-8", "backslashreplace").decode("utf-8")
