"""`redraft mcp` with the client of the official SDK, over the pipes of a real process."""

import asyncio
import json
import os
import subprocess
import sys

import pytest
from mcp import StdioServerParameters
from mcp.client import Client

from redraft import Simplifier
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.models import bundled
from redraft.serve.limits import Limits
from redraft.serve.mcp_server import create_server
from redraft.serve.service import Service

TEXT = "The physician commenced the procedure.\n\nThey purchased 40 vehicles.\n"
SCRIPTED = ["--model", "scripted:examples/by_hand.json"]


def process(*options):
    return StdioServerParameters(
        command=sys.executable, args=["-m", "redraft.cli", "mcp", *options], env=dict(os.environ)
    )


def calls(server, *asked):
    """The answers to calls of tools, each a name and its arguments, in one session."""

    async def ask():
        async with Client(server) as client:
            return [await client.call_tool(name, arguments) for name, arguments in asked]

    return asyncio.run(ask())


def message(answer):
    assert answer.is_error
    (content,) = answer.content
    return content.text


@pytest.fixture(scope="module")
def simplifier():
    if not holds_eight_bit_model(bundled("rewriter")):
        pytest.skip("the tree has no weights")
    return Simplifier(device="cpu")


def test_an_assistant_plans_writes_and_checks(simplifier):
    """In one session with the bundled models, as an assistant works."""
    bad = {"source": "They purchased 40 vehicles.", "output": "They purchased no vehicles."}

    async def work():
        async with Client(process("--device", "cpu")) as client:
            planned = (await client.call_tool("plan", {"text": TEXT})).structured_content["sentences"]
            pair = {**bad, "edits": planned[1]["edits"]}
            checked = (await client.call_tool("check", {"sentences": [pair]})).structured_content["sentences"]
            better = {**pair, "output": "They bought 40 vehicles."}
            mended = (await client.call_tool("check", {"sentences": [better]})).structured_content["sentences"]
            written = (await client.call_tool("simplify", {"text": TEXT, "keep": ["physician"]})).structured_content
            return planned, checked[0], mended[0], written

    planned, checked, mended, written = asyncio.run(work())
    expected = [plan.to_json() for plan in simplifier.plans([one["source"] for one in planned])]
    assert [(one["source"], one["edits"]) for one in planned] == [(one["source"], one["edits"]) for one in expected]
    assert "words" not in planned[0]
    assert "violated" in {edit["status"] for edit in checked["edits"]}
    assert checked["missing"] == ["40"]
    assert checked["meaning"]["alarm"]
    assert {edit["status"] for edit in mended["edits"]} == {"satisfied"}
    assert (mended["missing"], mended["meaning"]["alarm"]) == ([], False)
    assert written["text"] == simplifier.document(TEXT, keep=["physician"]).text
    assert "physician" in written["text"]
    assert written["readability"]["after"]["grade"] < written["readability"]["before"]["grade"]


def test_tools_are_described():
    async def listed():
        async with Client(process(*SCRIPTED)) as client:
            return client.server_info, client.instructions, (await client.list_tools()).tools

    info, instructions, tools = asyncio.run(listed())
    assert info.name == "redraft"
    assert "check again" in instructions
    assert [tool.name for tool in tools] == ["plan", "simplify", "check"]
    for tool in tools:
        assert tool.description
        assert tool.annotations.read_only_hint
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        for name, schema in tool.input_schema["properties"].items():
            assert schema.get("description"), (tool.name, name)
    plan = tools[0].input_schema["properties"]
    assert plan["strength"]["enum"] == ["light", "medium", "strong"]
    assert tools[0].input_schema["required"] == ["text"]


def test_standard_output_has_nothing_but_the_protocol(tmp_path):
    """Even if a library prints: the answers of a session are read line by line as JSON."""
    noisy = tmp_path / "noisy.py"
    noisy.write_text(
        "import os, sys\n"
        "import redraft.cli.mcp as command\n"
        "load = command.load_simplifier\n"
        "def printing(*given):\n"
        "    print('loading'); os.write(1, b'loading'); os.system('echo loading')\n"
        "    return load(*given)\n"
        "command.load_simplifier = printing\n"
        "from redraft.cli import main\n"
        f"sys.exit(main(['mcp', *{SCRIPTED!r}]))\n"
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    sent = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "plan", "arguments": {"text": "A b."}}},
    ]
    with subprocess.Popen(
        [sys.executable, noisy], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        answers = []
        for one in sent:
            server.stdin.write(json.dumps(one) + "\n")
            server.stdin.flush()
            if "id" in one:
                answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        rest, complaints = server.stdout.read(), server.stderr.read()
        assert server.wait(30) == 0
    assert [answer["id"] for answer in answers] == [1, 2]
    assert not answers[1]["result"].get("isError")
    assert rest == ""
    assert complaints.count("loading") == 3
    assert "A b." not in complaints


def test_mistakes_and_limits_are_errors_of_the_tool():
    long = {"text": "word " * 5000}
    pair = {"source": "They remain old.", "output": "They are old.", "edits": [{"insrt": "old"}]}
    answers = calls(
        process(*SCRIPTED), ("plan", long), ("simplify", long), ("check", {"sentences": [pair]}),
        ("plan", {"text": "A b.", "strength": "most"}), ("plan", {}), ("simplify", {"text": "A b.", "keep": ["b"]}),
        ("plan", {"text": "It works still."}),
    )  # fmt: skip
    assert "25,000 characters, and the limit is 20,000" in message(answers[0])
    assert "25,000 characters, and the limit is 20,000" in message(answers[1])
    assert 'sentences[0].edits[0].insrt: unknown key "insrt"' in message(answers[2])
    assert "strength" in message(answers[3])
    assert "text" in message(answers[4])
    assert "does not predict plans" in message(answers[5])
    assert not answers[6].is_error


def test_a_model_that_cannot_be_loaded_is_an_error_of_the_tool():
    (answer,) = calls(process("--model", "no/such/folder"), ("plan", {"text": "A b."}))
    assert "no/such/folder" in message(answer)


def test_models_are_loaded_once_by_the_first_call():
    loaded = []

    def load():
        loaded.append(1)
        return Service(Simplifier("scripted:examples/by_hand.json", search_only=True), Limits())

    async def ask():
        async with Client(create_server(load)) as client:
            await client.list_tools()
            before = len(loaded)
            answers = await asyncio.gather(*(client.call_tool("plan", {"text": "One two three."}) for _ in range(5)))
            return before, answers

    before, answers = asyncio.run(ask())
    assert (before, len(loaded)) == (0, 1)
    assert not any(answer.is_error for answer in answers)


def test_an_unexpected_error_tells_the_assistant_nothing_of_the_machine():
    def load():
        raise ValueError("secret")

    async def ask():
        async with Client(create_server(load)) as client:
            return await client.call_tool("plan", {"text": "One two three."})

    assert "secret" not in message(asyncio.run(ask()))


def test_a_missing_package_is_named_with_the_install_command(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    monkeypatch.delitem(sys.modules, "redraft.serve.mcp_server", raising=False)
    status, _, err = command("mcp")
    assert status == 2
    assert "pip install 'redraft[mcp]'" in err
