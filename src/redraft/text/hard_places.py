"""Places of a sentence that are hard to read: rare and difficult words, and sentences that are too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from redraft.text.function_words import is_content
from redraft.text.inflection import lemmas_of
from redraft.text.names import names
from redraft.text.protected_spans import overlaps, protected_spans
from redraft.text.qualifiers import qualifiers
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import Word, normalise, split_words

HardKind = Literal["rare word", "hard word", "long sentence"]

# Rarer than one in 250,000 words, or rated at least this hard by people (from 1 to 6) and not frequent.
_RARE_ZIPF, _HARD_RATING, _FREQUENT_ZIPF = 3.6, 3.25, 4.6
_LONG_WORDS = 25  # plain-language guides advise 15 to 20 words on average, and no sentence above 25
_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True, slots=True)
class HardPlace:
    """`start` and `end` count characters of the sentence; `why` is for readers."""

    start: int
    end: int
    kind: HardKind
    why: str


def hard_places(sentence: str, word_frequency: WordFrequency) -> list[HardPlace]:
    """The hard places of a sentence, in order; a long sentence comes first."""
    words = [word for word in split_words(sentence) if any(map(str.isalnum, word.text))]
    return [*_too_long(words), *_hard_words(sentence, words, word_frequency)]


def _too_long(words: Sequence[Word]) -> Iterator[HardPlace]:
    if len(words) > _LONG_WORDS:
        conditions = sum(kind == "a condition" for _, kind in qualifiers(words))
        count = _COUNTS[conditions] if conditions < len(_COUNTS) else str(conditions)
        what = f", {count} condition{'' if conditions == 1 else 's'}" if conditions else ""
        yield HardPlace(words[0].start, words[-1].end, "long sentence", f"{len(words)} words{what}")


def _hard_words(sentence: str, words: Sequence[Word], word_frequency: WordFrequency) -> Iterator[HardPlace]:
    own_names, protected = set(names(sentence)), protected_spans(sentence)
    for word in words:
        if word.text in own_names or not is_content(word.text) or not word.text.replace("-", "").isalpha():
            continue
        if overlaps((word.start, word.end), protected):
            continue
        reason = _reason(word.text, word_frequency)
        if reason is not None:
            yield HardPlace(word.start, word.end, *reason)


def _reason(word: str, word_frequency: WordFrequency) -> tuple[HardKind, str] | None:
    """A word is as hard as its easiest form: "kitchens" is not rarer than "kitchen", nor "e-mail" than its parts."""
    plain = normalise(word)
    forms = {plain, plain.replace("-", " "), *(one for some in lemmas_of(plain).values() for one in some)}
    zipf = max(map(word_frequency.zipf, forms))
    rated = [rating for rating in map(word_frequency.difficulty, forms) if rating is not None]
    rating = min(rated, default=None)
    if rating is not None:
        if rating < _HARD_RATING or zipf >= _FREQUENT_ZIPF:
            return None
        if zipf >= _RARE_ZIPF:
            return "hard word", f"hard word: people rate it {rating:.1f} on a scale from 1 (easy) to 6"
    elif zipf >= _RARE_ZIPF:
        return None
    return "rare word", _rarity(zipf)


def _rarity(zipf: float) -> str:
    if zipf <= 0:
        return "rare word: not in the table of 120,000 words"
    number = 10 ** (9 - zipf)
    digits = len(str(int(number))) - 1
    return f"rare word: 1 in {round(number, -digits):,.0f} words"
