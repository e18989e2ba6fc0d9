"""Edits and plans: what is accepted, what is refused, and the error messages."""

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import PlanError, RedraftError
from redraft.plan.edits import Edit, EditPlan

SOURCE = "The artisans remain old ."


def plan_of(*edits, source=SOURCE):
    return {"source": source, "edits": list(edits)}


@pytest.mark.parametrize("made, written", [
    pytest.param(Edit.insert("old"), {"insert": "old"}, id="insert"),
    pytest.param(Edit.delete("remain"), {"delete": "remain"}, id="delete"),
    pytest.param(Edit.substitute("artisans", "craftsmen", "makers"),
                 {"substitute": "artisans", "with": ["craftsmen", "makers"]}, id="substitute"),
    pytest.param(Edit.insert("old", weight=2, span=(20, 23), note="keep"),
                 {"insert": "old", "weight": 2.0, "span": [20, 23], "note": "keep"}, id="everything-set"),
    pytest.param(Edit.delete("old", weight=0), {"delete": "old", "weight": 0.0}, id="weight-of-zero"),
    pytest.param(Edit.split(), {"split": True}, id="split-anywhere"),
    pytest.param(Edit.split("remain", weight=2, span=(13, 19), probability=0.5, note="long"),
                 {"split": "remain", "weight": 2.0, "span": [13, 19], "probability": 0.5, "note": "long"},
                 id="split-at-a-place"),
])  # fmt: skip
def test_an_edit_and_its_json(made, written):
    assert made.to_json() == written
    assert Edit.from_json(written) == made


@pytest.mark.parametrize("written, made", [
    pytest.param({"insert": "  old \n"}, Edit.insert("old"), id="surrounding-space"),
    pytest.param({"substitute": "big", "with": "large"}, Edit.substitute("big", "large"), id="with-one-string"),
    pytest.param({"substitute": "big", "with": [" large "]}, Edit.substitute("big", "large"), id="space-around-target"),
    pytest.param({"insert": "old", "weight": 3}, Edit.insert("old", weight=3.0), id="whole-number-weight"),
    pytest.param({"insert": "old", "span": None, "note": None}, Edit.insert("old"), id="null-means-absent"),
])  # fmt: skip
def test_lenient_parsing(written, made):
    assert Edit.from_json(written) == made


def test_lists_become_tuples():
    edit = Edit("substitute", "big", ["large"], span=[0, 3])
    plan = EditPlan("big", [edit])
    assert edit.targets == ("large",)
    assert edit.span == (0, 3)
    assert plan.edits == (edit,)
    assert hash(plan) == hash(EditPlan("big", (edit,)))


# the JSON, the field, the cause, the next step
BAD_EDITS = [
    pytest.param({"insert": "old", "wieght": 2}, "wieght", 'unknown key "wieght"', '"weight"', id="unknown-key"),
    pytest.param({"Delete": "old"}, "Delete", 'unknown key "Delete"', 'closest key is "delete"', id="key-in-capitals"),
    pytest.param("old", None, 'must be an object, but it is the string "old"', '{"insert": "old"}', id="not-an-object"),
    pytest.param({"weight": 2}, None, 'none of "insert", "delete", "substitute" or "split"', "exactly one",
                 id="no-operation"),
    pytest.param({}, None, "none of", "exactly one", id="empty-object"),
    pytest.param({"insert": "a", "delete": "b"}, None, '"insert" and "delete" together', "exactly one",
                 id="two-operations"),
    pytest.param({"insert": 3}, "insert", "must be a string, but it is the number 3", "in quotes", id="number-phrase"),
    pytest.param({"delete": None}, "delete", "must be a string, but it is null", "in quotes", id="null-phrase"),
    pytest.param({"delete": ["a"]}, "delete", 'it is the list ["a"]', "in quotes", id="list-phrase"),
    pytest.param({"insert": ""}, "insert", "the phrase is empty", "at least one word", id="empty-phrase"),
    pytest.param({"insert": " \t\u00a0"}, "insert", "the phrase is empty", "at least one word", id="only-whitespace"),
    pytest.param({"insert": "a\ud800"}, "insert", 'character 2 of "a\\ud800" is half of a surrogate', "both halves",
                 id="surrogate-in-phrase"),
    pytest.param({"substitute": "a"}, "with", "has no targets", '"with": ["..."]', id="with-missing"),
    pytest.param({"substitute": "a", "with": []}, "with", "has no targets", '"with"', id="with-empty"),
    pytest.param({"substitute": "a", "with": 5}, "with", "must be a list of strings, but it is the number 5",
                 '"with": ["..."]', id="with-a-number"),
    pytest.param({"substitute": "a", "with": {"b": 1}}, "with", "but it is an object", '"with"', id="with-an-object"),
    pytest.param({"substitute": "a", "with": ["b", 5]}, "with[1]", "must be a string", "in quotes", id="number-target"),
    pytest.param({"substitute": "a", "with": ["b", " "]}, "with[1]", "phrase is empty", "remove", id="empty-target"),
    pytest.param({"substitute": "a", "with": ["\udfff"]}, "with[0]", "surrogate", "halves", id="surrogate-in-target"),
    pytest.param({"insert": "a", "with": ["b"]}, "with", "only substitutions", '"substitute": "a"', id="insert-with"),
    pytest.param({"substitute": "New  York", "with": ["NYC", "new york"]}, "with[1]",
                 '"New  York" is replaced by itself', '{"insert": "New  York"}', id="substituted-by-itself"),
    pytest.param({"insert": "a", "weight": -1}, "weight", "not negative, but it is -1", "0.5", id="negative-weight"),
    pytest.param({"insert": "a", "weight": math.nan}, "weight", "must be finite", "0.5", id="weight-nan"),
    pytest.param({"insert": "a", "weight": math.inf}, "weight", "must be finite", "0.5", id="weight-infinite"),
    pytest.param({"insert": "a", "weight": 10**400}, "weight", "must be finite", "0.5", id="weight-beyond-floats"),
    pytest.param({"insert": "a", "weight": True}, "weight", "a number, but it is true", "0.5", id="weight-bool"),
    pytest.param({"insert": "a", "weight": "2"}, "weight", 'it is the string "2"', "0.5", id="weight-string"),
    pytest.param({"insert": "a", "weight": None}, "weight", "it is null", 'leave "weight" out', id="weight-null"),
    pytest.param({"insert": "a", "span": 4}, "span", "a list of two integers", "[start, end]", id="span-number"),
    pytest.param({"insert": "a", "span": [1]}, "span", "must be two integers", "[start, end]", id="span-of-one"),
    pytest.param({"insert": "a", "span": [0, 2.0]}, "span", "must be two integers", "[start, end]", id="span-float"),
    pytest.param({"insert": "a", "span": [False, 2]}, "span", "must be two integers", "[start, end]", id="span-bool"),
    pytest.param({"insert": "a", "span": [3, 3]}, "span", "[3, 3] is empty", "start < end", id="span-empty"),
    pytest.param({"insert": "a", "span": [5, 3]}, "span", "is empty", "start < end", id="span-backwards"),
    pytest.param({"insert": "a", "span": [-1, 3]}, "span", "starts before the source", "0 <=", id="span-negative"),
    pytest.param({"insert": "a", "span": [20, 26]}, "span", "[20, 26] ends outside the source, which has 25 characters",
                 "end <= 25", id="span-beyond-the-end"),
    pytest.param({"split": ""}, "split", "the phrase is empty", '{"split": true} for anywhere', id="split-empty"),
    pytest.param({"split": " "}, "split", "the phrase is empty", '{"split": "which"}', id="split-only-whitespace"),
    pytest.param({"split": False}, "split", "true or a word of the source, but it is false", '{"split": true}',
                 id="split-false"),
    pytest.param({"split": 3}, "split", "but it is the number 3", '{"split": true}', id="split-number"),
    pytest.param({"split": 1}, "split", "but it is the number 1", '{"split": true}', id="split-one-is-not-true"),
    pytest.param({"split": None}, "split", "but it is null", '{"split": true}', id="split-null"),
    pytest.param({"split": True, "with": ["a"]}, "with", "only substitutions", 'leave "with" out', id="split-with"),
    pytest.param({"split": True, "span": [0, 3]}, "span", "a split anywhere cannot have a span",
                 '{"split": "which", "span": [0, 3]}', id="split-anywhere-with-a-span"),
    pytest.param({"split": "a", "insert": "a"}, None, '"insert" and "split" together', "exactly one",
                 id="split-and-insert"),
    pytest.param({"insert": True}, "insert", "must be a string, but it is true", "in quotes", id="insert-true"),
    pytest.param({"insert": "a", "note": 7}, "note", "must be a string", "in quotes", id="note-number"),
]  # fmt: skip


@pytest.mark.parametrize("bad, field, problem, hint", BAD_EDITS)
def test_errors_of_edits_have_place_cause_and_next_step(bad, field, problem, hint):
    with pytest.raises(PlanError) as caught:
        EditPlan.from_json(plan_of({"insert": "old"}, bad))
    error = caught.value
    assert error.field == ("edits[1]" if field is None else f"edits[1].{field}")
    assert problem in error.problem
    assert hint in error.hint
    assert str(error) == f"{error.field}: {error.problem}\n  {error.hint}"
    str(error).encode("utf-8")  # control characters are escaped


@pytest.mark.parametrize("bad, field, problem, hint", [
    pytest.param([1], None, "a plan must be an object", '{"source":', id="a-list"),
    pytest.param({"edits": []}, "source", "no source sentence", '{"source":', id="no-source"),
    pytest.param({"source": 3}, "source", "must be a string, but it is the number 3", "in quotes", id="number-source"),
    pytest.param({"source": "a\udc80"}, "source", "character 2", "both halves", id="surrogate-in-source"),
    pytest.param({"source": "a", "edit": []}, "edit", 'unknown key "edit"', 'closest key is "edits"', id="unknown-key"),
    pytest.param({"source": "a", "\ud800": 1}, "\\ud800", "unknown key", "closest", id="unprintable-key"),
    pytest.param({"source": "a", "edits": {}}, "edits", "must be a list of edits, but it is an object", "brackets",
                 id="edits-not-a-list"),
    pytest.param({"source": "a", "edits": None}, "edits", "it is null", "[] requests none", id="edits-null"),
    pytest.param({"source": "a", "strength": "high"}, "strength",
                 'one of "light", "medium", "strong" or "off", but it is the string "high"', '"strength": "light"',
                 id="strength-of-another-name"),
    pytest.param({"source": "a", "strength": 0.5}, "strength", "but it is the number 0.5", 'leave "strength" out',
                 id="strength-number"),
    pytest.param({"source": "a", "strength": ["light"]}, "strength", "but it is the list", "leave", id="strength-list"),
])  # fmt: skip
def test_errors_of_plans_have_place_cause_and_next_step(bad, field, problem, hint):
    with pytest.raises(PlanError) as caught:
        EditPlan.from_json(bad)
    assert caught.value.field == field
    assert problem in caught.value.problem
    assert hint in caught.value.hint


@pytest.mark.parametrize("make, field", [
    pytest.param(lambda: Edit("remove", "a"), "kind", id="unknown-kind"),
    pytest.param(lambda: Edit.substitute("a"), "with", id="no-target"),
    pytest.param(lambda: Edit("split", True), "split", id="true-is-for-json"),
    pytest.param(lambda: Edit.split(span=(0, 1)), "span", id="split-anywhere-with-a-span"),
    pytest.param(lambda: EditPlan("a", strength="weak"), "strength", id="unknown-strength"),
    pytest.param(lambda: Edit.insert("a", weight=-0.5), "weight", id="negative-weight"),
    pytest.param(lambda: EditPlan("a", Edit.insert("a")), "edits", id="an-edit-without-its-list"),
    pytest.param(lambda: EditPlan("a", [Edit.insert("a"), {"insert": "b"}]), "edits[1]", id="json-among-edits"),
    pytest.param(lambda: EditPlan("a b", [Edit.insert("a", span=(0, 4))]), "edits[0].span", id="span-outside"),
])  # fmt: skip
def test_python_objects_are_checked_by_the_same_rules(make, field):
    with pytest.raises(PlanError) as caught:
        make()
    assert caught.value.field == field
    assert caught.value.hint


@pytest.mark.parametrize("edits, pieces", [
    pytest.param([Edit.insert("old"), Edit.insert("are"), Edit.delete("old")],
                 ['edit 3 deletes "old" but edit 1 inserts "old" (both without a span)', "Remove one"], id="no-spans"),
    pytest.param([Edit.delete("Old  man"), Edit.insert("old man")],
                 ['edit 2 inserts "old man" but edit 1 deletes "Old  man"'], id="differ-in-case-and-spacing"),
    pytest.param([Edit.insert("old", span=(20, 23)), Edit.delete("old", span=(20, 23))],
                 ['edit 2 deletes "old" but edit 1 inserts "old" (both at span [20, 23])', '"span"'], id="same-span"),
])  # fmt: skip
def test_a_conflict_names_both_edits(edits, pieces):
    with pytest.raises(PlanError) as caught:
        EditPlan(SOURCE, edits)
    assert caught.value.field == f"edits[{len(edits) - 1}]"
    assert all(piece in str(caught.value) for piece in pieces)


@pytest.mark.parametrize("edits", [
    pytest.param([Edit.insert("a", span=(0, 1)), Edit.delete("a", span=(2, 3))], id="kept-here-deleted-there"),
    pytest.param([Edit.insert("a", span=(0, 1)), Edit.delete("a")], id="only-one-has-a-span"),
    pytest.param([Edit.insert("a"), Edit.insert("a")], id="inserted-twice"),
    pytest.param([Edit.delete("a"), Edit.delete("a")], id="deleted-twice"),
    pytest.param([Edit.insert("a"), Edit.substitute("a", "b")], id="inserted-and-substituted"),
    pytest.param([Edit.insert("old"), Edit.delete("older")], id="a-longer-word"),
    pytest.param([], id="no-edits"),
])  # fmt: skip
def test_repeated_edits_are_allowed(edits):
    assert EditPlan("a a", edits).edits == tuple(edits)


def test_the_worked_example_survives_the_round_trip():
    plan = EditPlan(SOURCE, (Edit.substitute("artisans", "craftsmen"), Edit.delete("remain"), Edit.insert("old")))
    assert EditPlan.from_json(plan.to_json()) == plan
    assert pickle.loads(pickle.dumps(plan)) == plan


@pytest.mark.parametrize("strength", ["light", "medium", "strong", None])
def test_a_strength_is_written_if_stated(strength):
    plan = EditPlan("a", (Edit.split(),), strength)
    assert plan.to_json() == {"source": "a", "edits": [{"split": True}], **({"strength": strength} if strength else {})}
    assert EditPlan.from_json(plan.to_json()) == plan
    assert (hash(plan) == hash(EditPlan("a", (Edit.split(),)))) is (strength is None)


words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(lambda text: text.strip())
weights = st.floats(0, allow_nan=False, allow_infinity=False) | st.integers(0, 9)


@st.composite
def plans(draw):
    """Any valid plan: phrases are numbered so that no two edits conflict."""
    source = draw(st.text(st.characters(codec="utf-8"), max_size=40))
    edits = []
    for number in range(draw(st.integers(0, 6))):
        rest = {"weight": draw(weights), "note": draw(st.none() | st.text(st.characters(codec="utf-8"), max_size=9))}
        if source and draw(st.booleans()):
            start = draw(st.integers(0, len(source) - 1))
            rest["span"] = (start, draw(st.integers(start + 1, len(source))))
        phrase = f"{number} {draw(words)}"
        targets = [f"{number} to {target}" for target in draw(st.lists(words, min_size=1, max_size=3))]
        edits.append(draw(st.sampled_from([
            lambda phrase=phrase, rest=rest: Edit.insert(phrase, **rest),
            lambda phrase=phrase, rest=rest: Edit.delete(phrase, **rest),
            lambda phrase=phrase, rest=rest: Edit.split(phrase, **rest),
            lambda rest=rest: Edit.split(weight=rest["weight"], note=rest["note"]),
            lambda phrase=f"{phrase} from", targets=targets, rest=rest: Edit.substitute(phrase, *targets, **rest),
        ]))())  # fmt: skip
    return EditPlan(source, edits, draw(st.sampled_from([None, "light", "medium", "strong"])))


@given(plans())
def test_every_plan_survives_the_round_trip(plan):
    assert EditPlan.from_json(plan.to_json()) == plan


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["source", "edits", "strength", "insert", "split", "with", "span", "?"]), inner
        )
    ),
    max_leaves=8,
)


def refusal(read, obj):
    try:
        read(obj)
    except PlanError as error:
        return error
    return None


@pytest.mark.parametrize("read", [Edit.from_json, EditPlan.from_json], ids=["edit", "plan"])
@given(obj=anything)
def test_invalid_json_values_raise_plan_errors(read, obj):
    error = refusal(read, obj)
    assert error is None or (error.hint and str(error).encode("utf-8"))


@pytest.mark.parametrize("places, text", [
    pytest.param({}, "wrong.\n  Right.", id="nowhere"),
    pytest.param({"field": "edits[2].weight"}, "edits[2].weight: wrong.\n  Right.", id="field"),
    pytest.param({"line": 3}, "line 3: wrong.\n  Right.", id="line-of-a-stream"),
    pytest.param({"path": "p.jsonl"}, "p.jsonl: wrong.\n  Right.", id="whole-file"),
    pytest.param({"path": "p.jsonl", "line": 3, "field": "source"}, "p.jsonl:3, source: wrong.\n  Right.", id="all"),
])  # fmt: skip
def test_an_error_begins_with_its_place(places, text):
    error = PlanError("wrong.", "Right.").at(**places)
    assert str(error) == text
    assert str(pickle.loads(pickle.dumps(error))) == text
    assert isinstance(error, RedraftError)
    assert isinstance(error, ValueError)


def test_at_fills_in_only_what_is_missing():
    error = PlanError("wrong.", "Right.", line=3, field="weight").at(path="p.jsonl", line=9, field="note")
    assert (error.path, error.line, error.field) == ("p.jsonl", 3, "weight")
    assert error.inside("edits[2]").field == "edits[2].weight"
