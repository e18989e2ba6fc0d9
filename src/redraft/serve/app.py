"""The service as an application of FastAPI: routes, and what stands around them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException

from redraft import __version__
from redraft.errors import ConfigError, RedraftError
from redraft.serve import schemas as bodies
from redraft.serve.auth_middleware import NEAR, AuthMiddleware
from redraft.serve.error_responses import on_http_error, on_redraft_error, on_validation_error
from redraft.serve.limits import Limits
from redraft.serve.metrics_middleware import Metrics, MetricsMiddleware
from redraft.serve.service import Service
from redraft.simplify.simplifier import Simplifier

_GONE = 499  # the sender has left, so nobody reads the answer
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": bodies.ErrorAnswer} for status in (400, 401, 403, 408, 413, 415, 422, 429, 504)
}
T = TypeVar("T")


def create_app(
    simplifier: Simplifier,
    *,
    limits: Limits | None = None,
    api_key: str | None = None,
    hosts: Sequence[str] = NEAR,
    cors: Sequence[str] = (),
    log_text: bool = False,
) -> FastAPI:
    """The service of one simplifier.

    `hosts` are the names and addresses by which it may be called, `cors` the origins of other sites whose pages may
    call it; `log_text`: texts are logged.
    """
    if api_key is not None and not api_key.strip():
        raise ConfigError("the key is empty.", "Give a key, or none.")
    limits = limits or Limits()
    service = Service(simplifier, limits, log_text=log_text)
    metrics = Metrics(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.batcher.close()

    app = FastAPI(
        title="redraft", version=__version__, description=limits.described(), docs_url=None, redoc_url=None,
        lifespan=lifespan,
    )  # fmt: skip
    app.add_exception_handler(RedraftError, on_redraft_error)
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(HTTPException, on_http_error)
    # The last one added is the outermost.
    app.add_middleware(AuthMiddleware, api_key=api_key, hosts=hosts, origins=cors, limits=limits)
    app.add_middleware(MetricsMiddleware, metrics=metrics, log_text=log_text)
    if cors:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(cors), allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )  # fmt: skip
    _add_api(app, service)
    _add_rest(app, service, metrics)
    return app


def _add_api(app: FastAPI, service: Service) -> None:
    @app.post("/v1/plan", response_model=bodies.PlanAnswer, responses=_ERRORS)
    async def plan(body: bodies.PlanRequest, request: Request) -> Any:
        """The edits that are predicted for each sentence of a text."""
        return await _while_connected(request, service.plan(body))

    @app.post(
        "/v1/simplify", response_model=bodies.SimplifyAnswer, response_model_exclude_unset=True, responses=_ERRORS
    )
    async def simplify(body: bodies.SimplifyRequest, request: Request) -> Any:
        """A text, or sentences with edits, rewritten."""
        return await _while_connected(request, service.simplify(body))

    @app.post("/v1/readability", response_model=bodies.Readability, responses=_ERRORS)
    def readability(body: bodies.ReadabilityRequest) -> Any:
        """School grades and words of a text as it was and as it is."""
        return service.readability(body)

    @app.post("/v1/evaluate", response_model=bodies.EvaluateAnswer, responses=_ERRORS)
    def evaluate(body: bodies.EvaluateRequest) -> Any:
        """The figures of outputs, by sources and references."""
        return service.evaluate(body)


def _add_rest(app: FastAPI, service: Service, metrics: Metrics) -> None:
    @app.get("/health", response_model=bodies.Health)
    async def health() -> Any:
        return bodies.Health(status="ok", version=__version__, waiting=service.batcher.waiting)

    @app.get("/metrics", include_in_schema=False)
    async def figures() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return page_file("index.html")

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        return page_file(name)


async def _while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T | Response:
    """The work's result; it is cancelled as soon as the sender leaves."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else Response(status_code=_GONE)
    finally:
        working.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}


def page_folder() -> Path:
    return Path(str(files("redraft.serve"))) / "page"


def page_file(name: str) -> Response:
    """404 for whatever is not one of these files."""
    path = {path.name: path for path in page_folder().iterdir() if path.is_file()}.get(name)
    if path is None or path.suffix not in _TYPES:
        raise HTTPException(404, "Not Found")
    return Response(path.read_bytes(), media_type=_TYPES[path.suffix], headers={"Cache-Control": "no-cache"})
