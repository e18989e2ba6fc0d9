"""Which of the finished texts is given: one that does what a person asked, keeps the meaning and is well written."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from redraft.decode.result import Candidate, Result, is_requested
from redraft.plan.apply_edits import apply_edits
from redraft.plan.edits import Edit, EditPlan, folded
from redraft.plan.verdicts import Verdict, judge
from redraft.text.function_words import is_content
from redraft.text.names import made_up, missing, missing_negations
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import APOSTROPHES, HYPHENS, normal, split_words

_HYPHEN = re.compile(f"[{HYPHENS}]")
_ENDING = 2  # letters of 's, 've, 'll
_UNLIKELY = 5.0  # log-probability behind the likeliest text beyond which predicted edits do not make up for it
_GARBLED = -0.7  # mean log-probability of a token below which a text reads badly; good ones have about -0.1
_STEM = 4  # letters by which two forms of a word are known
# Small words that say how things are related. Not: of, to, as, that, which, which come and go with the wording.
_RELATED = """
    about above across after against along among around at before behind below beneath beside between beyond by despite
    down during except for from in inside into near off on onto out outside over past per since through throughout under
    until up upon via with within without
    i me my we us our you your he him his she her it its they them their whom whose this these those what there
    here whenever wherever
"""
_RELATIONS = frozenset(_RELATED.split())


def rerank(decoded: Result, plan: EditPlan, word_frequency: WordFrequency, is_intact: Callable[[str], bool]) -> Result:
    """The candidates in this order: edits that a person asked for, protected text, no text that the model finds most
    unlikely, faults, and last the order of the search.

    The plan carried out word by word is a candidate too. It is given where every text of the model is worse: it has no
    likelihood, and it comes after texts that are as good.
    """
    likely = max(one.log_prob for one in decoded.candidates) - _UNLIKELY
    if any(is_requested(verdict.edit) for verdict in decoded.verdicts):
        likely = -math.inf
    faults = Faults(plan, word_frequency)

    def key(candidate: Candidate) -> tuple[int, bool, bool, int]:
        asked = sum(is_requested(one.edit) and one.status != "satisfied" for one in candidate.verdicts)
        mean = candidate.log_prob / max(1, len(candidate.tokens))
        unlikely = not candidate.literal and (candidate.log_prob < likely or mean < _GARBLED)
        return asked, not is_intact(candidate.text), unlikely, faults.of(candidate)

    found = {one.text for one in decoded.candidates}
    candidates = [*decoded.candidates, *(one for one in [edited(plan)] if one.text not in found)]
    return replace(decoded, candidates=tuple(sorted(candidates, key=key)))


def edited(plan: EditPlan, without: Sequence[Edit] = ()) -> Candidate:
    """The source with the plan's edits in place, some left out; deletions only where a person asked for them."""
    edits = tuple(edit for edit in plan.edits if edit not in without and (edit.kind != "delete" or is_requested(edit)))
    text = apply_edits(replace(plan, edits=edits))
    return Candidate(text, 0.0, 0.0, tuple(judge(plan, text)), (), False, literal=True)


class Faults:
    """What is wrong with a text, as far as words tell: each counts one.

    A word that neither the source, nor the plan, nor English has; one that stands there again though the source has it
    less often; a name, number or negation that is lost or new, unless the plan says so; a predicted substitution with
    neither its word nor a target in the text; a word that was to stay and is gone. Where every content word
    has its edit, also: a content word that is new, and a preposition or pronoun that is lost or new beside the plan
    carried out in place; any change at all where it asks for none.
    """

    def __init__(self, plan: EditPlan, word_frequency: WordFrequency) -> None:
        self._source, self._commonness = plan.source, word_frequency
        self._said = Counter(_words(plan.source))
        asked = [text for edit in plan.edits for text in (edit.phrase, *edit.targets)]
        self._known = {part for text in (plan.source, *asked) for part in _parts(text)}
        self._gone = " ".join(edit.phrase for edit in plan.edits if edit.kind in ("delete", "substitute"))
        self._new = " ".join(text for edit in plan.edits for text in edit.targets or (edit.phrase,))
        named = {part for edit in plan.edits for part in _parts(edit.phrase)}
        self._is_full = bool(named) and all(part in named for part in _parts(plan.source) if is_content(part))
        self._stems = {part[:_STEM] for part in self._known}
        self._relations = _relations(apply_edits(plan))
        self._deletions = sum(edit.kind == "delete" for edit in plan.edits)
        self._changes_nothing = all(edit.kind == "insert" for edit in plan.edits)

    def of(self, candidate: Candidate) -> int:
        text = candidate.text
        return self._words(text) + self._meaning(text) + self._unasked(text) + self._edits(candidate.verdicts)

    def _words(self, text: str) -> int:
        new = (part for part in _parts(text) if part not in self._known and any(map(str.isalpha, part)))
        invented = sum(not self._commonness.zipf(part) for part in new)
        again = (count - max(1, self._said[word]) for word, count in Counter(_words(text)).items())
        return invented + sum(more for more in again if more > 0)

    def _meaning(self, text: str) -> int:
        lost = [*missing(self._source, text), *missing_negations(self._source, text)]
        new = [*made_up(self._source, text), *missing_negations(text, self._source)]
        return sum(_lacks(self._gone, word) for word in lost) + sum(_lacks(self._new, word) for word in new)

    def _unasked(self, text: str) -> int:
        """What the model did though the plan names every content word."""
        if not self._is_full:
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
    """The small words of a text that relate others, and the signs that part its clauses."""
    return Counter([part for part in _parts(text) if part in _RELATIONS] + [sign for sign in text if sign in ";:"])


def _lacks(texts: str, word: str) -> bool:
    return folded(word) not in folded(texts)


def _words(text: str) -> Iterator[str]:
    """Content words and figures; names aside, which two sentences made of one both need."""
    for word in split_words(text):
        if any(map(str.isdigit, word.text)) or (word.text[:1].islower() and is_content(word.text)):
            yield word.text


def _parts(text: str) -> Iterator[str]:
    """Words as they are compared, parted at hyphens, and without endings that hold to a word by an apostrophe."""
    for word in split_words(text):
        bare = word.text.lstrip(APOSTROPHES)
        if bare == word.text or len(bare) > _ENDING:
            yield from filter(None, _HYPHEN.split(normal(bare)))
