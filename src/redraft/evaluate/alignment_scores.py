"""How good links are, by the conventions of MultiMWA: sure and possible links alike, averaged over pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redraft.align.gold_alignments import GoldPair
from redraft.align.links import Links


@dataclass(frozen=True)
class LinkScores:
    """Precision and recall are means over pairs, F1 is that of the means; all out of 100."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def score_links(found: Sequence[Links], gold: Sequence[GoldPair]) -> LinkScores:
    """Of a pair without links on one side the share is 1 if the other has none either, else 0."""
    pairs = [(links, pair.links) for links, pair in zip(found, gold, strict=True)]
    precision = sum(_share(ours & theirs, ours, theirs) for ours, theirs in pairs) / len(pairs)
    recall = sum(_share(ours & theirs, theirs, ours) for ours, theirs in pairs) / len(pairs)
    return LinkScores(100 * precision, 100 * recall)


def score_different(found: Sequence[Links], gold: Sequence[GoldPair]) -> LinkScores:
    """Only links between different words, which become substitutions; counted over the whole set."""
    right = made = wanted = 0
    for links, pair in zip(found, gold, strict=True):
        ours, theirs = (
            {(i, j) for i, j in some if pair.source[i].lower() != pair.target[j].lower()}
            for some in (links, pair.links)
        )
        right, made, wanted = right + len(ours & theirs), made + len(ours), wanted + len(theirs)
    return LinkScores(100 * right / made if made else 0.0, 100 * right / wanted if wanted else 0.0)


def _share(right: Links, of: Links, other: Links) -> float:
    if not of:
        return 1.0 if not other else 0.0
    return len(right) / len(of)
