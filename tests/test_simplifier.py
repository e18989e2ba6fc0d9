"""From sentences to simpler ones in one call: planned, fitted, in pieces where long, left alone where that is best."""

import pytest

from redraft import DecodeConfig, Edit, EditPlan, Planner, Redrafter, Simplifier
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.decode.loading import shipped_folder

pytestmark = pytest.mark.skipif(not holds_eight_bit_model(shipped_folder()), reason="the tree has no weights")

SOURCE = "The physician commenced the procedure in 1990."


@pytest.fixture(scope="module")
def simplifier():
    return Simplifier(Redrafter(config=DecodeConfig(beams=4), device="cpu"), Planner.load(device="cpu"))


def test_a_sentence_is_planned_and_rewritten(simplifier):
    found = simplifier(SOURCE)
    assert (found.pieces, found.unchanged) == (1, None)
    assert "commenced" not in found.output
    assert "1990" in found.output
    assert {"commenced", "1990"} <= {verdict.edit.phrase for verdict in found.edits}


def test_a_plan_of_your_own_is_carried_out_as_it_stands(simplifier):
    found = simplifier(EditPlan(SOURCE, (Edit.insert("physician"),)))
    assert [(verdict.edit.phrase, verdict.status) for verdict in found.edits] == [("physician", "satisfied")]


def test_what_is_no_prose_is_left_alone_in_its_place(simplifier):
    address = "https://example.org/a?b=c"
    first, second, third = simplifier.stream([SOURCE, address, SOURCE], batch_size=2)
    assert (second.output, second.unchanged) == (address, "it is an address")
    assert first.output == third.output == simplifier(SOURCE).output


def test_a_long_text_comes_back_in_pieces_with_spans_of_the_whole(simplifier):
    text = " ".join([SOURCE] * 25)
    found = simplifier(text)
    assert found.pieces > 1
    assert all(text[slice(*verdict.edit.span)] == verdict.edit.phrase for verdict in found.edits)
    assert found.edits[-1].edit.span[0] > len(text) / 2


def test_without_a_planner_nothing_is_predicted():
    redrafter = Redrafter("scripted:examples/by_hand.json")
    assert Simplifier(redrafter)("The artisans remain old .").edits == ()


def test_a_plan_with_places_is_parted_with_its_text(simplifier):
    text = " ".join([SOURCE] * 25)
    places = [at for at in range(len(text)) if text.startswith("procedure", at)]
    edits = tuple(Edit.insert("procedure", span=(at, at + len("procedure"))) for at in places)
    found = simplifier(EditPlan(text, edits))
    assert found.pieces > 1
    assert [verdict.edit for verdict in found.edits] == list(edits)
    assert {verdict.status for verdict in found.edits} == {"satisfied"}
