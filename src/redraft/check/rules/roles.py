"""Rules: who does what to whom, grammatical persons, and whether a text is a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import combinations

from redraft.check.rules.dates import is_date
from redraft.check.rules.phrase_tables import word_set
from redraft.check.rules.rule_types import Finding, Side, difference
from redraft.plan.target_guard import TargetGuard
from redraft.text.function_words import is_content

_MAX_DISTANCE = 8  # words between two actors
_BY_WINDOW = 3  # words before an actor in which "by" marks the agent
_ARTICLES = frozenset({"the", "a", "an"})
_BE = word_set("is are was were be been being")
# Symmetric relations: the order of the actors does not matter.
_SYMMETRIC = word_set("""
    marry meet border resemble equal adjoin face neighbour neighbor join same similar different identical differ near
    match collide merge divorce separate connect link
""")
_PERSONS_TEXT = """
you your yours yourself; we us our ours ourselves; i me my myself; he him his himself; she her hers herself
"""
_PERSONS = {form: row.split()[0] for row in _PERSONS_TEXT.split(";") for form in row.split()}
_SPEAKERS = frozenset({"i", "we"})
_QUESTION_WORDS = word_set("ask asks asked asking wonder wonders wondered question questions questioned whether")
_QUESTION = re.compile(r"\?(?=[\s\"'”’)]|$)")  # not in an address


def roles(one: Side, two: Side, guard: TargetGuard) -> Iterator[Finding]:
    """Two actors of the same verb that were exchanged, or that were not although active became passive."""
    before, after = _actors(one), _actors(two)
    both = sorted((name for name in before if name in after), key=before.__getitem__)
    for first, second in combinations(both, 2):
        start, end = sorted((after[first], after[second]))
        here, there = one.plain[before[first] + 1 : before[second]], two.plain[start + 1 : end]
        shared = _shared_forms(here, there, guard) if len(here) < _MAX_DISTANCE > len(there) else frozenset()
        voices = [_voice(words, shared, guard) for words in (here, there)]
        if after[first] > after[second]:
            is_changed = voices.count("passive") != 1
        else:
            is_changed = sorted(voices) == ["active", "passive"]
        if shared and is_changed:
            yield Finding("roles", (first, second), (second, first), f"“{first}” and “{second}” have changed places")


def _actors(side: Side) -> dict[str, int]:
    """Names, and words after an article, that occur once → their places."""
    counts = Counter(side.plain)
    return {
        plain: at for at, (word, plain) in enumerate(zip(side.words, side.plain, strict=True))
        if counts[plain] == 1 and is_content(plain) and plain.isalpha() and not is_date(side, at)
        and (word.text[0].isupper() or (at and side.plain[at - 1] in _ARTICLES))
    }  # fmt: skip


def _shared_forms(here: Sequence[str], there: Sequence[str], guard: TargetGuard) -> frozenset[str]:
    """Word forms between the actors in both texts; none if the actors are in a list or the relation is symmetric."""
    if not {"and", "or", ","}.isdisjoint((*here, *there)):
        return frozenset()
    forms = [{form for word in words if is_content(word) for form in guard.base_forms(word)} for words in (here, there)]
    shared = frozenset(forms[0] & forms[1])
    return shared if shared.isdisjoint(_SYMMETRIC) else frozenset()


def _voice(words: Sequence[str], shared: Set[str], guard: TargetGuard) -> str:
    """The voice of the verb between two actors: "saw the" is active; "seen by the", "was given the book by" passive."""
    verbs = [at for at, word in enumerate(words) if guard.base_forms(word) & shared]
    if "by" in words[-_BY_WINDOW:] and not any(word.endswith("ing") for word in words[-_BY_WINDOW:]):  # by seeing the
        is_passive = any(words[at + 1 : at + 2] == ("by",) or (at and words[at - 1] in _BE) for at in verbs)
        return "passive" if is_passive else ""
    return "active" if any(_ARTICLES.issuperset(words[at + 1 :]) for at in verbs) else ""


def persons(one: Side, two: Side) -> Iterator[Finding]:
    """A grammatical person that was exchanged for another."""
    before, after = _persons_of(one), _persons_of(two)
    lost = [person for person in before if person not in after]
    new = [person for person in after if person not in before]
    is_reported = bool(re.search('["“]', one.text)) and _SPEAKERS.issuperset(lost) and "you" not in new
    if lost and new and not is_reported:
        yield from difference("person", [before[person] for person in lost], [after[person] for person in new])


def _persons_of(side: Side) -> dict[str, str]:
    """Person → one of its pronouns. "US" is not "us", and the "I" after a king's name is a numeral."""
    found = {}
    for at, (word, plain) in enumerate(zip(side.words, side.plain, strict=True)):
        is_numeral = word.text == "I" and at > 0 and side.words[at - 1].text[0].isupper()
        if plain in _PERSONS and word.text != "US" and not is_numeral:
            found[_PERSONS[plain]] = word.text
    return found


def questions(one: Side, two: Side) -> Iterator[Finding]:
    asked, asks = (bool(_QUESTION.search(side.text)) for side in (one, two))
    if asked and not asks and _QUESTION_WORDS.isdisjoint(two.plain):
        yield Finding("question", ("?",), (), "the question became a statement")
    elif asks and not asked and _QUESTION_WORDS.isdisjoint(one.plain):
        yield Finding("question", (), ("?",), "the statement became a question")
