"""Corrupts sentences: each corruption changes the meaning, and its result says which words are to blame.

Kinds: antonyms, co-hyponyms, look-alike words, swapped roles, names, numbers, negations, modal verbs, quantifiers,
dropped conditions, clauses from other sentences.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from redraft.plan.lexicon import Lexicon
from redraft.plan.reviewed_targets import ReviewedTargets
from redraft.plan.target_guard import TargetGuard
from redraft.plan.target_guard_tables import CONTRASTS
from redraft.text.function_words import is_content
from redraft.text.inflection import inflect_like, may_share_part_of_speech
from redraft.text.names import is_negation, is_number
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import normalise

_MIN_ZIPF = 3.3  # rarer words are not inserted
_TRIES = 12  # words of a sentence tried for one corruption
_MIN_LETTERS = 5  # of a word with look-alikes
_MIN_CLAUSE = 3  # words of a clause
_MAX_CLAUSE = 12  # words of a clause from another sentence
_LIST_WORDS = 3  # largest distance between neighbouring items of a list
_MODALS = ("may", "must", "should", "can", "will", "might", "could", "would", "cannot")
_SAME_MODALITY = (("may", "might", "can", "could"), ("must", "shall"), ("should",), ("will", "would"), ("cannot",))
_AUXILIARIES_TEXT = """
is are was were has have had can will would should could may might must do does did be
"""
# Groups of phrases that can replace each other grammatically but change the meaning.
_QUANTIFIERS_TEXT = """
any, every, some, no; all, some, most, few, no; each, some; many, few, all; always, sometimes, never, often, rarely;
only, also; both, neither; several, all, two; at least, at most, about, exactly; more than, less than, about;
up to, at least, over; before, after; until, after, from; over, under; within, after; first, last;
usually, always, rarely; mostly, entirely, hardly; and, or; almost, more than; approximately, at least;
about, more than, less than; probably, certainly; if, even if; unless, if; because, although; without, with;
increase, decrease
"""
_CONDITIONS_TEXT = """
if unless except only when until provided although though whether because while after before
"""
_NUMBERS_TEXT = """
one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred
"""
_NUMBERS = _NUMBERS_TEXT.split()
_AUXILIARIES, _CONDITIONS = (frozenset(text.split()) for text in (_AUXILIARIES_TEXT, _CONDITIONS_TEXT))
_QUANTIFIERS = tuple(tuple(group.split(", ")) for group in " ".join(_QUANTIFIERS_TEXT.split()).split("; "))
# Negations, and what replaces them when they are removed.
_UNNEGATED = {
    "not": "", "never": "", "no": "a", "hardly": "", "rarely": "", "n't": "", "without": "with", "neither": "both",
    "nor": "and", "nobody": "everybody", "none": "all", "nothing": "everything",
}  # fmt: skip
_ADDED_NEGATIONS = ("not", "not", "not", "never", "no longer", "hardly")  # "not" most often
_BEFORE_A_NOUN = frozenset({"the", "a", "an", "by", "of", "his", "her"})
_LIST_SIGNS = frozenset({",", "and", "or", "/"})


@dataclass(frozen=True)
class Corruption:
    """The words of a corrupted text, and the words to blame."""

    kind: str
    words: tuple[str, ...]
    wrong: frozenset[int]  # indices into `words`
    lost: frozenset[int]  # indices into the original words


def _replaced(words: Sequence[str], start: int, end: int, new: Sequence[str], kind: str) -> Corruption:
    """Replace words; a capital at the start of the sentence is kept."""
    if start == 0 and new and words[0][:1].isupper() and new[0][:1].islower():
        new = (new[0].capitalize(), *new[1:])
    out = (*words[:start], *new, *words[end:])
    if start == 0 and not new and out and out[0][:1].islower():
        out = (out[0].capitalize(), *out[1:])
    wrong = range(start, start + len(new))
    return Corruption(kind, out, frozenset(wrong), frozenset(range(start, end)))


def _inserted(words: Sequence[str], at: int, glue: Sequence[str], new: Sequence[str], kind: str) -> Corruption:
    """Insert words before an index; `glue` connects them to the words before and is not to blame."""
    start = at + len(glue)
    out = (*words[:at], *glue, *new, *words[at:])
    return Corruption(kind, out, frozenset(range(start, start + len(new))), frozenset())


class Corruptor:
    """Makes corruptions of a sentence. `others` are sentences from which names, words and clauses are taken."""

    def __init__(self, guard: TargetGuard, word_frequency: WordFrequency, lexicon: Lexicon, reviewed: ReviewedTargets,
                 vocabulary: Iterable[str], others: Sequence[Sequence[str]]) -> None:  # fmt: skip
        self._guard, self._word_frequency, self._lexicon, self._reviewed = guard, word_frequency, lexicon, reviewed
        self._others = others
        self._alike = _look_alikes(word for word in vocabulary if word_frequency.zipf(word) >= _MIN_ZIPF)
        self._contrasts = _contrast_table()
        self._makers: dict[str, Callable[[Sequence[str], random.Random], Corruption | None]] = {
            "opposite": self._opposite, "contrast": self._contrast, "sister": self._sister,
            "look-alike": self._look_alike, "refused": self._refused, "judged wrong": self._judged_wrong,
            "roles": self._roles, "name": self._name, "number": self._number,
            "negation added": self._negation_added, "negation removed": self._negation_removed,
            "modality": self._modality, "quantifier": self._quantifier, "condition lost": self._condition_lost,
            "clause from elsewhere": self._foreign, "other word": self._other_word,
        }  # fmt: skip

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self._makers)

    def make(self, kind: str, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """A corruption of that kind; None if the sentence does not allow it."""
        made = self._makers[kind](words, rng)
        return (
            made if made and [normalise(word) for word in made.words] != [normalise(word) for word in words] else None
        )

    def any(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """A corruption of a random kind, among those that the sentence allows."""
        for kind in rng.sample(self.kinds, len(self._makers)):
            if made := self.make(kind, words, rng):
                return made
        return None

    def _word_for_word(
        self, words: Sequence[str], rng: random.Random, kind: str, rivals: Callable[[str], Iterable[str]]
    ) -> Corruption | None:
        """Replace a lower-case content word by one of its rivals, in the same inflected form."""
        places = [at for at, word in enumerate(words) if word.isalpha() and word.islower() and is_content(word)]
        for at in rng.sample(places, min(len(places), _TRIES)):
            word = words[at]
            found = sorted({other for other in rivals(word) if self._word_frequency.zipf(other) >= _MIN_ZIPF})
            rng.shuffle(found)
            for other in found[:_TRIES]:
                after = words[at + 1] if at + 1 < len(words) else ""
                new = inflect_like(word, other, words[max(0, at - 3) : at], after)
                if new != word and may_share_part_of_speech(word, new):
                    return _replaced(words, at, at + 1, new.split(), kind)
        return None

    def _opposite(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        return self._word_for_word(words, rng, "opposite", self._guard.antonyms)

    def _contrast(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        return self._word_for_word(
            words, rng, "contrast",
            lambda word: (other for form in self._guard.base_forms(word) for other in self._contrasts.get(form, ())),
        )  # fmt: skip

    def _sister(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        return self._word_for_word(words, rng, "sister", self._guard.coordinate_terms)

    def _look_alike(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        def rivals(word: str) -> Iterable[str]:
            known = self._guard.base_forms(word)
            return (other for other in self._alike.get(word, ()) if known.isdisjoint(self._guard.base_forms(other)))

        return self._word_for_word(words, rng, "look-alike", rivals)

    def _refused(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """A replacement that occurs in the corpora and that the target guard refuses."""

        def rivals(word: str) -> Iterable[str]:
            entry = self._lexicon.entry(word)
            targets = [target for target, _ in entry.targets] if entry else []
            yield from (target for target in targets if " " not in target and self._guard.refusal_reason(word, target))

        return self._word_for_word(words, rng, "refused", rivals)

    def _judged_wrong(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """A replacement that a reader has judged wrong in most contexts."""

        def rivals(word: str) -> Iterable[str]:
            judged = self._reviewed.entry(word)
            return judged.wrong if judged else ()

        return self._word_for_word(words, rng, "judged wrong", rivals)

    def _other_word(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """A word of the same part of speech from another sentence: imitates a model that guesses."""

        def rivals(word: str) -> Iterable[str]:
            for other in (rng.choice(self._others) for _ in range(3)):
                for new in other:
                    if new.isalpha() and new.islower() and is_content(new) and not self._is_near(word, new):
                        yield new

        return self._word_for_word(words, rng, "other word", rivals)

    def _is_near(self, word: str, new: str) -> bool:
        return bool(self._guard.base_forms(word) & self._guard.base_forms(new)) or self._guard.have_close_senses(
            word, new
        )

    def _roles(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """Swap two names or two nouns."""
        nouns = [at for at in range(len(words)) if _is_noun(words, at)]
        for places in rng.sample([_names(words), nouns], 2):
            pairs = [(one, two) for one in places for two in places if _may_be_swapped(words, one, two)]
            if pairs:
                one, two = rng.choice(pairs)
                out = list(words)
                out[one], out[two] = out[two], out[one]
                changed = frozenset({one, two})
                return Corruption("roles", tuple(out), changed, changed)
        return None

    def _name(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """Replace a name by one from another sentence."""
        here = _names(words)
        for _ in range(_TRIES if here else 0):
            other = rng.choice(self._others)
            new = [other[at] for at in _names(other) if other[at] not in words]
            if new:
                at = rng.choice(here)
                return _replaced(words, at, at + 1, (rng.choice(new),), "name")
        return None

    def _number(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        places = [at for at, word in enumerate(words) if is_number(word)]
        if not places:
            return None
        at = rng.choice(places)
        return _replaced(words, at, at + 1, (_other_number(words[at], rng),), "number")

    def _negation_added(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        places = [
            at for at, word in enumerate(words[:-1])
            if normalise(word) in _AUXILIARIES and not is_negation(words[at + 1]) and words[at + 1].isalpha()
        ]  # fmt: skip
        if not places:
            return None
        at = rng.choice(places) + 1
        return _inserted(words, at, (), rng.choice(_ADDED_NEGATIONS).split(), "negation added")

    def _negation_removed(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        places = [at for at, word in enumerate(words) if normalise(word) in _UNNEGATED]
        if not places:
            return None
        at = rng.choice(places)
        return _replaced(words, at, at + 1, _UNNEGATED[normalise(words[at])].split(), "negation removed")

    def _modality(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """Replace a modal verb, or add one before a form of "be"."""
        modals = [at for at, word in enumerate(words[:-1]) if word in _MODALS]
        if modals:
            at = rng.choice(modals)
            own = next((group for group in _SAME_MODALITY if words[at] in group), ())
            others = [modal for modal in _MODALS if modal not in own]
            return _replaced(words, at, at + 1, (rng.choice(others),), "modality")
        verbs = [at for at, word in enumerate(words[:-1]) if word in ("is", "are", "was", "were")]
        if verbs:
            at = rng.choice(verbs)
            return _replaced(words, at, at + 1, (rng.choice(("may", "must", "should")), "be"), "modality")
        return None

    def _quantifier(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        plain = [normalise(word) for word in words]
        found = []
        for group in _QUANTIFIERS:
            for phrase in group:
                size = phrase.count(" ") + 1
                for at in range(len(plain) - size + 1):
                    if " ".join(plain[at : at + size]) == phrase:
                        found.append((at, size, rng.choice([one for one in group if one != phrase])))
        if not found:
            return None
        at, size, new = rng.choice(found)
        return _replaced(words, at, at + size, new.split(), "quantifier")

    def _condition_lost(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """Omit a clause that states a condition, a reason or a time."""
        last = len(words) - 1
        ends = [*(at + 1 for at, word in enumerate(words) if word in (",", ";")), last]
        for start in rng.sample(range(len(words)), len(words)):
            if normalise(words[start]) not in _CONDITIONS:
                continue
            end = next((mark for mark in ends if mark > start + 1), last)
            if end - start >= _MIN_CLAUSE and len(words) - (end - start) >= 2 * _MIN_CLAUSE:
                has_comma = start > 0 and words[start - 1] == "," and end == last
                return _replaced(words, start - has_comma, end, (), "condition lost")
        return None

    def _foreign(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """Append a clause of another sentence, or replace a clause by it."""
        close = len(words) - (words[-1] in ".!?") if words else 0
        for _ in range(_TRIES if len(words) >= _MIN_CLAUSE else 0):
            other = rng.choice(self._others)
            cuts = [-1, *(at for at, word in enumerate(other) if word in (",", ".", ";", "and"))]
            clauses = [
                other[one + 1 : two] for one, two in pairwise(cuts) if _MIN_CLAUSE < two - one <= _MAX_CLAUSE + 1
            ]
            if not clauses:
                continue
            new = rng.choice(clauses)
            if rng.random() < 0.5:
                return _inserted(words, close, (rng.choice((",", "and", ".")),), new, "clause from elsewhere")
            commas = [at for at, word in enumerate(words) if word == "," and at + _MIN_CLAUSE < close]
            if commas:
                return _replaced(words, rng.choice(commas) + 1, close, new, "clause from elsewhere")
        return None


def _is_name(words: Sequence[str], at: int) -> bool:
    """Whether a word is capitalised and not the first of the sentence."""
    word = words[at]
    return at > 0 and word[:1].isupper() and word.isalpha() and is_content(word)


def _names(words: Sequence[str]) -> list[int]:
    return [at for at in range(len(words)) if _is_name(words, at)]


def _is_noun(words: Sequence[str], at: int) -> bool:
    """Whether a word is the last content word after a determiner or preposition."""
    if at == 0 or not (words[at].islower() and is_content(words[at])) or normalise(words[at - 1]) not in _BEFORE_A_NOUN:
        return False
    return at + 1 == len(words) or not is_content(words[at + 1])


def _may_be_swapped(words: Sequence[str], one: int, two: int) -> bool:
    """Whether two words differ, the second comes after the first, and they are not items of the same list."""
    if two <= one + 1 or normalise(words[one]) == normalise(words[two]):
        return False
    return two - one > _LIST_WORDS or _LIST_SIGNS.isdisjoint(words[one:two])


def _other_number(word: str, rng: random.Random) -> str:
    """Change one digit, or sometimes the number of digits; another number word if there are no digits."""
    digits = [place for place, character in enumerate(word) if character in "0123456789"]
    if not digits:
        return rng.choice([number for number in _NUMBERS if number != word.lower()])
    place = rng.choice(digits)
    new = word[:place] + rng.choice([digit for digit in "123456789" if digit != word[place]]) + word[place + 1 :]
    if rng.random() < 0.2 and len(digits) == len(word):
        return word + "0" if rng.random() < 0.5 or len(word) < 2 else word[:-1]
    return new


def _look_alikes(vocabulary: Iterable[str]) -> dict[str, list[str]]:
    """Word → words that differ from it by one letter, or by letters in the middle."""
    patterns: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(set(vocabulary)):
        if word.isalpha() and len(word) >= _MIN_LETTERS and is_content(word):
            for at in range(1, len(word)):
                patterns[word[:at] + "*" + word[at + 1 :]].append(word)
            patterns[word[:3] + "…" + word[-4:]].append(word)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for group in patterns.values():
        for word in group if 1 < len(group) <= 20 else ():
            found[word].update(other for other in group if other != word)
    return {word: sorted(others) for word, others in found.items()}


def _contrast_table() -> dict[str, Set[str]]:
    """Word → the words on the other sides of its contrasts."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for rows in CONTRASTS.values():
        for contrast in rows.split(";"):
            sides = [side.split() for side in contrast.split("|")]
            for side in sides:
                rest = {word for other in sides if other is not side for word in other if "_" not in word}
                for word in side:
                    found[word] |= rest - set(side)
    return dict(found)
