"""Rules: quantifiers (all, some; often, rarely; any, every) and restrictions ("only")."""

from __future__ import annotations

from collections.abc import Iterator

from redraft.check.rules.phrase_tables import NOTHING, Phrases, word_set
from redraft.check.rules.rule_types import Finding, Side, difference

QUANTIFIERS = Phrases({
    "all": "all, every, each, everyone, everybody, everything, entire, whole, both",
    "most": """
        most, mostly, majority, almost all, nearly all, practically all, almost every, nearly every, almost everyone
    """,
    "many": "many, numerous, various, lots of, a lot of, multiple, quite a few, plenty of, a large number of",
    "some": "some, several, someone, somebody, a few, certain, partly, partially, a number of",
    "few": "few, hardly any, very few, not many, only a few, a minority",
    "always": "always, constantly, at all times, all the time, every time",
    "often": "usually, generally, normally, typically, often, frequently, commonly, almost always, nearly always",
    "sometimes": "sometimes, occasionally, at times, now and then, from time to time, in some cases",
    "rarely": "rarely, seldom, hardly ever, almost never",
    "never": "never",
    NOTHING: """
        at all, after all, above all, first of all, of all, all over, each other, every other, as a whole, the most,
        at most, at the most, all but, not all, not every, not always, not often, not usually, is certain, are certain,
        be certain, was certain, for certain, make certain
    """,
})  # fmt: skip
# A word of the first group must not become one of the others.
_FAR_TEXT = """
all: most many some few; most: all many some few; many: all most few; some: all most few; few: all most many some;
always: often sometimes rarely; often: always sometimes rarely; sometimes: always often; never: rarely sometimes often;
rarely: always often sometimes never
"""
FAR_APART = {
    (group.strip(), other) for group, _, others in (row.partition(":") for row in _FAR_TEXT.split(";"))
    for other in others.split()
}  # fmt: skip
_EVERY = word_set("every everyone everybody all")
_ONLY = word_set("only solely exclusively merely")
_ONLY_PARAPHRASES = word_set(
    "just alone sole single unless except until but nothing exclusive simply no unique limited one"
)


def quantifiers(one: Side, two: Side) -> Iterator[Finding]:
    """A quantifier exchanged for one that differs in meaning: all, some; often, rarely; any, every."""
    before, after = _quantified(one), _quantified(two)
    for lost in (group for group in before if group not in after):
        for new in (group for group in after if group not in before):
            if (lost, new) in FAR_APART:
                yield from difference("quantifier", [before[lost]], [after[new]])
    every = [word for word in two.plain if word in _EVERY]
    begins = one.plain[:1] == ("any",)  # "Any person may apply" is as true of every person
    if "any" in one.plain and "any" not in two.plain and every and not begins and _EVERY.isdisjoint(one.plain):
        yield from difference("quantifier", ["any"], every)


def _quantified(side: Side) -> dict[str, str]:
    """Group → its phrase in the text; the "some" of "some 300" is a bound."""
    found = {}
    for run in QUANTIFIERS.found_in(side.plain):
        before_number = run.end < len(side.plain) and side.plain[run.end][0].isdigit()
        if not (side.plain[run.start] == "some" and before_number):
            found[run.group] = side.phrase(run.start, run.end)
    return found


def only(one: Side, two: Side) -> Iterator[Finding]:
    """A restriction that only one side has; "not only" is not a restriction."""
    before, after = (
        [word for at, word in enumerate(side.plain) if word in _ONLY and (at == 0 or side.plain[at - 1] != "not")]
        for side in (one, two)
    )
    here, there = (one, two) if before else (two, one)
    if bool(before) != bool(after) and _ONLY_PARAPHRASES.isdisjoint({*there.plain} - {*here.plain}):
        yield from difference("quantifier", before, after)
