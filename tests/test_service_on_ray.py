"""`redraft serve --on ray`: the answers of the single process, and what clients see when replicas die or change."""
# ruff: noqa: E402

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray.serve")
psutil = pytest.importorskip("psutil")

import httpx
from benchmarks.bench_cluster_service import replica_processes
from benchmarks.bench_service import load
from fastapi.testclient import TestClient
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from free_ports import free_port
from redraft import Redrafter, Simplifier
from redraft.errors import ConfigError
from redraft.serve.app import create_app
from redraft.serve.cluster.proxy_answers import ProxyAnswers
from redraft.serve.cluster.replica import deployment
from redraft.serve.cluster.replica_settings import ReplicaSettings
from redraft.serve.security_headers import SECURITY_HEADERS
from redraft.serve.served_models import limits_for

pytestmark = pytest.mark.filterwarnings("default")  # of Ray

ROOT = Path(__file__).resolve().parent.parent
MODEL = f"scripted:{ROOT / 'examples' / 'by_hand.json'}"
SOURCE = "The artisans remain old ."
KEY = {"Authorization": "Bearer key"}
JSON = {"Content-Type": "application/json"}


@dataclass
class Cluster:
    address: str
    main: ReplicaSettings
    models: dict[str, ReplicaSettings]

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return httpx.post(f"{self.address}{path}", json=body, headers={**KEY, **headers}, timeout=60)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two replicas of one model, and a further model under /small."""
    import ray

    from redraft.serve.cluster.deployment import ENVIRONMENT, deploy, start, stop

    port = free_port()
    main = ReplicaSettings(model=MODEL, replicas=2, allow_host=("example.org",))
    models = {"": main, "small": main.model_copy(update={"replicas": 1})}
    before = set(psutil.Process().children(recursive=True))
    ray.init(
        "local", num_cpus=3, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False,
        runtime_env={"env_vars": ENVIRONMENT},
    )  # fmt: skip
    try:
        start("127.0.0.1", port)
        deploy(models, "key")
        yield Cluster(f"http://127.0.0.1:{port}", main, models)
        stop(models)
    finally:
        ray.shutdown()
    left = set(psutil.Process().children(recursive=True)) - before
    assert [one for one in left if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []


@pytest.fixture(scope="module")
def single(cluster: Cluster) -> Iterator[TestClient]:
    """The same settings in one process."""
    simplifier = Simplifier(Redrafter(MODEL), search_only=True)
    limits = limits_for(simplifier, batch_size=None, queue=cluster.main.queue)
    app = create_app(simplifier, limits=limits, api_key="key", hosts=("127.0.0.1", "example.org"))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


REQUESTS = [
    pytest.param("GET", "/", {}, b"", 200, id="page"),
    pytest.param("GET", "/static/page.js", {}, b"", 200, id="script"),
    pytest.param("GET", "/openapi.json", {}, b"", 200, id="description"),
    pytest.param("GET", "/health", {}, b"", 200, id="health"),
    pytest.param("GET", "/health", {"Host": "example.org"}, b"", 200, id="allowed-host"),
    pytest.param("GET", "/nothing", {}, b"", 404, id="nothing"),
    pytest.param("GET", "/health", {"Host": "evil.example"}, b"", 403, id="host"),
    pytest.param("POST", "/v1/simplify", JSON | KEY, json.dumps({"text": SOURCE}).encode(), 200, id="text"),
    pytest.param("POST", "/v1/simplify", JSON, b"{}", 401, id="no-key"),
    pytest.param("POST", "/v1/simplify", JSON | {"Authorization": "Bearer other"}, b"{}", 401, id="wrong-key"),
    pytest.param("POST", "/v1/simplify", KEY | {"Content-Type": "text/plain"}, b"{}", 415, id="no-json"),
    pytest.param("POST", "/v1/simplify", JSON | KEY, b"{", 422, id="broken-json"),
    pytest.param("POST", "/v1/simplify", JSON | KEY, b'{"text": "%s"}' % (b"a " * 10_001), 400, id="limit"),
    pytest.param("POST", "/v1/simplify", JSON | KEY, b" " * 1_000_001, 413, id="body"),
    pytest.param("POST", "/v1/simplify", JSON | KEY | {"Origin": "https://evil.example"}, b"{}", 403, id="origin"),
    pytest.param("GET", "/v2/languages", {}, b"", 200, id="languagetool"),
    pytest.param("POST", "/v2/check", {"Content-Type": "application/x-www-form-urlencoded"}, b"", 403, id="v2-key"),
]


@pytest.mark.parametrize("method, path, headers, body, status", REQUESTS)
def test_answers_are_those_of_one_process(
    method: str, path: str, headers: dict[str, str], body: bytes, status: int, cluster: Cluster, single: TestClient
) -> None:
    there = httpx.request(method, cluster.address + path, headers=headers, content=body)
    here = single.request(method, path, headers=headers, content=body)
    assert there.status_code == here.status_code == status
    assert there.content == here.content
    for name in ("content-type", *(name.decode() for name, _ in SECURITY_HEADERS)):
        assert there.headers[name] == here.headers[name]


def test_a_further_model_has_its_own_path_page_and_key(cluster: Cluster) -> None:
    answer = cluster.post("/small/v1/simplify", {"text": SOURCE})
    assert answer.json()["text"] == "The artisans remain young ."
    page = httpx.get(f"{cluster.address}/small", follow_redirects=True)
    assert page.url.path == "/small/"
    for address in re.findall(r'(?:href|src)="([^"#:]+)"', page.text):
        assert httpx.get(page.url.join(address)).status_code == 200, address


@pytest.mark.parametrize(
    "path",
    ["/small/v1/simplify", "/small//v1/simplify", "/small/small/v1/simplify", "//v1/simplify", "/small/../v1/simplify"],
)
def test_no_path_leads_around_the_key(path: str, cluster: Cluster) -> None:
    answer = httpx.request("POST", cluster.address + path, headers=JSON, content=json.dumps({"text": SOURCE}))
    assert answer.status_code in (401, 404)


def test_metrics_of_replicas_are_at_the_metrics_port_of_ray(cluster: Cluster) -> None:
    import ray

    cluster.post("/v1/simplify", {"text": SOURCE})
    (node,) = ray.nodes()
    address = f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics"
    pattern = r'ray_redraft_requests_total\{.*replica="(\w+)".*route="/v1/simplify",.*status="200".*\} ([\d.]+)'
    until = time.monotonic() + 40
    while not (found := re.findall(pattern, httpx.get(address).text)):
        assert time.monotonic() < until, "no metrics of redraft"
        time.sleep(1)
    assert all(float(count) >= 1 for _, count in found)


def test_a_killed_replica_loses_no_answer(cluster: Cluster) -> None:
    """Its requests are refused with 503 and Retry-After; a new replica takes its place."""
    before = replica_processes()
    assert len(before) == 3
    killed = next(pid for pid in before if "redraft:Replica" in " ".join(psutil.Process(pid).cmdline()))
    report = load(
        f"{cluster.address}/v1/simplify", {SOURCE: "The artisans remain young ."}, 8, 6, headers=KEY,
        events=[(2, lambda: os.kill(killed, signal.SIGKILL))],
    )  # fmt: skip
    assert (report["first_errors"], report["different"]) == ([], 0)
    assert report["requests"] > 20
    assert set(report["statuses"]) <= {"200", "503"}
    until = time.monotonic() + 40
    while len(set(replica_processes()) - {killed}) < 3:
        assert time.monotonic() < until, "the replica was not replaced"
        time.sleep(0.5)


def test_an_update_replaces_all_replicas_and_no_request_fails(cluster: Cluster) -> None:
    from redraft.serve.cluster.deployment import deploy

    before = set(replica_processes())
    newer = {**cluster.models, "": cluster.main.model_copy(update={"queue": 300})}
    report = load(
        f"{cluster.address}/v1/simplify", {SOURCE: "The artisans remain young ."}, 8, 8, headers=KEY,
        events=[(1, lambda: deploy(newer, "key"))],
    )  # fmt: skip
    assert (report["first_errors"], report["different"], set(report["statuses"])) == ([], 0, {"200"})
    assert before & set(replica_processes()) == set()


def answered_through_the_proxy(status: int | None, headers: dict[str, str], path: str) -> httpx.Response:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if status is not None:
            await PlainTextResponse("Traceback: a text of the proxy", status, headers)(scope, receive, send)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(ProxyAnswers(application))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(path)

    return asyncio.run(ask())


@pytest.mark.parametrize("status", [404, 408, 429, 503, None])
def test_an_answer_of_the_proxy_becomes_a_refusal_of_the_service(status: int | None) -> None:
    """None: the proxy does not answer, which it does if a replica dies."""
    answer = answered_through_the_proxy(status, {}, "/v1/simplify")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert sorted(answer.json()["error"]) == ["hint", "problem"]
    assert "Traceback" not in answer.text
    for name, value in SECURITY_HEADERS:
        assert answer.headers[name.decode()] == value.decode()


@pytest.mark.parametrize(
    "status, headers, path",
    [
        pytest.param(200, {}, "/", id="success"),
        pytest.param(500, {"Content-Security-Policy": "of a replica"}, "/v1/simplify", id="error-of-a-replica"),
        pytest.param(404, {"Content-Security-Policy": "of a replica"}, "/nothing", id="404-of-a-replica"),
        pytest.param(503, {}, "/-/healthz", id="health-of-the-proxy"),
    ],
)
def test_other_answers_pass_unchanged(status: int, headers: dict[str, str], path: str) -> None:
    answer = answered_through_the_proxy(status, headers, path)
    assert (answer.status_code, answer.text) == (status, "Traceback: a text of the proxy")


def test_replicas_scale_with_the_requests_in_progress() -> None:
    config = deployment(ReplicaSettings(replicas=2, max_replicas=5))._deployment_config
    scaling = config.autoscaling_config
    assert (scaling.min_replicas, scaling.max_replicas, scaling.target_ongoing_requests) == (2, 5, 8)
    assert config.max_ongoing_requests > ReplicaSettings().queue  # the replica refuses, in the words of the service


def test_replicas_without_room_are_an_error_at_once(cluster: Cluster) -> None:
    from redraft.serve.cluster.deployment import check_room

    check_room(cluster.models)
    with pytest.raises(ConfigError, match=r"need 4 cores, and there are 3\."):
        check_room({"": cluster.main.model_copy(update={"replicas": 4})})


@pytest.mark.parametrize(
    "flags, message",
    [
        pytest.param(["--replicas", "2"], "need a cluster", id="replicas-without-a-cluster"),
        pytest.param(["--on", "ray", "--replicas", "4-2"], "--replicas", id="more-than-most"),
        pytest.param(["--on", "ray", "--also", "small"], "--also", id="no-model"),
        pytest.param(["--on", "ray", "--also", "v1=x"], "--also", id="name-of-a-path"),
        pytest.param(["--on", "ray", "--also", "a=x", "a=y"], "--also", id="same-name-twice"),
    ],
)
def test_mistakes_are_found_before_the_cluster_starts(flags: list[str], message: str, command: Any) -> None:
    status, _, err = command("serve", "--port", free_port(), *flags)
    assert status == 2
    assert message in err


def test_the_command_stops_when_its_requests_are_finished(cluster: Cluster) -> None:
    """On the running cluster, whose models it replaces; last, because it ends the service."""
    import ray

    command = [
        sys.executable, "-m", "redraft.cli", "serve", "--on", "ray", "--model", MODEL,
        "--port", cluster.address.rpartition(":")[2],
    ]  # fmt: skip
    environment = {**os.environ, "RAY_ADDRESS": ray.get_runtime_context().gcs_address, "REDRAFT_API_KEY": "key"}
    service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    assert service.stderr is not None
    with service.stderr as log:
        lines = []
        while "ready:" not in "".join(lines[-1:]):
            lines.append(log.readline())
            assert lines[-1], "".join(lines)
        rest = threading.Thread(target=log.read)
        rest.start()
        answers: list[httpx.Response] = []
        body = {"sentences": [{"source": SOURCE}] * 200}
        asking = threading.Thread(target=lambda: answers.append(cluster.post("/v1/simplify", body)))
        asking.start()
        time.sleep(0.5)
        assert not answers, "the request was too quick for this test"
        service.terminate()
        asking.join(60)
        assert service.wait(60) == 0
        rest.join(10)
    assert [len(answer.json()["sentences"]) for answer in answers] == [200]
    refusal = httpx.get(f"{cluster.address}/health")  # the model under /small is still served
    assert (refusal.status_code, refusal.headers["Retry-After"]) == (503, "1")
