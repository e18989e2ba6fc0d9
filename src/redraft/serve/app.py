"""The FastAPI application: middleware and routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import fastapi_offline  # only for its copy of Swagger UI
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.security import HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry
from starlette.exceptions import HTTPException

from redraft import __version__
from redraft.documents.document_files import CONTENT_TYPES
from redraft.errors import ConfigError, RedraftError
from redraft.serve import document_schemas, schemas
from redraft.serve.auth_middleware import LOCAL_HOSTS, ApiKey, AuthMiddleware
from redraft.serve.document_worker import DocumentWorker
from redraft.serve.error_responses import http_error, on_http_error, on_redraft_error, on_validation_error
from redraft.serve.languagetool.check_request import parameters_of, read_check_request
from redraft.serve.languagetool.matches import languages_answer
from redraft.serve.limits import Limits
from redraft.serve.metrics_middleware import Metrics, MetricsMiddleware
from redraft.serve.service import Service
from redraft.simplify.simplifier import Simplifier

_CLIENT_CLOSED_REQUEST = 499  # not a standard status: nginx logs it for requests whose client disconnected
_ERROR_STATUSES = (400, 403, 408, 413, 415, 422, 429, 504)
_SWAGGER_UI_FILES = ("swagger-ui.css", "swagger-ui-bundle.js")
_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
T = TypeVar("T")


def create_app(
    simplifier: Simplifier,
    *,
    limits: Limits | None = None,
    api_key: str | None = None,
    hosts: Sequence[str] = LOCAL_HOSTS,
    cors: Sequence[str] = (),
    log_text: bool = False,
    watch_metrics: Callable[[CollectorRegistry], Coroutine[Any, Any, None]] | None = None,
) -> FastAPI:
    """The service for one simplifier.

    `hosts`: accepted names and addresses in the Host header; `cors`: origins whose pages may call the service;
    `log_text`: write texts to the log; `watch_metrics`: runs beside the service, until it stops.
    """
    if api_key is not None and not api_key.strip():
        raise ConfigError("the API key is empty.", "Give a key, or leave it out.")
    limits = limits or Limits()
    service = Service(simplifier, limits, log_text=log_text)
    metrics, key = Metrics(service), ApiKey(api_key)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        watch = asyncio.create_task(watch_metrics(metrics.registry)) if watch_metrics else None
        yield
        if watch:
            watch.cancel()
        service.batcher.close()

    app = FastAPI(
        title="redraft", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan,
        description=f"Edit-constrained text simplification.\n\n{limits.to_markdown()}",
    )  # fmt: skip
    app.add_exception_handler(RedraftError, on_redraft_error)
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(HTTPException, on_http_error)
    # The middleware added last is the outermost.
    app.add_middleware(AuthMiddleware, key=key, hosts=hosts, origins=cors, limits=limits)
    app.add_middleware(MetricsMiddleware, metrics=metrics, log_text=log_text)
    if cors:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(cors), allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )  # fmt: skip
    _add_api(app, service, needs_key=api_key is not None)
    _add_languagetool(app, service, key)
    _add_documents(app, limits, needs_key=api_key is not None)
    _add_monitoring(app, service, metrics)
    _add_pages(app)
    return app


def _error_responses(*, needs_key: bool) -> dict[int | str, dict[str, Any]]:
    statuses = (*_ERROR_STATUSES, 401) if needs_key else _ERROR_STATUSES
    return {status: {"model": schemas.ErrorResponse} for status in statuses}


def _key_dependencies(*, needs_key: bool) -> list[Any]:
    """Declares the key in the OpenAPI document; the middleware checks it."""
    bearer = HTTPBearer(auto_error=False, description="The API key that the service was started with.")
    return [Depends(bearer)] if needs_key else []


def _add_api(app: FastAPI, service: Service, *, needs_key: bool) -> None:
    responses, dependencies = _error_responses(needs_key=needs_key), _key_dependencies(needs_key=needs_key)

    @app.post("/v1/plan", response_model=schemas.PlanResponse, responses=responses, dependencies=dependencies)
    async def plan(body: schemas.PlanRequest, request: Request) -> Any:
        """Predict the edits for each sentence of a text."""
        return await _cancel_on_disconnect(request, service.plan(body))

    @app.post(
        "/v1/simplify", response_model=schemas.SimplifyResponse, response_model_exclude_unset=True,
        responses=responses, dependencies=dependencies,
    )  # fmt: skip
    async def simplify(body: schemas.SimplifyRequest, request: Request) -> Any:
        """Rewrite a text, or sentences with edits."""
        return await _cancel_on_disconnect(request, service.simplify(body))

    @app.post("/v1/check", response_model=schemas.CheckResponse, responses=responses, dependencies=dependencies)
    async def check(body: schemas.CheckRequest, request: Request) -> Any:
        """Check sentences that others wrote: edits carried out, words missing, meaning, hard places."""
        return await _cancel_on_disconnect(request, service.check(body))

    @app.post("/v1/diagnose", response_model=schemas.DiagnoseResponse, responses=responses, dependencies=dependencies)
    def diagnose(body: schemas.DiagnoseRequest) -> Any:
        """Hard words and long sentences, and how easy the text is to read; nothing is rewritten."""
        return service.diagnose(body)

    @app.post("/v1/readability", response_model=schemas.Readability, responses=responses, dependencies=dependencies)
    def readability(body: schemas.ReadabilityRequest) -> Any:
        """How easy a text is to read, before and after simplification."""
        return service.readability(body)

    @app.post("/v1/evaluate", response_model=schemas.EvaluateResponse, responses=responses, dependencies=dependencies)
    def evaluate(body: schemas.EvaluateRequest) -> Any:
        """Scores of outputs against sources and references."""
        return service.evaluate(body)


def _add_languagetool(app: FastAPI, service: Service, key: ApiKey) -> None:
    """The interface of LanguageTool, which is described by its own documentation."""

    @app.api_route("/v2/check", methods=["GET", "POST"], include_in_schema=False)
    async def check(request: Request) -> Any:
        parameters = parameters_of(await request.body(), request.url.query)
        if not key.is_in(request.headers) and not key.is_key(str(parameters.get("apiKey", ""))):
            raise http_error(403, "the API key is missing or wrong.", "Send it as 'apiKey'.")
        return await _cancel_on_disconnect(request, service.languagetool_check(read_check_request(parameters)))

    @app.get("/v2/languages", include_in_schema=False)
    async def languages() -> Any:
        return languages_answer()


def _add_documents(app: FastAPI, limits: Limits, *, needs_key: bool) -> None:
    worker = DocumentWorker(limits)
    responses, dependencies = _error_responses(needs_key=needs_key), _key_dependencies(needs_key=needs_key)
    binary = {"schema": {"type": "string", "format": "binary"}}
    file_response: dict[int | str, dict[str, Any]] = {
        200: {"description": "The file", "content": dict.fromkeys(CONTENT_TYPES.values(), binary)}
    }

    @app.post(
        "/v1/documents/open", response_model=document_schemas.OpenDocumentResponse, response_model_exclude_unset=True,
        responses=responses, dependencies=dependencies,
    )  # fmt: skip
    async def open_document(body: document_schemas.OpenDocumentRequest, request: Request) -> Any:
        """Read the text of a .docx, .odt, .html, .md, .txt or .pdf file, in blocks."""
        result = await _cancel_on_disconnect(request, worker.run("open", await request.body()))
        return result if isinstance(result, Response) else result[0]

    @app.post(
        "/v1/documents/export", response_class=Response, responses=file_response | responses,
        dependencies=dependencies,
    )  # fmt: skip
    async def export_document(body: document_schemas.ExportDocumentRequest, request: Request) -> Any:
        """Write a document with new texts: with tracked changes and comments, or the new text alone."""
        result = await _cancel_on_disconnect(request, worker.run("export", await request.body()))
        if isinstance(result, Response):
            return result
        # A browser must not show a page of someone else as one of this service.
        headers = {
            "Content-Disposition": f'attachment; filename="document.{body.format}"',
            "Content-Security-Policy": "sandbox",
        }
        return Response(result[1], media_type=CONTENT_TYPES[body.format], headers=headers)


def _add_monitoring(app: FastAPI, service: Service, metrics: Metrics) -> None:
    @app.get("/health", response_model=schemas.Health)
    async def health() -> Any:
        """Status, version and queue length."""
        return schemas.Health(status="ok", version=__version__, waiting=service.batcher.waiting)

    @app.get("/metrics", include_in_schema=False)
    async def prometheus() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _add_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return _file_response(page_folder(), "index.html")

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        return _file_response(page_folder(), name)

    @app.get("/docs", include_in_schema=False)
    def docs() -> Response:
        return _file_response(page_folder(), "docs.html")

    @app.get("/docs/{name}", include_in_schema=False)
    def swagger_ui(name: str) -> Response:
        if name not in _SWAGGER_UI_FILES:
            raise HTTPException(404)
        return _file_response(swagger_ui_folder(), name)


async def _cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T | Response:
    """The result of the work; the work is cancelled when the client disconnects."""
    result, disconnect = asyncio.create_task(work), asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait({result, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        return await result if result.done() else Response(status_code=_CLIENT_CLOSED_REQUEST)
    finally:
        result.cancel()
        disconnect.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def page_folder() -> Path:
    return Path(str(files("redraft.serve"))) / "page"


def swagger_ui_folder() -> Path:
    return Path(str(files(fastapi_offline))) / "static"


def _file_response(folder: Path, name: str) -> Response:
    """404 unless `name` is exactly the name of a file in the folder."""
    path = {path.name: path for path in folder.iterdir() if path.is_file()}.get(name)
    if path is None or path.suffix not in _MEDIA_TYPES:
        raise HTTPException(404)
    return Response(path.read_bytes(), media_type=_MEDIA_TYPES[path.suffix], headers={"Cache-Control": "no-cache"})
