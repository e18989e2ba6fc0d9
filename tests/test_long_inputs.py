"""Texts in pieces: nothing is lost, everything fits, and clauses stay whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.simplify.long_inputs import join_plans, pieces_of, split_long_text, split_plan
from small_models import tiny_model_for
from tokenizers_in_memory import single_digits

WORDS = ["old", "Men", "and", "which", "3.5", "11,000", "Mr.", "U.S.", "é", "“Oh!”", "(so)", "-"]
JOINTS = [" ", "  ", ", ", " , ", "; ", " – ", ". ", " . ", "! ", ": ", "\n", ",", "."]


def words_at_most(limit):
    return lambda text: len(text.split()) <= limit


texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(JOINTS)), max_size=60).map(
    lambda parts: "".join(word + joint for word, joint in parts)
)


@given(texts | st.text(), st.integers(1, 12))
def test_pieces_fit_and_joined_are_the_text(text, limit):
    fits = words_at_most(limit)
    pieces = split_long_text(text, fits)
    if pieces is not None:
        assert "".join(pieces) == text
        assert all(map(fits, pieces))
        assert len(pieces) == 1 or all(piece.strip() for piece in pieces)


@given(texts, st.integers(1, 12))
def test_a_text_is_refused_only_for_a_stretch_without_a_sign(text, limit):
    if split_long_text(text, words_at_most(limit)) is None:
        stretches = re.split(r"(?<=[,;]) ", text)
        assert max(len(stretch.split()) for stretch in stretches) > limit


@given(texts)
def test_a_text_that_fits_stays_whole(text):
    assert split_long_text(text, lambda _: True) == [text]


@pytest.mark.parametrize("text, limit, pieces", [
    pytest.param("He left. She stayed, and so did I.", 6, ["He left. ", "She stayed, and so did I."],
                 id="sentences-before-clauses"),
    pytest.param("He left, she stayed; I did so too, and we ate.", 8, ["He left, she stayed; ",
                 "I did so too, and we ate."], id="a-semicolon-before-a-comma"),
    pytest.param("On Monday, he came home, and on Tuesday, he left.", 6,
                 ["On Monday, he came home, ", "and on Tuesday, he left."], id="a-new-clause-before-a-comma"),
    pytest.param("A, b, c, d, e, f", 3, ["A, b, c, ", "d, e, f"], id="near-the-middle"),
    pytest.param("Mr. J. Smith met Dr. Who . He ran .", 8, ["Mr. J. Smith met Dr. Who . ", "He ran ."],
                 id="titles-and-initials-end-nothing"),
    pytest.param('He said " go . " Then he went .', 6, ['He said " go . " ', "Then he went ."], id="behind-the-quote"),
    pytest.param("It was approx.  ten, or so ", 4, ["It was approx.  ten, ", "or so "], id="a-small-letter-goes-on"),
    pytest.param("It cost 11,000 crowns in 1990 or so", 4, None, id="no-place"),
    pytest.param("So, it cost 11,000 crowns in 1990 or so", 4, None, id="no-place-in-one-half"),
])  # fmt: skip
def test_where_a_text_is_split(text, limit, pieces):
    assert split_long_text(text, words_at_most(limit)) == pieces


def test_long_texts_need_no_deep_recursion():
    text = "an old man, " * 5000
    pieces = split_long_text(text, words_at_most(90))
    assert "".join(pieces) == text
    assert len(pieces) < 400


# In tokens of a model


@pytest.fixture(scope="module")
def redrafter():
    tokenizer = single_digits()
    return Redrafter(tiny_model_for("bart", tokenizer), tokenizer, config=DecodeConfig(beams=2, max_tokens=4))


def test_text_that_fits_the_model_is_not_split(redrafter):
    assert pieces_of(redrafter, " the old man, and the king ") == [" the old man, and the king "]


def test_every_piece_can_be_read(redrafter):
    text = "The artisans remain old, and the king ruled in 1720; " * 8
    pieces = pieces_of(redrafter, text)
    assert len(pieces) > 1
    assert " ".join(pieces) == text.strip()
    assert len(redrafter.rewrite(pieces)) == len(pieces)


def test_the_limit_itself_is_read(redrafter):
    room = redrafter.model.config.max_position_embeddings
    text = "1" * (room - 2) + ","  # a token for each sign, and the end
    assert pieces_of(redrafter, text) == [text]
    assert pieces_of(redrafter, f"{text} 1") == [text, "1"]
    assert pieces_of(redrafter, f"1{text} 1") == [f"1{text} 1"]


def test_text_for_decoder_only_models_is_not_split():
    tokenizer = single_digits()
    text = "the old man, " * 60
    assert pieces_of(Redrafter(tiny_model_for("gpt2", tokenizer), tokenizer), text) == [text]


PARTED = EditPlan("a b ; c d", (Edit.insert("a", span=(0, 1)), Edit.delete("d", span=(8, 9))))


def test_edits_belong_to_the_piece_of_their_span():
    assert split_plan(PARTED, ["a b ;", "c d"]) == [
        EditPlan("a b ;", (Edit.insert("a", span=(0, 1)),)),
        EditPlan("c d", (Edit.delete("d", span=(2, 3)),)),
    ]


@pytest.mark.parametrize("split, at", [
    pytest.param(Edit.split(), 1, id="anywhere-in-the-longest"),
    pytest.param(Edit.split("c", span=(6, 7)), 1, id="by-its-span"),
    pytest.param(Edit.split("b", span=(2, 3)), 0, id="by-its-span-in-a-shorter-piece"),
    pytest.param(Edit.split("b"), 0, id="by-its-word"),
    pytest.param(Edit.split("x"), 1, id="a-word-of-no-piece"),
])  # fmt: skip
def test_a_split_goes_to_a_piece(split, at):
    plan = EditPlan("a b ; c d e f", (Edit.insert("a", span=(0, 1)), split), "light")
    parts = split_plan(plan, ["a b ;", "c d e f"])
    assert [part.source for part in parts] == ["a b ;", "c d e f"]
    assert [[edit.kind for edit in part.edits if edit.kind == "split"] for part in parts] == (
        [["split"], []] if at == 0 else [[], ["split"]]
    )
    for edit in parts[at].edits:
        assert edit.span is None or parts[at].source[slice(*edit.span)] == edit.phrase
    assert [part.strength for part in parts] == ["light", "light"]


def test_splits_anywhere_go_to_different_pieces():
    plan = EditPlan("a b ; c d e f ; g", (Edit.split(), Edit.split()))
    assert [len(part.edits) for part in split_plan(plan, ["a b ;", "c d e f ;", "g"])] == [1, 1, 0]


def test_plans_of_pieces_are_joined_and_split_again():
    pieces = ["a b ;", "c a"]
    plans = [
        EditPlan("a b ;", (Edit.split(), Edit.insert("a", span=(0, 1))), "strong"),
        EditPlan("c a", (Edit.split(), Edit.delete("a", span=(2, 3))), "strong"),
    ]
    whole = join_plans("a b ;  c a", plans)
    assert [edit.span for edit in whole.edits] == [None, (0, 1), None, (9, 10)]
    assert split_plan(whole, pieces) == plans


def test_splits_keep_their_order():
    plan = EditPlan("a b", (Edit.split(), Edit.insert("a", span=(0, 1)), Edit.split("b")))
    assert split_plan(plan, ["a b"]) == [plan]


@pytest.mark.parametrize("edit", [Edit.insert("x"), Edit.delete("b ; c", span=(2, 7))], ids=["no-place", "across"])
def test_a_plan_with_an_edit_in_no_piece_stays_whole(edit):
    plan = EditPlan(PARTED.source, (*PARTED.edits, edit))
    assert split_plan(plan, ["a b ;", "c d"]) == [plan]
