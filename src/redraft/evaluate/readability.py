"""How easy a text is to read: words in a sentence, hard words, school grade, levels of its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from redraft.evaluate.fkgl import Fkgl
from redraft.text.function_words import is_content
from redraft.text.hard_places import hard_places
from redraft.text.names import names
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import normalise, split_words

CEFR_LEVELS = ("A1", "A2", "B1", "B2", "C1", "C2")


@dataclass(frozen=True, slots=True)
class TextFigures:
    """Figures of a text; shares are of its words, or of its words with a known level."""

    sentences: int
    words: int
    words_per_sentence: float
    share_of_hard_words: float
    grade: float  # Flesch-Kincaid
    levels: dict[str, float] | None  # CEFR level → share; None: the package cefrpy is not installed


class Readability:
    """Measures texts given as sentences; what it knows of a sentence is kept for the next time."""

    def __init__(self, word_frequency: WordFrequency) -> None:
        self._fkgl, self._word_frequency = Fkgl(), word_frequency

    def figures(self, sentences: Sequence[str]) -> TextFigures:
        filled = [sentence for sentence in sentences if sentence.strip()]
        words = sum(map(_word_count, filled))
        hard = sum(place.kind != "long sentence" for one in filled for place in hard_places(one, self._word_frequency))
        counts = np.array([self._fkgl.count_one(one) for one in filled], dtype=np.float64).reshape(-1, 3)
        return TextFigures(
            sentences=len(filled),
            words=words,
            words_per_sentence=words / max(1, len(filled)),
            share_of_hard_words=hard / max(1, words),
            grade=float(self._fkgl.figures(counts.sum(0))["fkgl"]),
            levels=level_shares(filled),
        )


def _word_count(text: str) -> int:
    return sum(any(map(str.isalnum, word.text)) for word in split_words(text))


def level_shares(sentences: Iterable[str]) -> dict[str, float] | None:
    """The share of each CEFR level among the words whose level is known; names and numbers have none."""
    analyzer = _analyzer()
    if analyzer is None:
        return None
    found = Counter(level for sentence in sentences for level in _levels(sentence, analyzer))
    total = max(1, found.total())
    return {level: found[level] / total for level in CEFR_LEVELS}


def _levels(sentence: str, analyzer: Any) -> Iterable[str]:
    own_names = set(names(sentence))
    for word in split_words(sentence):
        if word.text in own_names or not word.text.isalpha():
            continue
        # Function words are known to every learner; the table rates some of them by their rarest use.
        level = analyzer.get_average_word_level_CEFR(normalise(word.text)) if is_content(word.text) else CEFR_LEVELS[0]
        if level is not None:
            yield str(level)


@cache
def _analyzer() -> Any:
    """The word levels of the package cefrpy; None if it is not installed."""
    try:
        from cefrpy import CEFRAnalyzer
    except ImportError:
        return None
    return CEFRAnalyzer()
