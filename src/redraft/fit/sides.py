"""Counts on which side of simplification each word stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from redraft.align.pairs import SentencePair
from redraft.align.words import normal
from redraft.constrain.sides import Sides


def count_sides(pairs: Iterable[SentencePair]) -> Sides:
    """Over all pairs; a source that has several targets counts with each."""
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for pair in pairs:
        for counts, words in ((sources, pair.source_words), (targets, pair.target_words)):
            counts.update(normal(word.text) for word in words if any(map(str.isalpha, word.text)))
    return Sides.counted(sources, targets)
