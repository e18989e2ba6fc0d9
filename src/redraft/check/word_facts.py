"""Features of the words that two texts do not share: explained by a word of the other text, or refused, by tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from redraft.align.word_batches import Words
from redraft.check.rules.bounds import BOUNDS
from redraft.check.rules.modality import MODALS
from redraft.check.rules.negations import NEGATIVE
from redraft.check.rules.quantifiers import QUANTIFIERS
from redraft.plan.common_names import CommonNames
from redraft.plan.lexicon import Lexicon
from redraft.plan.planner import Planner
from redraft.plan.reviewed_targets import ReviewedTargets
from redraft.plan.target_guard import TargetGuard
from redraft.text.function_words import is_content
from redraft.text.names import is_number
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import normalise

FACTS = 4  # only on one side; explained by a word of the other side; refused with one; word frequency
_STEM = 4  # first letters that the forms of a word share
_MIN_SHARE = 0.02  # of the replacements of a word; rarer targets are ignored
_MAX_WORDS = 40  # of a side that are compared; the number of word pairs grows with the square
_MAX_CACHED_WORDS = 400_000  # word pairs
_MAX_CACHED_PAIRS = 1024  # pairs of texts; the network, the shares and the reasons use each

_RULED = NEGATIVE.words | MODALS.words | QUANTIFIERS.words | BOUNDS.words

Floats = NDArray[np.float32]


class WordFacts:
    """Features of each word of a pair from WordNet, the lexicon of replacements and word frequencies."""

    def __init__(
        self, guard: TargetGuard, lexicon: Lexicon, reviewed: ReviewedTargets, names: CommonNames,
        word_frequency: WordFrequency,
    ) -> None:  # fmt: skip
        self._guard, self._lexicon, self._reviewed, self._names = guard, lexicon, reviewed, names
        self._word_frequency = word_frequency
        self._known: dict[tuple[str, str], tuple[bool, bool]] = {}
        self._known_targets: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._pairs: dict[tuple[Words, Words], tuple[Floats, Floats]] = {}

    @classmethod
    def of_planner(cls, planner: Planner) -> WordFacts:
        """With the tables of a planner."""
        tables = planner.classifier.tables
        return cls(planner.guard, tables.lexicon, planner.reviewed, planner.common, tables.word_frequency)

    def of(self, source: Words, output: Words) -> tuple[Floats, Floats]:
        """The features of both sides, each (word, fact)."""
        key = tuple(source), tuple(output)
        found = self._pairs.get(key)
        if found is None:
            if len(self._pairs) > _MAX_CACHED_PAIRS:
                self._pairs.clear()
            found = self._pairs[key] = self._of(source, output)
        return found

    def _of(self, source: Words, output: Words) -> tuple[Floats, Floats]:
        one, two = ([normalise(word) for word in side] for side in (source, output))
        lost, new = _unshared(one, two), _unshared(two, one)
        verdicts = {(old, word): self._verdict(old, word) for old in lost[:_MAX_WORDS] for word in new[:_MAX_WORDS]}
        explained = {side for (old, word), (fine, _) in verdicts.items() if fine for side in ((0, old), (1, word))}
        explained |= set(self._replaced_phrases(lost[:_MAX_WORDS], one, two))
        refused = {side for (old, word), (_, bad) in verdicts.items() if bad for side in ((0, old), (1, word))}
        rows = []
        for side, words, unshared in ((0, one, set(lost)), (1, two, set(new))):
            rows.append(np.array([
                (word in unshared, (side, word) in explained, (side, word) in refused and (side, word) not in explained,
                 self._word_frequency.zipf(word) / 8)
                for word in words
            ], np.float32).reshape(len(words), FACTS))  # fmt: skip
        return rows[0], rows[1]

    def unexplained(self, source: Words, output: Words) -> tuple[list[int], list[int]]:
        """Numbers of the content words that the output lacks, and of those that it adds, without an explanation.

        Words that the rules compare are left to the rules.
        """
        lost, new = (
            [at for at, row in enumerate(facts) if row[0] and not row[1] and not _is_ruled(words[at])]
            for words, facts in zip((source, output), self.of(source, output), strict=True)
        )
        return lost, new

    def shares(self, source: Words, output: Words) -> tuple[float, float]:
        """The unexplained words as shares of the content words of their side."""
        lost, new = self.unexplained(source, output)
        return len(lost) / max(1, sum(map(is_content, source))), len(new) / max(1, sum(map(is_content, output)))

    def _verdict(self, old: str, word: str) -> tuple[bool, bool]:
        """Whether a word is a known replacement of another, and whether it is refused as one."""
        found = self._known.get((old, word))
        if found is None:
            if len(self._known) > _MAX_CACHED_WORDS:
                self._known.clear()
            bad = self._guard.refusal_reason(old, word) is not None or word in self._judged_wrong(old)
            found = self._known[old, word] = not bad and self._may_become(old, word), bad
        return found

    def _judged_wrong(self, old: str) -> tuple[str, ...]:
        judged = self._reviewed.entry(old)
        return judged.wrong if judged else ()

    def _may_become(self, old: str, word: str) -> bool:
        forms = self._guard.base_forms(word)
        known = {one for target in self._targets(old) for part in target for one in self._guard.base_forms(part)}
        return self._guard.have_close_senses(old, word) or not forms.isdisjoint(known)

    def _targets(self, old: str) -> tuple[tuple[str, ...], ...]:
        """Known replacements of a word in any form, as words: of the lexicon, the reviewed targets and common names."""
        found = self._known_targets.get(old)
        if found is None:
            texts: list[str] = []
            for form in self._guard.base_forms(old):
                entry, judged, name = self._lexicon.entry(form), self._reviewed.entry(form), self._names.entry(form)
                texts += [text for text, share in entry.targets if share >= _MIN_SHARE] if entry else []
                texts += [*judged.safe, *judged.possible] if judged else []
                texts += name.targets if name else []
            found = self._known_targets[old] = tuple(tuple(text.split()) for text in dict.fromkeys(texts))
        return found

    def _replaced_phrases(
        self, lost: Sequence[str], one: Sequence[str], two: Sequence[str]
    ) -> Iterator[tuple[int, str]]:
        """Words of phrases and their replacements: "pursuant to" and "under", "absorbs" and "takes in".

        A replacement counts if the output has it more often than the source.
        """
        phrases: set[tuple[str, ...]] = {(old,) for old in lost}
        for table in (self._reviewed, self._names):
            phrases |= {tuple(one[at] for at in place) for place, _ in table.found_in(one) if len(place) > 1}
        for phrase in phrases:
            for target in self._targets(" ".join(phrase)):
                more = self._count(target, two) - self._count(target, one)
                if more > 0 or (more == 0 and set(target) <= set(phrase) != set(target)):
                    yield from ((0, word) for word in phrase)
                    yield from (
                        (1, word) for word in two if self._guard.base_forms(word) & self._guard.base_forms(target[0])
                    )
                    yield from ((1, word) for word in target)

    def _count(self, phrase: tuple[str, ...], words: Sequence[str]) -> int:
        """How often a phrase occurs, its first word in any form."""
        size, first = len(phrase), self._guard.base_forms(phrase[0])
        return sum(
            tuple(words[at + 1 : at + size]) == phrase[1:] and not first.isdisjoint(self._guard.base_forms(words[at]))
            for at in range(len(words) - size + 1)
        )


def _is_ruled(word: str) -> bool:
    return normalise(word) in _RULED or is_number(word)


def _unshared(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """Content words that the other side does not have in any form."""
    stems = {word[:_STEM] for word in others}
    return list(dict.fromkeys(word for word in words if is_content(word) and word[:_STEM] not in stems))
