"""The first pass: what it accepts, and that it changes no text where the plan changes nothing."""

import pytest

from redraft import Edit, EditPlan, Simplifier
from redraft.check.meaning import SAME, Meaning
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.models import bundled

pytestmark = pytest.mark.skipif(not holds_eight_bit_model(bundled("rewriter")), reason="the tree has no weights")

SOURCE = "The physician commenced the procedure in 1990."
PLAN = EditPlan(SOURCE, (Edit.substitute("commenced", "began"), Edit.insert("physician")))
KEEP_ALL = EditPlan(SOURCE, tuple(Edit.insert(word) for word in ("physician", "commenced", "procedure", "1990")))
# An insertion that the model makes only when the search insists on it.
ODD = EditPlan(SOURCE, (Edit.insert("nevertheless"), Edit.insert("purple"), Edit.insert("harvest")))


@pytest.fixture(scope="module")
def simplifier():
    return Simplifier(device="cpu", dtype="float32")


@pytest.fixture
def calls(simplifier, monkeypatch):
    """The names of the ways in which texts were written."""
    found = []
    for name in ("_search", "write_greedily"):
        original = getattr(simplifier.redrafter, name)
        monkeypatch.setattr(
            simplifier.redrafter,
            name,
            lambda *args, name=name, original=original: found.append(name) or original(*args),
        )
    return found


def test_a_plan_that_the_model_carries_out_needs_no_search(simplifier, calls):
    found = simplifier(PLAN)
    assert calls == ["write_greedily"]
    assert [verdict.status for verdict in found.verdicts] == ["satisfied"] * 2
    assert found.meaning is not None
    assert found.log_prob < 0
    assert found.text == "The physician began the procedure in 1990."


def test_a_plan_that_changes_nothing_needs_no_model(simplifier, calls):
    found = simplifier(KEEP_ALL)
    assert calls == []
    assert (found.text, found.meaning, found.unchanged) == (SOURCE, SAME, None)
    assert [verdict.status for verdict in found.verdicts] == ["satisfied"] * 4
    assert simplifier(KEEP_ALL, beams=5).text == SOURCE  # the search would not have changed it either


def test_a_plan_that_the_model_does_not_carry_out_is_searched(simplifier, calls):
    simplifier(ODD)
    assert calls == ["write_greedily", "_search"]


@pytest.mark.parametrize("settings", [{"beams": 5}, {"candidates": 3}, {"method": "neurologic"}, {"tell": False}])
def test_settings_of_the_search_switch_it_off(simplifier, calls, settings):
    simplifier(PLAN, **settings)
    assert calls == ["_search"]


def test_a_trace_needs_a_search(simplifier, calls):
    assert next(iter(simplifier.pipe([PLAN], trace=True))).trace
    assert calls == ["_search"]


def test_an_alarm_of_the_meaning_check_needs_a_search(simplifier, calls, monkeypatch):
    def check(pairs, **_):
        return (Meaning(0.9, True, "wrong") if "began" in output else SAME for _, output in pairs)

    monkeypatch.setattr(simplifier.check, "check", check)
    simplifier(PLAN)
    assert calls == ["write_greedily", "_search"]


def test_results_come_in_order_and_equal_those_one_by_one(simplifier):
    texts = [SOURCE, PLAN, ODD, KEEP_ALL, "Short.", "They purchased 40 vehicles and a residence.", PLAN]
    together = list(simplifier.pipe(texts, batch_size=3))
    assert [one.text for one in together] == [simplifier(text).text for text in texts]
    assert [one.source for one in together] == [text if isinstance(text, str) else text.source for text in texts]
