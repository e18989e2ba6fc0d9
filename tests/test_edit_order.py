"""Extensions of the paper: edits in source order and partial phrases, on scripted models."""

import pytest

from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.decode.scripted_model import ScriptedModel

# The model prefers to write "last" immediately, and then to stop.
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


def test_a_reward_out_of_source_order_prunes_nothing():
    assert written(PLAN) == "first last mid last"
    assert written(PLAN, ahead=0) == SOURCE


def test_ahead_is_the_number_of_earlier_unsatisfied_edits():
    assert written(PLAN, ahead=2) == written(PLAN)
    assert written(PLAN, ahead=1) == SOURCE


def test_edits_without_a_span_have_no_order():
    plan = EditPlan(SOURCE, tuple(Edit.insert(word) for word in SOURCE.split()))
    assert written(plan, ahead=0) == written(plan)


def test_source_order_applies_to_method_edit_only():
    assert written(PLAN, ahead=0, method="neurologic") == written(PLAN, method="neurologic")


# The first word of "rare old thing" is unlikely; only its last word earns a reward.
DEAR = ScriptedModel(
    ["rare", "old", "thing", "a", "b", "c"],
    {"": {"a": -0.5, "b": -0.6, "c": -0.7, "rare": -5.0}},
    {**{word: {"</s>": -0.2, "a": -1.0, "b": -1.1, "c": -1.2} for word in "abc"},
     "rare": {"old": -0.1}, "old": {"thing": -0.1}, "thing": {"</s>": -0.1}},
    -9.0,
)  # fmt: skip


@pytest.mark.parametrize("begun", [False, True])
def test_begun_phrases_are_continued(begun):
    redrafter = Redrafter(DEAR, config=DecodeConfig(beams=2, width=6, max_tokens=4, begun=begun))
    found = redrafter(EditPlan("a", (Edit.insert("rare old thing"),)))
    assert (found.text == "rare old thing") is begun


def test_without_strict_a_target_counts_even_if_its_source_was_no_sibling():
    plan = EditPlan("x", (Edit.substitute("x", "last"),))  # "x" is not among the two likeliest
    redrafter = Redrafter(EAGER, config=DecodeConfig(beams=2, width=2, max_tokens=4))
    assert redrafter(plan).edit_score == 0
    assert redrafter(plan, strict=False).edit_score == 1
