"""Documents over HTTP: opened, exported, limited, and handled in processes that end with their request."""

import asyncio
import base64
import os
import re
import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from redraft import DecodeConfig, Redrafter, Simplifier
from redraft.documents.blocks import DocumentError
from redraft.documents.document_files import open_document
from redraft.serve import document_worker
from redraft.serve.app import create_app
from redraft.serve.batcher import DeadlineExceeded, QueueFull
from redraft.serve.document_worker import DocumentWorker
from redraft.serve.limits import Limits
from test_hostile_documents import CASES
from word_documents import check_well_formed, texts

LETTER = Path(__file__).resolve().parent.parent / "examples" / "letter.docx"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client():
    simplifier = Simplifier(Redrafter("scripted:examples/by_hand.json", config=DecodeConfig(beams=3)))
    with TestClient(create_app(simplifier), base_url="http://localhost") as client:
        yield client


def encoded(data):
    return base64.b64encode(data).decode()


def opened(client, data, name):
    answer = client.post("/v1/documents/open", json={"name": name, "content": encoded(data)})
    assert answer.status_code == 200, answer.text
    return answer.json()


def problem(answer, status=400):
    assert answer.status_code == status, answer.text
    assert sorted(answer.json()["error"]) == ["hint", "problem"]
    return answer.json()["error"]["problem"]


def with_sentences(blocks, old, new, **fields):
    return [
        {
            **block,
            "sentences": [{"source": block["text"], "text": block["text"].replace(old, new), **fields}],
            "tail": "",
        }
        for block in blocks
    ]


def test_the_example_letter_is_opened_and_exported(client):
    data = LETTER.read_bytes()
    letter = opened(client, data, "letter.docx")
    assert letter["format"] == "docx"
    assert [block["text"] for block in letter["blocks"]] == [
        block.text for block in open_document(data, "letter.docx").blocks
    ]
    kinds = [block["kind"] for block in letter["blocks"]]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "paragraph": 11, "heading": 9, "list item": 6, "table cell": 12,
    }  # fmt: skip
    numbered = [block["list"] for block in letter["blocks"] if block.get("list", {}).get("ordered")]
    assert [one["number"] for one in numbered] == [1, 2, 3]
    styles = {one["style"] for block in letter["blocks"] for one in block["formatting"]}
    assert styles == {"bold", "italic", "link"}
    edit = {
        "substitute": "prior to",
        "with": ["before"],
        "status": "satisfied",
        "probability": 0.6,
        "chosen_over": None,
    }
    blocks = with_sentences(letter["blocks"], "prior to", "before")
    for block in blocks:
        if "prior to" in block["text"]:
            block["sentences"][0]["edits"] = [edit]
    body = {"name": "letter.docx", "content": encoded(data), "format": "docx", "tracked": True, "blocks": blocks}
    answer = client.post("/v1/documents/export", json=body)
    assert answer.status_code == 200
    assert answer.headers["content-type"].endswith("wordprocessingml.document")
    assert answer.headers["content-disposition"] == 'attachment; filename="document.docx"'
    check_well_formed(answer.content)
    old = [text for text in texts(data, accept=True) if text]
    assert [text for text in texts(answer.content, accept=False) if text] == old
    assert [text for text in texts(answer.content, accept=True) if text] == [
        text.replace("prior to", "before") for text in old
    ]


@pytest.mark.parametrize("name", ["docx", "odt", "html", "md", "txt"])
def test_a_text_without_a_file_is_exported(client, name):
    block = {
        "kind": "paragraph",
        "text": "It commenced.",
        "sentences": [{"source": "It commenced.", "text": "It began."}],
    }
    answer = client.post("/v1/documents/export", json={"format": name, "tracked": False, "blocks": [block]})
    assert answer.status_code == 200
    assert [one["text"] for one in opened(client, answer.content, f"a.{name}")["blocks"]] == ["It began."]


def test_a_page_is_never_shown_as_one_of_this_service(client):
    block = {"kind": "paragraph", "text": "x", "sentences": [{"source": "x", "text": "<script>a()</script>"}]}
    answer = client.post("/v1/documents/export", json={"format": "html", "blocks": [block]})
    assert "<script>" not in answer.text
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "change, status, message",
    [
        pytest.param({"content": "?"}, 400, "content is not base64", id="no-base64"),
        pytest.param({"name": "a.doc"}, 400, "an old Word document", id="extension"),
        pytest.param({"format": "pdf"}, 422, "body.format: must be", id="format"),
        pytest.param({"blocks": []}, 400, "changes of 0 blocks, but the document has 1", id="number-of-blocks"),
        pytest.param({"blocks": [{"kind": "paragraph", "text": "a"}]}, 400, r"blocks\[0\]: the sentences are of",
                     id="other-sentences"),
        pytest.param({"blocks": [{"kind": "paragraph", "text": "a", "sentences": [{"source": "a"}]}]}, 422,
                     r"body.blocks\[0\].sentences\[0\].text: is required", id="missing-field"),
        pytest.param({"blocks": [{"kind": "paragraph", "text": "a", "sentences": [
            {"source": "a", "text": "b", "edits": [{"delete": "a", "span": [0, 9]}]}]}]}, 400,
            r"blocks\[0\].sentences\[0\].edits\[0\].span: \[0, 9\] ends outside", id="span"),
        pytest.param({"blocks": [{"kind": "paragraph", "text": "a", "formatting": [
            {"start": 0, "end": 5, "style": "bold"}]}]}, 400, "formatting from 0 to 5", id="formatting"),
    ],
)  # fmt: skip
def test_wrong_requests(client, change, status, message):
    block = {"kind": "paragraph", "text": "It.", "sentences": [{"source": "It.", "text": "That."}]}
    body = {"name": "a.txt", "content": encoded(b"It."), "format": "txt", "blocks": [block]}

    assert re.search(message, problem(client.post("/v1/documents/export", json=body | change), status))


@pytest.mark.parametrize("name, data, message", [CASES[0], CASES[1], CASES[5], CASES[9], CASES[16], CASES[33]])
def test_hostile_files_are_refused(client, name, data, message):
    """The others are in test_hostile_documents.py."""
    answer = client.post("/v1/documents/open", json={"name": name, "content": encoded(data)})
    if len(data) > 7_000_000:
        assert "the body is larger than the limit of 10,000,000 bytes" in problem(answer, 413)
    else:
        assert problem(answer)


def test_a_body_of_many_mistakes_is_refused_quickly(client):
    """Validation stops at the first one, so that other requests do not wait."""
    body = (
        '{"format":"docx","blocks":[{"kind":"paragraph","text":"a","sentences":['
        + ",".join(["{}"] * 3_000_000)
        + "]}]}"
    )
    began = time.monotonic()
    answer = client.post("/v1/documents/export", content=body, headers=JSON)
    assert "sentences[0].source: is required" in problem(answer, 422)
    assert time.monotonic() - began < 5


def run(worker, task="open", body=b"{}"):
    return asyncio.run(worker.run(task, body))


@pytest.fixture
def program(monkeypatch, tmp_path):
    """Another program in place of the one that handles documents."""

    def replace(code):
        (tmp_path / "replaced_program.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(document_worker, "_PROGRAM", "replaced_program")

    return replace


def test_a_process_that_takes_too_long_is_ended(program, tmp_path):
    program(f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)")
    with pytest.raises(DeadlineExceeded, match="not finished within 1 seconds"):
        run(DocumentWorker(Limits(document_deadline=1)))
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


def test_a_process_that_is_killed_is_an_error_of_the_document(program):
    program("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(DocumentError, match="too much time or memory"):
        run(DocumentWorker(Limits()))


def test_the_api_key_is_not_passed_on(program, monkeypatch):
    monkeypatch.setenv("REDRAFT_API_KEY", "secret")
    program("import json, os; print(json.dumps({'names': sorted(os.environ)}))")
    response, _ = run(DocumentWorker(Limits()))
    assert "REDRAFT_API_KEY" not in response["names"]


def test_only_some_documents_at_the_same_time(program):
    program("import time; time.sleep(1); print('{}')")
    limits = Limits(document_processes=1, document_queue=1)

    async def ask():
        worker = DocumentWorker(limits)
        return await asyncio.gather(*(worker.run("open", b"{}") for _ in range(3)), return_exceptions=True)

    began = time.monotonic()
    found = asyncio.run(ask())
    assert [type(one) for one in found] == [tuple, tuple, QueueFull]
    assert time.monotonic() - began > 2


def test_the_event_loop_is_free_during_a_document(program):
    program("import time; time.sleep(1); print('{}')")

    async def ask():
        task = asyncio.create_task(DocumentWorker(Limits()).run("open", b"{}"))
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks

    assert asyncio.run(ask()) > 30


def test_memory_of_the_process_is_limited(program, monkeypatch):
    program(
        "from redraft.documents import document_program\n"
        "document_program.open_document = lambda *_: bytearray(3_000_000_000)\n"
        "document_program.main()"
    )

    source = str(Path(document_worker.__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([os.environ["PYTHONPATH"], source]))
    with pytest.raises(DocumentError, match="too much memory"):
        run(DocumentWorker(Limits()), body=b'{"name": "a.txt", "content": ""}')


@pytest.mark.parametrize("package, name", [("docx", "a.docx"), ("markdown_it", "a.md"), ("pypdf", "a.pdf")])
def test_a_missing_package_is_named(client, program, monkeypatch, package, name):
    source = str(Path(document_worker.__file__).parents[2])
    program(
        f"import sys; sys.modules[{package!r}] = None; sys.path.insert(0, {source!r})\n"
        "from redraft.documents import document_program\n"
        "document_program.main()"
    )
    data = {"a.docx": LETTER.read_bytes(), "a.md": b"x", "a.pdf": b"%PDF-1.7"}[name]
    answer = client.post("/v1/documents/open", json={"name": name, "content": encoded(data)})
    assert f"needs {package}" in problem(answer)
    assert "redraft[documents]" in answer.json()["error"]["hint"]
