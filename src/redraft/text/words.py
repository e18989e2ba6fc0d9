"""Where a word begins and ends: the one rule that search, verdicts and measures share."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

HYPHENS = "-\u2010\u2011"
APOSTROPHES = "'\u2019"
NUMBER_SIGNS = ".,:"


class Sign(IntEnum):
    """What a character is to the rule."""

    SPACE = 0
    LETTER = 1
    DIGIT = 2
    HYPHEN = 3
    APOSTROPHE = 4
    NUMBER_SIGN = 5
    OTHER = 6


class Tail(IntEnum):
    """All that matters of the text before a position."""

    EDGE = 0  # nothing, or white space
    LETTER = 1
    DIGIT = 2
    HYPHEN = 3
    APOSTROPHE = 4  # an apostrophe directly after a word: letters behind it hold to it
    NUMBER_SIGN = 5  # . , or : directly after a digit: a digit behind it makes it part of the number
    OTHER = 6


class Closes(IntEnum):
    """Does the word before a character end there?"""

    NO = 0
    YES = 1
    LATER = 2  # a number sign after a digit: the character behind it decides, for both of its sides


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    end: int


# What the Penn Treebank and typesetters write for plain signs.
_PLAIN = {
    "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}", "``": '"', "''": '"',
    "\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\u2013": "-", "\u2014": "-",
}  # fmt: skip


def normal(word: str) -> str:
    """A word as it is compared with others: lower-cased, with plain signs."""
    lowered = word.lower()
    return _PLAIN.get(lowered) or lowered.replace("\u2019", "'")


@lru_cache(maxsize=65_536)
def sign(character: str) -> Sign:
    if character.isspace():
        return Sign.SPACE
    if character.isdigit():
        return Sign.DIGIT
    if character in HYPHENS:
        return Sign.HYPHEN
    if character in APOSTROPHES:
        return Sign.APOSTROPHE
    if character in NUMBER_SIGNS:
        return Sign.NUMBER_SIGN
    if character == "_" or unicodedata.category(character)[0] in "LMN":
        return Sign.LETTER
    return Sign.OTHER


_HELD_BY_WORD = (Sign.LETTER, Sign.DIGIT, Sign.HYPHEN)


def closes(tail: Tail, sign: Sign) -> Closes:
    """Whether the word that the tail ends is over when this sign comes next."""
    if tail in (Tail.LETTER, Tail.DIGIT) and sign in _HELD_BY_WORD:
        return Closes.NO
    if tail is Tail.DIGIT and sign is Sign.NUMBER_SIGN:
        return Closes.LATER
    if tail is Tail.HYPHEN and sign in (Sign.LETTER, Sign.DIGIT):
        return Closes.NO
    if tail is Tail.APOSTROPHE and sign is Sign.LETTER:
        return Closes.NO
    if tail is Tail.NUMBER_SIGN and sign is Sign.DIGIT:
        return Closes.NO
    return Closes.YES


def next_tail(tail: Tail, sign: Sign) -> Tail:
    """The tail after one more character."""
    if sign is Sign.SPACE:
        return Tail.EDGE
    if sign is Sign.APOSTROPHE:
        return Tail.APOSTROPHE if tail in (Tail.LETTER, Tail.DIGIT, Tail.HYPHEN) else Tail.OTHER
    if sign is Sign.NUMBER_SIGN:
        return Tail.NUMBER_SIGN if tail is Tail.DIGIT else Tail.OTHER
    return Tail[sign.name]


# The two rules as a table, for speed: (tail, sign) → (closes, next tail).
_STEP = tuple(tuple((closes(tail, sign), next_tail(tail, sign)) for sign in Sign) for tail in Tail)


_REMEMBERED = 1000  # characters of a text whose words are remembered: every stage asks for those of a sentence


def split_words(text: str) -> list[Word]:
    """The words of a text with their character spans; white space belongs to none."""
    return list(_remembered(text)) if len(text) <= _REMEMBERED else _split(text)


@lru_cache(maxsize=1024)
def _remembered(text: str) -> tuple[Word, ...]:
    return tuple(_split(text))


def _split(text: str) -> list[Word]:
    words: list[Word] = []
    tail, start, undecided = Tail.EDGE, 0, False
    for at, character in enumerate(text):
        here = sign(character)
        verdict, tail = _STEP[tail][here]
        if undecided and verdict is Closes.YES:  # the number sign before this stands alone
            words.append(Word(text[start : at - 1], start, at - 1))
            start = at - 1
        undecided = verdict is Closes.LATER
        if verdict is Closes.YES:
            if start < at:
                words.append(Word(text[start:at], start, at))
            start = at + 1 if here is Sign.SPACE else at
    if undecided:
        words.append(Word(text[start:-1], start, len(text) - 1))
        start = len(text) - 1
    if start < len(text):
        words.append(Word(text[start:], start, len(text)))
    return words
