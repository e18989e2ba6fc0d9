"""Frequency and rated difficulty of words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from redraft.table_files import parse_count, read_table, write_rows
from redraft.text.words import normalise


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """Zipf frequency (log10 of the occurrences per billion words; 7.7 for "the") and difficulty of a word."""

    zipf: float
    difficulty: float | None = None  # rated by people, from 1 (easy) to 6; None: not rated


_UNKNOWN = WordStatistics(0.0)


class WordFrequency:
    """Frequencies and difficulties of words; a phrase has those of its rarest and its hardest word."""

    def __init__(self, words: Mapping[str, WordStatistics]) -> None:
        self._words = words

    def __len__(self) -> int:
        return len(self._words)

    def zipf(self, phrase: str) -> float:
        """Zipf frequency; 0 for an unknown word."""
        return min((self._lookup(word).zipf for word in phrase.split()), default=0.0)

    def difficulty(self, phrase: str) -> float | None:
        """The rated difficulty; None if a word of the phrase was not rated."""
        found = [self._lookup(word).difficulty for word in phrase.split()]
        rated = [one for one in found if one is not None]
        return max(rated) if rated and len(rated) == len(found) else None

    def _lookup(self, word: str) -> WordStatistics:
        return self._words.get(normalise(word), _UNKNOWN)

    def save(self, path: str | Path) -> None:
        """Write rows of word ⇥ Zipf frequency ⇥ difficulty (may be empty), both in hundredths."""
        write_rows(path, (
            (word, round(100 * known.zipf), "" if known.difficulty is None else round(100 * known.difficulty))
            for word, known in self._words.items()
        ))  # fmt: skip

    @classmethod
    def load(cls, path: str | Path) -> WordFrequency:
        return cls(read_table(path, _parsed))


def _parsed(cells: list[str]) -> tuple[str, WordStatistics]:
    word, zipf, difficulty = cells
    return word, WordStatistics(parse_count(zipf) / 100, parse_count(difficulty) / 100 if difficulty else None)
