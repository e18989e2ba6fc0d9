"""Reranks candidates: requested edits first, then protected text, likelihood, and counted faults."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from redraft.decode.result import Candidate, Result, is_requested
from redraft.plan.apply_edits import apply_edits
from redraft.plan.edits import Edit, EditPlan, fold_phrase
from redraft.plan.verdicts import Verdict, judge
from redraft.text.function_words import is_content
from redraft.text.names import invented_names, missing_names, missing_negations
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import APOSTROPHES, HYPHENS, normalise, split_words

_HYPHEN = re.compile(f"[{HYPHENS}]")
_ENDING = 2  # letters of 's, 've, 'll
_UNLIKELY = 5.0  # a text this far below the likeliest, in log-probability, is ranked after the others
_GARBLED = -0.7  # mean log-probability per token of garbled texts; good ones have about -0.1
_STEM = 4  # first letters that the forms of a word share
# Function words that state relations. Without of, to, as, that and which, which change with the wording.
_RELATED = """
    about above across after against along among around at before behind below beneath beside between beyond by despite
    down during except for from in inside into near off on onto out outside over past per since through throughout under
    until up upon via with within without
    i me my we us our you your he him his she her it its they them their whom whose this these those what there
    here whenever wherever
"""
_RELATIONS = frozenset(_RELATED.split())


def rerank(result: Result, plan: EditPlan, word_frequency: WordFrequency, is_intact: Callable[[str], bool]) -> Result:
    """Sort the candidates by unsatisfied requested edits, then damaged protected text, then texts that are unlikely for
    the model, then the number of faults, then the order of the search.

    The source with its edits made in place is a candidate too. It has no log-probability and comes after equally good
    texts of the model, so it is first only if all of these are worse.
    """
    threshold = max(one.log_prob for one in result.candidates) - _UNLIKELY
    if any(is_requested(verdict.edit) for verdict in result.verdicts):
        threshold = -math.inf
    faults = FaultCounter(plan, word_frequency)

    def key(candidate: Candidate) -> tuple[int, bool, bool, int]:
        unsatisfied = sum(is_requested(one.edit) and one.status != "satisfied" for one in candidate.verdicts)
        likely = candidate.literal or (candidate.log_prob >= threshold and not is_garbled(candidate))
        return unsatisfied, not is_intact(candidate.text), not likely, faults.count(candidate)

    found = {one.text for one in result.candidates}
    candidates = [*result.candidates, *(one for one in [literal_candidate(plan)] if one.text not in found)]
    return replace(result, candidates=tuple(sorted(candidates, key=key)))


def is_garbled(candidate: Candidate) -> bool:
    """Whether a text of the model is so unlikely that it is probably not English."""
    return candidate.log_prob / max(1, len(candidate.tokens)) < _GARBLED


def literal_candidate(plan: EditPlan, without: Sequence[Edit] = ()) -> Candidate:
    """The source with the plan's edits made in place, except those in `without` and predicted deletions."""
    edits = tuple(edit for edit in plan.edits if edit not in without and (edit.kind != "delete" or is_requested(edit)))
    text = apply_edits(replace(plan, edits=edits))
    return Candidate(text, 0.0, 0.0, tuple(judge(plan, text)), (), False, literal=True)


class FaultCounter:
    """Counts the faults of a text that can be found from its words.

    Faults: a word that is neither in the source, nor in the plan, nor in the table of English words; a word repeated
    more often than in the source; a name, number or negation that is lost or new, unless the plan says so; a predicted
    substitution with neither its word nor a target in the text; a lost word to keep. If every content word has an edit,
    also: a new content word; a preposition or pronoun that is lost or new compared with the plan applied in place; any
    change at all if the plan asks for none.
    """

    def __init__(self, plan: EditPlan, word_frequency: WordFrequency) -> None:
        self._source, self._word_frequency = plan.source, word_frequency
        self._source_counts = Counter(_words(plan.source))
        named_texts = [text for edit in plan.edits for text in (edit.phrase, *edit.targets)]
        self._known = {part for text in (plan.source, *named_texts) for part in _parts(text)}
        self._gone = " ".join(edit.phrase for edit in plan.edits if edit.kind in ("delete", "substitute"))
        self._new = " ".join(text for edit in plan.edits for text in edit.targets or (edit.phrase,))
        named = {part for edit in plan.edits for part in _parts(edit.phrase)}
        self._covers_all_words = bool(named) and all(part in named for part in _parts(plan.source) if is_content(part))
        self._stems = {part[:_STEM] for part in self._known}
        self._plan = plan
        self._deletions = sum(edit.kind == "delete" for edit in plan.edits)
        self._changes_nothing = all(edit.kind == "insert" for edit in plan.edits)

    @property
    def forbids_changes(self) -> bool:
        """Whether any change of the source is a fault: every content word is to be kept."""
        return self._covers_all_words and self._changes_nothing

    @cached_property
    def _relations(self) -> Counter[str]:
        """Those of the plan applied in place."""
        return _relations(apply_edits(self._plan))

    def count(self, candidate: Candidate) -> int:
        text = candidate.text
        faults = self._words(text) + self._meaning(text) + self._changes_beyond_plan(text)
        return faults + self._edits(candidate.verdicts)

    def _words(self, text: str) -> int:
        new = (part for part in _parts(text) if part not in self._known and any(map(str.isalpha, part)))
        invented = sum(not self._word_frequency.zipf(part) for part in new)
        again = (count - max(1, self._source_counts[word]) for word, count in Counter(_words(text)).items())
        return invented + sum(more for more in again if more > 0)

    def _meaning(self, text: str) -> int:
        lost = [*missing_names(self._source, text), *missing_negations(self._source, text)]
        new = [*invented_names(self._source, text), *missing_negations(text, self._source)]
        return sum(_lacks(self._gone, word) for word in lost) + sum(_lacks(self._new, word) for word in new)

    def _changes_beyond_plan(self, text: str) -> int:
        """Changes beyond the plan, if the plan names every content word."""
        if not self._covers_all_words:
            return 0
        if self._changes_nothing and text != self._source:
            return 1
        new = sum(part.isalpha() and is_content(part) and part[:_STEM] not in self._stems for part in _parts(text))
        relations = _relations(text)
        lost, added = (self._relations - relations).total(), (relations - self._relations).total()
        return new + max(0, lost - self._deletions) + added

    def _edits(self, verdicts: Sequence[Verdict]) -> int:
        return sum(
            one.status == "unmet" and one.edit.kind in ("insert", "substitute") and not is_requested(one.edit)
            for one in verdicts
        )


def _relations(text: str) -> Counter[str]:
    """The function words of a text that state relations, and the punctuation between its clauses."""
    return Counter([part for part in _parts(text) if part in _RELATIONS] + [sign for sign in text if sign in ";:"])


def _lacks(texts: str, word: str) -> bool:
    return fold_phrase(word) not in fold_phrase(texts)


def _words(text: str) -> Iterator[str]:
    """Content words and numbers, without names, which may be repeated where a sentence is split."""
    for word in split_words(text):
        if any(map(str.isdigit, word.text)) or (word.text[:1].islower() and is_content(word.text)):
            yield word.text


def _parts(text: str) -> Iterator[str]:
    """Words in normal form, split at hyphens, without endings after an apostrophe."""
    for word in split_words(text):
        bare = word.text.lstrip(APOSTROPHES)
        if bare == word.text or len(bare) > _ENDING:
            yield from filter(None, _HYPHEN.split(normalise(bare)))
