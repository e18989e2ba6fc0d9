"""Documents are split into sentences and joined again."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.text.sentences import Sentence, split_document

TEXTS = st.text() | st.text(alphabet='aB1. !?…:-)#"(\n\r\t\u2028', max_size=40)


@given(TEXTS)
def test_joined_again_they_are_the_document(text):
    found = split_document(text)
    assert "".join(one.space + one.text for one in found) == text
    assert all(one.text == one.text.strip() for one in found)
    assert all(one.text for one in found[:-1])
    assert all("\n" not in one.text for one in found)
    assert all(re.fullmatch(r"(\W|\d{1,3}[.)]|[a-z]\))*", one.space) for one in found)


@pytest.mark.parametrize(
    "text, sentences",
    [
        ("", []),
        ("One. Two!  Three?", ["One.", "Two!", "Three?"]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("It was so (he said.) [Then] it was not.", ["It was so (he said.)", "[Then] it was not."]),
        ("Wait… Now go. 5 men left.", ["Wait…", "Now go.", "5 men left."]),
        ("Dr. Smith met Mr. J. Doe. They talked.", ["Dr. Smith met Mr. J. Doe.", "They talked."]),
        (
            "The U.S. Army, e.g. Bob, left at 5 p.m. He stayed.",
            ["The U.S. Army, e.g. Bob, left at 5 p.m.", "He stayed."],
        ),
        ("See No. 5 of Vol. 2. No. He did not.", ["See No. 5 of Vol. 2.", "No.", "He did not."]),
        ("It costs 3.5 dollars. e.g. this", ["It costs 3.5 dollars. e.g. this"]),
        ("A title\nThe text goes\non. And on.", ["A title", "The text goes", "on.", "And on."]),
        ("They remain old . They do .", ["They remain old .", "They do ."]),
    ],
)
def test_where_sentences_end(text, sentences):
    assert [one.text for one in split_document(text)] == sentences


def test_markers_of_lists_and_headings_do_not_belong_to_sentences():
    text = (
        "# Before use\n- Read this: all of it.\n  2) Stop.\nTell us:\n\n* a pain;\n1. It hurts. 12. No.\n> Quoted :\n"
    )
    assert [(one.space, one.text) for one in split_document(text)] == [
        ("# ", "Before use"), ("\n- ", "Read this: all of it."), ("\n  2) ", "Stop."), ("\n", "Tell us"),
        (":\n\n* ", "a pain"), (";\n1. ", "It hurts."), (" ", "12."), (" ", "No."), ("\n> ", "Quoted"), (" :\n", ""),
    ]  # fmt: skip
    assert [one.text for one in split_document("1990. Then:")] == ["1990.", "Then", ""]
    assert [one.text for one in split_document("-\n:\nA. Smith - no")] == ["-", ":", "A. Smith - no"]


def test_white_space_belongs_to_what_follows():
    assert split_document(" One.\n\nTwo. \n") == [Sentence(" ", "One."), Sentence("\n\n", "Two."), Sentence(" \n", "")]
    assert split_document("\n") == [Sentence("\n", "")]
