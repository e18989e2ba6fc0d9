"""Rule: numbers and ordinals that the other text does not have in any form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from redraft.check.rules.dates import MONTH_NAMES, dates_of
from redraft.check.rules.number_words import Number, value_at
from redraft.check.rules.rule_types import Finding, Side, difference
from redraft.check.rules.units import amount_of, amounts_of, is_same_amount

_ORDINALS_TEXT = """
zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
sixteenth seventeenth eighteenth nineteenth twentieth
"""
_ROMAN_TEXT = "II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI"
ORDINALS = {word: str(value) for value, word in enumerate(_ORDINALS_TEXT.split())}
ROMAN = {word: str(value) for value, word in enumerate(_ROMAN_TEXT.split(), 2)}
_FRACTIONS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5,
    "tenth": 10, "tenths": 10,
}  # fmt: skip
# Numbers that a word may express.
_IMPLIED = {
    "no": "0", "none": "0", "nothing": "0", "noon": "0:00", "midday": "0:00", "midnight": "0:00", "one": "1", "a": "1",
    "an": "1", "single": "1", "once": "1", "both": "2", "pair": "2", "couple": "2", "twin": "2", "twins": "2",
    "double": "2", "doubled": "2", "twice": "2", "triple": "3", "tripled": "3", "thrice": "3", "decade": "10",
    "decades": "10", "dozens": "12", "score": "20", "hundreds": "100", "century": "100", "centuries": "100",
    "thousands": "1000", "millions": "1000000", "billions": "1000000000",
}  # fmt: skip


def numbers(one: Side, two: Side) -> Iterator[Finding]:
    """Numbers that the other text does not have in any form."""
    yield from difference("number", _unmatched(one, two), _unmatched(two, one))


def _unmatched(side: Side, other: Side) -> Iterator[str]:
    there = {number.value for number in other.numbers} | {*implied_numbers(other)}
    amounts = [*amounts_of(other)]
    for number in side.numbers:
        same = (amount for amount in amounts if is_same_amount(amount_of(number), amount))
        if number.value not in there and not any(same):
            yield side.phrase(side.parts.word[number.start], side.parts.word[number.end - 1] + 1)


def ordinals(one: Side, two: Side) -> Iterator[Finding]:
    """Exchanged ordinals. A lost or added one is ignored: words like "first" are often optional."""
    lost, new = _unmatched_ordinals(one, two), _unmatched_ordinals(two, one)
    if lost and new:
        yield from difference("number", lost, new)


def _unmatched_ordinals(side: Side, other: Side) -> list[str]:
    known = {number.value for number in other.numbers} | {ROMAN.get(word.text, "") for word in other.words}
    known -= {number.value for number in side.numbers}
    new = [word for word in side.plain if word in ORDINALS and word not in other.plain]
    return [word for word in new if ORDINALS[word] not in known]


def implied_numbers(side: Side) -> Iterator[str]:
    """Numbers that a text expresses in another form: both, fifth, II, May, half, 25 %, one in four, 19th century."""
    yield from (_IMPLIED[word] for word in side.plain if word in _IMPLIED)
    yield from (ORDINALS[word] for word in side.plain if word in ORDINALS)
    yield from (ROMAN[word.text] for word in side.words if word.text in ROMAN)
    yield from (str(MONTH_NAMES.index(date) + 1) for date in dates_of(side) if date in MONTH_NAMES)  # 3/5/2020
    text = side.parts.text
    for at, part in enumerate(text):
        count = value_at(text, at - 1)[0] if at else None
        if part in _FRACTIONS:
            yield from _share(Fraction(count if count and count < _FRACTIONS[part] else 1, _FRACTIONS[part]))
        if part == "century" and (century := _ordinal_before(text, at)):
            yield str(100 * (int(century) - 1))
    for number in side.numbers:
        yield from _implied_by(number, text)


def _ordinal_before(text: Sequence[str], at: int) -> str | None:
    """The value of an ordinal before a part: 19th, nineteenth."""
    if at > 1 and text[at - 1] in ("st", "nd", "rd", "th") and text[at - 2].isdigit():
        return text[at - 2]
    return ORDINALS.get(text[at - 1]) if at else None


def _implied_by(number: Number, text: Sequence[str]) -> Iterator[str]:
    if ":" in number.value:
        yield number.value.partition(":")[0]  # 5 o'clock
        return
    value = Fraction(number.value)
    if number.unit == "percent":
        yield from _share(value / 100)
    if text[number.end : number.end + 1] == ("s",) and value % 100 == 0:
        yield str(value / 100 + 1)  # the 1800s
    before = number.start - (2 if text[number.start - 2 : number.start] == ("out", "of") else 1)
    if before > 0 and text[before] in ("in", "out"):
        count = value_at(text, before - 1)[0]
        yield from _share(count / value) if count and count < value else ()  # one in four


def _share(share: Fraction) -> Iterator[str]:
    """Numbers that can express a share: 3/4 is three of four, or 75 per cent."""
    yield from (str(share), str(int(100 * share)), str(round(100 * share)))
    if share.denominator <= 10:
        yield from (str(share.numerator), str(share.denominator))
