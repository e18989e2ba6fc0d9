"""Every door gives the same for the same: Python, the shell, the service. And the service keeps to its OpenAPI."""

import json
import threading

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from redraft import DecodeConfig, EditPlan, Planner, Redrafter, Simplifier
from redraft.cli.main import main
from redraft.decode.config import SIMPLIFY
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.decode.loading import shipped_folder
from redraft.serve.app import create_app

SOURCES = ["The physician commenced the procedure in 1990.", "They purchased approximately 40 vehicles."]


@pytest.mark.skipif(not holds_eight_bit_model(shipped_folder()), reason="the tree has no weights")
def test_python_shell_and_service_agree(capsys, tmp_path):
    config = DecodeConfig(**{**SIMPLIFY, "beams": 4})
    simplifier = Simplifier(Redrafter(config=config, device="cpu"), Planner.load(device="cpu"))
    python = list(simplifier.stream(SOURCES))
    assert main(["simplify", "--device", "cpu", "--beams", "4", "--json", *SOURCES]) == 0
    shell = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    document = tmp_path / "text.txt"
    document.write_text(" ".join(SOURCES))
    assert main(["simplify", "--device", "cpu", "--beams", "4", "--document", str(document)]) == 0
    put_back = capsys.readouterr().out
    with TestClient(create_app(simplifier)) as client:
        answer = client.post("/v1/simplify", json={"text": " ".join(SOURCES)}).json()
        plans = client.post("/v1/plan", json={"text": " ".join(SOURCES)}).json()
        given = {"sentences": [{"source": one["source"], "edits": one["edits"]} for one in plans["sentences"]]}
        again = client.post("/v1/simplify", json=given).json()
    outputs = [one.output for one in python]
    assert [one["output"] for one in shell] == outputs
    assert [one["output"] for one in answer["sentences"]] == outputs
    assert [one["output"] for one in again["sentences"]] == outputs
    assert put_back == answer["text"] == " ".join(outputs)
    for one, there in zip(python, answer["sentences"], strict=True):
        assert there["edits"] == json.loads(json.dumps(one.to_json()["edits"]))


@pytest.fixture
def app():
    redrafter = Redrafter("scripted:examples/by_hand.json", config=DecodeConfig(beams=3))
    return create_app(Simplifier(redrafter))


def test_whatever_the_openapi_allows_is_answered_as_it_says(app):
    """Without the plugin of schemathesis for pytest, which not every version of pytest takes."""
    operations = [found.ok() for found in schemathesis.openapi.from_asgi("/openapi.json", app).get_all_operations()]
    assert {operation.path for operation in operations} >= {"/v1/simplify", "/v1/plan", "/v1/evaluate", "/health"}
    for operation in operations:

        @settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(operation.as_strategy())
        def answered(case):
            case.call_and_validate(excluded_checks=[positive_data_acceptance])  # what a plan means no schema can say

        answered()


def test_many_clients_at_once_lose_nothing(app):
    """The long version, with the model that comes with the package, is benchmarks/bench_service.py."""
    with TestClient(app) as client:
        found: dict[int, list[str]] = {}

        def ask(number: int) -> None:
            found[number] = [
                client.post("/v1/simplify", json={"sentences": [{"source": "The artisans remain old .", "edits": []}]})
                .raise_for_status()
                .json()["text"]
                for _ in range(5)
            ]

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    expected = Redrafter("scripted:examples/by_hand.json", config=DecodeConfig(beams=3))(
        EditPlan("The artisans remain old .")
    )
    assert len(found) == 16
    assert {text for texts in found.values() for text in texts} == {expected.output}
