"""Rule: days of the week and months."""

from __future__ import annotations

import re
from collections.abc import Iterator

from redraft.check.rules.phrase_tables import word_set
from redraft.check.rules.rule_types import Finding, Side, difference

_DAYS = "monday mon; tuesday tue tues; wednesday wed; thursday thu thur thurs; friday fri; saturday sat; sunday sun"
_MONTHS = """
january jan; february feb; march mar; april apr; may; june jun; july jul; august aug; september sep sept; october oct;
november nov; december dec
"""
DATES = {word: row.split()[0] for row in (*_DAYS.split(";"), *_MONTHS.split(";")) for word in row.split()}
MONTH_NAMES = [row.split()[0] for row in _MONTHS.split(";")]
_ALSO_ANOTHER_WORD = frozenset({"may", "march", "august"})
_BEFORE_A_MONTH = word_set("in of since until till by from early late mid last next this to through between during and")
_NUMERIC_DATE = re.compile(r"\b[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}\b")


def dates(one: Side, two: Side) -> Iterator[Finding]:
    """Days of the week and months that one of the texts lacks."""
    before, after = dates_of(one), dates_of(two)
    lost = [word for date, word in before.items() if date not in after and not _has_other_form(date, two)]
    new = [word for date, word in after.items() if date not in before and not _has_other_form(date, one)]
    yield from difference("date", lost, new, by_side=True)


def dates_of(side: Side) -> dict[str, str]:
    """Full name of a day or month → the word in the text."""
    return {DATES[plain]: side.words[at].text for at, plain in enumerate(side.plain) if is_date(side, at)}


def is_date(side: Side, at: int) -> bool:
    """Ambiguous words (may, sun) count only beside a number or after a word that usually precedes a month."""
    plain = side.plain[at]
    if plain not in DATES or not side.words[at].text[0].isupper():
        return False
    is_full = plain in DATES.values()
    if is_full and plain not in _ALSO_ANOTHER_WORD:
        return True
    after = [word for word in side.plain[at + 1 : at + 3] if word != "."][:1]
    if any(word[0].isdigit() or word in DATES for word in (*side.plain[max(0, at - 1) : at], *after)):
        return True
    return is_full and at > 0 and side.plain[at - 1] in _BEFORE_A_MONTH


def _has_other_form(date: str, side: Side) -> bool:
    """Whether a text has the date as an abbreviation, or the month in digits (3/5/2020, 2020-05-03)."""
    if any(DATES.get(plain) == date and plain != date for plain in side.plain):
        return True
    in_digits = " ".join(found.group() for found in _NUMERIC_DATE.finditer(side.text))
    return date in MONTH_NAMES and MONTH_NAMES.index(date) + 1 in map(int, re.findall("[0-9]+", in_digits))
