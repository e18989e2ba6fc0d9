"""Turns the probabilities of the edit classifier into a plan; each edit has its probability and a reason."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redraft.errors import ConfigError, shown
from redraft.plan.common_names import COMMON_NAME_PROBABILITY, CommonName, CommonNames
from redraft.plan.edits import Edit, EditPlan, Strength, fold_phrase
from redraft.plan.lexicon import Entry, Lexicon
from redraft.plan.phrases import occurrences
from redraft.plan.reviewed_targets import Reviewed, ReviewedTargets
from redraft.plan.target_guard import TargetGuard, same_spelling
from redraft.text.function_words import is_content
from redraft.text.inflection import may_follow, may_share_part_of_speech
from redraft.text.names import is_negation, is_number, names
from redraft.text.protected_spans import is_address, overlaps, protected_spans
from redraft.text.qualifiers import qualifiers
from redraft.text.spelling import Spelling, in_spelling
from redraft.text.words import APOSTROPHES, Word, normalise, split_words

Floats = NDArray[np.floating]

ALTERNATIVES = 3  # maximum targets of a substitution
_STRENGTH_VALUES: dict[Strength, float] = {"light": 0.25, "medium": 0.5, "strong": 0.75}
_MEANING_WEIGHT = 0.2  # of names, numbers, negations, qualifiers and addresses, which carry the meaning
_BASE_WEIGHTS = {"insert": 0.05, "delete": 0.72, "substitute": 0.07}
_DELETION_LEVEL = 0.7  # at light and medium strength; high, because losing a qualifier changes the meaning
_MAX_DELETED = 0.5  # share of the words of a sentence
_LONG_SENTENCE = 22  # words from which a strong plan splits a sentence
_SPLIT_PROBABILITY = 0.6  # that a person would split it
_CLAUSE_BOUNDARY = re.compile(
    r"[,;] (?:and|but|or|so|which|who|while|whereas|although|because|as|when|where)\b|; |\band \w+ed\b"
)
_SAFE_FACTOR = 0.15  # on the level for substitutions, for targets that a reader judged safe
_POSSIBLE_FACTOR = 0.8  # on the level for substitutions, for targets that a reader judged possible
_NOT_REVIEWED = Reviewed((), (), ())
_MIN_REPLACED = 0.15  # a phrase of several words is replaced only if people replaced this share of its occurrences


@dataclass(frozen=True)
class Levels:
    """The probability thresholds of edits."""

    delete: float
    substitute: float  # of replacing a word by one of its targets
    keep: float | None = None  # None: keep only words that carry the meaning
    keep_all: bool = False  # keep every content word without another edit; `keep` then only affects weights

    def __post_init__(self) -> None:
        for level in (self.delete, self.substitute, 0.0 if self.keep is None else self.keep):
            if not _is_probability(level):
                raise ConfigError(f"{shown(level)} is not a probability.", "Give levels from 0 to 1.")

    @classmethod
    def of(cls, strength: Strength | float | Levels) -> Levels:
        """Levels for a strength by name, or a number from 0 (only likely edits) to 1 (all possible edits)."""
        if isinstance(strength, Levels):
            return strength
        value: Any = _STRENGTH_VALUES.get(strength) if isinstance(strength, str) else strength
        if not _is_probability(value):
            raise ConfigError(f"strength is {shown(strength)}.", "Use light, medium, strong or a number from 0 to 1.")
        return cls(
            _interpolate(0.67, 0.05, value) if value > _STRENGTH_VALUES["medium"] else _DELETION_LEVEL,
            _interpolate(0.6, 0.12, value), _interpolate(0.6, 0.9818, value),
            keep_all=value <= _STRENGTH_VALUES["medium"],
        )  # fmt: skip


def _is_probability(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def strength_name(strength: Strength | float | Levels) -> Strength | None:
    """The name of a strength, or of that nearest to a number; None for levels."""
    if isinstance(strength, Levels):
        return None
    if not isinstance(strength, str):
        return min(_STRENGTH_VALUES, key=lambda name: abs(_STRENGTH_VALUES[name] - strength))
    return strength


def _interpolate(first: float, last: float, share: float) -> float:
    """Interpolate between two probabilities, linearly in log-odds."""
    low, high = _log_odds(first), _log_odds(last)
    return 1 / (1 + math.exp(-(low + share * (high - low))))


def _log_odds(probability: float) -> float:
    probability = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(probability / (1 - probability))


@dataclass(frozen=True)
class Calibration:
    """Logistic regression of whether a word is replaced by one of its targets, fitted on held-out pairs."""

    replaced: float = 1.0  # coefficient of the log-odds that the word is replaced at all
    likely: float = 1.0  # coefficient of the log-probability of its targets, given that it is replaced
    constant: float = 0.0  # intercept

    @staticmethod
    def features(replaced: float, likely: float) -> tuple[float, float]:
        return _log_odds(replaced), math.log(min(max(likely, 1e-6), 1.0))

    def of(self, replaced: float, likely: float) -> float:
        odds, share = self.features(replaced, likely)
        return 1 / (1 + math.exp(-(self.replaced * odds + self.likely * share + self.constant)))


@dataclass(kw_only=True)
class PlanPrediction:
    """Builds the plan of one sentence from its probabilities."""

    source: str
    words: Sequence[Word]
    probabilities: Floats  # (word, action): keep, delete, substitute
    lexicon: Lexicon
    calibration: Calibration
    levels: Levels
    alternatives: int = ALTERNATIVES  # maximum targets of a substitution
    guard: TargetGuard | None = None  # refuses targets that change the meaning
    common: CommonNames | None = None  # takes precedence over the lexicon
    reviewed: ReviewedTargets | None = None  # judgements of targets by a reader
    strength: Strength | None = None  # recorded in the plan
    edits: dict[int, Edit] = field(default_factory=dict)  # by the index of their first word
    covered: set[int] = field(default_factory=set)  # indices of words that have an edit or are protected

    def __post_init__(self) -> None:
        self._rows: list[list[float]] = self.probabilities.tolist()  # Python floats: faster to read one by one
        self._keys = [normalise(word.text) for word in self.words]
        self._terms = self.guard.fixed_terms(self._keys) if self.guard else []
        self._broken_terms: list[range] = []  # fixed terms of which a single word would have been replaced

    def _mean_probability(self, run: Sequence[int], action: int) -> float:
        """The mean probability of an action over some words."""
        return sum(self._rows[at][action] for at in run) / len(run)

    def plan(self) -> EditPlan:
        """Add edits in this order: words that carry the meaning, replacements, deletions, other words to keep."""
        self._keep_meaning()
        protected = protected_spans(self.source)
        self.covered |= {at for at, word in enumerate(self.words) if overlaps((word.start, word.end), protected)}
        for run, name in self.common.found_in(self._keys) if self.common else ():
            self._add_common_name(run, name)
        for run, entry in self.lexicon.found_in(self._keys):
            if entry.targets:
                self._replace(run, entry)
        self._keep_terms()
        for chunk in sorted(chunks(self.words), key=lambda chunk: -self._mean_probability(chunk, 1)):
            self._delete(chunk)
        self._keep()
        return EditPlan(self.source, (*self._split(), *(self.edits[at] for at in sorted(self.edits))), self.strength)

    def _split(self) -> Iterator[Edit]:
        """A strong plan splits a long sentence that has more than one clause."""
        if self.strength == "strong" and len(self.words) >= _LONG_SENTENCE and _CLAUSE_BOUNDARY.search(self.source):
            yield Edit.split(probability=_SPLIT_PROBABILITY, note=f"a sentence of {len(self.words)} words")

    def _keep_meaning(self) -> None:
        """Keep addresses, qualifiers, names, numbers and negations: they are neither replaced nor deleted."""
        for run in self._addresses():
            self._insert(run, "an address: it stays", weight=_MEANING_WEIGHT)
        for run, what in qualifiers(self.words):
            if self.covered.isdisjoint(run):
                self._insert(run, f"{what}: it stays", weight=_MEANING_WEIGHT)
        known_names = {name.casefold() for name in names(self.source)}
        for place, word in enumerate(self.words):
            kind = None
            if place and word.text[:1].isupper() and word.text.casefold() in known_names:
                kind = "a name"
            elif is_number(word.text):
                kind = "a number"
            elif is_negation(word.text):
                kind = "a negation"
            if kind is not None and place not in self.covered:
                contracted = place and word.text[0] in APOSTROPHES and self.words[place - 1].end == word.start  # didn't
                self._insert(range(place - bool(contracted), place + 1), f"{kind}: it stays", weight=_MEANING_WEIGHT)

    def _addresses(self) -> Iterator[range]:
        """Runs of words without white space between them that together are an address."""
        start = 0
        for at in range(1, len(self.words) + 1):
            if at == len(self.words) or self.words[at - 1].end < self.words[at].start:
                if at - start > 1 and is_address(self._phrase(range(start, at))):
                    yield range(start, at)
                start = at

    def _add_common_name(self, run: range, name: CommonName) -> None:
        """Add a substitution by a common name; it needs no support from the context."""
        if self.covered.isdisjoint(run) and self.levels.substitute <= COMMON_NAME_PROBABILITY:
            wrong = self._review(run).wrong
            targets = [text for text in name.targets if text not in wrong]
            if not name.is_of_term:
                before = self._before(run)
                targets = [text for text in targets if may_follow(text, before) and self._keeps_terms(run, text)]
            self._substitute(run, targets, COMMON_NAME_PROBABILITY, name.note)

    def _replace(self, run: range, entry: Entry) -> None:
        if not self.covered.isdisjoint(run) or not any(is_content(self.words[at].text) for at in run):
            return
        if len(run) > 1 and (not entry.seen or entry.replaced < _MIN_REPLACED * entry.seen):
            return
        probability = self._mean_probability(run, 2)
        if len(run) > 1:  # the counts of the phrase are more reliable than the probabilities of its words
            probability = max(probability, entry.replaced / entry.seen)
        if self._replace_by_safe_target(run, entry, probability):
            return
        level = self.levels.substitute * (_POSSIBLE_FACTOR if self._review(run).possible else 1)
        if self.calibration.of(probability, entry.target_probability(ALTERNATIVES)) < level:
            return  # avoids the cost of the guard
        left = self._allowed(run, entry)
        confidence = self.calibration.of(probability, left.target_probability(ALTERNATIVES))
        if confidence >= level:
            self._substitute(run, [text for text, _ in left.targets], confidence, _replacement_note(entry))

    def _replace_by_safe_target(self, run: range, entry: Entry, probability: float) -> bool:
        """Replace a phrase by a safe target, which needs a lower probability and no check by the guard."""
        safe = self._review(run).safe
        confidence = self.calibration.of(probability, entry.target_probability(ALTERNATIVES))
        if not safe or confidence < _SAFE_FACTOR * self.levels.substitute:
            return False
        self._substitute(run, [text for text in safe if self._fits(run, text)], confidence, _replacement_note(entry))
        return not self.covered.isdisjoint(run)

    def _allowed(self, run: range, entry: Entry) -> Entry:
        """The entry without targets that change the meaning or have another part of speech; if a reader has judged the
        word, only with targets judged possible."""
        if self.guard is None:
            return entry
        phrase, review = self._phrase(run), self._review(run)
        return replace(entry, targets=tuple(
            item for item in entry.targets
            if (review is _NOT_REVIEWED or item[0] in review.possible) and not same_spelling(phrase, item[0])
            and self.guard.refusal_reason(phrase, item[0]) is None and self._fits(run, item[0])
        ))  # fmt: skip

    def _review(self, run: range) -> Reviewed:
        found = self.reviewed.entry_of([self._keys[at] for at in run]) if self.reviewed else None
        return found or _NOT_REVIEWED

    def _fits(self, run: range, target: str) -> bool:
        """Whether a target has the part of speech of the replaced phrase and breaks no fixed term."""
        before = self._before(run)
        grammatical = may_share_part_of_speech(self._phrase(run), target, before) and may_follow(target, before)
        return grammatical and self._keeps_terms(run, target)

    def _before(self, run: range) -> str:
        return normalise(self.words[run[0] - 1].text) if run[0] else ""

    def _keeps_terms(self, run: range, target: str) -> bool:
        """Whether no fixed term is broken: terms are replaced as a whole, or are still a term with the target."""
        for term in self._terms:
            if run.start >= term.stop or term.start >= run.stop or (run.start <= term.start and term.stop <= run.stop):
                continue
            inside = term.start <= run.start and run.stop <= term.stop
            words = [normalise(word.text) for word in split_words(target)]
            changed = [*self._keys[term.start : run.start], *words, *self._keys[run.stop : term.stop]]
            if not inside or not self.guard or not self.guard.is_term(changed):
                self._broken_terms.append(term)
                return False
        return True

    def _keep_terms(self) -> None:
        """Keep terms of which a word would have been replaced, because the model might still replace it."""
        for term in sorted(self._broken_terms, key=len, reverse=True):
            if self.covered.isdisjoint(term):
                self._insert(term, "a fixed term: it stays", weight=_MEANING_WEIGHT)

    def _substitute(self, run: range, texts: Sequence[str], confidence: float, note: str) -> None:
        phrase = self._phrase(run)
        targets = [_match_case(text, phrase) for text in texts if fold_phrase(text) != fold_phrase(phrase)]
        if not targets:
            return
        edit = Edit.substitute(
            phrase, *targets[: self.alternatives], weight=_weight("substitute", confidence, self.levels.substitute),
            span=self._span(run), probability=round(confidence, 3), note=note,
        )  # fmt: skip
        self._add(run, edit)

    def _delete(self, chunk: range) -> None:
        """Delete a chunk as a whole, or single words of it other than its last content word, which is its head."""
        content = [at for at in chunk if is_content(self.words[at].text)]
        free = [at for at in content if at not in self.covered]
        deleted = sum(edit.kind == "delete" for edit in self.edits.values())
        if not free or deleted + len(free) > _MAX_DELETED * len(self.words):
            return
        whole = len(free) == len(content) and self._mean_probability(free, 1) >= self.levels.delete
        for at in free:
            probability = self._rows[at][1]
            if not whole and (at == content[-1] or probability < self.levels.delete or self._is_in_term(at)):
                continue
            word = self.words[at]
            note = f"people leave it out in {probability:.0%} of such places"
            if whole and len(content) > 1:
                note += f", with all of “{self._phrase(chunk)}”"
            weight = _weight("delete", probability, self.levels.delete)
            edit = Edit.delete(
                word.text, weight=weight, span=self._span([at]), probability=_rounded(probability), note=note
            )
            self._add([at], edit)

    def _is_in_term(self, at: int) -> bool:
        return any(at in term for term in self._terms)

    def _keep(self) -> None:
        if self.levels.keep is None:
            return
        for at, word in enumerate(self.words):
            probability = self._rows[at][0]
            is_read = any(self._rows[at])  # probabilities are zero beyond the limit of the encoder
            wanted = probability >= self.levels.keep or (self.levels.keep_all and is_read)
            if wanted and at not in self.covered and is_content(word.text):
                note = f"people keep it in {probability:.0%} of such places"
                self._insert(range(at, at + 1), note, weight=_weight("insert", probability, self.levels.keep))

    def _insert(self, run: range, note: str, *, weight: float) -> None:
        probability = _rounded(self._mean_probability(run, 0))
        edit = Edit.insert(self._phrase(run), weight=weight, span=self._span(run), probability=probability, note=note)
        self._add(run, edit)

    def _add(self, run: Sequence[int], edit: Edit) -> None:
        self.edits[run[0]] = edit
        self.covered |= set(run)

    def _span(self, run: Sequence[int]) -> tuple[int, int]:
        return self.words[run[0]].start, self.words[run[-1]].end

    def _phrase(self, run: Sequence[int]) -> str:
        return self.source[slice(*self._span(run))]


def chunks(words: Sequence[Word]) -> Iterator[range]:
    """Short phrases: function words and the following content words ("in the old town"); punctuation separates them."""
    start, has_content = 0, False
    for at, word in enumerate(words):
        punctuation = not any(map(str.isalnum, word.text))
        if punctuation or (has_content and not is_content(word.text)):
            if start < at:
                yield range(start, at)
            start, has_content = (at + 1 if punctuation else at), False
        has_content = has_content or (not punctuation and is_content(word.text))
    if start < len(words):
        yield range(start, len(words))


def _replacement_note(entry: Entry) -> str:
    if not entry.replaced:
        return "its targets mean much the same"
    return f"people replace it in {entry.replaced:,} of {entry.seen:,} places"


def _match_case(text: str, phrase: str) -> str:
    return text[:1].upper() + text[1:] if phrase[:1].isupper() else text


def _weight(kind: str, probability: float, level: float) -> float:
    """The weight of an edit, linear in the log-odds by which it exceeds its level; at most 3 times the base weight.

    Linear, because the search adds weights to log-probabilities.
    """
    margin = max(0.0, _log_odds(probability) - _log_odds(level))
    return round(_BASE_WEIGHTS[kind] * min(3.0, 0.3 + 0.5 * margin), 3)


def _rounded(probability: float) -> float:
    return round(min(1.0, probability), 3)


def with_spelling(plan: EditPlan, spelling: Spelling | None) -> EditPlan:
    """The plan with its predicted targets in one spelling; what a user asks for is not changed."""
    if spelling is None:
        return plan
    edits = (
        edit
        if edit.probability is None or not edit.targets
        else replace(edit, targets=tuple(dict.fromkeys(in_spelling(target, spelling) for target in edit.targets)))
        for edit in plan.edits
    )
    return replace(plan, edits=tuple(edits))


def keep_unedited_words(plan: EditPlan) -> EditPlan:
    """A plan written by a user, with insertions of all content words without an edit, so that nothing else changes.

    Unchanged are plans without edits, plans with a strength and predicted plans: they leave the rest to the model.
    """
    if plan.strength is not None or not any(edit.probability is None for edit in plan.edits):
        return plan
    covered = [span for edit in plan.edits for span in occurrences(plan.source, edit, any_case=True)]
    kept = tuple(
        Edit.insert(word.text, weight=_BASE_WEIGHTS["insert"], span=(word.start, word.end), probability=1.0)
        for word in split_words(plan.source)
        if is_content(word.text) and not overlaps((word.start, word.end), covered)
    )
    return replace(plan, edits=(*plan.edits, *kept))
