"""Metrics, request log, security headers, and handling of unexpected exceptions."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redraft.serve.error_responses import error_response
from redraft.serve.log_escaping import traceback_lines
from redraft.serve.security_headers import SECURITY_HEADERS
from redraft.serve.service import Service

_log = logging.getLogger(__name__)
_FILE_FOLDERS = ("/static", "/docs")  # one label for all files in each


class Metrics(Collector):
    """Metrics in their own registry, so that several services in one process stay separate."""

    def __init__(self, service: Service) -> None:
        self._batcher, self.registry = service.batcher, CollectorRegistry()
        self.requests = Counter("redraft_requests", "Requests answered.", ["route", "status"], registry=self.registry)
        self.seconds = Histogram(
            "redraft_request_seconds", "Seconds until a request was answered.", ["route"], registry=self.registry
        )
        self.registry.register(self)

    def collect(self) -> Iterator[Metric]:
        yield CounterMetricFamily("redraft_batches", "Batches computed.", self._batcher.batches)
        yield CounterMetricFamily("redraft_sentences", "Sentences computed.", self._batcher.sentences)
        yield GaugeMetricFamily("redraft_waiting", "Sentences in the queue.", self._batcher.waiting)

    def text(self) -> bytes:
        return generate_latest(self.registry)


class MetricsMiddleware:
    """Counts and logs each request, and adds the security headers.

    An unexpected exception is logged with its type and location; its message, which may quote a text, only with
    `log_text`.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics, log_text: bool) -> None:
        self._app, self._metrics, self._log_text = app, metrics, log_text

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        route, start, status = _route_label(scope), time.perf_counter(), 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *SECURITY_HEADERS]}
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            self._log_exception(error)
            if not status:
                response = error_response(
                    500, "the service failed because of an internal error.", "The log has the details. Try again.",
                    path=scope["path"],
                )  # fmt: skip
                await response(scope, receive, send_with_headers)
        seconds = time.perf_counter() - start
        self._metrics.requests.labels(route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        method = scope["method"] if scope["method"].isalpha() else "?"
        _log.info("%s %s %d %.3f s", method, route, status, seconds)

    def _log_exception(self, error: Exception) -> None:
        if self._log_text:
            _log.error("unexpected\n%s", traceback_lines(error))
            return
        places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
        _log.error("unexpected %s at %s", type(error).__name__, " < ".join(reversed(places)))


def _route_label(scope: Scope) -> str:
    """One of a fixed set of names, because every label value creates a time series."""
    path = str(scope["path"])
    if any(getattr(route, "path", None) == path for route in scope["app"].routes):
        return path
    return next((folder for folder in _FILE_FOLDERS if path.startswith(f"{folder}/")), "other")
