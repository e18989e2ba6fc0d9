"""Numbers in digits and in words: "12", "twelve", "2.5 million", "two hundred and fifty"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import takewhile
from typing import NamedTuple

from redraft.check.rules.phrase_tables import word_set
from redraft.check.rules.unit_names import CURRENCIES, TIMES_OF_DAY, UNITS

_SMALL_TEXT = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS_TEXT = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(_SMALL_TEXT.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TENS_TEXT.split(), 2)}
_LARGE = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
_SHORT_LARGE = {"bn": 10**9, "tn": 10**12}
_SHORT_LARGE_MONEY = {"k": 1000, "m": 10**6, **_SHORT_LARGE}  # £5m; elsewhere m is a metre
_DIGITS = re.compile(r"([0-9]+(?:[.,:][0-9]+)*)([^\W0-9]*)")
_ONE_NUMBER = re.compile(r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|[0-9]{1,2}:[0-9]{2}")
_SHORT_YEARS = re.compile("[0-9]{4} [0-9]{2}")  # 2019-20
_CLOCK = re.compile(r"([0-9]{1,2})(?:[:.]([0-9]{2}))?")
_BEFORE_DIGITS = word_set("mid early late post pre under over")  # mid-1990s; but Covid-19


class Parts(NamedTuple):
    """The words of a text, with numbers split from the rest of a word: 18-year-old, 5km, twenty-five."""

    text: tuple[str, ...]
    word: tuple[int, ...]  # the number of the word that each part belongs to

    @classmethod
    def of(cls, words: Sequence[str]) -> Parts:
        parts = [(part, at) for at, word in enumerate(words) for part in parts_of(word)]
        return cls(tuple(part for part, _ in parts), tuple(at for _, at in parts))


def parts_of(word: str) -> list[str]:
    pieces = word.strip("-").split("-")
    if not (pieces[0][:1].isdigit() or pieces[0] in _BEFORE_DIGITS or any(map(_is_number_word, pieces))):
        return [word]
    found: list[str] = []
    for piece in pieces:
        if len(pieces) == 2 and found and _SHORT_YEARS.fullmatch(f"{found[-1]} {piece}"):
            found.append(found[-1][:2] + piece)
        elif digits := _DIGITS.fullmatch(piece):
            number, letters = digits.groups()
            found += [number] if _ONE_NUMBER.fullmatch(number) else re.split("[.,:]", number)
            found += [letters] if letters else []
        elif piece:
            found.append(piece)
    return found


def _is_number_word(word: str) -> bool:
    return word in _SMALL or word in _TENS or word in _LARGE


class Number(NamedTuple):
    """A number in a text, with the unit after it, if any."""

    value: str  # canonical: "2500000" for 2.5 million, "5:30" for a time of day, morning or afternoon
    start: int  # in parts
    end: int
    unit: str


def numbers_of(text: Sequence[str]) -> list[Number]:
    """The numbers of a text in order. "One" alone does not count: it is usually a pronoun."""
    found, at = [], 0
    while at < len(text):
        value, end = value_at(text, at)
        if value is not None and text[at:end] != ("one",):
            unit = UNITS.starting_at(text, end)
            found.append(_number(text[at], at, end, value, unit.group if unit else ""))
        at = max(end, at + 1)
    return found


def _number(text: str, start: int, end: int, value: Fraction, unit: str) -> Number:
    """A number; times of day (17:30, 5.30 pm, 5 o'clock) are recognised and normalised."""
    clock = _CLOCK.fullmatch(text)
    if clock and (":" in text or unit in TIMES_OF_DAY):
        hour = int(clock.group(1))
        half = "pm" if hour > 12 else unit if unit in TIMES_OF_DAY else ""
        return Number(f"{hour % 12}:{clock.group(2) or '00'}", start, end, half)
    return Number(str(value), start, end, unit)


def value_at(text: Sequence[str], at: int) -> tuple[Fraction | None, int]:
    """The number that begins at a part, and its end."""
    if _ONE_NUMBER.fullmatch(text[at]):
        value, end = Fraction(text[at].replace(",", "").replace(":", ".")), at + 1
    elif text[at] == "half" and len(text) > at + 2 and text[at + 1] in ("a", "an") and text[at + 2] in _LARGE:
        value, end = Fraction(1, 2), at + 2
    else:
        words, end = _value_in_words(text, at)
        if words is None:
            return None, at
        value = Fraction(words)
    if tuple(text[end : end + 3]) == ("and", "a", "half"):
        value, end = value + Fraction(1, 2), end + 3
    short = _SHORT_LARGE_MONEY if at and text[at - 1] in CURRENCIES else _SHORT_LARGE
    while end < len(text) and (size := _LARGE.get(text[end]) or short.get(text[end])):
        value, end = value * size, end + 1
    return value, end


def _value_in_words(text: Sequence[str], at: int) -> tuple[int | None, int]:
    """Two hundred and fifty thousand: a large number multiplies the value so far, a small one is added to it."""
    total = current = 0
    end = at
    while end < len(text):
        word = text[end]
        if word in _LARGE and _LARGE[word] >= 1000:
            total, current = total + (current or 1) * _LARGE[word], 0
        elif word in _LARGE:
            current = (current or 1) * _LARGE[word]
        elif _adds(word, current) and not (end > at and text[end - 1] == "zero"):
            current += _TENS.get(word) or _SMALL[word]
        elif not _joins(text, at, end):
            break
        end += 1
    return (total + current, end) if end > at else (None, at)


def _adds(word: str, current: int) -> bool:
    """Whether a number word continues a number: five after twenty or two hundred, but not after six."""
    after_tens = current % 10 == 0 and current % 100 >= 20 and 0 < _SMALL.get(word, 0) < 10
    return after_tens or (current % 100 == 0 and (word in _TENS or word in _SMALL))


def _joins(text: Sequence[str], start: int, at: int) -> bool:
    """Whether "and" is part of a number: two hundred and fifty thousand; but not two hundred and three hundred."""
    if text[at] != "and" or at == start or text[at - 1] not in _LARGE or (start and text[start - 1] == "between"):
        return False
    following = [*takewhile(_is_number_word, text[at + 1 : at + 4])]
    sizes = [_LARGE[word] for word in following if word in _LARGE]
    return bool(following) and following[0] not in _LARGE and all(size > _LARGE[text[at - 1]] for size in sizes)
