"""The metrics of a replica among those of Ray, so that Prometheus finds all replicas at Ray's metrics port."""

from __future__ import annotations

import asyncio

from prometheus_client import CollectorRegistry
from ray import serve
from ray.util.metrics import Gauge

_SECONDS = 5.0  # between two copies; Ray itself reports every 5 to 10 seconds
_REPLICA = "replica"


class RayMetrics:
    """Copies every sample of the service's own metrics into a gauge of Ray with the same name and labels.

    Ray adds `ray_` to the name. Counters stay counters for Prometheus' `rate`, which reads values, not types.
    """

    def __init__(self) -> None:
        self._gauges: dict[str, Gauge] = {}
        self._replica = serve.get_replica_context().replica_id.unique_id

    async def publish(self, metrics: CollectorRegistry) -> None:
        """Until cancelled."""
        while True:
            self._copy(metrics)
            await asyncio.sleep(_SECONDS)

    def _copy(self, metrics: CollectorRegistry) -> None:
        for metric in metrics.collect():
            for sample in metric.samples:
                if not sample.name.endswith("_created"):
                    labels = {**sample.labels, _REPLICA: self._replica}
                    self._gauge(sample.name, metric.documentation, tuple(labels)).set(sample.value, labels)

    def _gauge(self, name: str, description: str, labels: tuple[str, ...]) -> Gauge:
        if name not in self._gauges:
            self._gauges[name] = Gauge(name, description, labels)
        return self._gauges[name]
