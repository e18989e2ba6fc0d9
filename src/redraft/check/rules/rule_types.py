"""The types of the rules: they compare two `Side`s and yield `Finding`s."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from redraft.check.rules.number_words import Number, Parts, numbers_of
from redraft.check.rules.phrase_tables import word_set
from redraft.text.words import APOSTROPHES, Word, normalise, split_words

_CONTRACTED = {
    "don": "do", "doesn": "does", "didn": "did", "isn": "is", "wasn": "was", "aren": "are", "weren": "were",
    "hasn": "has", "haven": "have", "hadn": "had", "won": "will", "wouldn": "would", "shouldn": "should",
    "couldn": "could", "mustn": "must", "needn": "need", "shan": "shall",
}  # fmt: skip
_OPENING = frozenset("\"'([-*•")
_ABBREVIATIONS = word_set("mr mrs ms dr prof st jr sr no vs v inc ltd u s p e g i")


@dataclass(frozen=True)
class Side:
    """One text of a pair: its words, and their normal forms, in which "don't" is "do" and "not"."""

    text: str
    words: tuple[Word, ...]
    plain: tuple[str, ...]

    @classmethod
    @lru_cache(maxsize=256)  # a source is compared with many outputs
    def of(cls, text: str) -> Side:
        words = tuple(split_words(text))
        plain = [normalise(word.text) for word in words]
        for at, word in enumerate(plain):
            if word in ("'t", "n't"):
                plain[at] = "not"
                if at:
                    plain[at - 1] = _CONTRACTED.get(plain[at - 1], plain[at - 1])
        return cls(text, words, tuple(plain))

    @cached_property
    def parts(self) -> Parts:
        return Parts.of(self.plain)

    @cached_property
    def numbers(self) -> list[Number]:
        return numbers_of(self.parts.text)

    def phrase(self, start: int, end: int) -> str:
        """The text of some words; a contracted "not" includes its verb."""
        if start and self.words[start].text[0] in APOSTROPHES:
            start -= 1
        return self.text[self.words[start].start : self.words[end - 1].end]

    def starts_sentence(self, at: int) -> bool:
        """Whether a word is the first of its sentence, ignoring quotation marks, brackets and dashes before it."""
        before = at - 1
        while before >= 0 and self.plain[before] in _OPENING:
            before -= 1
        if before < 0:
            return True
        return self.plain[before] in ".!?:;" and not (before and self.plain[before - 1] in _ABBREVIATIONS)


@dataclass(frozen=True)
class Finding:
    """A difference that may change the meaning: its kind, the words on both sides, and the reason."""

    kind: str
    source: tuple[str, ...]
    output: tuple[str, ...]
    why: str


def difference(kind: str, lost: Iterable[str], new: Iterable[str], *, by_side: bool = False) -> Iterator[Finding]:
    """One finding for words that were exchanged, lost or added.

    `by_side`: the kind states whether the words were lost or added ("name lost").
    """
    source, output = tuple(dict.fromkeys(lost)), tuple(dict.fromkeys(new))
    if source and output:
        yield Finding(kind, source, output, f"“{', '.join(source)}” became “{', '.join(output)}”")
    elif source:
        yield Finding(f"{kind} lost" if by_side else kind, source, (), f"the output lacks “{', '.join(source)}”")
    elif output:
        yield Finding(f"{kind} added" if by_side else kind, (), output, f"the output adds “{', '.join(output)}”")
