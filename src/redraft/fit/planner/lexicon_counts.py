"""Counts over linked pairs: what became of every word and phrase of the sources."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from redraft.align.sentence_pairs import SentencePair
from redraft.fit.linked_pairs import LinkedPair
from redraft.plan.complexity_ratio import ComplexityRatios
from redraft.plan.edits import Edit
from redraft.plan.lexicon import key_of
from redraft.text.words import Word, normal

_LEAST = 3  # times that a phrase of several words was replaced, or it is chance


@dataclass
class Counts:
    """How often phrases were seen, deleted, and replaced by what."""

    seen: Counter[str] = field(default_factory=Counter)
    deleted: Counter[str] = field(default_factory=Counter)
    targets: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def replaced(self, phrase: str) -> int:
        return sum(self.targets[phrase].values()) if phrase in self.targets else 0


def count_pairs(pairs: Callable[[], Iterable[LinkedPair]]) -> Counts:
    """`pairs` is read twice: once for edits, once for how often the phrases that were replaced stand in a source."""
    counts = Counts()
    for linked in pairs():
        for edit in linked.plan().edits:
            phrase = _key(linked.pair.source_words, edit)
            if edit.kind == "substitute":
                counts.targets[phrase][key_of(edit.targets[0])] += 1
            if " " not in phrase:
                counts.seen[phrase] += 1
                counts.deleted[phrase] += edit.kind == "delete"
    for phrase in [phrase for phrase in counts.targets if " " in phrase and counts.replaced(phrase) < _LEAST]:
        del counts.targets[phrase]
    _count_phrases(counts, pairs())
    return counts


def _key(words: Sequence[Word], edit: Edit) -> str:
    """Of the words as they are split in their sentence: "'s" alone would be two."""
    start, end = edit.span or (0, 0)
    return " ".join(normal(word.text) for word in words if start <= word.start < end)


def _count_phrases(counts: Counts, pairs: Iterable[LinkedPair]) -> None:
    phrases = {phrase for phrase in counts.targets if " " in phrase}
    sizes = sorted({phrase.count(" ") + 1 for phrase in phrases})
    for linked in pairs:
        words = [normal(word.text) for word in linked.pair.source_words]
        for size in sizes:
            for start in range(len(words) - size + 1):
                phrase = " ".join(words[start : start + size])
                if phrase in phrases:
                    counts.seen[phrase] += 1


def count_complexity_ratios(pairs: Iterable[SentencePair]) -> ComplexityRatios:
    """Over all pairs; a source that has several targets counts with each."""
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for pair in pairs:
        for counts, words in ((sources, pair.source_words), (targets, pair.target_words)):
            counts.update(normal(word.text) for word in words if any(map(str.isalpha, word.text)))
    return ComplexityRatios.counted(sources, targets)
