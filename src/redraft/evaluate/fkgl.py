"""The Flesch-Kincaid grade level (Kincaid et al., 1975), counted as EASSE counts it.

Words are lower-cased 13a tokens, so punctuation counts as words without a syllable; totals are those of the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np

from redraft.evaluate.measures import Array, Texts, share
from redraft.evaluate.syllables import syllables
from redraft.evaluate.tokens import LIBRARY, SIGNATURE, tokenized

Splitter = Callable[[str], list[str]]

_NO_PUNKT = (
    "FKGL: NLTK's Punkt is not installed, so sentences are split by a plain rule; published figures differ a little. "
    "Install it: pip install 'redraft[punkt]', then python -m nltk.downloader punkt_tab"
)


class Fkgl:
    """Figure `fkgl`: a school grade, 0 at least; lower is easier to read."""

    def __init__(self) -> None:
        self._name, self._split = splitter()
        self.signature = f"{SIGNATURE}|sentences:{self._name}|{LIBRARY}"
        self.notice = "" if self._name == "punkt" else _NO_PUNKT

    def count(self, texts: Texts) -> Array:
        """(sentence, 3): sentences, words and syllables of the output."""
        return np.array([self.count_one(output) for output in texts.outputs], dtype=np.float64).reshape(-1, 3)

    def count_one(self, text: str) -> tuple[int, int, int]:
        tokens = tokenized(text)
        words = tokens.split()
        return len(self._split(tokens)), len(words), sum(map(syllables, words))

    def figures(self, sums: Array) -> dict[str, Array]:
        sentences, words, sounds = np.moveaxis(sums, -1, 0)
        grade = 0.39 * share(words, sentences) + 11.8 * share(sounds, words) - 15.59
        return {"fkgl": np.where(words > 0, np.maximum(grade, 0), 0)}


@cache
def splitter() -> tuple[str, Splitter]:
    """How a text is split into sentences: by NLTK's Punkt where its data is installed, else by `split_plainly`."""
    try:
        from nltk.tokenize.punkt import PunktTokenizer

        return "punkt", PunktTokenizer("english").tokenize
    except (ImportError, LookupError):
        return "plain", split_plainly


# In 13a tokens the full stop of an initial or an abbreviation stands apart as well: j . smith, e . g . this.
_END = re.compile(r"(?<!\b[a-z] )(?<!\bmr )(?<!\bdr )(?<!\bst )[.!?](?: [.!?])*(?: [\"')\]])* ")


def split_plainly(tokens: str) -> list[str]:
    """Sentences of tokenised text: each ends with . ! or ? and closing quotes, but not after a letter, mr, dr or st."""
    return [part for part in _END.sub(lambda end: end.group() + "\n", tokens).split("\n") if part.strip()]
