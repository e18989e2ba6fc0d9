"""Of several finished texts the best is one without invented and without repeated words."""

import pytest

from redraft import Edit
from redraft.constrain.commonness import Commonness, Known
from redraft.constrain.verdicts import Verdict
from redraft.decode.decoded import Candidate, Decoded
from redraft.decode.sound import sound_first

COMMON = Commonness({word: Known(5.0) for word in ("it", "may", "make", "worse", "well", "is")})


def outputs(source, *texts, edits=(), keep=5, log_probs=None):
    verdicts = tuple(Verdict(edit, "satisfied") for edit in edits)
    likely = log_probs or [0.0] * len(texts)
    candidates = tuple(Candidate(text, one, 0.0, verdicts, (), False) for text, one in zip(texts, likely, strict=True))
    return [one.output for one in sound_first(Decoded(source, candidates), COMMON, keep).candidates]


def test_fewer_invented_words_come_first_and_ties_stay_in_order():
    found = outputs("It may exacerbate.", "mayacerbate itx", "it mayacerbate", "it may make worse", "it may worse")
    assert found == ["it may make worse", "it may worse", "it mayacerbate", "mayacerbate itx"]
    assert outputs("It may.", "itx", "it", keep=1) == ["it"]


def test_a_word_glued_to_an_apostrophe_is_an_invention():
    assert outputs("It's well.", "It's well'ssworse", "It's worse") == ["It's worse", "It's well'ssworse"]
    assert outputs("It's well.", "It'll make", "worse") == ["It'll make", "worse"]


@pytest.mark.parametrize("text", ["Xyzzy is 3,000", "It's well-xyzzy", "XYZZY\u2010well", "42 – 7!"])
def test_words_of_the_source_numbers_and_parts_of_words_are_no_inventions(text):
    assert outputs("The xyzzy may.", text, "may") == [text, "may"]


@pytest.mark.parametrize(
    "source, text, faults",
    [
        ("The tenant may make it.", "The make may make it.", 1),
        ("The make may make it.", "The make may make it.", 0),
        ("It is well.", "well well well", 2),
        ("Well is it.", "It may. It is.", 0),  # closed-class words, and names and first words
        ("Make is well.", "Make is well. Make is worse.", 0),
    ],
)
def test_a_word_said_again_is_a_fault(source, text, faults):
    worse = " ".join("xyzzy"[:size] + "zq" for size in range(faults + 1))  # one invented word more than it has faults
    same = " ".join("xyzzy"[:size] + "zq" for size in range(faults))
    assert outputs(source, worse, text)[0] == text
    assert outputs(source, text, same)[0] == outputs(source, text, worse)[0] == text
    assert faults == 0 or outputs(source, text, "it")[0] == "it"


def test_what_a_plan_asks_for_is_no_invention():
    asked = Edit.substitute("physician", "frobnicator")
    assert outputs("It is.", "frobnicator is", "it is", edits=[asked]) == ["frobnicator is", "it is"]
    assert outputs("It is.", "frobnicator is", "it is") == ["it is", "frobnicator is"]


def test_what_the_model_finds_most_unlikely_comes_last_unless_a_person_asked_for_it():
    texts, likely = ("it may", "it is", "xyzzy"), (-11.0, -5.9, -5.7)
    guessed = Edit.substitute("old", "may", probability=0.3)
    assert outputs("It.", *texts, log_probs=likely, edits=[guessed]) == ["it is", "xyzzy", "it may"]
    assert outputs("It.", *texts, log_probs=likely) == ["it is", "xyzzy", "it may"]
    assert outputs("It.", *texts, log_probs=likely, edits=[guessed, Edit.insert("may")]) == ["it may", "it is", "xyzzy"]
    assert outputs("It.", *texts, log_probs=likely, edits=[guessed, Edit.split()]) == ["it is", "xyzzy", "it may"]
