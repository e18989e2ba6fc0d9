"""What a classifier says of the words of a sentence → a plan, each edit with its probability and a reason to read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redraft.errors import ConfigError, shown
from redraft.plan.common_names import SURE, CommonName, CommonNames
from redraft.plan.edits import Edit, EditPlan, Strength, folded
from redraft.plan.lexicon import Entry, Lexicon
from redraft.plan.phrases import places
from redraft.plan.reviewed_targets import Reviewed, ReviewedTargets
from redraft.plan.target_guard import TargetGuard, same_spelling
from redraft.text.function_words import is_content
from redraft.text.inflection import may_follow, may_stand_for
from redraft.text.names import is_negation, is_number, names
from redraft.text.protected_spans import is_address, overlaps, protected_spans
from redraft.text.qualifiers import qualifiers
from redraft.text.words import APOSTROPHES, Word, normal, split_words

Floats = NDArray[np.floating]

ALTERNATIVES = 3  # targets that a substitution offers
_DIAL: dict[Strength, float] = {"light": 0.25, "medium": 0.5, "strong": 0.75}
_MEANING = 0.2  # weight of what the meaning needs: names, numbers, negations, qualifiers, addresses
_PULL = {"insert": 0.05, "delete": 0.72, "substitute": 0.07}  # weights of edits that are fairly sure
_LEFT_OUT = 0.7  # probability from which a word is left out at light and medium: a lost qualifier changes the meaning
_MOST_DELETED = 0.5  # share of a sentence's words: something is to be left of it
_LONG = 22  # words of a sentence that a strong plan splits
_SPLIT = 0.6  # how likely that is what a person would do
_CLAUSES = re.compile(
    r"[,;] (?:and|but|or|so|which|who|while|whereas|although|because|as|when|where)\b|; |\band \w+ed\b"
)
_SAFE = 0.15  # of the level for substitutions: from there on a word is replaced by a target that fits everywhere
_POSSIBLE = 0.8  # the same for a target that a reader finds possible
_NOT_REVIEWED = Reviewed((), (), ())
_LEAST_REPLACED = 0.15  # share of its occurrences in which a phrase of several words is replaced, or it is let be


@dataclass(frozen=True)
class Levels:
    """From which probability on an edit is named."""

    delete: float
    substitute: float  # by one of its targets
    keep: float | None = None  # None: only what the meaning needs is asked to stay
    keep_all: bool = False  # every content word is asked to stay that no other edit is about; `keep` then only weighs

    def __post_init__(self) -> None:
        for level in (self.delete, self.substitute, 0.0 if self.keep is None else self.keep):
            if not _is_share(level):
                raise ConfigError(f"{shown(level)} is no probability.", "Give levels from 0 to 1.")

    @classmethod
    def of(cls, strength: Strength | float | Levels) -> Levels:
        """By name, or a number from 0 (only what is likely) to 1 (whatever may be)."""
        if isinstance(strength, Levels):
            return strength
        share: Any = _DIAL.get(strength) if isinstance(strength, str) else strength
        if not _is_share(share):
            raise ConfigError(f"strength is {shown(strength)}.", "Use light, medium, strong or a number from 0 to 1.")
        return cls(
            _between(0.67, 0.05, share) if share > _DIAL["medium"] else _LEFT_OUT,
            _between(0.6, 0.12, share), _between(0.6, 0.9818, share),
            keep_all=share <= _DIAL["medium"],
        )  # fmt: skip


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def strength_named(strength: Strength | float | Levels) -> Strength | None:
    """The name of a strength, or of the one nearest to a number; levels have none."""
    if isinstance(strength, Levels):
        return None
    if not isinstance(strength, str):
        return min(_DIAL, key=lambda name: abs(_DIAL[name] - strength))
    return strength


def _between(first: float, last: float, share: float) -> float:
    """From one probability to another, evenly in log-odds."""
    low, high = _log_odds(first), _log_odds(last)
    return 1 / (1 + math.exp(-(low + share * (high - low))))


def _log_odds(chance: float) -> float:
    chance = min(max(chance, 1e-6), 1 - 1e-6)
    return math.log(chance / (1 - chance))


@dataclass(frozen=True)
class Calibration:
    """How sure it is that a word is replaced by one of its targets: a logistic of two facts, fitted on held pairs."""

    replaced: float = 1.0  # weight of the log-odds that the word is replaced at all
    likely: float = 1.0  # weight of the log of how likely its targets are, if it is
    constant: float = 0.0

    @staticmethod
    def facts(replaced: float, likely: float) -> tuple[float, float]:
        return _log_odds(replaced), math.log(min(max(likely, 1e-6), 1.0))

    def of(self, replaced: float, likely: float) -> float:
        odds, share = self.facts(replaced, likely)
        return 1 / (1 + math.exp(-(self.replaced * odds + self.likely * share + self.constant)))


@dataclass(kw_only=True)
class PlanPrediction:
    """A sentence under way from probabilities to a plan."""

    source: str
    words: Sequence[Word]
    chances: Floats  # (word, action): keep, delete, substitute
    lexicon: Lexicon
    calibration: Calibration
    levels: Levels
    alternatives: int = ALTERNATIVES  # targets named for a substitution, at most
    guard: TargetGuard | None = None  # refuses targets that would change the meaning
    common: CommonNames | None = None  # used before the lexicon
    reviewed: ReviewedTargets | None = None  # what a reader thinks of targets
    strength: Strength | None = None  # what the plan states
    edits: dict[int, Edit] = field(default_factory=dict)  # by the first word they are about
    taken: set[int] = field(default_factory=set)  # words that some edit is about

    def __post_init__(self) -> None:
        self._rows: list[list[float]] = self.chances.tolist()  # plain numbers: quicker to read one by one
        self._keys = [normal(word.text) for word in self.words]
        self._terms = self.guard.terms(self._keys) if self.guard else []
        self._spared: list[range] = []  # terms of which a word would have been replaced

    def _chance(self, run: Sequence[int], action: int) -> float:
        """The mean over some words."""
        return sum(self._rows[at][action] for at in run) / len(run)

    def plan(self) -> EditPlan:
        """First what the meaning needs, then phrases and words to replace, phrases to leave out, words to keep."""
        self._keep_meaning()
        hidden = protected_spans(self.source)
        self.taken |= {at for at, word in enumerate(self.words) if overlaps((word.start, word.end), hidden)}
        for run, name in self.common.found_in(self._keys) if self.common else ():
            self._name(run, name)
        for run, entry in self.lexicon.found_in(self._keys):
            if entry.targets:
                self._replace(run, entry)
        self._keep_terms()
        for unit in sorted(units(self.words), key=lambda unit: -self._chance(unit, 1)):
            self._leave_out(unit)
        self._keep()
        return EditPlan(self.source, (*self._split(), *(self.edits[at] for at in sorted(self.edits))), self.strength)

    def _split(self) -> Iterator[Edit]:
        """A strong plan parts a long sentence that has more than one clause."""
        if self.strength == "strong" and len(self.words) >= _LONG and _CLAUSES.search(self.source):
            yield Edit.split(probability=_SPLIT, note=f"a sentence of {len(self.words)} words")

    def _keep_meaning(self) -> None:
        """Addresses, qualifiers, names, numbers, negations: nothing is written for them, and they are not left out."""
        for run in self._addresses():
            self._insert(run, "an address: it stays", weight=_MEANING)
        for run, what in qualifiers(self.words):
            if self.taken.isdisjoint(run):
                self._insert(run, f"{what}: it stays", weight=_MEANING)
        named = {name.casefold() for name in names(self.source)}
        for place, word in enumerate(self.words):
            why = None
            if place and word.text[:1].isupper() and word.text.casefold() in named:
                why = "a name"
            elif is_number(word.text):
                why = "a number"
            elif is_negation(word.text):
                why = "a negation"
            if why is not None and place not in self.taken:
                held = place and word.text[0] in APOSTROPHES and self.words[place - 1].end == word.start  # didn't
                self._insert(range(place - bool(held), place + 1), f"{why}: it stays", weight=_MEANING)

    def _addresses(self) -> Iterator[range]:
        """Words without white space between them, where together they are an address."""
        start = 0
        for at in range(1, len(self.words) + 1):
            if at == len(self.words) or self.words[at - 1].end < self.words[at].start:
                if at - start > 1 and is_address(self._phrase(range(start, at))):
                    yield range(start, at)
                start = at

    def _name(self, run: range, name: CommonName) -> None:
        """A common name is sure enough by itself: the words around it hardly matter."""
        if self.taken.isdisjoint(run) and self.levels.substitute <= SURE:
            wrong = self._review(run).wrong
            targets = [text for text in name.targets if text not in wrong]
            if not name.is_of_term:
                before = self._before(run)
                targets = [text for text in targets if may_follow(text, before) and self._keeps_terms(run, text)]
            self._substitute(run, targets, SURE, name.note)

    def _replace(self, run: range, entry: Entry) -> None:
        if not self.taken.isdisjoint(run) or not any(is_content(self.words[at].text) for at in run):
            return
        if len(run) > 1 and (not entry.seen or entry.replaced < _LEAST_REPLACED * entry.seen):
            return
        chance = self._chance(run, 2)
        if len(run) > 1:  # how often it is replaced as a phrase tells more than its words do
            chance = max(chance, entry.replaced / entry.seen)
        if self._replace_safely(run, entry, chance):
            return
        level = self.levels.substitute * (_POSSIBLE if self._review(run).possible else 1)
        if self.calibration.of(chance, entry.likely(ALTERNATIVES)) < level:
            return  # the guard is not asked in vain
        left = self._allowed(run, entry)
        sure = self.calibration.of(chance, left.likely(ALTERNATIVES))
        if sure >= level:
            self._substitute(run, [text for text, _ in left.targets], sure, _why(entry))

    def _replace_safely(self, run: range, entry: Entry, chance: float) -> bool:
        """By a target that fits in nearly every place: this needs less certainty, and no check in the sentence."""
        safe = self._review(run).safe
        sure = self.calibration.of(chance, entry.likely(ALTERNATIVES))
        if not safe or sure < _SAFE * self.levels.substitute:
            return False
        self._substitute(run, [text for text in safe if self._fits(run, text)], sure, _why(entry))
        return not self.taken.isdisjoint(run)

    def _allowed(self, run: range, entry: Entry) -> Entry:
        """The entry without the targets that would change the meaning or are another part of speech; where a reader has
        judged the word, with those alone that are possible."""
        if self.guard is None:
            return entry
        phrase, review = self._phrase(run), self._review(run)
        return replace(entry, targets=tuple(
            item for item in entry.targets
            if (review is _NOT_REVIEWED or item[0] in review.possible) and not same_spelling(phrase, item[0])
            and self.guard.refused(phrase, item[0]) is None and self._fits(run, item[0])
        ))  # fmt: skip

    def _review(self, run: range) -> Reviewed:
        found = self.reviewed.entry_of([self._keys[at] for at in run]) if self.reviewed else None
        return found or _NOT_REVIEWED

    def _fits(self, run: range, target: str) -> bool:
        """Whether a target is the part of speech that stands there, and breaks no term."""
        before = self._before(run)
        stands = may_stand_for(self._phrase(run), target, before) and may_follow(target, before)
        return stands and self._keeps_terms(run, target)

    def _before(self, run: range) -> str:
        return normal(self.words[run[0] - 1].text) if run[0] else ""

    def _keeps_terms(self, run: range, target: str) -> bool:
        """Whether no fixed term is broken: one is replaced as a whole, or is a term with the target too."""
        for term in self._terms:
            if run.start >= term.stop or term.start >= run.stop or (run.start <= term.start and term.stop <= run.stop):
                continue
            inside = term.start <= run.start and run.stop <= term.stop
            words = [normal(word.text) for word in split_words(target)]
            changed = [*self._keys[term.start : run.start], *words, *self._keys[run.stop : term.stop]]
            if not inside or not self.guard or not self.guard.is_term(changed):
                self._spared.append(term)
                return False
        return True

    def _keep_terms(self) -> None:
        """A term of which a word would have been replaced is asked to stay: the model might replace it all the same."""
        for term in sorted(self._spared, key=len, reverse=True):
            if self.taken.isdisjoint(term):
                self._insert(term, "a fixed term: it stays", weight=_MEANING)

    def _substitute(self, run: range, texts: Sequence[str], sure: float, note: str) -> None:
        phrase = self._phrase(run)
        targets = [_cased(text, phrase) for text in texts if folded(text) != folded(phrase)]
        if not targets:
            return
        edit = Edit.substitute(
            phrase, *targets[: self.alternatives], weight=_weight("substitute", sure, self.levels.substitute),
            span=self._span(run), probability=round(sure, 3), note=note,
        )  # fmt: skip
        self._add(run, edit)

    def _leave_out(self, unit: range) -> None:
        """A phrase as a whole, or words before its last: what a phrase is about does not go alone."""
        content = [at for at in unit if is_content(self.words[at].text)]
        free = [at for at in content if at not in self.taken]
        gone = sum(edit.kind == "delete" for edit in self.edits.values())
        if not free or gone + len(free) > _MOST_DELETED * len(self.words):
            return
        whole = len(free) == len(content) and self._chance(free, 1) >= self.levels.delete
        for at in free:
            chance = self._rows[at][1]
            if not whole and (at == content[-1] or chance < self.levels.delete or self._is_in_term(at)):
                continue
            word = self.words[at]
            note = f"people leave it out in {chance:.0%} of such places"
            if whole and len(content) > 1:
                note += f", with all of “{self._phrase(unit)}”"
            weight = _weight("delete", chance, self.levels.delete)
            edit = Edit.delete(word.text, weight=weight, span=self._span([at]), probability=_shown(chance), note=note)
            self._add([at], edit)

    def _is_in_term(self, at: int) -> bool:
        return any(at in term for term in self._terms)

    def _keep(self) -> None:
        if self.levels.keep is None:
            return
        for at, word in enumerate(self.words):
            chance = self._rows[at][0]
            wanted = chance >= self.levels.keep or (self.levels.keep_all and any(self._rows[at]))  # zeros: not read
            if wanted and at not in self.taken and is_content(word.text):
                note = f"people keep it in {chance:.0%} of such places"
                self._insert(range(at, at + 1), note, weight=_weight("insert", chance, self.levels.keep))

    def _insert(self, run: range, note: str, *, weight: float) -> None:
        chance = _shown(self._chance(run, 0))
        edit = Edit.insert(self._phrase(run), weight=weight, span=self._span(run), probability=chance, note=note)
        self._add(run, edit)

    def _add(self, run: Sequence[int], edit: Edit) -> None:
        self.edits[run[0]] = edit
        self.taken |= set(run)

    def _span(self, run: Sequence[int]) -> tuple[int, int]:
        return self.words[run[0]].start, self.words[run[-1]].end

    def _phrase(self, run: Sequence[int]) -> str:
        return self.source[slice(*self._span(run))]


def units(words: Sequence[Word]) -> Iterator[range]:
    """Short phrases: closed-class words and the content words behind them ("in the old town"); signs part them."""
    start, filled = 0, False
    for at, word in enumerate(words):
        sign = not any(map(str.isalnum, word.text))
        if sign or (filled and not is_content(word.text)):
            if start < at:
                yield range(start, at)
            start, filled = (at + 1, False) if sign else (at, False)
        filled = filled or (not sign and is_content(word.text))
    if start < len(words):
        yield range(start, len(words))


def _why(entry: Entry) -> str:
    if not entry.replaced:
        return "its targets mean much the same"
    return f"people replace it in {entry.replaced:,} of {entry.seen:,} places"


def _cased(text: str, phrase: str) -> str:
    return text[:1].upper() + text[1:] if phrase[:1].isupper() else text


def _weight(kind: str, chance: float, least: float) -> float:
    """By the odds: the search adds it to log-probabilities. A few times its kind's where an edit is all but sure."""
    ahead = max(0.0, _log_odds(chance) - _log_odds(least))
    return round(_PULL[kind] * min(3.0, 0.3 + 0.5 * ahead), 3)


def _shown(chance: float) -> float:
    return round(min(1.0, chance), 3)


def with_the_rest_kept(plan: EditPlan) -> EditPlan:
    """A plan of a person's with the other content words asked to stay: it changes what it names and nothing else.

    One without edits leaves the rewriting to the model, and so does one that states a strength or was predicted.
    """
    if plan.strength is not None or not any(edit.probability is None for edit in plan.edits):
        return plan
    taken = [span for edit in plan.edits for span in places(plan.source, edit, any_case=True)]
    kept = tuple(
        Edit.insert(word.text, weight=_PULL["insert"], span=(word.start, word.end), probability=1.0)
        for word in split_words(plan.source)
        if is_content(word.text) and not overlaps((word.start, word.end), taken)
    )
    return replace(plan, edits=(*plan.edits, *kept))
