"""Rule: negations and words that act like one (refrain, fail to, unless, unsafe)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from redraft.check.rules.bounds import bounded
from redraft.check.rules.phrase_tables import NOTHING, Phrases, Run, word_set
from redraft.check.rules.rule_types import Finding, Side
from redraft.plan.target_guard import TargetGuard
from redraft.text.function_words import is_content

# A denial after a negation cancels it ("did not fail to"), and so does a limit ("not unless" is "only if").
NEGATIVE = Phrases({
    "negation": """
        no, not, never, none, nobody, nothing, nowhere, neither, nor, cannot, no longer, no one, hardly, barely,
        scarcely, rarely, seldom, hardly any, hardly ever, almost never, almost no, excluding, instead of, rather than,
        other than, apart from, in place of, yet to, dont, didnt, doesnt, isnt, wasnt, arent, wouldnt, couldnt,
        shouldnt, cant, hasnt, havent
    """,
    "denial": """
        fail to, fails to, failed to, failing to, failure to, refrain, refrains, refrained, refraining, abstain,
        abstains, abstained, abstaining, avoid, avoids, avoided, avoiding, unable, inability, lack, lacks, lacked,
        lacking, absence of, absent, refuse, refuses, refused, refusing, refusal, deny, denies, denied, denying,
        prohibit, prohibits, prohibited, prohibiting, forbid, forbids, forbade, forbidden, forbidding, ban, bans,
        banned, banning, prevent, prevents, prevented, preventing, exclude, excludes, excluded, stop, stops, stopped,
        stopping, cease, ceases, ceased, free of, free from, devoid of, far from, too few, illegal, unlawful,
        against the law, impossible, reject, rejects, rejected, rejecting, decline to, declines to, declined to,
        turn down, turned down, keep away from, stay away from, stayed away from, disallow, disallowed, outlaw,
        outlawed, rejection, denial, prohibition, exclusion, prevention, avoidance, inadvisable
    """,
    "limit": """
        unless, without, except, except for, except if, except when, until, all but, everyone but, everybody but,
        everything but, with the exception of
    """,
    NOTHING: """
        not only, whether or not, no matter, no doubt, nothing but, none other than, last but not least, not to mention,
        if not, no sooner, why not, free of charge
    """,
})  # fmt: skip
_CANCELS = {"denial": 3, "limit": 8}  # maximum number of words between a negation and what cancels it
_CLAUSE_ENDS = frozenset({".", "!", "?", ";", "and", "or", "but"})
_SCOPE = 3  # words after a negation that it may apply to
# Words that may replace a negation of the other text.
_HIDDEN_NEGATIONS = word_set("""
    end ends ended ending finish finished finishes quit halt halted free few fewer little missing misses missed lost
    empty oppose opposes opposed opposing opposition declined declines ignore ignores ignored forget forgets forgot
    forgotten doubt doubts doubted differ differs different otherwise lest secret silent only alone former formerly used
    minus unlike rare lose loses block blocks blocked hinder hindered skip skips skipped too away just beyond against
    disappeared vanished dead zero protect protects protected disagree disagreed disagrees fail fails failed failing
    failure suspend suspends suspended cancel cancels cancelled canceled exempt close closes closed veto vetoes vetoed
    contraindicated
""")
_OPPOSED = frozenset({"the opposite", "the other direction", "another quantity"})
_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non")
_STEM = 3  # first letters that identify a word without its prefix


def negations(one: Side, two: Side, guard: TargetGuard) -> Iterator[Finding]:
    """Different numbers of negations in any form; those that both texts have are ignored."""
    before, after = _negatives(one, two, guard), _negatives(two, one, guard)
    gone, new = _unmatched(one, before, two, after), _unmatched(two, after, one, before)
    lost = tuple(one.phrase(run.start, run.end) for run in gone)
    added = tuple(two.phrase(run.start, run.end) for run in new)
    if len(gone) - len(new) > _excused(one, gone, two, guard):
        yield Finding("negation", lost, added, f"the output lacks “{', '.join(lost)}”")
    elif len(new) - len(gone) > _excused(two, new, one, guard):
        yield Finding("negation", lost, added, f"the output adds “{', '.join(added)}”")


def _negatives(side: Side, other: Side, guard: TargetGuard) -> list[Run]:
    """Negations, without double negations and without "not more than 5", which belongs to `bounds`."""
    in_bounds = {side.parts.word[at] for bound in bounded(side).values() for at in range(bound.start, bound.end)}
    read = [run for run in NEGATIVE.found_in(side.plain) if run.group != "negation" or run.start not in in_bounds]
    rest = {*range(len(side.plain))} - {at for run in read for at in range(run.start, run.end)}
    in_words = [Run(at, at + 1, "denial") for at in rest if _is_negated_form(side.plain[at], side, other, guard)]
    found = sorted([*read, *in_words])
    cancelled = {run for pair in pairwise(found) if _cancel(side, *pair) for run in pair}
    counted = [run for run in found if run not in cancelled and side.plain[run.start] != "until"]
    return [run for run in counted if run == counted[0] or side.plain[run.start] != "nor"]  # neither … nor is one


def _cancel(side: Side, first: Run, second: Run) -> bool:
    between = side.plain[first.end : second.start]
    near = first.group == "negation" and len(between) < _CANCELS.get(second.group, 0)
    return near and _CLAUSE_ENDS.isdisjoint(between)


def _is_negated_form(word: str, side: Side, other: Side, guard: TargetGuard) -> bool:
    """Whether the other text has the word without its negative prefix or ending: unsafe, safe."""
    if word in other.plain:
        return False
    new = {*other.plain} - {*side.plain}
    return any(is_negative_of(word, one) and _are_opposite(word, one, guard) for one in new)


def is_negative_of(word: str, other: str) -> bool:
    """Whether a word may be another one with a negative prefix or ending, by its first letters: illegally, legal."""
    stems = [word.removeprefix(prefix) for prefix in _PREFIXES if word.startswith(prefix)]
    stems += [word.removesuffix("less")] if word.endswith("less") else []
    return any(len(stem) >= _STEM and stem[:_STEM] == other[:_STEM] for stem in stems)


def _has_negative_prefix(word: str, guard: TargetGuard) -> bool:
    """Insufficient, asymptomatic, non-refundable; but not income."""
    stems = [word.removeprefix(prefix) for prefix in ("a", *_PREFIXES) if word.startswith(prefix)]
    return word.startswith("non-") or any(guard.synsets(stem) and _are_opposite(word, stem, guard) for stem in stems)


def _are_opposite(one: str, other: str, guard: TargetGuard) -> bool:
    if not one.isalpha() or not other.isalpha():
        return False
    reasons = guard.refusal_reason(one, other), guard.refusal_reason(other, one)
    return not _OPPOSED.isdisjoint(reasons)


def _unmatched(side: Side, runs: Sequence[Run], other: Side, others: Sequence[Run]) -> list[Run]:
    """The negations of one side that the other side does not have in the same words."""
    there = Counter(other.plain[run.start : run.end] for run in others)
    found = []
    for run in runs:
        phrase = side.plain[run.start : run.end]
        if there[phrase]:
            there[phrase] -= 1
        else:
            found.append(run)
    return found


def _excused(side: Side, runs: Sequence[Run], other: Side, guard: TargetGuard) -> int:
    """How many negations of a side the other may express without one: not present, absent."""
    new = {*other.plain} - {*side.plain}
    found = sum(word in _HIDDEN_NEGATIONS or _has_negative_prefix(word, guard) for word in new)
    has_or = any(other.plain.count(word) > side.plain.count(word) for word in ("or", "nor"))
    for run in runs:
        scope = [word for word in side.plain[run.end : run.end + _SCOPE] if is_content(word)]
        is_opposite = any(_are_opposite(word, one, guard) for one in new if is_content(one) for word in scope)
        is_repeated = has_or and side.plain.count(side.plain[run.start]) > 1  # no bread and no water: no bread or water
        is_there = side.plain[run.end - 1] == "to" and side.plain[run.start] in other.plain  # fails to do so: fails
        found += is_opposite or is_repeated or is_there
    return found
