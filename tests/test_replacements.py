"""Edits as replacements of a range: applied to the source, each gives the text of the edit made in place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.plan.apply_edits import apply_edits
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.replacements import Replacement, replacement_of
from redraft.text.words import split_words


def spanned(source, phrase):
    at = source.index(phrase)
    return at, at + len(phrase)


@pytest.mark.parametrize(
    "source, phrase, targets, covered, texts",
    [
        pytest.param("He ran very verdant x.", "very", (), "very ", ("",), id="deletion-takes-one-space"),
        pytest.param("He ran quickly.", "quickly", (), " quickly", ("",), id="deletion-before-full-stop"),
        pytest.param("However, the dog ran.", "However", (), "However, the", ("The",), id="deletion-moves-the-capital"),
        pytest.param("He, however, ran.", "however", (), ", however,", ("",), id="deletion-takes-its-commas"),
        pytest.param("the the cat sat.", "the", (), "the ", ("",), id="deletion-of-a-repeated-word"),
        pytest.param("It is a difficult issue.", "difficult", ("easy", "hard"), "a difficult", ("an easy", "a hard"),
                     id="substitution-changes-the-article"),
        pytest.param("Immediately she left.", "Immediately", ("at once",), "Immediately", ("At once",), id="capital"),
        pytest.param("He purchased cars.", "purchased", ("buy", "bought"), "purchased", ("bought",), id="inflection"),
        pytest.param("An \U0001f600 enormous cat", "enormous", ("big",), "enormous", ("big",), id="emoji"),
        pytest.param("The word grew.", "word", ("wordy bit",), "word", ("wordy bit",), id="same-first-letters"),
    ],
)  # fmt: skip
def test_the_range_has_the_words_that_change(source, phrase, targets, covered, texts):
    kind = "substitute" if targets else "delete"
    found = replacement_of(source, Edit(kind, phrase, targets, span=spanned(source, phrase)))
    assert (source[found.start : found.end], found.texts) == (covered, texts)


def test_an_edit_that_changes_nothing_has_no_range():
    assert replacement_of("He ran.", Edit.insert("ran")) is None
    assert replacement_of("He ran.", Edit.delete("walked")) is None


WORDS = st.lists(
    st.sampled_from(["a", "an", "The", "old", "Apple", "é", "e\u0301a", "😀", "and", ",", "(", ")", "x-ray", "."])
)


@given(
    words=WORDS.filter(bool),
    number=st.integers(0, 30),
    targets=st.lists(st.sampled_from(["hour", "a lot", "one", "Big"]), max_size=2),
)
def test_applying_a_replacement_makes_the_edit(words, number, targets):
    source = " ".join(words)
    word = split_words(source)[number % len(split_words(source))]
    edit = Edit("substitute" if targets else "delete", word.text, tuple(targets), span=(word.start, word.end))
    wanted = [apply_edits(EditPlan(source, (Edit(edit.kind, edit.phrase, one, span=edit.span),))) for one in
              ([(target,) for target in targets] or [()])]  # fmt: skip
    found = replacement_of(source, edit)
    if found is None:
        assert set(wanted) == {source}
        return
    assert isinstance(found, Replacement)
    assert found.start < found.end
    made = [source[: found.start] + text + source[found.end :] for text in found.texts]
    assert made == list(dict.fromkeys(text for text in wanted if text != source))
