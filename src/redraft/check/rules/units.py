"""Rules: units and currencies that differ for the same number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from redraft.check.rules.number_words import Number
from redraft.check.rules.rule_types import Finding, Side, difference
from redraft.check.rules.unit_names import CURRENCIES, UNIT_SIZE, UNITS

_TOLERANCE = Fraction(4, 100)  # relative difference between rounded conversions: 5 miles, 8 km
_ONE_OF = frozenset({"a", "an", "one", "half", "per", "each", "every", "the"})


class _Amount(NamedTuple):
    """A measured amount: its quantity, its size in base units, and the unit in which it is stated."""

    measured: str
    size: Fraction
    unit: str


def units(one: Side, two: Side) -> Iterator[Finding]:
    """Different units of the same number."""
    before, after = _measured(one), _measured(two)
    for value in before:
        if value in after and before[value].keys().isdisjoint(after[value]):
            yield from difference("unit", before[value].values(), after[value].values())


def _measured(side: Side) -> dict[str, dict[str, str]]:
    """Number → its units, each with the text of number and unit."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for number in side.numbers:
        if number.unit and number.unit != "o'clock":
            unit = UNITS.starting_at(side.parts.text, number.end)
            end = unit.end if unit else number.end
            text = side.phrase(side.parts.word[number.start], side.parts.word[end - 1] + 1)
            found[number.value][number.unit] = text
    return found


def amounts_of(side: Side) -> Iterator[_Amount]:
    """Amounts with a unit, including those without a number: a week, half an hour."""
    yield from (amount for number in side.numbers if (amount := amount_of(number)))
    text = side.parts.text
    for at in range(1, len(text)):
        unit = UNITS.starting_at(text, at)
        if unit and unit.group in UNIT_SIZE and text[at - 1] in _ONE_OF:
            measured, size = UNIT_SIZE[unit.group]
            yield _Amount(measured, size / 2 if "half" in text[max(0, at - 2) : at] else size, unit.group)


def amount_of(number: Number) -> _Amount | None:
    if number.unit not in UNIT_SIZE:
        return None
    measured, size = UNIT_SIZE[number.unit]
    return _Amount(measured, size * Fraction(number.value), number.unit)


def is_same_amount(one: _Amount | None, other: _Amount) -> bool:
    if one is None or one.measured != other.measured or one.unit == other.unit:
        return one == other
    return abs(one.size - other.size) <= _TOLERANCE * max(one.size, other.size)


def currencies(one: Side, two: Side) -> Iterator[Finding]:
    """Currency signs that only one side has, unless the other names the currency in words."""
    lost, new = (
        [sign for sign, names in CURRENCIES.items()
         if sign in side.text and sign not in other.text and names.isdisjoint(other.plain)]
        for side, other in ((one, two), (two, one))
    )  # fmt: skip
    yield from difference("amount", lost, new)
