"""The Flesch-Kincaid grade level (Kincaid et al., 1975), counted as EASSE counts it.

Words are lower-cased 13a tokens, so punctuation counts as words without a syllable; totals are those of the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from redraft.evaluate.measures import LIBRARY, SIGNATURE, Array, Texts, share, tokenized

# Each rule that is found in a word counts once.
_ONE_MORE = tuple(re.compile(rule) for rule in (
    "ia", "riet", "dien", "iu", "io", "ii", "[aeiouy]bl$", "mbl$", "[aeiou]{3}", "^mc", "ism$",
    r"(.)(?!\1)([aeiouy])\2l$", "[^l]llien", "^coad.", "^coag.", "^coal.", "^coax.",
    r"(.)(?!\1)[gq]ua(.)(?!\2)[aeiou]", "dnt$",
))  # fmt: skip
_ONE_LESS = tuple(re.compile(rule) for rule in ("cial", "tia", "cius", "cious", "gui", "ion", "iou", "sia$", ".ely$"))
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
    """Syllables of a lower-cased word; a sign or a number has none."""
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    stem = word.rstrip("e")
    more, less = (sum(1 for rule in rules if rule.search(stem)) for rules in (_ONE_MORE, _ONE_LESS))
    return len(_VOWELS.findall(stem)) + more - less


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
