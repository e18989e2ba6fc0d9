"""Synthetic pairs: a sentence, and the same with words deleted, moved, replaced and inserted, so links are known."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from redraft.align.gold_alignments import GoldPair
from redraft.reading import numbered_lines
from redraft.text.function_words import is_content

Synonyms = Mapping[str, Sequence[str]]
_Placed = list[tuple[str, int | None]]  # a target word, and the index of the source word it comes from


def read_synonyms(path: str | Path) -> Synonyms:
    """word ⇥ word on each line, .xz or plain; both directions are used."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for _, line in numbered_lines(path):
        one, _, other = line.partition("\t")
        if one.isalpha() and other.isalpha():
            found[one].append(other)
            found[other].append(one)
    return dict(found)


def make_pair(words: Sequence[str], other: Sequence[str], synonyms: Synonyms, rng: random.Random) -> GoldPair:
    """A sentence and a random rewriting of it; inserted words are taken from the sentence `other`."""
    target: _Placed = [(word, place) for place, word in enumerate(words)]
    if rng.random() < 0.3:
        target = _moved(target, rng)
    for _ in range(rng.choice((0, 1, 1, 2))):
        start, end = _span(len(target), max(2, len(target) // 3), rng)
        if end - start < len(target):
            target = target[:start] + target[end:]
    target = [(_replaced(word, synonyms, rng), place) for word, place in target]
    for _ in range(rng.choice((0, 0, 1, 2))):
        start, end = _span(len(other), 8, rng)
        at = rng.randint(0, len(target))
        target[at:at] = [(word, None) for word in other[start:end]]
    links = frozenset((place, at) for at, (_, place) in enumerate(target) if place is not None)
    return GoldPair(tuple(words), tuple(word for word, _ in target), links)


def make_pairs(
    sentences: Sequence[Sequence[str]], synonyms: Synonyms, count: int, rng: random.Random
) -> list[GoldPair]:
    return [make_pair(rng.choice(sentences), rng.choice(sentences), synonyms, rng) for _ in range(count)]


def _span(size: int, max_length: int, rng: random.Random) -> tuple[int, int]:
    length = min(size, rng.randint(1, max_length))
    start = rng.randint(0, size - length)
    return start, start + length


def _moved(target: _Placed, rng: random.Random) -> _Placed:
    """The words rotated at a comma, or at a random place."""
    commas = [at + 1 for at, (word, _) in enumerate(target) if word == ","]
    at = rng.choice(commas) if commas and rng.random() < 0.7 else rng.randint(0, len(target))
    end = len(target) - (bool(target) and target[-1][0] == ".")
    return target[at:end] + target[:at] + target[end:] if at <= end else target


def _replaced(word: str, synonyms: Synonyms, rng: random.Random) -> str:
    known = synonyms.get(word, ()) if is_content(word) else ()
    return rng.choice(known) if known and rng.random() < 0.2 else word
