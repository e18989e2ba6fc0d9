"""Counts over linked pairs: how often each source word and phrase occurs, is deleted, and is replaced by what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from redraft.align.sentence_pairs import SentencePair
from redraft.fit.linked_pairs import LinkedPair
from redraft.plan.complexity_ratio import ComplexityRatios
from redraft.plan.edits import Edit
from redraft.plan.lexicon import lookup_key
from redraft.text.words import Word, normalise

_MIN_REPLACED = 3  # times; a rarer replacement of a phrase of several words is dropped as noise


@dataclass
class Counts:
    """How often each phrase was seen, deleted, and replaced by each target."""

    seen: Counter[str] = field(default_factory=Counter)
    deleted: Counter[str] = field(default_factory=Counter)
    targets: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def replaced(self, phrase: str) -> int:
        return sum(self.targets[phrase].values()) if phrase in self.targets else 0


def count_pairs(pairs: Callable[[], Iterable[LinkedPair]]) -> Counts:
    """Count edits, then the occurrences of replaced phrases; `pairs` is therefore called twice."""
    counts = Counts()
    for linked in pairs():
        for edit in linked.plan().edits:
            phrase = _key(linked.pair.source_words, edit)
            if edit.kind == "substitute":
                counts.targets[phrase][lookup_key(edit.targets[0])] += 1
            if " " not in phrase:
                counts.seen[phrase] += 1
                counts.deleted[phrase] += edit.kind == "delete"
    for phrase in [phrase for phrase in counts.targets if " " in phrase and counts.replaced(phrase) < _MIN_REPLACED]:
        del counts.targets[phrase]
    _count_phrases(counts, pairs())
    return counts


def _key(words: Sequence[Word], edit: Edit) -> str:
    """The phrase in the words of its sentence: on its own, "'s" would be split into two words."""
    start, end = edit.span or (0, 0)
    return " ".join(normalise(word.text) for word in words if start <= word.start < end)


def _count_phrases(counts: Counts, pairs: Iterable[LinkedPair]) -> None:
    phrases = {phrase for phrase in counts.targets if " " in phrase}
    sizes = sorted({phrase.count(" ") + 1 for phrase in phrases})
    for linked in pairs:
        words = [normalise(word.text) for word in linked.pair.source_words]
        for size in sizes:
            for start in range(len(words) - size + 1):
                phrase = " ".join(words[start : start + size])
                if phrase in phrases:
                    counts.seen[phrase] += 1


def count_complexity_ratios(pairs: Iterable[SentencePair]) -> ComplexityRatios:
    """Count words of sources and targets; a source with several targets counts once for each."""
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for pair in pairs:
        for counts, words in ((sources, pair.source_words), (targets, pair.target_words)):
            counts.update(normalise(word.text) for word in words if any(map(str.isalpha, word.text)))
    return ComplexityRatios.counted(sources, targets)
