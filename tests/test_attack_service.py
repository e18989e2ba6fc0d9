"""Hostile requests and connections: uniform errors, time limits, and no effect on other clients.

`python -m benchmarks.attack_service` is the longer version.
"""

import http.client
import json
import socket
import threading
import time
from contextlib import ExitStack, suppress

import pytest
from fastapi.testclient import TestClient

from free_ports import served
from redraft import DecodeConfig, Redrafter, Simplifier
from redraft.serve.app import create_app
from redraft.serve.limits import Limits

BODY = b'{"text": "The artisans remain old ."}'
JSON = {"Content-Type": "application/json"}
SHORT = Limits(receive_timeout=0.6, shutdown_timeout=1)


@pytest.fixture(scope="module")
def simplifier():
    return Simplifier(Redrafter("scripted:examples/by_hand.json", config=DecodeConfig(beams=3)))


def connected(port, sent=b""):
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(sent)
    return connection


def received(connection):
    """All bytes received until the service closes the connection."""
    found = b""
    while part := connection.recv(65_536):
        found += part
    return found


def asked(port, method, path, body=None, headers=JSON):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def half_body(length=500, sent=b"{"):
    head = (
        f"POST /v1/simplify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}"
    )
    return head.encode() + b"\r\n\r\n" + sent


HALF_HEADER = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
AFTER_ONE = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health HTTP/1.1\r\nHo"


@pytest.fixture(scope="module")
def port(simplifier):
    with served(create_app(simplifier, limits=SHORT), SHORT) as (port, _):
        yield port


@pytest.mark.parametrize(
    "sent, answer",
    [
        pytest.param(b"", b"", id="silent"),
        pytest.param(HALF_HEADER, b"", id="half-a-header"),
        pytest.param(AFTER_ONE, b"HTTP/1.1 200", id="half-a-header-behind-a-request"),
        pytest.param(half_body(), b"HTTP/1.1 408", id="half-a-body"),
    ],
)
def test_idle_connections_are_closed(port, sent, answer):
    with connected(port, sent) as connection:
        assert received(connection)[:12] == answer


def test_a_slow_body_is_timed_out(port):
    began = time.monotonic()
    with connected(port, half_body()) as connection:
        connection.settimeout(0.1)
        found = b""
        while b"408" not in found and time.monotonic() - began < 15:
            with suppress(ConnectionError):  # it may be closed by now
                connection.sendall(b" ")
            with suppress(TimeoutError):
                found += connection.recv(65_536)
    assert b"within 0.6 seconds" in found


def test_regular_requests_are_answered_beside_slow_connections(port):
    slow = [connected(port, sent) for sent in (b"", HALF_HEADER, half_body(), AFTER_ONE) for _ in range(25)]
    answers = []

    def regular():
        answers.extend(asked(port, "POST", "/v1/simplify", BODY) for _ in range(2))

    threads = [threading.Thread(target=regular) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for connection in slow:
        connection.close()
    assert [status for status, _ in answers] == [200] * 16
    assert len({body for _, body in answers}) == 1


@pytest.mark.parametrize(
    "sent", [b"", HALF_HEADER, half_body(), half_body(len(BODY), BODY)],
    ids=["silent", "half-a-header", "half-a-body", "under-way"],
)  # fmt: skip
def test_the_service_stops_during_requests(simplifier, sent, monkeypatch):
    limits = Limits(receive_timeout=60, shutdown_timeout=1)
    monkeypatch.setattr("redraft.serve.service.BatchWorker", lambda *_: never_done)
    with ExitStack() as opened, served(create_app(simplifier, limits=limits), limits) as (port, server):
        opened.enter_context(connected(port, sent))  # until the service has ended
        time.sleep(0.3)
        server.should_exit = True


def never_done(asked, settings):
    from redraft.cooperative_scheduling import yield_point

    while True:
        time.sleep(0.01)
        yield_point()


@pytest.fixture(scope="module")
def client(simplifier):
    with TestClient(
        create_app(simplifier, cors=["https://friend.example"]), base_url="http://localhost:8000"
    ) as client:
        yield client


@pytest.mark.parametrize(
    "headers, status",
    [
        pytest.param({"Host": "evil.example"}, 403, id="another-name"),
        pytest.param({"Host": "evil.example:8000"}, 403, id="another-name-with-a-port"),
        pytest.param({"Host": "localhost.evil.example"}, 403, id="a-name-that-begins-alike"),
        pytest.param({"Host": "127.0.0.1.evil.example"}, 403, id="an-address-that-begins-alike"),
        pytest.param({"Host": "localhost@evil.example"}, 403, id="a-user"),
        pytest.param({"Host": ""}, 403, id="none"),
        pytest.param({"Host": "LOCALHOST:1"}, 200, id="in-capitals"),
        pytest.param({"Host": "[::1]:8000"}, 200, id="version-6"),
        pytest.param({"Host": "127.0.0.1"}, 200, id="an-address"),
        pytest.param({"Origin": "http://evil.example"}, 403, id="a-page-of-another-site"),
        pytest.param({"Origin": "null"}, 403, id="a-page-without-a-site"),
        pytest.param({"Origin": "http://localhost:9000"}, 403, id="a-page-of-another-port"),
        pytest.param({"Origin": "http://localhost:8000"}, 200, id="its-own-page"),
        pytest.param({"Origin": "https://friend.example"}, 200, id="allowed-origin"),
    ],
)
def test_hosts_and_origins_are_checked(client, headers, status):
    answer = client.post("/v1/simplify", content=BODY, headers={**JSON, **headers})
    assert answer.status_code == status, answer.text
    assert status == 200 or "--allow-host" in answer.text or "--cors" in answer.text
    assert client.get("/metrics", headers=headers).status_code == status


@pytest.mark.parametrize(
    "kind, status",
    [
        ("text/plain", 415), ("application/x-www-form-urlencoded", 415), ("multipart/form-data; boundary=x", 415),
        ("text/json", 415), ("application/jsonp", 415), ("", 415), (None, 415),
        ("application/json", 200), ("Application/JSON ; charset=utf-8", 200),
    ],
)  # fmt: skip
def test_a_post_must_be_declared_as_json(client, kind, status):
    headers = {} if kind is None else {"Content-Type": kind}
    answer = client.post("/v1/simplify", content=BODY, headers=headers)
    assert answer.status_code == status, answer.text


def test_allowed_hosts_can_be_added(simplifier):
    app = create_app(simplifier, hosts=["words.example", "0:0::1"])
    with TestClient(app, base_url="http://words.example") as client:
        assert client.get("/health").status_code == 200
        assert client.get("/health", headers={"Host": "[::1]"}).status_code == 200
        assert client.get("/health", headers={"Host": "localhost"}).status_code == 403


def simplified(*edits, source="The artisans remain old .", **more):
    return {"sentences": [{"source": source, "edits": list(edits)}], **more}


SENTENCE = b'{"sentences": [{"source": "a", "edits": %b}]}'
HOSTILE = {
    "empty": b"",
    "no-json": b"hello",
    "invalid-utf-8": b'{"text": "\xff\xfe"}',
    "utf-16": BODY.decode().encode("utf-16"),
    "byte-order-mark": b"\xef\xbb\xbf" + BODY,
    "lone-surrogate": b'{"text": "a \\ud800"}',
    "surrogate-in-an-edit": SENTENCE % b'[{"insert": "\\ud800"}]',
    "surrogate-in-a-key": SENTENCE % b'[{"\\ud800": "x"}]',
    "nul": b'{"text": "a \\u0000 b"}',
    "deep": b'{"text":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep-in-edits": SENTENCE % (b"[" * 900 + b"]" * 900),
    "deep-objects": SENTENCE % (b"[" + b'{"insert":' * 400 + b'"a"' + b"}" * 400 + b"]"),
    "nan": b'{"text": "a", "candidates": NaN}',
    "strength-nan": b'{"text": "a", "strength": NaN}',
    "strength-infinite": b'{"text": "a", "strength": 1e400}',
    "weight-nan": SENTENCE % b'[{"insert": "a", "weight": NaN}]',
    "weight-huge": simplified({"insert": "old", "weight": 1e308}),
    "weight-of-400-digits": SENTENCE % (b'[{"insert": "a", "weight": ' + b"9" * 400 + b"}]"),
    "integer-of-5000-digits": b'{"text": "a", "candidates": ' + b"9" * 5000 + b"}",
    "twice-the-same-key": b'{"text": "a", "text": "b c"}',
    "edits-of-wrong-types": simplified(1, None, []),
    "many-edits": simplified(*[{"insert": "a"}] * 501),
    "as-many-edits-as-may-be": simplified(*[{"insert": "old"}] * 500),
    "many-targets": simplified({"substitute": "old", "with": ["x"] * 21}),
    "special-token": simplified({"insert": "</s>"}),
    "many-sentences": {"text": "A b.\n" * 201},
    "long-text": {"text": "a" * 20_001},
    "long-sentence": {"text": "a " * 1_001},
    "long-sentence-given": simplified(source="a" * 2_001),
    "large-body": b" " * 1_000_001,
    "blank": {"text": "  \n "},
    "nothing-to-do": {"sentences": []},
    "blank-sentences": {"sentences": [{"source": " "}] * 200},
    "many-traces": {"text": "A b.\n" * 11, "trace": True},
    "trace": {"text": "The artisans remain .", "trace": True},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bodies_get_an_answer_or_a_uniform_error(client, name):
    body = HOSTILE[name]
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = client.post("/v1/simplify", content=content, headers=JSON)
    assert answer.status_code in (200, 400, 413, 422), answer.text
    if answer.status_code != 200:
        assert list(answer.json()) == ["error"]
        assert answer.json()["error"]["problem"]


@pytest.mark.parametrize(
    "body, said",
    [
        ({"sources": ["a"] * 201}, "sources: 201 sentences"),
        ({"outputs": ["a" * 20_001]}, "outputs: 20,001 characters"),
        ({"references": [["a"]] * 11}, "references: 11 references"),
        ({"references": [["a"], ["b" * 20_001]]}, "references[1]: 20,001 characters"),
    ],
)
def test_an_evaluation_has_the_limits_of_a_text(client, body, said):
    answer = client.post("/v1/evaluate", json={"sources": ["a"], "outputs": ["a"], "references": [["a"]], **body})
    assert answer.status_code == 400
    assert said in answer.json()["error"]["problem"]


def test_the_limits_are_in_the_description(client):
    said = client.get("/openapi.json").json()["info"]["description"]
    for figure in ("20,000 characters", "200 sentences", "2,000 characters", "500 entries", "120 seconds"):
        assert figure in said


def test_a_trace_that_gets_too_long_is_refused(simplifier):
    app = create_app(simplifier, limits=Limits(max_trace=20))
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.post("/v1/simplify", json={"text": "The artisans remain old .", "trace": True})
    assert answer.status_code == 400
    assert "too long after 1 steps" in answer.json()["error"]["problem"]


def get(rest=b"", path=b"/health"):
    return b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + rest + b"\r\n"


def post(rest):
    head = b"POST /v1/simplify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return head + b"Connection: close\r\n" + rest


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "sent, statuses",
    [
        pytest.param(post(b"Content-Length: 99999999999\r\n\r\n"), "413", id="length-too-large"),
        pytest.param(post(b"Content-Length: 99999999999999999999\r\n\r\n"), "413", id="length-of-20-digits"),
        pytest.param(post(b"Content-Length: -1\r\n\r\n"), "400", id="length-below-0"),
        pytest.param(post(b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), "400", id="two-lengths"),
        pytest.param(post(CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)), "200", id="chunks"),
        pytest.param(post(CHUNKED + b"ZZ\r\n"), "400", id="no-chunk"),
        pytest.param(get(b"X: " + b"a" * 1_000_000 + b"\r\n"), "400 431", id="long-header"),
        pytest.param(get(b"X: a\r\n" * 100_000), "400 431", id="many-headers"),
        pytest.param(get(path=b"/" + b"a" * 60_000), "404", id="long-path"),
        pytest.param(get(b"Host: evil.example\r\n"), "400", id="two-hosts"),
        pytest.param(b"GET /health HTTP/1.0\r\n\r\n", "403", id="no-host"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00", "400", id="tls"),
        pytest.param(get(b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"), "200", id="websocket"),
        pytest.param(get(path=b"/static/\0"), "400", id="nul-in-a-path"),
        pytest.param(get(path=b"/static/..%2fapp.py"), "404", id="folder-above"),
        pytest.param(get(path=b"/x%0d%0aSet-Cookie:a=b"), "404", id="line-break-in-a-path"),
        pytest.param(b"G<script>T / HTTP/1.1\r\nHost: localhost\r\n\r\n", "400", id="odd-method"),
    ],
)
def test_broken_http_is_refused(port, sent, statuses):
    with connected(port) as connection:
        try:
            connection.sendall(sent)
            found = received(connection)
        except ConnectionError:  # refused before all of it was sent
            found = b"HTTP/1.1 400"
    assert found[9:12].decode() in statuses.split()
    assert b"set-cookie" not in found.lower()
    assert asked(port, "GET", "/health")[0] == 200
