"""Qualifiers that must be kept: quantifiers, bounds, conditions, near-negations, modal verbs, personal pronouns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from redraft.text.function_words import is_content
from redraft.text.names import is_negation, is_number
from redraft.text.words import Word, normalise

_PHRASES = {
    "a quantifier": "any, every, each, all, both, some, only, most, few, none of, half of",
    "a bound": """
        at least, at most, at the most, at the least, no more than, not more than, no less than, not less than,
        no fewer than, not fewer than, no later than, not later than, no earlier than, more than, less than, fewer than,
        greater than, up to, inversely
    """,
    "a condition": """
        unless, except, except for, except that, other than, apart from, only if, if and only if, even if,
        as long as, not until, if, whether, otherwise
    """,
    "a connective": "although, though, because, but, or, whereas",
    "a near-negation": """
        failure to, fail to, fails to, failed to, failing to, refrain from, refrains from, refrained from,
        refraining from, abstain from, abstains from, abstained from, rather than, instead of, without,
        hardly, rarely, seldom, barely, scarcely, neither, nor, too few, too little
    """,
    "a comparison": "than",
    "who is meant": "you, your, we, our, us, i, my",
}
_REASON = {
    tuple(phrase.split()): reason
    for reason, phrases in _PHRASES.items()
    for phrase in phrases.replace("\n", " ").split(",")
}
_MAX_WORDS = max(map(len, _REASON))
_MODALS = frozenset({"must", "may", "shall", "should"})
_TEMPORAL = frozenset({"before", "after", "until"})
_APPROXIMATORS = frozenset({"about", "around", "nearly", "almost", "over", "under", "above", "below"})
_NOT_BEFORE_A_MODAL = frozenset({"a", "an", "the", "in", "of", "last", "next", "early", "late", "mid", "since"})
_AFTER_A_MODAL = frozenset({"be", "have", "do", "not", "n't"})
_NUMBER_WINDOW = 2  # words after a temporal word that may be its number: "after about 5 days"


def qualifiers(words: Sequence[Word]) -> Iterator[tuple[range, str]]:
    """Runs of words that must not change, each with its kind; of several that start at one word, the longest."""
    plain = [normalise(word.text) for word in words]
    at = 0
    while at < len(plain):
        size, reason = _longest_phrase(plain, at)
        if not size:
            size, reason = 1, _single_word(words, plain, at)
        if reason is not None:
            yield range(at, at + size), reason
        at += size


def _longest_phrase(plain: Sequence[str], at: int) -> tuple[int, str | None]:
    for size in range(min(_MAX_WORDS, len(plain) - at), 0, -1):
        reason = _REASON.get(tuple(plain[at : at + size]))
        if reason is not None:
            return size, reason
    return 0, None


def _single_word(words: Sequence[Word], plain: Sequence[str], at: int) -> str | None:
    if plain[at] in _MODALS and _is_modal(words, plain, at):
        return "a modal verb"
    if plain[at] in _TEMPORAL and any(map(is_number, plain[at + 1 : at + 1 + _NUMBER_WINDOW])):
        return "a bound in time"
    if plain[at] in _APPROXIMATORS and any(map(is_number, plain[at + 1 : at + 2])):
        return "a rough number"
    return None


def _is_modal(words: Sequence[Word], plain: Sequence[str], at: int) -> bool:
    """Whether the word is a modal verb, unlike in "in May 1990" and "a must"."""
    if at and (plain[at - 1] in _NOT_BEFORE_A_MODAL or words[at].text[0].isupper()):
        return False
    rest = [word for word in plain[at + 1 :] if not (word in ("also", "only", "still", "then") or word.endswith("ly"))]
    return bool(rest) and (
        rest[0] in _AFTER_A_MODAL or is_negation(rest[0]) or (is_content(rest[0]) and rest[0].isalpha())
    )
