"""What rules read, a side of a pair, and what they return, a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from redraft.check.rules.number_words import Number, Parts, numbers_of
from redraft.check.rules.phrase_tables import word_set
from redraft.text.words import APOSTROPHES, Word, normal, split_words

_CONTRACTED = {
    "don": "do", "doesn": "does", "didn": "did", "isn": "is", "wasn": "was", "aren": "are", "weren": "were",
    "hasn": "has", "haven": "have", "hadn": "had", "won": "will", "wouldn": "would", "shouldn": "should",
    "couldn": "could", "mustn": "must", "needn": "need", "shan": "shall",
}  # fmt: skip
_OPENING = frozenset("\"'([-*•")
_ABBREVIATED = word_set("mr mrs ms dr prof st jr sr no vs v inc ltd u s p e g i")


@dataclass(frozen=True)
class Side:
    """A text, its words, and the words as they are compared: "don't" is "do" and "not"."""

    text: str
    words: tuple[Word, ...]
    plain: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Side:
        words = tuple(split_words(text))
        plain = [normal(word.text) for word in words]
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
        """Words as they stand in the text; a contracted "not" with its verb."""
        if start and self.words[start].text[0] in APOSTROPHES:
            start -= 1
        return self.text[self.words[start].start : self.words[end - 1].end]

    def starts_sentence(self, at: int) -> bool:
        """Whether a word is the first of its sentence; quotation marks, brackets and dashes before it do not count."""
        before = at - 1
        while before >= 0 and self.plain[before] in _OPENING:
            before -= 1
        if before < 0:
            return True
        return self.plain[before] in ".!?:;" and not (before and self.plain[before - 1] in _ABBREVIATED)


@dataclass(frozen=True)
class Finding:
    """A difference that may matter: its kind, the words on both sides, and the reason in a few words."""

    kind: str
    source: tuple[str, ...]
    output: tuple[str, ...]
    why: str


def difference(kind: str, lost: Iterable[str], new: Iterable[str], *, by_side: bool = False) -> Iterator[Finding]:
    """One finding of words exchanged, lost or added; with `by_side` the kind tells which ("name lost")."""
    gone, more = tuple(dict.fromkeys(lost)), tuple(dict.fromkeys(new))
    if gone and more:
        yield Finding(kind, gone, more, f"“{', '.join(gone)}” became “{', '.join(more)}”")
    elif gone:
        yield Finding(f"{kind} lost" if by_side else kind, gone, (), f"the output lacks “{', '.join(gone)}”")
    elif more:
        yield Finding(f"{kind} added" if by_side else kind, (), more, f"the output adds “{', '.join(more)}”")
