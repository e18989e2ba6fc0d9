"""Errors as answers: one shape for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from redraft.errors import PlanError, RedraftError
from redraft.serve.batcher import DeadlineExceeded, QueueFull

_SEE = "GET /openapi.json describes every request."
_LONGEST = 300  # characters of a place that the sender named


def error_response(status: int, problem: str, hint: str = "", headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": {"problem": problem, "hint": hint}}, status, headers)


async def on_redraft_error(request: Request, error: Exception) -> JSONResponse:
    """A `RedraftError`: something the sender can mend, or a service with too much to do."""
    assert isinstance(error, RedraftError)
    if isinstance(error, QueueFull):
        return error_response(429, error.problem, error.hint, {"Retry-After": "1"})
    place = f"{error.field}: " if isinstance(error, PlanError) and error.field else ""
    return error_response(504 if isinstance(error, DeadlineExceeded) else 400, place + error.problem, error.hint)


async def on_validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    return error_response(422, f"{_place(first['loc'])}: {first['msg']}.", _SEE)


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    detail: Any = error.detail
    known = detail if isinstance(detail, dict) else {"problem": f"{detail}.", "hint": _SEE}
    return error_response(error.status_code, known["problem"], known["hint"], error.headers)


def _place(parts: tuple[int | str, ...]) -> str:
    """As in Python: body.sentences[2].source. Keys come from the sender, and may be anything."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)[1:]
    return text[:_LONGEST].encode("utf-8", "backslashreplace").decode("utf-8")
