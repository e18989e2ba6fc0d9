"""Edits in the order of the source, words that are begun: what goes beyond the paper, on models that one can read."""

import pytest

from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.decode.scripted_model import ScriptedModel

# The model would rather say "last" at once, and then stop.
WORDS = ["first", "mid", "last", "x"]
EAGER = ScriptedModel(
    WORDS,
    {"": {"last": -0.1, "first": -3.0, "x": -3.5}},
    {"first": {"mid": -2.0, "last": -0.5}, "mid": {"last": -0.1}, "last": {"</s>": -0.1, "first": -4.0, "mid": -4.0}},
    -9.0,
)
SOURCE = "first mid last"
PLAN = EditPlan(SOURCE, tuple(Edit.insert(word, span=(SOURCE.index(word), SOURCE.index(word) + len(word)))
                              for word in SOURCE.split()))  # fmt: skip
CONFIG = DecodeConfig(beams=2, width=4, delta=0.0, max_tokens=5)


def written(plan, **changes):
    return Redrafter(EAGER, config=CONFIG)(plan, **changes).text


def test_a_reward_that_comes_out_of_turn_prunes_nothing():
    assert written(PLAN) == "first last mid last"
    assert written(PLAN, ahead=0) == SOURCE


def test_so_many_edits_may_be_left_out():
    assert written(PLAN, ahead=2) == written(PLAN)
    assert written(PLAN, ahead=1) == SOURCE


def test_edits_without_a_place_have_no_turn():
    plan = EditPlan(SOURCE, tuple(Edit.insert(word) for word in SOURCE.split()))
    assert written(plan, ahead=0) == written(plan)


def test_order_is_for_edit_alone():
    assert written(PLAN, ahead=0, method="neurologic") == written(PLAN, method="neurologic")


# "rare old thing" is dear at its first word, and pays at its last.
DEAR = ScriptedModel(
    ["rare", "old", "thing", "a", "b", "c"],
    {"": {"a": -0.5, "b": -0.6, "c": -0.7, "rare": -5.0}},
    {**{word: {"</s>": -0.2, "a": -1.0, "b": -1.1, "c": -1.2} for word in "abc"},
     "rare": {"old": -0.1}, "old": {"thing": -0.1}, "thing": {"</s>": -0.1}},
    -9.0,
)  # fmt: skip


@pytest.mark.parametrize("begun", [False, True])
def test_a_phrase_that_is_begun_is_gone_on_with(begun):
    redrafter = Redrafter(DEAR, config=DecodeConfig(beams=2, width=6, max_tokens=4, begun=begun))
    found = redrafter(EditPlan("a", (Edit.insert("rare old thing"),)))
    assert (found.text == "rare old thing") is begun


def test_a_target_that_its_source_was_no_sibling_of_counts_where_that_is_not_asked_for():
    plan = EditPlan("x", (Edit.substitute("x", "last"),))  # "x" is not among the two likeliest
    redrafter = Redrafter(EAGER, config=DecodeConfig(beams=2, width=2, max_tokens=4))
    assert redrafter(plan).edit_score == 0
    assert redrafter(plan, strict=False).edit_score == 1
