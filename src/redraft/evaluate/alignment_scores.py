"""Precision, recall and F1 of word alignments, as in MultiMWA: sure and possible links count alike, macro-averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redraft.align.gold_alignments import GoldPair
from redraft.align.links import Links


@dataclass(frozen=True)
class LinkScores:
    """Precision and recall in percent, and their harmonic mean, F1."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def score_links(predicted: Sequence[Links], gold: Sequence[GoldPair]) -> LinkScores:
    """Means over sentence pairs. A ratio with denominator 0 is 1 if the other side has no links either, else 0."""
    pairs = [(links, pair.links) for links, pair in zip(predicted, gold, strict=True)]
    precision = sum(_ratio(ours & theirs, ours, theirs) for ours, theirs in pairs) / len(pairs)
    recall = sum(_ratio(ours & theirs, theirs, ours) for ours, theirs in pairs) / len(pairs)
    return LinkScores(100 * precision, 100 * recall)


def score_non_identical(predicted: Sequence[Links], gold: Sequence[GoldPair]) -> LinkScores:
    """Micro-averaged scores of the links between different words, which become substitutions."""
    true_positives = n_predicted = n_gold = 0
    for links, pair in zip(predicted, gold, strict=True):
        ours, theirs = (
            {(i, j) for i, j in side if pair.source[i].lower() != pair.target[j].lower()}
            for side in (links, pair.links)
        )
        true_positives += len(ours & theirs)
        n_predicted += len(ours)
        n_gold += len(theirs)
    return LinkScores(
        100 * true_positives / n_predicted if n_predicted else 0.0, 100 * true_positives / n_gold if n_gold else 0.0
    )


def _ratio(common: Links, denominator: Links, other: Links) -> float:
    if not denominator:
        return 1.0 if not other else 0.0
    return len(common) / len(denominator)
