"""The Flesch-Kincaid grade level (Kincaid et al., 1975), as EASSE computes it.

Words are lower-cased 13a tokens, so a punctuation mark is a word without syllables. Totals are over the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from redraft.evaluate.measures import LIBRARY, SIGNATURE, Array, Texts, ratio, tokenized

# Each rule that matches a word counts once.
_ADD_ONE = tuple(re.compile(rule) for rule in (
    "ia", "riet", "dien", "iu", "io", "ii", "[aeiouy]bl$", "mbl$", "[aeiou]{3}", "^mc", "ism$",
    r"(.)(?!\1)([aeiouy])\2l$", "[^l]llien", "^coad.", "^coag.", "^coal.", "^coax.",
    r"(.)(?!\1)[gq]ua(.)(?!\2)[aeiou]", "dnt$",
))  # fmt: skip
_SUBTRACT_ONE = tuple(
    re.compile(rule) for rule in ("cial", "tia", "cius", "cious", "gui", "ion", "iou", "sia$", ".ely$")
)
_VOWELS = re.compile("[aeiouy]+")

_EXCEPTIONS = {word: count for count, words in {
    1: "the chummed peeped sheered flapped mimes ms st foamed brutes h'm gaped lb",
    2: "tottered moustaches messieurs bepatched caressed trespassed pencilled motioned poleman slandered sombre "
       "sidespring effaces mr mrs dr sr jr truckle fringed clattered capered mangroves suavely reclined effaced "
       "quivered deafened unstained stammered shivered gravesend 60 greyish",
    3: "shamefully disinterred sepulchre hemispheres veriest manoeuvred discoloured unexpressed",
    4: "satiated sailmaker etc sententiously",
    5: "particularized unostentatious",
    6: "propitiatory",
}.items() for word in words.split()}  # fmt: skip


@lru_cache(maxsize=100_000)
def syllables(word: str) -> int:
    """Number of syllables of a lower-cased word; 0 for punctuation and numbers."""
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    stem = word.rstrip("e")
    more, less = (sum(1 for rule in rules if rule.search(stem)) for rules in (_ADD_ONE, _SUBTRACT_ONE))
    return len(_VOWELS.findall(stem)) + more - less


SentenceSplitter = Callable[[str], list[str]]

_NO_PUNKT = (
    "FKGL: NLTK's Punkt is not installed, so sentences are split by a simple rule; published values differ slightly. "
    "Install it: pip install 'redraft[punkt]', then python -m nltk.downloader punkt_tab"
)


class Fkgl:
    """Score `fkgl`: a US school grade, clipped at 0; lower is easier to read."""

    def __init__(self) -> None:
        self._name, self._split = sentence_splitter()
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
        sentences, words, syllable_count = np.moveaxis(sums, -1, 0)
        grade = 0.39 * ratio(words, sentences) + 11.8 * ratio(syllable_count, words) - 15.59
        return {"fkgl": np.where(words > 0, np.maximum(grade, 0), 0)}


@cache
def sentence_splitter() -> tuple[str, SentenceSplitter]:
    """Name and function of the sentence splitter: NLTK's Punkt if its data is installed, else `split_by_rule`."""
    try:
        from nltk.tokenize.punkt import PunktTokenizer

        return "punkt", PunktTokenizer("english").tokenize
    except (ImportError, LookupError):
        return "plain", split_by_rule


# 13a also separates the full stop of initials and abbreviations: j . smith, e . g . this.
_END = re.compile(r"(?<!\b[a-z] )(?<!\bmr )(?<!\bdr )(?<!\bst )[.!?](?: [.!?])*(?: [\"')\]])* ")


def split_by_rule(tokens: str) -> list[str]:
    """Split tokenized text after . ! or ? and closing quotes, but not after a single letter, mr, dr or st."""
    return [part for part in _END.sub(lambda end: end.group() + "\n", tokens).split("\n") if part.strip()]
