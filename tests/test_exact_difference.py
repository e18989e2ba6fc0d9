"""The difference that documents are changed by: exact to the character, in whole words, divided by edits."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft import Edit
from redraft.documents.blocks import Block, BlockChange, JudgedEdit, SentenceChange
from redraft.documents.revisions import revisions_of
from redraft.text.word_diff import diff_exactly

TEXTS = st.lists(st.sampled_from(["a", "A", "b", "cat", "1,000", ".", " ", "  ", "\n", "don't", "é", "👩‍👧"])).map(
    "".join
)


@given(TEXTS, TEXTS)
def test_pieces_give_both_texts(source, output):
    pieces = diff_exactly(source, output)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == source
    assert "".join(piece.text for piece in pieces if piece.kind != "deleted") == output
    assert all(piece.text for piece in pieces)
    assert all(one.kind != other.kind for one, other in pairwise(pieces))


@pytest.mark.parametrize(
    "source, output, shown",
    [
        pytest.param("He bought it.", "He got it.", "He -bought-+got+ it.", id="replaced"),
        pytest.param("a very big dog", "a big dog", "a -very -big dog", id="deleted-with-its-space"),
        pytest.param("a big dog", "a very big dog", "a +very +big dog", id="added-with-its-space"),
        pytest.param("Old men came", "old men came", "-Old-+old+ men came", id="case-counts"),
        pytest.param("It is so, indeed", "It is so", "It is so-, indeed-", id="at-the-end"),
        pytest.param("a  b", "a b", "a - -b", id="white-space"),
        pytest.param("", "new", "+new+", id="from-nothing"),
    ],
)
def test_words_are_whole_and_spaces_stay(source, output, shown):
    marks = {"kept": "", "deleted": "-", "added": "+"}
    pieces = diff_exactly(source, output)
    assert "".join(f"{marks[piece.kind]}{piece.text}{marks[piece.kind]}" for piece in pieces) == shown


@pytest.mark.parametrize(
    "output, edits, changes",
    [
        pytest.param("all people living here", [("persons", "people"), ("residing", "living")],
                     [("persons", "people"), ("residing", "living")], id="two-edits"),
        pytest.param("all people living here", [("residing", "living")], [("persons residing", "people living")],
                     id="an-unknown-word-before-it"),
        pytest.param("all People now living here", [("persons", "people")],
                     [("persons", "People"), ("residing", "now living")], id="an-unknown-word-after-it"),
        pytest.param("all peoples living here", [("persons", "people")], [("persons residing", "peoples living")],
                     id="only-whole-words"),
    ],
)  # fmt: skip
def test_each_edit_is_a_change_of_its_own(output, edits, changes):
    source = "all persons residing here"
    judged = tuple(JudgedEdit(Edit.substitute(old, new), "satisfied") for old, new in edits)
    change = BlockChange((SentenceChange("", source, output, judged),))
    (revision,) = revisions_of([Block("paragraph", source)], [change])
    assert revision.text == output
    assert [piece.text for piece in revision.pieces if piece.kind == "deleted"] == [old for old, _ in changes]
    assert [piece.text for piece in revision.pieces if piece.kind == "added"] == [new for _, new in changes]
