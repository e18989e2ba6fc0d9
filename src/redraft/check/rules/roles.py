"""Who does what to whom, which persons are spoken of, and whether a text asks or tells."""

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

_BETWEEN = 8  # words from one actor to the other, at most
_BY = 3  # words before an actor among which "by" makes it the one who acts
_ARTICLES = frozenset({"the", "a", "an"})
_BE = word_set("is are was were be been being")
# It does not matter who stands first.
_MUTUAL = word_set("""
    marry meet border resemble equal adjoin face neighbour neighbor join same similar different identical differ near
    match collide merge divorce separate connect link
""")
_PERSONS_TEXT = """
you your yours yourself; we us our ours ourselves; i me my myself; he him his himself; she her hers herself
"""
_PERSONS = {form: row.split()[0] for row in _PERSONS_TEXT.split(";") for form in row.split()}
_SPEAKERS = frozenset({"i", "we"})
_ASKS = word_set("ask asks asked asking wonder wonders wondered question questions questioned whether")
_QUESTION = re.compile(r"\?(?=[\s\"'”’)]|$)")  # but not that of an address


def roles(one: Side, two: Side, guard: TargetGuard) -> Iterator[Finding]:
    """Two actors about the same verb that changed places, or kept them where the active became the passive."""
    before, after = _actors(one), _actors(two)
    both = sorted((name for name in before if name in after), key=before.__getitem__)
    for first, second in combinations(both, 2):
        start, end = sorted((after[first], after[second]))
        here, there = one.plain[before[first] + 1 : before[second]], two.plain[start + 1 : end]
        shared = _shared_forms(here, there, guard) if len(here) < _BETWEEN > len(there) else frozenset()
        voices = [_voice(words, shared, guard) for words in (here, there)]
        if after[first] > after[second]:
            is_changed = voices.count("passive") != 1
        else:
            is_changed = sorted(voices) == ["active", "passive"]
        if shared and is_changed:
            yield Finding("roles", (first, second), (second, first), f"“{first}” and “{second}” have changed places")


def _actors(side: Side) -> dict[str, int]:
    """Names, and words behind an article, that stand once; and their places."""
    counts = Counter(side.plain)
    return {
        plain: at for at, (word, plain) in enumerate(zip(side.words, side.plain, strict=True))
        if counts[plain] == 1 and is_content(plain) and plain.isalpha() and not is_date(side, at)
        and (word.text[0].isupper() or (at and side.plain[at - 1] in _ARTICLES))
    }  # fmt: skip


def _shared_forms(here: Sequence[str], there: Sequence[str], guard: TargetGuard) -> frozenset[str]:
    """What is said between the two in both texts; nothing where they are parts of a list, or act on each other."""
    if not {"and", "or", ","}.isdisjoint((*here, *there)):
        return frozenset()
    forms = [{form for word in words if is_content(word) for form in guard.forms(word)} for words in (here, there)]
    shared = frozenset(forms[0] & forms[1])
    return shared if shared.isdisjoint(_MUTUAL) else frozenset()


def _voice(words: Sequence[str], shared: Set[str], guard: TargetGuard) -> str:
    """Of the verb between two actors: "saw the" is active; "seen by the" and "was given the book by" are passive."""
    verbs = [at for at, word in enumerate(words) if guard.forms(word) & shared]
    if "by" in words[-_BY:] and not any(word.endswith("ing") for word in words[-_BY:]):  # by seeing the
        is_passive = any(words[at + 1 : at + 2] == ("by",) or (at and words[at - 1] in _BE) for at in verbs)
        return "passive" if is_passive else ""
    return "active" if any(_ARTICLES.issuperset(words[at + 1 :]) for at in verbs) else ""


def persons(one: Side, two: Side) -> Iterator[Finding]:
    """Who is spoken of: one person lost and another come in its place."""
    before, after = _persons_of(one), _persons_of(two)
    lost = [person for person in before if person not in after]
    new = [person for person in after if person not in before]
    is_reported = bool(re.search('["“]', one.text)) and _SPEAKERS.issuperset(lost) and "you" not in new
    if lost and new and not is_reported:
        yield from difference("person", [before[person] for person in lost], [after[person] for person in new])


def _persons_of(side: Side) -> dict[str, str]:
    """Person → a pronoun of it; the US is not "us", and the I of a king is not the speaker."""
    found = {}
    for at, (word, plain) in enumerate(zip(side.words, side.plain, strict=True)):
        is_numeral = word.text == "I" and at > 0 and side.words[at - 1].text[0].isupper()
        if plain in _PERSONS and word.text != "US" and not is_numeral:
            found[_PERSONS[plain]] = word.text
    return found


def questions(one: Side, two: Side) -> Iterator[Finding]:
    asked, asks = (bool(_QUESTION.search(side.text)) for side in (one, two))
    if asked and not asks and _ASKS.isdisjoint(two.plain):
        yield Finding("question", ("?",), (), "the question became a statement")
    elif asks and not asked and _ASKS.isdisjoint(one.plain):
        yield Finding("question", (), ("?",), "the statement became a question")
