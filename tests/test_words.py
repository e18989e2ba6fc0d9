"""Where words begin and end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from redraft.text.words import (
    Boundary,
    BoundaryState,
    CharClass,
    boundary_before,
    cached_for_words,
    char_class,
    next_state,
    split_words,
)


@pytest.mark.parametrize("text, words", [
    pytest.param("The old man", "The|old|man", id="plain"),
    pytest.param("", "", id="empty"),
    pytest.param(" \t\n ", "", id="only-spaces"),
    pytest.param("  old \n man ", "old|man", id="spaces-around"),
    pytest.param("old\u00a0man\u3000here", "old|man|here", id="odd-spaces"),
    pytest.param("dog's", "dog|'s", id="possessive"),
    pytest.param("dogs' bowl", "dogs|'|bowl", id="plural-possessive"),
    pytest.param("don't", "don|'t", id="contraction"),
    pytest.param("don’t", "don|’t", id="curly-apostrophe"),
    pytest.param("'tis 'old'", "'|tis|'|old|'", id="quote-is-no-apostrophe"),
    pytest.param("rock 'n' roll", "rock|'|n|'|roll", id="apostrophes-around"),
    pytest.param("the '90s", "the|'|90s", id="apostrophe-and-digits"),
    pytest.param("1990's", "1990|'s", id="year-possessive"),
    pytest.param("well-known", "well-known", id="hyphen"),
    pytest.param("well\u2011known", "well\u2011known", id="odd-hyphen"),
    pytest.param("well--known", "well-|-known", id="two-hyphens-part"),
    pytest.param("old – new—ish", "old|–|new|—|ish", id="dashes-part"),
    pytest.param("-LRB- so -RRB-", "-LRB-|so|-RRB-", id="treebank-brackets"),
    pytest.param("1990-95", "1990-95", id="years"),
    pytest.param("11,000", "11,000", id="thousands"),
    pytest.param("1,234,567.89", "1,234,567.89", id="long-number"),
    pytest.param("10:30", "10:30", id="time"),
    pytest.param("2011", "2011", id="year"),
    pytest.param("in 2011, he", "in|2011|,|he", id="comma-after-a-year"),
    pytest.param("in 2011.", "in|2011|.", id="full-stop-after-a-year"),
    pytest.param("5.,7", "5|.|,|7", id="two-signs-part"),
    pytest.param("a.5 5.a", "a|.|5|5|.|a", id="a-digit-on-one-side"),
    pytest.param('"old"', '"|old|"', id="quotes"),
    pytest.param("“old”", "“|old|”", id="curly-quotes"),
    pytest.param("(old) [new]", "(|old|)|[|new|]", id="brackets"),
    pytest.param("U.S.", "U|.|S|.", id="abbreviation"),
    pytest.param("wait...", "wait|.|.|.", id="ellipsis"),
    pytest.param("and/or", "and|/|or", id="slash"),
    pytest.param("snake_case", "snake_case", id="underscore"),
    pytest.param("$5 50%", "$|5|50|%", id="money-and-percent"),
    pytest.param("old😀man", "old|😀|man", id="emoji"),
    pytest.param("Évreux naïve", "Évreux|naïve", id="accents"),
    pytest.param("cafe\u0301 old", "cafe\u0301|old", id="combining-mark"),
    pytest.param("x² ½", "x²|½", id="superscript-and-fraction"),
    pytest.param("日本 2011年", "日本|2011年", id="no-spaces-between-words"),
])  # fmt: skip
def test_words(text, words):
    assert "|".join(word.text for word in split_words(text)) == words


# Few characters, so that they meet often.
texts = st.text(st.sampled_from("aB5 .,:-‐'’\"(“_é\u0301😀\u00a0²\t")) | st.text()


@given(texts)
def test_words_are_their_spans_and_cover_all_but_space(text):
    words = split_words(text)
    assert all(word.text == text[word.start : word.end] and word.start < word.end for word in words)
    assert all(before.end <= after.start for before, after in pairwise(words))
    covered = {at for word in words for at in range(word.start, word.end)}
    assert covered == {at for at, character in enumerate(text) if not character.isspace()}


@given(texts)
@example("5.7")
@example("5.,7")
@example("5.")
def test_words_end_where_the_rule_says(text):
    """The same boundaries by the rule at each character; undecided ones are decided by the next character."""
    tail, verdicts = BoundaryState.EDGE, []
    for character in text:
        verdicts.append(boundary_before(tail, char_class(character)))
        tail = next_state(tail, char_class(character))
    decided = [
        (verdicts[at + 1] if at + 1 < len(text) else Boundary.YES) if verdict is Boundary.UNDECIDED else verdict
        for at, verdict in enumerate(verdicts)
    ]
    assert Boundary.UNDECIDED not in decided  # one more character is always enough
    boundaries = {at for at, verdict in enumerate(decided) if verdict is Boundary.YES} | {len(text)}
    # A separate separator has boundaries on both sides, since an undecided boundary is decided for both.
    ends = {word.end for word in split_words(text)}
    starts = {word.start for word in split_words(text)}
    solid = {at for at in boundaries if at > 0 and not text[at - 1].isspace()}
    assert ends == solid
    assert starts == {at for at in boundaries if at < len(text) and not text[at].isspace()}


def test_only_a_number_sign_after_a_digit_is_left_open():
    undecided = {
        (tail, char_class)
        for tail in BoundaryState
        for char_class in CharClass
        if boundary_before(tail, char_class) is Boundary.UNDECIDED
    }
    assert undecided == {(BoundaryState.DIGIT, CharClass.NUMBER_SEPARATOR)}


def test_long_words_are_not_remembered():
    """A cache of them could fill the memory of a service."""
    calls = []
    length = cached_for_words(lambda word: calls.append(word) or len(word))
    for word in ("short", "short", "x" * 2000, "x" * 2000):
        assert length(word) == len(word)
    assert [len(word) for word in calls] == [5, 2000, 2000]
