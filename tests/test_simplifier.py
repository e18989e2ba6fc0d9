"""Simplifier: plans, ranks targets, rewrites, splits long texts, and leaves ineligible text unchanged."""

from dataclasses import replace

import pytest

from redraft import Edit, EditPlan, Redrafter, Simplifier
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.errors import ConfigError
from redraft.models import bundled
from redraft.plan.user_constraints import UserConstraint, UserConstraints
from redraft.simplify import simplifier as simplifier_module
from redraft.simplify.long_inputs import pieces_of, split_plan
from redraft.text.function_words import is_content
from redraft.text.names import is_number
from redraft.text.words import split_words

pytestmark = pytest.mark.skipif(not holds_eight_bit_model(bundled("rewriter")), reason="the tree has no weights")

SOURCE = "The physician commenced the procedure in 1990."
LONG = " ".join([SOURCE] * 20)  # more than 160 tokens, half the input length of the model
DEBATE = "The committee, which had deliberated for three weeks, approved the proposal after a lengthy debate."
CODE = "for (int i = 0; i < n; i++) { total += rows[i]; }"
HUE = Edit.substitute("hue", "color", probability=0.9)
TICKETS = "He paid 25 dollars and 40 cents for 3 tickets."


@pytest.fixture(scope="module")
def simplifier():
    return Simplifier(device="cpu")


def content(text):
    return {word.text.lower() for word in split_words(text) if is_content(word.text)}


def test_a_sentence_is_planned_and_rewritten(simplifier):
    found = simplifier(SOURCE)
    assert (found.pieces, found.unchanged) == (1, None)
    assert "commenced" not in found.text
    assert "1990" in found.text
    assert {"commenced", "1990"} <= {verdict.edit.phrase for verdict in found.verdicts}


def test_a_given_plan_is_applied_unchanged(simplifier):
    found = simplifier(EditPlan(SOURCE, (Edit.insert("physician"),)))
    assert [(verdict.edit.phrase, verdict.status) for verdict in found.verdicts] == [("physician", "satisfied")]


def test_predicted_words_are_spelt_as_in_the_document(simplifier, monkeypatch):
    monkeypatch.setattr(
        simplifier_module, "rank_targets", lambda _, plans, **__: (replace(one, edits=(HUE,)) for one in plans)
    )
    found = simplifier.document("Its hue was a grey colour.\n\nIts hue had faded.")
    assert found.results[1].plan.edits[0].targets == ("colour",)
    assert next(simplifier.plans(["Its hue had faded."])).edits[0].targets == ("color",)
    assert next(simplifier.plans(["Its hue had faded."], spelling="british")).edits[0].targets == ("colour",)
    with pytest.raises(ConfigError, match="spelling"):
        simplifier("They left.", spelling="scottish")


def test_non_prose_is_unchanged_in_its_place(simplifier):
    address = "https://example.org/a?b=c"
    first, second, third = simplifier.pipe([SOURCE, address, SOURCE], batch_size=2)
    assert (second.text, second.unchanged) == (address, "it is an address")
    assert first.text == third.text == simplifier(SOURCE).text


def test_a_long_text_is_rewritten_in_pieces_with_spans_of_the_whole(simplifier):
    found = simplifier(LONG)
    assert found.pieces > 1
    assert all(LONG[slice(*verdict.edit.span)] == verdict.edit.phrase for verdict in found.verdicts)
    assert found.verdicts[-1].edit.span[0] > len(LONG) / 2


def test_a_text_is_split_at_half_the_input_length_of_the_model(simplifier):
    """A plan with a mark for every word doubles the length."""
    size = lambda text: len(simplifier.redrafter.tokenizer(text)["input_ids"])  # noqa: E731
    fits, longer = next((n, n + 1) for n in range(1, 20) if size(" ".join([SOURCE] * (n + 1))) > 160)
    assert len(pieces_of(simplifier.redrafter, " ".join([SOURCE] * fits))) == 1
    assert len(pieces_of(simplifier.redrafter, " ".join([SOURCE] * longer))) == 2


def test_without_a_planner_nothing_is_predicted():
    redrafter = Redrafter("scripted:examples/by_hand.json")
    assert Simplifier(redrafter)("The artisans remain old .").verdicts == ()


def test_a_plan_with_spans_is_split_with_its_text(simplifier):
    places = [at for at in range(len(LONG)) if LONG.startswith("procedure", at)]
    edits = tuple(Edit.insert("procedure", span=(at, at + len("procedure"))) for at in places)
    found = simplifier(EditPlan(LONG, edits))
    assert found.pieces > 1
    assert [verdict.edit for verdict in found.verdicts] == list(edits)
    assert {verdict.status for verdict in found.verdicts} == {"satisfied"}


@pytest.mark.parametrize("target", ["quack", "flibbertigibbet", "brass band"])
@pytest.mark.parametrize("span", [None, (4, 13)])
def test_requested_words_are_written_however_unlikely(simplifier, target, span):
    found = simplifier(EditPlan(SOURCE, (Edit.substitute("physician", target, span=span),)))
    assert f"The {target} " in found.text
    assert "physician" not in found.text
    assert (found.not_done, [verdict.status for verdict in found.verdicts]) == ([], ["satisfied"])


@pytest.mark.parametrize("source, number", [(SOURCE, "1990"), (TICKETS, "40"), (TICKETS, "25")])
def test_a_deleted_number_is_not_replaced_by_another(simplifier, source, number):
    found = simplifier(EditPlan(source, (Edit.delete(number),)))
    left = [word.text for word in split_words(found.text) if is_number(word.text)]
    assert left == [word.text for word in split_words(source) if is_number(word.text) and word.text != number]
    assert found.not_done == []


@pytest.mark.parametrize("text", [
    "Der Arzt verschrieb dem Patienten wegen Hypertonie ein Medikament.", "Hypertonie.", SOURCE,
])  # fmt: skip
def test_user_constraints_are_applied_to_text_that_is_not_rewritten(simplifier, text):
    first = next(word.text for word in split_words(text) if len(word.text) > 4)
    user_constraints = UserConstraints(
        (UserConstraint.of(first, "Quack"), UserConstraint.of("Medikament"), UserConstraint.of("procedure"))
    )
    found = simplifier(text, constraints=user_constraints)
    assert "Quack" in found.text
    assert first not in found.text
    assert [word for word in ("Medikament", "procedure") if word in text and word not in found.text] == []
    assert found.not_done == []
    assert found.unchanged is None
    assert simplifier("Hypertonie.", glossary={"nowhere": "Quack"}).unchanged


@pytest.mark.parametrize("text, whole", [
    ("Please commence the procedure that https://example.org/a_b?c=%20d#e describes at length.",
     ["https://example.org/a_b?c=%20d#e"]),
    ("Please write to anna.b+c@mail.example.org before utilising it.", ["anna.b+c@mail.example.org"]),
    ("Please call +1 (555) 010-9999 in order to purchase tickets.", ["+1 (555) 010-9999"]),
    ("They utilised the part ABC-1234-X in version v2.10.3-rc1.", ["ABC-1234-X", "v2.10.3-rc1"]),
    ("The documentation is at [our site](https://example.org/a_b?c=d#e), notwithstanding the delay.",
     ["[our site](https://example.org/a_b?c=d#e)"]),
    ("The apparatus\tmust be\tutilised in `mode_7` only.", ["The apparatus\tmust be\t", "`mode_7`"]),
])  # fmt: skip
def test_protected_spans_are_restored_byte_for_byte(simplifier, text, whole):
    found = simplifier(text)
    assert [one for one in whole if one not in found.text] == []
    assert found.text != text


@pytest.mark.parametrize("source, edits", [
    (DEBATE, (Edit.delete("lengthy"),)),
    (DEBATE, (Edit.substitute("approved", "okayed"),)),
    (DEBATE, (Edit.split("which"),)),
    (SOURCE, (Edit.substitute("physician", "doctor", span=(4, 13)),)),
])  # fmt: skip
def test_a_plan_without_strength_changes_what_it_names_and_nothing_else(simplifier, source, edits):
    found = simplifier(EditPlan(source, edits))
    named = content(" ".join(text for edit in edits for text in (edit.phrase, *edit.targets)))
    assert content(found.text) ^ content(source) <= named
    assert found.not_done == []


def test_with_a_strength_the_rest_may_change_too(simplifier):
    found = simplifier(EditPlan(DEBATE, (Edit.substitute("approved", "okayed"),), "strong"))
    assert "okayed" in found.text
    free = Simplifier(
        simplifier.redrafter, simplifier.planner, check=None
    )  # without the check, which would restore the lost words
    found = free(EditPlan(DEBATE, (Edit.substitute("approved", "okayed"),), "strong"))
    assert {"deliberated", "lengthy"} - content(found.text)


def test_search_only_returns_the_texts_of_the_search(simplifier):
    plain = Simplifier(simplifier.redrafter, simplifier.planner, search_only=True)
    plan = EditPlan(SOURCE, (Edit.substitute("physician", "flibbertigibbet"),))
    for one in (SOURCE, plan):
        expected = simplifier.redrafter(one)
        assert plain(one) == expected
        assert not expected.literal
    assert list(plain.plans([SOURCE])) == [EditPlan(SOURCE)]


@pytest.mark.parametrize("text", [SOURCE, EditPlan(SOURCE), EditPlan(SOURCE, (Edit.delete("physician"),)), CODE])
def test_beam_search_is_plain(simplifier, text):
    """The baseline: the model may read the plan, but nothing is enforced, reranked or edited in place."""
    config = simplifier.redrafter.config.with_changes(method="beam", candidates=2)
    found = Simplifier(simplifier.redrafter, None, config=config)(text)
    assert found == next(simplifier.redrafter.stream([text], config=config))
    assert not any(one.literal for one in found.candidates)


def test_beam_search_can_read_a_predicted_plan(simplifier):
    config = simplifier.redrafter.config.with_changes(method="beam")
    (plan,) = simplifier.plans([SOURCE])
    assert simplifier(SOURCE, config=config) == next(simplifier.redrafter.stream([plan], config=config))


def test_off_makes_the_edits_and_nothing_else(simplifier):
    edits = (Edit.substitute("physician", "quack"), Edit.delete("in 1990"))
    found = simplifier(EditPlan(SOURCE, edits, "off"))
    assert found.text == "The quack commenced the procedure."
    assert [verdict.status for verdict in found.verdicts] == ["satisfied", "satisfied"]
    assert simplifier(EditPlan(SOURCE, (), "off")).unchanged == "its plan says so"


@pytest.mark.parametrize("text", [CODE, "Hypertonie."])
def test_the_plan_of_non_prose_has_strength_off(simplifier, text):
    (plan,) = simplifier.plans([text])
    assert plan == EditPlan(text, (), "off")
    assert simplifier(plan) == simplifier(text)
    assert simplifier(EditPlan(text)).unchanged is None  # a given empty plan is rewritten by the model


def test_a_long_text_has_one_plan(simplifier):
    (plan,) = simplifier.plans([LONG])
    assert simplifier(plan) == simplifier(LONG)
    assert split_plan(plan, pieces := pieces_of(simplifier.redrafter, LONG)) == list(simplifier.plans(pieces))


def test_the_edits_of_a_result_are_those_of_its_plan_in_order(simplifier):
    edits = (
        Edit.split("which"), Edit.insert("three"), Edit.delete("lengthy"), Edit.substitute("approved", "accepted"),
        Edit.insert("committee", probability=0.9, weight=0.05),
    )  # fmt: skip
    with_code = f"{DEBATE[:-1]} about ABC-1234-X and ABC-1234-X."
    for source in (DEBATE, with_code):
        found = simplifier(EditPlan(source, edits), candidates=3)
        for candidate in found.candidates:
            assert tuple(verdict.edit for verdict in candidate.verdicts) == edits
    predicted = next(simplifier.plans([SOURCE]))
    assert tuple(verdict.edit for verdict in simplifier(SOURCE).verdicts) == predicted.edits


def test_the_size_of_batches_changes_nothing(simplifier):
    texts = [
        SOURCE, EditPlan(DEBATE, (Edit.delete("lengthy"),)), "https://example.org", TICKETS,
        EditPlan(SOURCE, (Edit.substitute("physician", "flibbertigibbet"),)), DEBATE,
    ]  # fmt: skip
    shown = lambda one: (one.text, one.literal, one.unchanged, [v.status for v in one.verdicts])  # noqa: E731
    found = [[shown(one) for one in simplifier.pipe(texts, batch_size=size)] for size in (1, 4)]
    assert found[0] == found[1]
