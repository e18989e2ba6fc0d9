"""What is counted and logged of each request, and what becomes of an error that nobody expected."""

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
from redraft.serve.service import Service

_log = logging.getLogger(__name__)
_HEADERS = (
    (b"content-security-policy", b"default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


class Metrics(Collector):
    """In a registry of its own, so that two services in one process do not mix."""

    def __init__(self, service: Service) -> None:
        self._batcher, self._registry = service.batcher, CollectorRegistry()
        self.requests = Counter("redraft_requests", "Requests answered.", ["route", "status"], registry=self._registry)
        self.seconds = Histogram(
            "redraft_request_seconds", "Seconds until a request was answered.", ["route"], registry=self._registry
        )
        self._registry.register(self)

    def collect(self) -> Iterator[Metric]:
        yield CounterMetricFamily("redraft_batches", "Batches computed.", self._batcher.batches)
        yield CounterMetricFamily("redraft_sentences", "Sentences computed.", self._batcher.sentences)
        yield GaugeMetricFamily("redraft_waiting", "Sentences that wait.", self._batcher.waiting)

    def text(self) -> bytes:
        return generate_latest(self._registry)


class MetricsMiddleware:
    """Around an application: figures, a line in the log, and headers that keep browsers strict.

    An unexpected error is logged by its kind and place; its message, which may quote a text, only with `log_text`.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics, log_text: bool) -> None:
        self._app, self._metrics, self._log_text = app, metrics, log_text

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        route, began, status = _route(scope), time.perf_counter(), 0

        async def strict(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *_HEADERS]}
            await send(message)

        try:
            await self._app(scope, receive, strict)
        except Exception as error:
            self._report(error)
            if not status:
                answer = error_response(
                    500, "the service failed.", "Its log says where; the request may be sent again."
                )
                await answer(scope, receive, strict)
        seconds = time.perf_counter() - began
        self._metrics.requests.labels(route, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        method = scope["method"] if scope["method"].isalpha() else "?"
        _log.info("%s %s %d %.3f s", method, route, status, seconds)

    def _report(self, error: Exception) -> None:
        if self._log_text:
            _log.error("unexpected\n%s", traceback_lines(error))
            return
        places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
        _log.error("unexpected %s at %s", type(error).__name__, " < ".join(reversed(places)))


def _route(scope: Scope) -> str:
    """Few names, whatever is asked for: each is a time series."""
    path = str(scope["path"])
    if any(getattr(route, "path", None) == path for route in scope["app"].routes):
        return path
    return "/static" if path.startswith("/static/") else "other"
