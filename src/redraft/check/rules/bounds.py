"""Rule: bounds of numbers (at least, up to, about, before)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redraft.check.rules.dates import DATES
from redraft.check.rules.number_words import Number
from redraft.check.rules.phrase_tables import Phrases, Run
from redraft.check.rules.rule_types import Finding, Side, difference
from redraft.check.rules.unit_names import CURRENCIES, UNIT_SIZE

BOUNDS = Phrases({
    "least": """
        at least, at the least, not less than, no less than, no fewer than, not fewer than, minimum, a minimum of,
        minimum of
    """,
    "most": """
        at most, at the most, not more than, no more than, up to, maximum, a maximum of, maximum of, not exceed,
        not exceeding, as many as, as much as
    """,
    "more": """
        more than, over, above, exceeding, greater than, exceed, exceeds, exceeded, in excess of, older than,
        longer than, higher than, larger than, bigger than, upwards of
    """,
    "less": "less than, under, below, fewer than, younger than, shorter than, lower than, smaller than",
    "about": """
        about, around, approximately, roughly, nearly, almost, some, circa, an estimated, estimated, close to
    """,
    "exact": "exactly, precisely",
    "before": "before, prior to, by, until, till, up until, no later than, not later than, within, ahead of",
    "after": "after, following, since, from, no earlier than, not earlier than, not before",
})  # fmt: skip
_BOUNDS_AFTER = Phrases({
    "least": """
        or more, or older, or above, or over, or greater, or longer, and over, and above, and older, and up, +, minimum
    """,
    "most": "or less, or fewer, or under, or below, or younger, or shorter, and under, and below, and younger, maximum",
    "before": "at the latest",
    "after": "at the earliest",
})  # fmt: skip
_TIMES = frozenset({"before", "after"})
_NEGATED = {"more": "most", "less": "least"}  # not more than is at most
NEGATES = frozenset({"not", "no", "never", "cannot"})
_BEFORE_BOUND = 3  # words before a bound in which a negation inverts it: cannot be more than
_BETWEEN_BOUND = frozenset({"the", "a", "age", "ages", "aged", "of", *CURRENCIES, *DATES})  # over the age of 18
_WINDOW_AFTER = 4  # parts after a number in which a bound may begin: 18 years of age or older
_NO_BOUND = Run(0, 0, "")


def bounds(one: Side, two: Side) -> Iterator[Finding]:
    """Different bounds of a number that both texts have. Bounds in time are compared only with each other."""
    before, after = bounded(one), bounded(two)
    for value in (value for value in before if value in after):
        lost, new = before[value], after[value]
        groups = {lost.group, new.group}
        if len(groups) == 1 or groups == {"", "exact"} or (groups & _TIMES and not groups <= _TIMES):
            continue
        yield from difference("bound", _bound_text(one, lost), _bound_text(two, new))


def _bound_text(side: Side, bound: Run) -> list[str]:
    return [side.phrase(side.parts.word[bound.start], side.parts.word[bound.end - 1] + 1)] if bound.group else []


def bounded(side: Side) -> dict[str, Run]:
    """Number → the parts of the text that state its bound."""
    text = side.parts.text
    return {number.value: _bound_before(text, number) or _bound_after(text, number) or _NO_BOUND
            for number in side.numbers}  # fmt: skip


def _bound_before(text: Sequence[str], number: Number) -> Run | None:
    end = number.start
    while not (bound := BOUNDS.ending_at(text, end)) and end and text[end - 1] in _BETWEEN_BOUND:
        end -= 1
    if not bound or (text[bound.start] == "over" and _is_during(text, number)):
        return None
    negations = [at for at in range(max(0, bound.start - _BEFORE_BOUND), bound.start) if text[at] in NEGATES]
    if negations and bound.group in _NEGATED:
        return Run(negations[-1], bound.end, _NEGATED[bound.group])
    return bound


def _is_during(text: Sequence[str], number: Number) -> bool:
    """Whether "over 3 years" means during these years rather than more than that."""
    is_span = UNIT_SIZE.get(number.unit, ("",))[0] in ("time", "months")
    return is_span and "old" not in text[number.end : number.end + 2] and "age" not in text[number.end : number.end + 3]


def _bound_after(text: Sequence[str], number: Number) -> Run | None:
    for at in range(number.end, min(len(text), number.end + _WINDOW_AFTER)):
        if bound := _BOUNDS_AFTER.starting_at(text, at):
            return bound
        if text[at] in ",.;" or text[at][0].isdigit():
            break
    return None
