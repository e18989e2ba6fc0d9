"""The service over HTTP: answers, limits, keys, the format of errors, and no texts in the log."""

import asyncio
import json
import logging
import re
import socket
import subprocess
import sys
import threading
from types import SimpleNamespace

import httpx
import pytest
import torch
from fastapi.exceptions import RequestValidationError
from fastapi.testclient import TestClient

from free_ports import free_port
from redraft import DecodeConfig, Edit, EditPlan, Planner, Redrafter, Simplifier
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.errors import ConfigError
from redraft.models import bundled
from redraft.plan.edits import DEFAULT_STRENGTH
from redraft.plan.prediction import Levels
from redraft.serve.app import create_app, page_folder
from redraft.serve.error_responses import on_validation_error
from redraft.serve.limits import Limits
from redraft.serve.served_models import default_batch

SOURCE = "The physician commenced the procedure in 1990."
BY_HAND = "The artisans remain old ."
HERE = "http://localhost"  # a host name that the service accepts
SMALL = Limits(
    max_characters=200, max_sentences=3, max_sentence=100, max_edits=2, max_targets=2, max_phrase=20,
    max_user_constraints=2,
    max_traced=1, max_body=2000, queue=4, batch=2,
)  # fmt: skip


def opened(simplifier, **options):
    return TestClient(create_app(simplifier, **options), base_url=HERE)


@pytest.fixture(scope="module")
def scripted():
    """Without a planner, and quick."""
    return Simplifier(Redrafter("scripted:examples/by_hand.json", config=DecodeConfig(beams=3)))


@pytest.fixture(scope="module")
def client(scripted):
    with opened(scripted, limits=SMALL) as client:
        yield client


@pytest.fixture(scope="module")
def simplifier():
    if not holds_eight_bit_model(bundled("rewriter")):
        pytest.skip("the tree has no weights")
    return Simplifier(Redrafter(config=DecodeConfig(beams=2), device="cpu"), Planner.load(device="cpu"))


@pytest.fixture(scope="module")
def whole(simplifier):
    with opened(simplifier) as client:
        yield client


def error(answer, status):
    """The problem and hint of an error in its one shape."""
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["error"]
    assert sorted(answer.json()["error"]) == ["hint", "problem"]
    return answer.json()["error"]["problem"]


def test_a_text_is_simplified_as_the_simplifier_does_it(whole, simplifier):
    answer = whole.post("/v1/simplify", json={"text": f" {SOURCE}\n\n{SOURCE}\n"}).json()
    expected = simplifier(SOURCE)
    assert answer["text"] == f" {expected.text}\n\n{expected.text}\n"
    first, _, last = answer["sentences"]
    assert (first["source"], first["output"], first["missing"]) == (SOURCE, expected.text, expected.missing)
    assert first["edits"] == [verdict.to_json() for verdict in expected.verdicts]
    assert len(first["candidates"]) == 1
    assert "trace" not in first
    assert (last["space"], last["source"], last["output"], last["edits"]) == ("\n", "", "", [])
    before, after = (answer["readability"][side] for side in ("before", "after"))
    assert before["words"] == 14
    assert before["sentences"] == 2
    assert after["grade"] < before["grade"]
    assert after["share_of_hard_words"] < before["share_of_hard_words"]


def test_planned_edits_can_be_applied(whole):
    (planned,) = whole.post("/v1/plan", json={"text": SOURCE, "keep": ["physician"]}).json()["sentences"]
    assert (planned["space"], planned["source"], planned["unchanged"]) == ("", SOURCE, None)
    assert {"insert": "physician", "note": "from the keep list"}.items() <= planned["edits"][0].items()
    word = next(word for word in planned["words"] if word["text"] == "commenced")
    assert SOURCE[word["start"] : word["end"]] == "commenced"
    assert 1 <= len(word["choices"]) <= 6
    assert {"began", "started"} & {choice["target"] for choice in word["choices"]}
    assert planned["words"][-1] == {"text": ".", "start": 45, "end": 46, "choices": []}
    given = {"source": SOURCE, "edits": planned["edits"]}
    (sentence,) = whole.post("/v1/simplify", json={"sentences": [given]}).json()["sentences"]
    kept = [{key: edit[key] for key in edit if key not in ("status", "chosen_over")} for edit in sentence["edits"]]
    assert kept == planned["edits"]
    assert "physician" in sentence["output"]


def test_choices_have_common_names_first_and_keep_the_meaning(whole, simplifier):
    text = "Hypertension increased among most patients notwithstanding the procedure."
    (planned,) = whole.post("/v1/plan", json={"text": text}).json()["sentences"]
    offered = {word["text"]: [choice["target"] for choice in word["choices"]] for word in planned["words"]}
    assert offered["Hypertension"][0] == "High blood pressure"
    assert offered["notwithstanding"][0] == "despite"
    assert max(map(len, offered.values())) == 6
    guard = simplifier.planner.guard
    assert not [(word, one) for word, some in offered.items() for one in some if guard.refusal_reason(word, one)]
    lexicon = simplifier.planner.classifier.tables.lexicon
    assert any(guard.refusal_reason("increased", target) for target, _ in lexicon.entry_of(["increased"]).targets)


def test_given_edits_are_applied_unchanged(whole, simplifier):
    sentences = [
        {"source": SOURCE, "edits": []},
        {"space": " ", "source": SOURCE, "edits": [{"insert": "physician"}]},
        {"space": "\n", "source": SOURCE},
    ]
    answer = whole.post("/v1/simplify", json={"sentences": sentences, "candidates": 2, "trace": True}).json()
    none, some, predicted = answer["sentences"]
    plans = [EditPlan(SOURCE), EditPlan(SOURCE, (Edit.insert("physician"),))]
    assert [none["output"], some["output"]] == [one.text for one in simplifier.pipe(plans)]
    assert none["edits"] == []
    assert [(edit["insert"], edit["status"]) for edit in some["edits"]] == [("physician", "satisfied")]
    assert predicted["output"] == simplifier(SOURCE).text
    assert [one["strength"] for one in answer["sentences"]] == [None, None, "medium"]
    assert [one["not_done"] for one in answer["sentences"]] == [[], [], []]
    assert [len(one["candidates"]) for one in answer["sentences"]] == [2, 2, 2]
    assert all(one["trace"] for one in answer["sentences"])
    assert simplifier.redrafter.config.candidates == 1


def test_non_prose_is_unchanged(whole):
    text = "https://example.org/a?b=c"
    (planned,) = whole.post("/v1/plan", json={"text": text}).json()["sentences"]
    (simple,) = whole.post("/v1/simplify", json={"text": text}).json()["sentences"]
    assert planned["unchanged"] == simple["unchanged"] == "it is an address"
    assert simple["output"] == text


def test_errors_in_plan_requests_are_named(whole):
    assert "strength" in error(whole.post("/v1/plan", json={"text": "A.", "strength": "most"}), 400)
    assert "strength" in error(whole.post("/v1/plan", json={"text": "A.", "strength": 2}), 400)
    assert "style" in error(whole.post("/v1/plan", json={"text": "A.", "style": "baroque"}), 400)
    assert "keep[0]" in error(whole.post("/v1/plan", json={"text": "A.", "keep": ["/(a+)+b/"]}), 400)
    assert "glossary[1]" in error(
        whole.post("/v1/plan", json={"text": "A.", "glossary": [["a", "b"], ["c", " "]]}), 400
    )
    assert "limit is 2" in error(whole.post("/v1/simplify", json={"text": "A.", "candidates": 3}), 400)


def test_html_in_texts_is_returned_as_json_only(client):
    text = "<script>alert(1)</script>"
    answer = client.post("/v1/simplify", json={"sentences": [{"space": text, "source": " "}]})
    assert answer.json()["text"] == f"{text} "
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "body, said",
    [
        ({"text": "a" * 201}, "limit is 200"),
        ({"text": "One. Two! Three? Four!"}, "limit is 3"),
        ({"sentences": [{"source": "a"}] * 4}, "limit is 3"),
        ({"sentences": [{"source": "a", "edits": [{"insert": "b"}] * 3}]}, "sentences[0].edits: 3 edits, and the"),
        ({"sentences": [{"source": "a", "edits": [{"insert": "b" * 21}]}]}, "limit is 20"),
        ({"sentences": [{"source": "a", "edits": [{"substitute": "b", "with": ["c", "d", "e"]}]}]}, "limit is 2"),
        ({"sentences": [{"source": "a"}, {"source": "a", "edits": [{"insrt": "b"}]}]}, "sentences[1].edits[0]"),
        ({"sentences": [{"source": "a", "edits": [{"insert": "b", "span": [0, 9]}]}]}, "sentences[0].edits[0].span"),
        ({"sentences": [{"source": " ", "edits": [{"insert": "b"}]}]}, "sentences[0]: the source is empty"),
        ({"text": "a" * 101}, "has 101 characters, and the limit is 100"),
        ({"sentences": [{"source": "a"}, {"source": "b" * 101}]}, "sentences[1]: the sentence"),
        ({"text": "A.", "keep": ["a"] * 3}, "limit is 2"),
        ({"text": "A b a c a.", "keep": ["a"]}, "3 edits, and the limit is 2"),
        ({"sentences": [{"source": "a b a", "edits": []}, {"source": "a a a"}], "keep": ["a"]}, '"a a a": 3 edits'),
        ({"text": "A.", "keep": ["a"]}, "does not predict plans"),
        ({"text": "One. Two!", "trace": True}, "limit is 1"),
        ({"text": "A.", "candidates": 4}, "limit is 3"),
    ],
)  # fmt: skip
def test_limits_and_bad_plans_are_named(client, body, said):
    assert said in error(client.post("/v1/simplify", json=body), 400)


@pytest.mark.parametrize(
    "body, problem",
    [
        (b"", "body: is required"),
        (b"{", "body: is not valid JSON at character 1"),
        (b"[]", "body: must be a JSON object"),
        (b'{"text": 1}', "body.text: must be a string"),
        (b'{"text": "a", "sentences": []}', "body: give either text or sentences"),
        (b"{}", "body: give either text or sentences"),
        (b'{"text": "a", "txt": "b"}', "body.txt: is not a known field"),
        (b'{"text": "a", "\\ud800": "b"}', "body: must be valid Unicode"),
        (b'{"text": "\\ud800"}', "body.text: has a lone surrogate"),
        (b'{"sentences": [{"space": "\\ud800", "source": "a"}]}', "body.sentences[0].space: has a lone surrogate"),
        (b'{"text": "a", "trace": 1}', "body.trace: must be true or false"),
        (b'{"text": "a", "strength": []}', "body.strength: must be light, medium, strong or a number"),
        (b'{"text": "a", "candidates": "2"}', "body.candidates: must be a whole number"),
        (b'{"text": "a", "candidates": 0}', "body.candidates: must be at least 1"),
        (b'{"text": "a", "candidates": 11}', "body.candidates: must be at most 10"),
        (b'{"sentences": {}}', "body.sentences: must be a list"),
        (b'{"sentences": [1]}', "body.sentences[0]: must be a JSON object"),
        (b'{"sentences": [{"edits": []}]}', "body.sentences[0].source: is required"),
        (b'{"text": "a", "glossary": [["a"]]}', "body.glossary[0]: must have at least 2 items"),
        (b'{"text": "a", "glossary": [["a", "b", "c"]]}', "body.glossary[0]: must have at most 2 items"),
    ],
)
def test_malformed_bodies_are_refused_by_place_and_cause(client, body, problem):
    answer = client.post("/v1/simplify", content=body, headers={"Content-Type": "application/json"})
    assert error(answer, 422).startswith(problem)


@pytest.mark.parametrize("body", [b'{"text": "\xff"}', b"[" * 100_000, b'{"candidates": ' + b"9" * 5000 + b"}"])
def test_bodies_that_cannot_be_decoded_are_refused(scripted, body):
    with opened(scripted) as client:
        answer = client.post("/v1/simplify", content=body, headers={"Content-Type": "application/json"})
        assert "the body cannot be decoded" in error(answer, 400)


def test_other_errors_of_pydantic_keep_its_message():
    unknown = RequestValidationError([{"type": "new_type", "loc": ("body", "text"), "msg": "Input should be new"}])
    answer = asyncio.run(on_validation_error(None, unknown))
    assert json.loads(answer.body)["error"]["problem"] == "body.text: Input should be new."


def test_a_large_body_is_refused_before_it_is_read(client):
    sent = 0

    def chunks():
        nonlocal sent
        for _ in range(3):
            sent += 1
            yield b" " * 1000

    headers = {"Content-Type": "application/json"}
    assert "2,000 bytes" in error(client.post("/v1/plan", content=b" " * 2001, headers=headers), 413)
    assert "2,000 bytes" in error(client.post("/v1/plan", content=chunks(), headers=headers), 413)
    assert sent == 3


def test_other_errors_have_the_same_shape(client):
    assert "nothing at this path" in error(client.get("/nothing"), 404)
    assert "HTTP method" in error(client.get("/v1/plan"), 405)
    assert "content type" in error(client.post("/v1/plan"), 415)


def test_the_key_protects_the_api_only(scripted):
    with opened(scripted, api_key="secret") as client:
        body = {"text": BY_HAND}
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "secret"}):
            answer = client.post("/v1/simplify", json=body, headers=headers)
            assert "key" in error(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"
        assert client.post("/v1/simplify", json=body, headers={"Authorization": "Bearer secret"}).status_code == 200
        assert client.get("/health").status_code == client.get("/metrics").status_code == 200
    with pytest.raises(ConfigError):
        create_app(scripted, api_key="")


def test_the_openapi_declares_the_key_if_there_is_one(scripted):
    with opened(scripted, api_key="secret") as client:
        document = client.get("/openapi.json").json()
    (name, scheme), *others = document["components"]["securitySchemes"].items()
    assert (scheme["type"], scheme["scheme"], others) == ("http", "bearer", [])
    operations = {path: next(iter(methods.values())) for path, methods in document["paths"].items()}
    assert {path: operation.get("security") for path, operation in operations.items()} == {
        path: [{name: []}] if path.startswith("/v1/") else None for path in operations
    }
    assert "401" in operations["/v1/plan"]["responses"]
    with opened(scripted) as client:
        document = client.get("/openapi.json").json()
    assert "securitySchemes" not in document["components"]
    assert not any("security" in operation for methods in document["paths"].values() for operation in methods.values())
    assert "401" not in document["paths"]["/v1/plan"]["post"]["responses"]


def test_the_documentation_of_the_api_needs_no_other_server(scripted):
    with opened(scripted, api_key="secret") as client:
        page = client.get("/docs")
        assert "Content-Security-Policy" in page.headers
        files = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
        assert sorted(files) == ["/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/static/docs.js"]
        assert [client.get(path).status_code for path in files] == [200, 200, 200]
        for name in ("redoc.standalone.js", "swagger-ui.CSS", "..%2f__init__.py", "docs.html"):
            error(client.get(f"/docs/{name}"), 404)
        metrics = client.get("/metrics").text
    assert 'redraft_requests_total{route="/docs",status="200"} 3.0' in metrics
    assert 'redraft_requests_total{route="/docs",status="404"} 4.0' in metrics


def test_the_examples_in_the_openapi_are_accepted(scripted):
    with opened(scripted) as client:
        document = client.get("/openapi.json").json()
        schemas = document["components"]["schemas"]
        for path in ("/v1/plan", "/v1/simplify", "/v1/readability", "/v1/evaluate"):
            content = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
            (example,) = schemas[content["schema"]["$ref"].rpartition("/")[2]]["examples"]
            assert client.post(path, json=example).status_code == 200


def test_the_page_starts_with_the_default_strength():
    page = (page_folder() / "index.html").read_text(encoding="utf-8")
    (slider,) = re.findall('<input type="range" id="strength" [^>]*value="([^"]*)"', page)
    assert Levels.of(float(slider)) == Levels.of(DEFAULT_STRENGTH)


def test_other_origins_must_be_allowed(scripted):
    asked = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    with opened(scripted, api_key="secret", cors=["https://a.example"]) as client:
        assert client.options("/v1/plan", headers=asked).headers["access-control-allow-origin"] == "https://a.example"
        assert client.options("/v1/plan", headers={**asked, "Origin": "https://b.example"}).status_code == 400
    with opened(scripted) as client:
        assert "access-control-allow-origin" not in client.get("/health", headers=asked).headers


def test_without_a_planner_the_model_writes_as_it_likes(client, scripted):
    answer = client.post("/v1/simplify", json={"text": BY_HAND}).json()
    assert answer["text"] == scripted(BY_HAND).text
    (planned,) = client.post("/v1/plan", json={"text": BY_HAND}).json()["sentences"]
    assert planned["edits"] == []
    assert [word["choices"] for word in planned["words"]] == [[]] * 5


def test_splits_and_strength_are_accepted(client, scripted):
    splits = [{"split": True}, {"split": "remain", "span": [13, 19]}]
    given = {"source": BY_HAND, "edits": splits, "strength": "light"}
    (sentence,) = client.post("/v1/simplify", json={"sentences": [given]}).json()["sentences"]
    assert sentence["output"] == scripted(BY_HAND).text
    assert [(edit["split"], edit["status"]) for edit in sentence["edits"]] == [(True, "unmet"), ("remain", "unmet")]
    assert sentence["not_done"] == sentence["candidates"][0]["not_done"] == sentence["edits"]
    assert (sentence["strength"], sentence["literal"]) == ("light", False)
    weak = client.post("/v1/simplify", json={"sentences": [{**given, "strength": "weak"}]})
    assert 'sentences[0].strength: must be one of "light"' in error(weak, 400)


def test_outputs_are_evaluated(client):
    body = {"sources": [SOURCE], "outputs": ["The doctor began it."], "references": [["The doctor began it in 1990."]]}
    figures = client.post("/v1/evaluate", json=body).json()["figures"]
    assert {"sari", "bleu", "fkgl"} <= set(figures)
    assert 0 < figures["sari"] < 100
    assert "outputs" in error(client.post("/v1/evaluate", json={**body, "outputs": []}), 400)
    assert "references" in error(client.post("/v1/evaluate", json={**body, "references": []}), 400)
    assert "reference 0" in error(client.post("/v1/evaluate", json={**body, "references": [[]]}), 400)


def test_health_and_metrics(scripted):
    with opened(scripted) as client:
        assert client.get("/health").json()["status"] == "ok"
        client.post("/v1/simplify", json={"text": f"{BY_HAND} {BY_HAND}"})
        client.get("/static/../../x")
        client.get("/a-path-that-nobody-knows")
        text = client.get("/metrics").text
    assert 'redraft_requests_total{route="/v1/simplify",status="200"} 1.0' in text
    assert "redraft_sentences_total 2.0" in text
    assert "redraft_batches_total 1.0" in text
    assert "redraft_waiting 0.0" in text
    assert "redraft_request_seconds_count" in text
    assert "nobody" not in text


def test_the_page_is_served_strictly_and_by_exact_name(client, tmp_path, monkeypatch):
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<p>page", encoding="utf-8")
    (folder / "page.js").write_text("1", encoding="utf-8")
    (folder / "notes.txt").write_text("no", encoding="utf-8")
    (tmp_path / "secret.js").write_text("no", encoding="utf-8")
    monkeypatch.setattr("redraft.serve.app.page_folder", lambda: folder)
    page = client.get("/")
    assert (page.text, page.headers["content-type"]) == ("<p>page", "text/html; charset=utf-8")
    assert page.headers["content-security-policy"].startswith("default-src 'self'; ")
    assert (page.headers["x-content-type-options"], page.headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert client.get("/static/page.js").headers["content-type"] == "text/javascript; charset=utf-8"
    for name in ("notes.txt", "..%2fsecret.js", "%2e%2e/secret.js", "PAGE.js", "none.js", ""):
        assert client.get(f"/static/{name}").status_code == 404


class Held:
    """A simplifier whose model blocks, or fails with a message that quotes its text."""

    def __init__(self):
        self.redrafter = SimpleNamespace(config=DecodeConfig(), model=SimpleNamespace(device=torch.device("cpu")))
        self.planner, self.gate = None, threading.Event()
        self.calls, self.fails = [], False

    def work(self, asked, settings):
        self.calls.append([one.plan.source for one in asked])
        assert self.gate.wait(10)
        if self.fails:
            raise ValueError(f"cannot rewrite {asked[0].plan.source}")
        return list(Simplifier(Redrafter("scripted:examples/by_hand.json")).pipe([one.plan for one in asked]))


@pytest.fixture
def held(monkeypatch):
    simplifier = Held()
    monkeypatch.setattr("redraft.serve.service.BatchWorker", lambda *_: simplifier.work)
    yield simplifier
    simplifier.gate.set()


def test_a_full_queue_and_a_deadline_have_their_own_status(held):
    async def scenario():
        limits = Limits(max_sentences=1, queue=1, batch=1, wait_ms=0, deadline=0.3)
        transport = httpx.ASGITransport(create_app(held, limits=limits))
        async with httpx.AsyncClient(transport=transport, base_url=HERE) as client:
            tasks = []
            for _ in range(2):
                tasks.append(asyncio.create_task(client.post("/v1/simplify", json={"text": BY_HAND})))
                await asyncio.sleep(0.05)
            full = await client.post("/v1/simplify", json={"text": BY_HAND})
            assert "the queue holds 1" in error(full, 429)
            assert full.headers["retry-after"] == "1"
            for late in await asyncio.gather(*tasks):
                assert "0.3 seconds" in error(late, 504)
        held.gate.set()

    asyncio.run(scenario())
    assert len(held.calls) == 1


def test_disconnected_clients_are_not_waited_for(held):
    body = b'{"text": "The artisans remain old ."}'

    async def scenario():
        app = create_app(held, limits=Limits(batch=1, wait_ms=0))
        messages = [{"type": "http.request", "body": body, "more_body": False}]
        leaves, sent = asyncio.Event(), []

        async def receive():
            if messages:
                return messages.pop()
            await leaves.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
            "path": "/v1/simplify", "raw_path": b"/v1/simplify", "query_string": b"", "root_path": "",
            "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")], "client": ("test", 1),
            "server": ("test", 80),
        }  # fmt: skip
        request = asyncio.create_task(app(scope, receive, send))
        while not held.calls:
            await asyncio.sleep(0.001)
        leaves.set()
        await request
        assert sent[0]["status"] == 499
        held.gate.set()

    asyncio.run(scenario())


@pytest.mark.parametrize("log_text", [False, True])
def test_texts_are_logged_only_on_request(held, caplog, log_text):
    held.fails = True
    held.gate.set()
    caplog.set_level(logging.DEBUG)
    with opened(held, log_text=log_text) as client:
        answer = client.post("/v1/simplify", json={"text": "Confidential words \x1b[2J\x9b\u202e."})
        assert "internal error" in error(answer, 500)
        client.post("/v1/simplify", json={"text": "Confidential words.", "keep": ["/Confidential/"]})
        client.post("/v1/simplify", json={"confidential": "x"})
    ours = [record for record in caplog.records if record.name != "httpx"]
    text = "\n".join(logging.Formatter().format(record) for record in ours).casefold()
    assert "unexpected" in text
    assert "POST /v1/simplify 500".casefold() in text
    assert ("confidential" in text) is log_text
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert ("words \\x1b[2j\\x9b\\u202e." in text) is log_text


def test_import_redraft_does_not_need_the_service():
    names = {"fastapi", "uvicorn", "pydantic", "redraft.serve"}
    code = f"import redraft, redraft.cli.main, sys; print({names} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert found.stdout.strip() == "set()"


def test_missing_packages_are_named_with_the_install_command(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    status, _, err = command("serve")
    assert status == 2
    assert "pip install 'redraft[serve]'" in err


def test_the_command_starts_the_service(command, monkeypatch):
    started = []
    monkeypatch.setattr("uvicorn.Server.run", lambda server: started.append(server.config))
    monkeypatch.setattr("redraft.cli.serve.load_simplifier", lambda *_: Held())
    monkeypatch.setenv("REDRAFT_API_KEY", "secret")
    port = free_port()
    assert command("serve", "--port", port, "--queue", "10")[0] == 0
    (config,) = started
    assert (config.host, config.port, config.access_log) == ("127.0.0.1", port, False)
    assert config.timeout_graceful_shutdown == 10
    with TestClient(config.app, base_url=HERE) as client:
        assert client.post("/v1/plan", json={"text": ""}).status_code == 401
    assert command("serve", "--port", "70000")[0] == 2
    monkeypatch.delenv("REDRAFT_API_KEY")
    assert "no API key is set" in command("serve", "--host", "0.0.0.0", "--port", free_port())[2]


def test_the_service_accepts_the_given_hosts(command, monkeypatch):
    started = []
    monkeypatch.setattr("uvicorn.Server.run", lambda server: started.append(server.config))
    monkeypatch.setattr("redraft.cli.serve.load_simplifier", lambda *_: Held())
    assert command("serve", "--host", "127.0.0.2", "--port", free_port(), "--allow-host", "words.example")[0] == 0
    with TestClient(started[0].app) as client:
        for host, status in {"127.0.0.2": 200, "words.example:80": 200, "localhost": 200, "evil.example": 403}.items():
            assert client.get("/health", headers={"Host": host}).status_code == status


def test_an_occupied_port_is_reported_before_a_model_is_loaded(command, monkeypatch):
    monkeypatch.setattr("redraft.cli.serve.load_simplifier", lambda *_: pytest.fail("loaded"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, _, err = command("serve", "--port", port)
    assert status == 2
    assert f"cannot listen on http://127.0.0.1:{port}: " in err
    assert "--port" in err.splitlines()[-1]


def test_readability_needs_no_model(client):
    asked = {"before": ["The physician commenced."], "after": ["The doctor began."]}
    answer = client.post("/v1/readability", json=asked).json()
    before, after = answer["before"], answer["after"]
    assert before["grade"] > after["grade"]
    assert (before["words"], after["words"]) == (3, 3)
    assert before["levels"]["B2"] == pytest.approx(1 / 3)
    assert after["levels"]["B2"] == 0
    assert "401 characters, and the limit is 400" in error(
        client.post("/v1/readability", json={"before": ["a" * 401], "after": []}), 400
    )


def test_sentences_of_others_are_checked(whole, simplifier):
    source, output = "You must pay 40 euros by May.", "You may remunerate euros by May."
    edits = [{"insert": "must"}, {"substitute": "pay", "with": ["remunerate"], "probability": 0.5}]
    pairs = [{"source": source, "output": output, "edits": edits}, {"source": source, "output": source}]
    wrong, right = whole.post("/v1/check", json={"sentences": pairs, "keep": ["by May"]}).json()["sentences"]
    assert [edit["status"] for edit in wrong["edits"]] == ["unmet", "satisfied"]
    assert [edit["insert"] for edit in wrong["not_done"]] == ["must"]
    assert wrong["missing"] == ["40"]
    assert wrong["meaning"] == simplifier.check(source, output, stays=["by May"]).to_json()
    assert wrong["meaning"]["alarm"]
    assert [output[place["start"] : place["end"]] for place in wrong["hard"]] == ["remunerate"]
    assert right["meaning"] == {
        "risk": 0.0,
        "alarm": False,
        "words": [],
        "why": "",
        "spans": {"source": [], "output": []},
    }
    assert (right["edits"], right["missing"]) == ([], [])
    lost = {"sentences": [{"source": "They met in the town hall.", "output": "They met."}]}
    alarms = [
        whole.post("/v1/check", json={**lost, "keep": keep}).json()["sentences"][0]["meaning"]
        for keep in ([], ["hall"])
    ]
    assert "hall" not in alarms[0]["why"] or alarms[1]["risk"] > alarms[0]["risk"]


@pytest.mark.parametrize(
    "body, said",
    [
        ({"sentences": [{"source": "a", "output": "b"}] * 4}, "limit is 3"),
        ({"sentences": [{"source": "a", "output": "b" * 101}]}, "sentences[0].output: the sentence"),
        ({"sentences": [{"source": "a" * 101, "output": "b"}]}, "sentences[0]: the sentence"),
        (
            {"sentences": [{"source": "a", "output": "b", "edits": [{"insert": "c"}] * 3}]},
            "3 edits, and the limit is 2",
        ),
        ({"sentences": [{"source": "a", "output": "b", "edits": [{"insrt": "c"}]}]}, "sentences[0].edits[0]"),
        ({"sentences": [], "keep": ["a"] * 3}, "limit is 2"),
        ({"sentences": [], "keep": ["a" * 21]}, "keep[0]: 21 characters in a phrase"),
    ],
)
def test_limits_of_checks_are_named(client, body, said):
    assert said in error(client.post("/v1/check", json=body), 400)


def test_diagnosing_needs_no_model(client):
    answer = client.post("/v1/diagnose", json={"text": "They left.\n\nThe physician commenced."}).json()
    first, second = answer["sentences"]
    assert first["hard"] == []
    assert (second["space"], second["source"]) == ("\n\n", "The physician commenced.")
    assert [second["source"][place["start"] : place["end"]] for place in second["hard"]] == ["physician", "commenced"]
    assert answer["figures"]["sentences"] == 2
    assert answer["figures"]["share_of_hard_words"] == pytest.approx(2 / 5)
    given = client.post("/v1/diagnose", json={"sentences": ["They left. We stayed.", ""]}).json()
    assert [one["source"] for one in given["sentences"]] == ["They left. We stayed.", ""]
    assert "either text or sentences" in error(client.post("/v1/diagnose", json={}), 422)


@pytest.mark.parametrize("device, batch", [("cpu", 4), ("cuda", 32)])
def test_batches_fit_the_device(device, batch):
    held = Held()
    held.redrafter.model.device = torch.device(device)
    assert default_batch(held) == batch


@pytest.mark.parametrize("changes", [{"batch": 0}, {"deadline": -1}, {"queue": 10}])
def test_invalid_limits_are_refused(changes):
    with pytest.raises(ConfigError):
        Limits(**changes)
