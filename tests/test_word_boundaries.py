"""The word-boundary rule on tokens agrees with the rule on text, for any tokenization."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from redraft.constrain.word_boundaries import STATES, allowed_start_states, boundary_tables, state_after
from redraft.text.words import Boundary, BoundaryState, split_words

WHOLE = " a B5.,:-'’\"“”–‐é²😀½«\u00a0\u3000٥×①"
PIECES = ["old", " old", "er", "11", ",000", "'s", " (", '."', "5.", ".5", "--", "a'", "...", " 5", "-LRB-", "ab12c"]


def walked(tokens: list[bytes]) -> list[bool]:
    """At each border between tokens, the end included: does a word that stood before it end there?"""
    tables = boundary_tables(tokens)
    state, verdicts = int(BoundaryState.EDGE), []
    for token in range(len(tokens)):
        verdicts.append(Boundary(int(tables.boundary[state, token])))
        state = int(tables.next_state[state, token])
    found = []
    for at in range(len(tokens)):
        later = (verdict for verdict in verdicts[at:] if verdict is not Boundary.UNDECIDED)
        found.append(next(later, Boundary.YES) is Boundary.YES)
    return [*found, True]


def borders(text: str) -> set[int]:
    """Positions at which a word may start or end: all except inside words."""
    inside = {at for word in split_words(text) for at in range(word.start + 1, word.end)}
    return set(range(len(text) + 1)) - inside


whole = st.lists(st.text(WHOLE, min_size=1, max_size=6) | st.sampled_from(PIECES), max_size=8)


@given(whole)
@example(["5", ".", "7"])
@example(["5", ".", "", "7"])
@example(["5.", "7"])
def test_whole_tokens_have_the_word_boundaries_of_the_text(pieces):
    tokens = [piece.encode() for piece in pieces]
    text = "".join(pieces)
    places = [len("".join(pieces[:at])) for at in range(len(pieces) + 1)]
    assert walked(tokens) == [place in borders(text) for place in places]


def cut(text: str, cuts: list[int]) -> list[bytes]:
    data = text.encode()
    edges = [0, *sorted({place % (len(data) + 1) for place in cuts}), len(data)]
    return [data[start:end] for start, end in pairwise(edges) if start < end]


@given(st.text("a5 .'’“”–‐«\u00a0", max_size=10), st.lists(st.integers(0, 40), max_size=12))
@example("old“", [4, 5])
@example("don’t", [4, 5])
def test_split_quotes_have_the_word_boundaries_of_the_text(text, cuts):
    """The characters that the tables track byte by byte: exact wherever they are cut."""
    tokens = cut(text, cuts)
    verdicts = walked(tokens)
    for at in range(len(tokens) + 1):
        before = b"".join(tokens[:at])
        try:
            place = len(before.decode())
        except UnicodeDecodeError:
            continue  # there is no boundary inside a character
        assert verdicts[at] == (place in borders(text))


BYTES = [bytes([byte]) for byte in range(256)]
COMMON = [
    b"\xe2",
    b"\x80",
    b"\xe2\x80",
    b"\x99",
    b"\x9c",
    b"\x90",
    b"\xc2",
    b"\xa0",
    b"\xc3",
    b"\xa9",
    b"\xd9",
    b"\xa5",
]
COMMON += [b"\xf0\x9f", b"\x98\x80", b"5", b"7", b",", b".", b"'", b"a", b" ", b"-", b" old", b"er"]


@given(st.lists(st.sampled_from(COMMON) | st.sampled_from(BYTES), max_size=8))
@example([b"5", b"\xe2\x80", b"5", b",", b"7"])  # a character that breaks off hides nothing of what follows
@example([b"\xe2", b"\xe2\x80", b"\x90", b"a"])
@example([b"5", b"\xe2\x81", b"\xb0"])  # 5⁰ is one word
@example([b"\xd9", b"\xa5", b",", b"\xd9", b"\xa5"])  # digits of another script
def test_boundaries_in_bytes_are_never_invented(tokens):
    """Of other characters, the tables know only the first byte, and assume the class that continues words most readily.

    So a border may be missed there, never made up; bytes that are no text at all decode to U+FFFD, a word by itself.
    """
    data = b"".join(tokens)
    text = data.decode("utf-8", "replace")
    for at, claimed in enumerate(walked(tokens)):
        head, rest = b"".join(tokens[:at]), b"".join(tokens[at:])
        if head.decode("utf-8", "replace") + rest.decode("utf-8", "replace") != text:
            continue  # the border falls inside a character
        if claimed:
            assert len(head.decode("utf-8", "replace")) in borders(text)


@pytest.mark.parametrize("lead, word, after, starts", [
    pytest.param("", "old", "", True, id="at-the-start"),
    pytest.param("", "old", "a", False, id="in-a-word"),
    pytest.param(" ", "old", "a", True, id="own-space"),
    pytest.param("", "old", '"', True, id="after-a-quote"),
    pytest.param("", "old", "“", True, id="after-a-curly-quote"),
    pytest.param("", "old", "a’", False, id="after-an-apostrophe"),
    pytest.param("", "'s", "a", True, id="apostrophe-s-after-a-word"),
    pytest.param("'", "tall", "", True, id="with-its-quote"),
    pytest.param("'", "tall", "a", False, id="with-its-apostrophe"),
    pytest.param("", "000", "11,", False, id="in-a-number"),
    pytest.param("", ",000", "11", False, id="comma-in-a-number"),
    pytest.param("", ", 5", "11", True, id="comma-after-a-number"),
    pytest.param("", ",", "11", True, id="comma-that-the-next-token-decides"),
    pytest.param("", "known", "well-", False, id="after-a-hyphen"),
])  # fmt: skip
def test_where_a_phrase_may_start(lead, word, after, starts):
    assert allowed_start_states(lead, word)[state_after(after.encode())] is starts


def test_special_tokens_write_nothing_and_decide_nothing():
    """They are not in the decoded text: the text on both sides is one word there."""
    tables = boundary_tables([None, b" old", b"er"])
    assert tables.next_state[:, 0].tolist() == list(range(STATES))
    assert np.all(tables.boundary[:, 0] == Boundary.UNDECIDED)


def test_where_every_token_begins_with_a_space_every_tail_closes():
    assert boundary_tables([b" old", b" 5", None]).always_boundary[: len(BoundaryState)].all()
    pieces = boundary_tables([b" old", b"er", b"5"]).always_boundary[: len(BoundaryState)]
    assert pieces.nonzero()[0].tolist() == [BoundaryState.EDGE, BoundaryState.OTHER]
