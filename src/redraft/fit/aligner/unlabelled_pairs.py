"""Sentence pairs without links: what teachers link, and what made-up pairs are made of."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from redraft.align.gold_alignments import GoldPair
from redraft.files import digest
from redraft.fit.aligner.gold_splits import evaluated
from redraft.fit.synthetic_pairs import Synonyms, make_pairs, read_synonyms
from redraft.fit.tagged_pairs import normal, read_tagged
from redraft.text.words import split_words


@dataclass(frozen=True)
class SoftPair:
    """Two sentences and how sure the teachers are of each link, from 0 to 255."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    table: Tensor  # (source words, target words)

    def reversed(self) -> SoftPair:
        return SoftPair(self.target, self.source, self.table.T)


Labelled = GoldPair | SoftPair


@dataclass(frozen=True)
class PlainPairs:
    """Pairs without links: what teachers link, and what made-up pairs are made of."""

    pairs: list[tuple[tuple[str, ...], tuple[str, ...]]]
    synonyms: Synonyms
    about: Mapping[str, Any]  # which files they are from, and what was left out

    @classmethod
    def read(
        cls, path: str | Path, synonyms: str | Path | None, gold: str | Path, leave_out: Sequence[str] = ()
    ) -> PlainPairs:
        """Tagged pairs of a file but those that share a sentence with an evaluation file of the gold alignments."""
        apart = {normal(text) for text in evaluated(Path(gold))}
        pairs = []
        for pair in read_tagged(path, leave_out):
            if normal(pair.source) not in apart and normal(pair.target) not in apart:
                source, target = (split_words(side.lower()) for side in (pair.source, pair.target))
                if min(len(source), len(target)) >= 3 and len(source) + len(target) <= 120:
                    pairs.append((tuple(word.text for word in source), tuple(word.text for word in target)))
        about = {"pairs": digest(Path(path).read_bytes()), "leave_out": sorted(leave_out),
                 "synonyms": digest(Path(synonyms).read_bytes()) if synonyms else None}  # fmt: skip
        return cls(pairs, read_synonyms(synonyms) if synonyms else {}, about)

    def made(self, count: int, seed: int) -> list[Labelled]:
        sides = [side for pair in self.pairs for side in pair if len(side) <= 50]
        return [*make_pairs(sides, self.synonyms, count, random.Random(seed))] if sides else []

    def drawn(self, count: int, seed: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        return random.Random(seed).sample(self.pairs, min(count, len(self.pairs)))
