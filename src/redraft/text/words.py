"""Word segmentation: the rule for word boundaries that the search, the verdicts and the measures share."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache, wraps
from typing import TypeVar

HYPHENS = "-\u2010\u2011"
APOSTROPHES = "'\u2019"
NUMBER_SEPARATORS = ".,:"


class CharClass(IntEnum):
    """The classes of characters that the rule distinguishes."""

    SPACE = 0
    LETTER = 1
    DIGIT = 2
    HYPHEN = 3
    APOSTROPHE = 4
    NUMBER_SEPARATOR = 5
    OTHER = 6


class BoundaryState(IntEnum):
    """The state of the segmentation automaton: what the rule needs to know of the text before a position."""

    EDGE = 0  # start of the text, or white space
    LETTER = 1
    DIGIT = 2
    HYPHEN = 3
    APOSTROPHE = 4  # an apostrophe directly after a word: letters after it belong to the same word ('s)
    NUMBER_SEPARATOR = 5  # . , or : directly after a digit: a digit after it makes it part of the number
    OTHER = 6


class Boundary(IntEnum):
    """Whether there is a word boundary before a character."""

    NO = 0
    YES = 1
    UNDECIDED = 2  # before a number separator after a digit: the next character decides for both of its sides


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    end: int


# Penn Treebank tokens and typographic characters → their plain equivalents.
_PLAIN = {
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}", "``": '"', "''": '"',
    "\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\u2013": "-", "\u2014": "-",
}  # fmt: skip


_CACHED_WORDS, _LONGEST_CACHED = 65_536, 64  # the second in characters: hostile input must not fill the memory

Fact = TypeVar("Fact")


def cached_for_words(function: Callable[[str], Fact]) -> Callable[[str], Fact]:
    """A function of a word or short phrase that remembers its results: every stage asks the same of the same words."""
    cached = lru_cache(maxsize=_CACHED_WORDS)(function)

    @wraps(function)
    def call(word: str) -> Fact:
        return cached(word) if len(word) <= _LONGEST_CACHED else function(word)

    return call


@cached_for_words
def normalise(word: str) -> str:
    """The form in which words are compared: lower case, plain punctuation."""
    lowered = word.lower()
    return _PLAIN.get(lowered) or lowered.replace("\u2019", "'")


@lru_cache(maxsize=65_536)
def char_class(character: str) -> CharClass:
    if character.isspace():
        return CharClass.SPACE
    if character.isdigit():
        return CharClass.DIGIT
    if character in HYPHENS:
        return CharClass.HYPHEN
    if character in APOSTROPHES:
        return CharClass.APOSTROPHE
    if character in NUMBER_SEPARATORS:
        return CharClass.NUMBER_SEPARATOR
    if character == "_" or unicodedata.category(character)[0] in "LMN":
        return CharClass.LETTER
    return CharClass.OTHER


_CONTINUES_WORD = (CharClass.LETTER, CharClass.DIGIT, CharClass.HYPHEN)


def boundary_before(state: BoundaryState, char: CharClass) -> Boundary:
    """Whether there is a word boundary between the text that led to `state` and the next character."""
    if state in (BoundaryState.LETTER, BoundaryState.DIGIT) and char in _CONTINUES_WORD:
        return Boundary.NO
    if state is BoundaryState.DIGIT and char is CharClass.NUMBER_SEPARATOR:
        return Boundary.UNDECIDED
    if state is BoundaryState.HYPHEN and char in (CharClass.LETTER, CharClass.DIGIT):
        return Boundary.NO
    if state is BoundaryState.APOSTROPHE and char is CharClass.LETTER:
        return Boundary.NO
    if state is BoundaryState.NUMBER_SEPARATOR and char is CharClass.DIGIT:
        return Boundary.NO
    return Boundary.YES


def next_state(state: BoundaryState, char: CharClass) -> BoundaryState:
    """The state after one more character."""
    if char is CharClass.SPACE:
        return BoundaryState.EDGE
    if char is CharClass.APOSTROPHE:
        after_word = state in (BoundaryState.LETTER, BoundaryState.DIGIT, BoundaryState.HYPHEN)
        return BoundaryState.APOSTROPHE if after_word else BoundaryState.OTHER
    if char is CharClass.NUMBER_SEPARATOR:
        return BoundaryState.NUMBER_SEPARATOR if state is BoundaryState.DIGIT else BoundaryState.OTHER
    return BoundaryState[char.name]


# Both functions as one table, for speed: (state, character class) → (boundary, next state).
_TRANSITIONS = tuple(
    tuple((boundary_before(state, char), next_state(state, char)) for char in CharClass) for state in BoundaryState
)


_MAX_CACHED_LENGTH = 1000  # characters; the words of texts up to this length are cached, as every stage needs them


def split_words(text: str) -> list[Word]:
    """The words of a text with their character spans; white space belongs to no word."""
    return list(_cached_split(text)) if len(text) <= _MAX_CACHED_LENGTH else _split(text)


@lru_cache(maxsize=1024)
def _cached_split(text: str) -> tuple[Word, ...]:
    return tuple(_split(text))


def _split(text: str) -> list[Word]:
    words: list[Word] = []
    state, start, undecided = BoundaryState.EDGE, 0, False
    for at, character in enumerate(text):
        char = char_class(character)
        boundary, state = _TRANSITIONS[state][char]
        if undecided and boundary is Boundary.YES:  # the number separator before this character is a word of its own
            words.append(Word(text[start : at - 1], start, at - 1))
            start = at - 1
        undecided = boundary is Boundary.UNDECIDED
        if boundary is Boundary.YES:
            if start < at:
                words.append(Word(text[start:at], start, at))
            start = at + 1 if char is CharClass.SPACE else at
    if undecided:
        words.append(Word(text[start:-1], start, len(text) - 1))
        start = len(text) - 1
    if start < len(text):
        words.append(Word(text[start:], start, len(text)))
    return words
