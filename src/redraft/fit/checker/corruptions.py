"""Sentences made wrong on purpose: each corruption changes what is said, and knows which words are to blame.

They teach the meaning check what people notice at once: opposites, other things of the same kind, words that only look
alike, exchanged roles, names, numbers and units, negations, modal verbs, quantifiers, lost conditions, clauses from
elsewhere.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from redraft.plan.lexicon import Lexicon
from redraft.plan.reviewed_targets import ReviewedTargets
from redraft.plan.target_guard import CONTRASTS, TargetGuard
from redraft.text.function_words import is_content
from redraft.text.inflection import in_form_of, may_stand_for
from redraft.text.names import is_negation, is_number
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import normal

_COMMON = 3.3  # zipf: rarer words are not written
_TRIES = 12  # words of a sentence tried for one corruption
_SHORTEST = 5  # letters of a word that has look-alikes
_CLAUSE = 3  # words of a clause, at least
_LONG_CLAUSE = 12  # words of a clause from another sentence, at most
_LIST_WORDS = 3  # words from one part of a list to the next, at most
_MODALS = ("may", "must", "should", "can", "will", "might", "could", "would", "cannot")
_SAME_MODALITY = (("may", "might", "can", "could"), ("must", "shall"), ("should",), ("will", "would"), ("cannot",))
_AUXILIARIES_TEXT = """
is are was were has have had can will would should could may might must do does did be
"""
# Phrases that stand in the same place and say something else, group by group.
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
# Negations, and what is left where one is taken away.
_UNNEGATED = {
    "not": "", "never": "", "no": "a", "hardly": "", "rarely": "", "n't": "", "without": "with", "neither": "both",
    "nor": "and", "nobody": "everybody", "none": "all", "nothing": "everything",
}  # fmt: skip
_ADDED_NEGATIONS = ("not", "not", "not", "never", "no longer", "hardly")  # "not" most often
_BEFORE_A_NOUN = frozenset({"the", "a", "an", "by", "of", "his", "her"})
_LIST_SIGNS = frozenset({",", "and", "or", "/"})


@dataclass(frozen=True)
class Corruption:
    """A text as words, and what is wrong in it."""

    kind: str
    words: tuple[str, ...]
    wrong: frozenset[int]  # places in `words`
    lost: frozenset[int]  # places in the words that it was made from


def _replaced(words: Sequence[str], start: int, end: int, new: Sequence[str], kind: str) -> Corruption:
    """New words in the place of others; a capital at the start of the sentence is kept."""
    if start == 0 and new and words[0][:1].isupper() and new[0][:1].islower():
        new = (new[0].capitalize(), *new[1:])
    out = (*words[:start], *new, *words[end:])
    if start == 0 and not new and out and out[0][:1].islower():
        out = (out[0].capitalize(), *out[1:])
    wrong = range(start, start + len(new))
    return Corruption(kind, out, frozenset(wrong), frozenset(range(start, end)))


def _inserted(words: Sequence[str], at: int, glue: Sequence[str], new: Sequence[str], kind: str) -> Corruption:
    """New words before a place; `glue` joins them to what stands there, and is not wrong by itself."""
    start = at + len(glue)
    out = (*words[:at], *glue, *new, *words[at:])
    return Corruption(kind, out, frozenset(range(start, start + len(new))), frozenset())


class Corruptor:
    """Makes corruptions of a sentence. `others` are sentences from which names and clauses are taken."""

    def __init__(self, guard: TargetGuard, word_frequency: WordFrequency, lexicon: Lexicon, reviewed: ReviewedTargets,
                 vocabulary: Iterable[str], others: Sequence[Sequence[str]]) -> None:  # fmt: skip
        self._guard, self._commonness, self._lexicon, self._reviewed = guard, word_frequency, lexicon, reviewed
        self._others = others
        self._alike = _look_alikes(word for word in vocabulary if word_frequency.zipf(word) >= _COMMON)
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
        """A corruption of that kind; None where the sentence has no place for it."""
        made = self._makers[kind](words, rng)
        return made if made and [normal(word) for word in made.words] != [normal(word) for word in words] else None

    def any(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """A corruption of the first kind that is possible, in random order."""
        for kind in rng.sample(self.kinds, len(self._makers)):
            if made := self.make(kind, words, rng):
                return made
        return None

    def _word_for_word(
        self, words: Sequence[str], rng: random.Random, kind: str, rivals: Callable[[str], Iterable[str]]
    ) -> Corruption | None:
        """A content word in lower case replaced by one of its rivals, in the same form."""
        places = [at for at, word in enumerate(words) if word.isalpha() and word.islower() and is_content(word)]
        for at in rng.sample(places, min(len(places), _TRIES)):
            word = words[at]
            found = sorted({other for other in rivals(word) if self._commonness.zipf(other) >= _COMMON})
            rng.shuffle(found)
            for other in found[:_TRIES]:
                after = words[at + 1] if at + 1 < len(words) else ""
                new = in_form_of(word, other, words[max(0, at - 3) : at], after)
                if new != word and may_stand_for(word, new):
                    return _replaced(words, at, at + 1, new.split(), kind)
        return None

    def _opposite(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        return self._word_for_word(words, rng, "opposite", self._guard.antonyms)

    def _contrast(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        return self._word_for_word(
            words, rng, "contrast",
            lambda word: (other for form in self._guard.forms(word) for other in self._contrasts.get(form, ())),
        )  # fmt: skip

    def _sister(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        return self._word_for_word(words, rng, "sister", self._guard.sisters)

    def _look_alike(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        def rivals(word: str) -> Iterable[str]:
            known = self._guard.forms(word)
            return (other for other in self._alike.get(word, ()) if known.isdisjoint(self._guard.forms(other)))

        return self._word_for_word(words, rng, "look-alike", rivals)

    def _refused(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """What people did write for the word elsewhere, and what is refused."""

        def rivals(word: str) -> Iterable[str]:
            entry = self._lexicon.entry(word)
            targets = [target for target, _ in entry.targets] if entry else []
            yield from (target for target in targets if " " not in target and self._guard.refused(word, target))

        return self._word_for_word(words, rng, "refused", rivals)

    def _judged_wrong(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """What a reader has judged wrong for the word in most places."""

        def rivals(word: str) -> Iterable[str]:
            judged = self._reviewed.entry(word)
            return judged.wrong if judged else ()

        return self._word_for_word(words, rng, "judged wrong", rivals)

    def _other_word(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """A word of the same part of speech from another sentence: what a model that guesses writes."""

        def rivals(word: str) -> Iterable[str]:
            for other in (rng.choice(self._others) for _ in range(3)):
                for new in other:
                    if new.isalpha() and new.islower() and is_content(new) and not self._is_near(word, new):
                        yield new

        return self._word_for_word(words, rng, "other word", rivals)

    def _is_near(self, word: str, new: str) -> bool:
        return bool(self._guard.forms(word) & self._guard.forms(new)) or self._guard.have_close_senses(word, new)

    def _roles(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """Two names, or two nouns, in each other's place."""
        nouns = [at for at in range(len(words)) if _is_noun(words, at)]
        for places in rng.sample([_names(words), nouns], 2):
            pairs = [(one, two) for one in places for two in places if _may_be_exchanged(words, one, two)]
            if pairs:
                one, two = rng.choice(pairs)
                out = list(words)
                out[one], out[two] = out[two], out[one]
                changed = frozenset({one, two})
                return Corruption("roles", tuple(out), changed, changed)
        return None

    def _name(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """A name from another sentence in the place of one here."""
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
            if normal(word) in _AUXILIARIES and not is_negation(words[at + 1]) and words[at + 1].isalpha()
        ]  # fmt: skip
        if not places:
            return None
        at = rng.choice(places) + 1
        return _inserted(words, at, (), rng.choice(_ADDED_NEGATIONS).split(), "negation added")

    def _negation_removed(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        places = [at for at, word in enumerate(words) if normal(word) in _UNNEGATED]
        if not places:
            return None
        at = rng.choice(places)
        return _replaced(words, at, at + 1, _UNNEGATED[normal(words[at])].split(), "negation removed")

    def _modality(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """Another modal verb, or one before "be" where there is none."""
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
        plain = [normal(word) for word in words]
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
        """A clause with a condition, a reason or a time left out."""
        last = len(words) - 1
        ends = [*(at + 1 for at, word in enumerate(words) if word in (",", ";")), last]
        for start in rng.sample(range(len(words)), len(words)):
            if normal(words[start]) not in _CONDITIONS:
                continue
            end = next((mark for mark in ends if mark > start + 1), last)
            if end - start >= _CLAUSE and len(words) - (end - start) >= 2 * _CLAUSE:
                has_comma = start > 0 and words[start - 1] == "," and end == last
                return _replaced(words, start - has_comma, end, (), "condition lost")
        return None

    def _foreign(self, words: Sequence[str], rng: random.Random) -> Corruption | None:
        """A clause of another sentence at the end, or in the place of one here."""
        close = len(words) - (words[-1] in ".!?") if words else 0
        for _ in range(_TRIES if len(words) >= _CLAUSE else 0):
            other = rng.choice(self._others)
            cuts = [-1, *(at for at, word in enumerate(other) if word in (",", ".", ";", "and"))]
            clauses = [other[one + 1 : two] for one, two in pairwise(cuts) if _CLAUSE < two - one <= _LONG_CLAUSE + 1]
            if not clauses:
                continue
            new = rng.choice(clauses)
            if rng.random() < 0.5:
                return _inserted(words, close, (rng.choice((",", "and", ".")),), new, "clause from elsewhere")
            commas = [at for at, word in enumerate(words) if word == "," and at + _CLAUSE < close]
            if commas:
                return _replaced(words, rng.choice(commas) + 1, close, new, "clause from elsewhere")
        return None


def _is_name(words: Sequence[str], at: int) -> bool:
    """Whether a word is capitalised, though it does not begin the sentence."""
    word = words[at]
    return at > 0 and word[:1].isupper() and word.isalpha() and is_content(word)


def _names(words: Sequence[str]) -> list[int]:
    return [at for at in range(len(words)) if _is_name(words, at)]


def _is_noun(words: Sequence[str], at: int) -> bool:
    """Whether a word stands between an article, or a word like one, and the end of its phrase."""
    if at == 0 or not (words[at].islower() and is_content(words[at])) or normal(words[at - 1]) not in _BEFORE_A_NOUN:
        return False
    return at + 1 == len(words) or not is_content(words[at + 1])


def _may_be_exchanged(words: Sequence[str], one: int, two: int) -> bool:
    """Whether the second of two different words stands behind the first, and they are not parts of one list."""
    if two <= one + 1 or normal(words[one]) == normal(words[two]):
        return False
    return two - one > _LIST_WORDS or _LIST_SIGNS.isdisjoint(words[one:two])


def _other_number(word: str, rng: random.Random) -> str:
    """Another digit in one place, sometimes one more or one less; another word where there are no digits."""
    digits = [place for place, character in enumerate(word) if character in "0123456789"]
    if not digits:
        return rng.choice([number for number in _NUMBERS if number != word.lower()])
    place = rng.choice(digits)
    new = word[:place] + rng.choice([digit for digit in "123456789" if digit != word[place]]) + word[place + 1 :]
    if rng.random() < 0.2 and len(digits) == len(word):
        return word + "0" if rng.random() < 0.5 or len(word) < 2 else word[:-1]
    return new


def _look_alikes(vocabulary: Iterable[str]) -> dict[str, list[str]]:
    """Words that differ by one letter, or by letters in the middle."""
    patterns: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(set(vocabulary)):
        if word.isalpha() and len(word) >= _SHORTEST and is_content(word):
            for at in range(1, len(word)):
                patterns[word[:at] + "*" + word[at + 1 :]].append(word)
            patterns[word[:3] + "…" + word[-4:]].append(word)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for group in patterns.values():
        for word in group if 1 < len(group) <= 20 else ():
            found[word].update(other for other in group if other != word)
    return {word: sorted(others) for word, others in found.items()}


def _contrast_table() -> dict[str, Set[str]]:
    """A word → those on the other sides of its contrasts."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for rows in CONTRASTS.values():
        for contrast in rows.split(";"):
            sides = [side.split() for side in contrast.split("|")]
            for side in sides:
                rest = {word for other in sides if other is not side for word in other if "_" not in word}
                for word in side:
                    found[word] |= rest - set(side)
    return dict(found)
