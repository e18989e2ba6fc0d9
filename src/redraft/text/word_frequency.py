"""How common words are, and how hard people find them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from redraft.table_files import count, read_rows, write_rows
from redraft.text.words import normal


@dataclass(frozen=True, slots=True)
class Known:
    """A word's Zipf frequency (the logarithm of its share in a billion words; "the" has 7.7), and its difficulty."""

    zipf: float
    difficulty: float | None = None  # from 1, easy, to 6


_UNKNOWN = Known(0.0)


class WordFrequency:
    """What is known of words; a phrase is as rare and as hard as its rarest and hardest word."""

    def __init__(self, words: Mapping[str, Known]) -> None:
        self._words = words

    def __len__(self) -> int:
        return len(self._words)

    def zipf(self, phrase: str) -> float:
        """0 where a word is not among those known."""
        return min((self._known(word).zipf for word in phrase.split()), default=0.0)

    def difficulty(self, phrase: str) -> float | None:
        """None where people were not asked about one of the words."""
        found = [self._known(word).difficulty for word in phrase.split()]
        asked = [one for one in found if one is not None]
        return max(asked) if asked and len(asked) == len(found) else None

    def _known(self, word: str) -> Known:
        return self._words.get(normal(word), _UNKNOWN)

    def save(self, path: str | Path) -> None:
        """word ⇥ Zipf frequency ⇥ difficulty or nothing, both in hundredths."""
        write_rows(path, (
            (word, round(100 * known.zipf), "" if known.difficulty is None else round(100 * known.difficulty))
            for word, known in self._words.items()
        ))  # fmt: skip

    @classmethod
    def load(cls, path: str | Path) -> WordFrequency:
        return cls(dict(read_rows(path, _parsed)))


def _parsed(cells: list[str]) -> tuple[str, Known]:
    word, zipf, difficulty = cells
    return word, Known(count(zipf) / 100, count(difficulty) / 100 if difficulty else None)
