"""Rules: words replaced in place by words with another meaning, and lost words that must be kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from redraft.check.rules.bounds import NEGATES
from redraft.check.rules.modality import MODALS
from redraft.check.rules.negations import NEGATIVE, is_negative_of
from redraft.check.rules.phrase_tables import word_set
from redraft.check.rules.quantifiers import FAR_APART, QUANTIFIERS
from redraft.check.rules.rule_types import Finding, Side
from redraft.check.rules.unit_names import UNITS
from redraft.check.rules.units import amounts_of, is_same_amount
from redraft.plan.phrases import find_spans
from redraft.plan.target_guard import TargetGuard
from redraft.text.function_words import is_content

_MAX_WORDS = 3  # of a replaced span whose words are compared
_NOT_COMPARED = word_set("any some have has had do does did is are was were be")
# Reasons to refuse a target that do not make a text wrong, and those that belong to other rules.
_MILD = frozenset({None, "too vague", "another name", "adds a negation", "removes a negation"})
_MILD_BETWEEN_SMALL_WORDS = _MILD | {"a different word that looks alike"}  # though, although


def other_words(one: Side, two: Side, guard: TargetGuard) -> Iterator[Finding]:
    """A word replaced in place by a word with another meaning: the opposite, another kind of thing."""
    for action, i, j, m, n in SequenceMatcher(None, one.plain, two.plain, autojunk=False).get_opcodes():
        if action != "replace" or j - i > _MAX_WORDS or n - m > _MAX_WORDS:
            continue
        if _has_negation(one.plain[max(0, i - 2) : j]) != _has_negation(two.plain[max(0, m - 2) : n]):
            continue  # not guilty, innocent
        new = [word for word in two.plain[m:n] if word.isalpha()]
        if any(is_content(word) and not guard.synsets(word) for word in new) or set(new) & set(one.plain):
            continue
        if _are_close_quantifiers(one.plain[i:j], two.plain[m:n]):
            continue
        for word in one.plain[i:j]:
            if not word.isalpha() or any(_is_for_another_rule(word, other, one, two) for other in new):
                continue
            reasons = [guard.refusal_reason(word, other) for other in new]
            mild = _MILD if is_content(word) else _MILD_BETWEEN_SMALL_WORDS
            if reasons and all(reasons) and not mild.issuperset(reasons):
                yield Finding("other word", (word,), (new[0],), f"“{word}” became “{new[0]}”: {reasons[0]}")


def _has_negation(words: Sequence[str]) -> bool:
    return not NEGATES.isdisjoint(words)


def _are_close_quantifiers(here: Sequence[str], there: Sequence[str]) -> bool:
    """Whether the words are quantifiers of similar meaning: several, many; almost all, most."""
    pairs = [(old.group, new.group) for old in QUANTIFIERS.found_in(here) for new in QUANTIFIERS.found_in(there)]
    return bool(pairs) and FAR_APART.isdisjoint(pairs)


def _is_for_another_rule(word: str, other: str, one: Side, two: Side) -> bool:
    """Whether other rules compare the words: modal verbs, negations, a word and its negation, converted units."""
    if word in _NOT_COMPARED or other in _NOT_COMPARED:
        return True
    if word not in two.plain and (is_negative_of(word, other) or is_negative_of(other, word)):
        return True
    if MODALS.starting_at((word,), 0) and MODALS.starting_at((other,), 0):
        return True
    negative, unit = NEGATIVE.starting_at((word,), 0), UNITS.starting_at((word,), 0)
    amounts = [amount for amount in amounts_of(one) if unit and amount.unit == unit.group]
    is_converted = any(is_same_amount(amount, there) for amount in amounts for there in amounts_of(two))
    return is_converted or (negative is not None and negative.group == "negation")


def lost_stays(source: str, output: str, stays: Sequence[str]) -> Iterator[Finding]:
    """Lost phrases that must be kept, ignoring case."""
    for phrase in stays:
        if find_spans(source.lower(), [phrase.lower()]) and not find_spans(output.lower(), [phrase.lower()]):
            yield Finding("must stay", (phrase,), (), f"“{phrase}” was to stay")
