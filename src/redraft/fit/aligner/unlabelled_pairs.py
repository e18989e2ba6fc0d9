"""Sentence pairs without gold links: labelled by teachers, and a source of sentences for synthetic pairs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from redraft.align.gold_alignments import GoldPair
from redraft.files import digest
from redraft.fit.aligner.gold_splits import evaluation_sentences
from redraft.fit.synthetic_pairs import Synonyms, make_pairs, read_synonyms
from redraft.fit.tagged_pairs import comparison_key, read_tagged
from redraft.text.words import split_words


@dataclass(frozen=True)
class SoftPair:
    """Two sentences with soft labels: the teachers' probability of each link, scaled to 0–255."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    table: Tensor  # (source words, target words)

    def reversed(self) -> SoftPair:
        return SoftPair(self.target, self.source, self.table.T)


LabelledPair = GoldPair | SoftPair
WordPair = tuple[tuple[str, ...], tuple[str, ...]]  # the words of a source and of its target


@dataclass(frozen=True)
class UnlabelledPairs:
    """Sentence pairs without gold links."""

    pairs: list[WordPair]
    synonyms: Synonyms
    about: Mapping[str, Any]  # digests of their files, and what was left out

    @classmethod
    def read(
        cls, path: str | Path, synonyms: str | Path | None, gold: str | Path, leave_out: Sequence[str] = ()
    ) -> UnlabelledPairs:
        """Read tagged pairs, without those that share a sentence with an evaluation file of the gold alignments."""
        evaluation = {comparison_key(text) for text in evaluation_sentences(Path(gold))}
        pairs = []
        for pair in read_tagged(path, leave_out):
            if comparison_key(pair.source) not in evaluation and comparison_key(pair.target) not in evaluation:
                source, target = (split_words(side.lower()) for side in (pair.source, pair.target))
                if min(len(source), len(target)) >= 3 and len(source) + len(target) <= 120:
                    pairs.append((tuple(word.text for word in source), tuple(word.text for word in target)))
        about = {"pairs": digest(Path(path).read_bytes()), "leave_out": sorted(leave_out),
                 "synonyms": digest(Path(synonyms).read_bytes()) if synonyms else None}  # fmt: skip
        return cls(pairs, read_synonyms(synonyms) if synonyms else {}, about)

    def synthetic(self, count: int, seed: int) -> list[LabelledPair]:
        """Synthetic pairs made from the shorter sentences."""
        sides = [side for pair in self.pairs for side in pair if len(side) <= 50]
        return [*make_pairs(sides, self.synonyms, count, random.Random(seed))] if sides else []

    def sample(self, count: int, seed: int) -> list[WordPair]:
        """A random sample of the pairs, without replacement."""
        return random.Random(seed).sample(self.pairs, min(count, len(self.pairs)))
