"""Equal plans and settings give equal results in Python, shell and service (page: test_page.py); the OpenAPI."""

import json
import os
import sys
import threading

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from redraft import DecodeConfig, Edit, EditPlan, Redrafter, Simplifier
from redraft.cli.main import main
from redraft.cooperative_scheduling import on_yield_point
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.models import bundled
from redraft.plan.plan_files import write_plans
from redraft.serve.app import create_app

EXAMPLES = int(os.environ.get("REDRAFT_EXAMPLES", "25"))  # generated requests per operation of the OpenAPI
SOURCE = "The physician commenced the procedure in 1990."
DEBATE = "The committee, which had deliberated for three weeks, approved the proposal after a lengthy debate."
SOURCES = [SOURCE, "They purchased approximately 40 vehicles.", "They commenced the work at https://example.org/a_b#c."]
BY_HAND = [
    EditPlan(SOURCE, (Edit.substitute("physician", "doctor"),)),
    EditPlan(SOURCE, (Edit.substitute("physician", "flibbertigibbet", span=(4, 13)),)),  # no model would write it
    EditPlan(SOURCE, (Edit.delete("in 1990", span=(38, 45)), Edit.insert("procedure")), "light"),
    EditPlan(DEBATE, (Edit.split("which", span=(15, 20)), Edit.delete("lengthy"))),
    EditPlan(DEBATE, (Edit.split(), Edit.insert("vote", weight=2.0)), "strong"),
    EditPlan(DEBATE, (Edit.delete("lengthy", probability=0.4), Edit.insert("committee", note="a guess"))),
    EditPlan(SOURCE),
]
LEFT_ALONE = ["for (int i = 0; i < n; i++) { total += rows[i]; }", "Der Arzt verschrieb dem Patienten ein Medikament."]
LONG = " ".join(f"The physician, who had deliberated in room {n}, commenced the lengthy procedure;" for n in range(14))
has_weights = pytest.mark.skipif(not holds_eight_bit_model(bundled("rewriter")), reason="the tree has no weights")


@pytest.fixture(scope="module")
def simplifier():
    return Simplifier(device="cpu")


@pytest.fixture(scope="module")
def client(simplifier):
    with TestClient(create_app(simplifier), base_url="http://localhost") as client:
        yield client


@pytest.fixture
def shell(capsys):
    """`redraft …` on the CPU; returns the lines of standard output."""

    def run(*argv):
        assert main([*map(str, argv), "--device", "cpu"]) == 0
        return capsys.readouterr().out.splitlines()

    return run


def shown(result):
    """What every interface returns for a sentence, as JSON."""
    return result["output"], result.get("literal", False), result["edits"], result.get("unchanged")


def of_python(found):
    return [shown(json.loads(json.dumps(one.to_json()))) for one in found]


@has_weights
def test_sentences_without_a_plan(simplifier, client, shell, tmp_path):
    python = of_python(simplifier.pipe(SOURCES))
    assert [shown(json.loads(line)) for line in shell("simplify", "--json", *SOURCES)] == python
    document = tmp_path / "text.txt"
    document.write_text(" ".join(SOURCES))
    answer = client.post("/v1/simplify", json={"text": " ".join(SOURCES)}).json()
    assert [shown(one) for one in answer["sentences"]] == python
    outputs = [output for output, *_ in python]
    assert shell("simplify", "--document", document) == [answer["text"]] == [" ".join(outputs)]
    planned = client.post("/v1/plan", json={"text": " ".join(SOURCES)}).json()["sentences"]
    given = [{key: one[key] for key in ("source", "edits", "strength")} for one in planned]
    again = client.post("/v1/simplify", json={"sentences": given}).json()
    assert [shown(one) for one in again["sentences"]] == python
    assert [one["strength"] for one in again["sentences"]] == [one["strength"] for one in answer["sentences"]]


@has_weights
def test_hand_written_plans(simplifier, client, shell, tmp_path):
    python = of_python(simplifier.pipe(BY_HAND))
    asked = [simplifier(plan) for plan in BY_HAND]
    write_plans(tmp_path / "plans.jsonl", BY_HAND)
    assert [
        shown(json.loads(line)) for line in shell("simplify", "--json", "--plan", tmp_path / "plans.jsonl")
    ] == python
    given = [plan.to_json() for plan in BY_HAND]
    answer = client.post("/v1/simplify", json={"sentences": given}).json()
    assert [shown(one) for one in answer["sentences"]] == python == of_python(asked)
    assert [one["strength"] for one in answer["sentences"]] == [plan.strength for plan in BY_HAND]
    for one, there in zip(asked, answer["sentences"], strict=True):
        not_done = [verdict.to_json() for verdict in one.not_done]
        assert there["not_done"] == there["candidates"][0]["not_done"] == json.loads(json.dumps(not_done))
        assert there["literal"] is there["candidates"][0]["literal"] is one.literal
    assert "flibbertigibbet" in python[1][0]


@has_weights
@pytest.mark.parametrize("strength", ["light", "medium", "strong", "0.9"])
def test_exported_plans_give_the_same_results(client, shell, tmp_path, strength):
    path = tmp_path / "plans.jsonl"
    sources = [*SOURCES[:2], DEBATE]
    exported = shell("plan", "predict", "--strength", strength, *sources)
    path.write_text("\n".join(exported) + "\n", encoding="utf-8")
    predicted = [shown(json.loads(line)) for line in shell("simplify", "--json", "--strength", strength, *sources)]
    assert [shown(json.loads(line)) for line in shell("simplify", "--json", "--plan", path)] == predicted
    given = client.post("/v1/simplify", json={"sentences": list(map(json.loads, exported))}).json()
    assert [shown(one) for one in given["sentences"]] == predicted
    value = strength if strength.isalpha() else float(strength)
    planned = client.post("/v1/plan", json={"text": " ".join(sources), "strength": value}).json()["sentences"]
    assert [(one["edits"], one["strength"]) for one in planned] == [
        (plan["edits"], plan["strength"]) for plan in map(json.loads, exported)
    ]


@has_weights
@pytest.mark.parametrize("strength", ["medium", "strong"])
def test_exported_plans_of_unchanged_and_split_texts(client, shell, tmp_path, strength):
    """The model alone would rewrite non-English text, and a long text would be planned as a whole."""
    path, glossary = tmp_path / "plans.jsonl", tmp_path / "glossary.tsv"
    glossary.write_text("Arzt\tDoktor\n", encoding="utf-8")
    flags = ["--strength", strength, "--glossary", glossary]
    exported = shell("plan", "predict", *flags, *LEFT_ALONE, LONG)
    path.write_text("\n".join(exported) + "\n", encoding="utf-8")
    found = list(map(json.loads, shell("simplify", "--json", *flags, *LEFT_ALONE, LONG)))
    assert [one["output"] for one in found[:-1]] == [LEFT_ALONE[0], LEFT_ALONE[1].replace("Arzt", "Doktor")]
    assert found[-1]["pieces"] > 1
    predicted = list(map(shown, found))
    assert [shown(json.loads(line)) for line in shell("simplify", "--json", "--plan", path)] == predicted
    given = client.post("/v1/simplify", json={"sentences": list(map(json.loads, exported))}).json()
    assert [shown(one) for one in given["sentences"]] == predicted


@has_weights
def test_every_stage_can_be_stopped_between_its_steps(simplifier):
    """As the service does when no request waits for the result."""
    seen = set()

    def look(cancel_only):
        seen.add(sys._getframe(2).f_globals["__name__"])  # the functions that have called yield_point()

    with on_yield_point(look):  # phrases that no other test compiles
        simplifier(DEBATE.replace("deliberated", "pondered"))
        simplifier(LONG.replace("physician", "surgeon"))
    stages = {
        f"redraft.{name}" for name in ("plan.planner", "plan.edit_classifier", "constrain.compiler", "plan.verdicts")
    }
    stages |= {f"redraft.{name}" for name in ("simplify.simplifier", "simplify.target_ranking", "decode.search")}
    assert seen >= stages | {"redraft.check.meaning_check", "redraft.check.trained_checker"}


@pytest.fixture
def app():
    redrafter = Redrafter("scripted:examples/by_hand.json", config=DecodeConfig(beams=3))
    return create_app(Simplifier(redrafter), hosts=["localhost", "testserver"])  # schemathesis calls it so


def test_requests_allowed_by_the_openapi_get_a_documented_response(app):
    """Without the pytest plugin of schemathesis, which does not support every version of pytest."""
    operations = [found.ok() for found in schemathesis.openapi.from_asgi("/openapi.json", app).get_all_operations()]
    assert {operation.path for operation in operations} >= {"/v1/simplify", "/v1/plan", "/v1/evaluate", "/health"}
    for operation in operations:

        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(operation.as_strategy())
        def answered(case):
            case.call_and_validate(excluded_checks=[positive_data_acceptance])  # no schema describes valid plans fully

        answered()


def test_many_clients_at_once_lose_nothing(app):
    """The long version, with the bundled model, is benchmarks/bench_service.py."""
    with TestClient(app, base_url="http://localhost") as client:
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
    assert {text for texts in found.values() for text in texts} == {expected.text}
