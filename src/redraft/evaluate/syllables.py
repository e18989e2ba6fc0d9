"""Syllables of an English word: vowel groups, corrected.

The corrections are those of Lingua::EN::Syllable (Greg Fast) with the exceptions of nltk_contrib's readability tools:
the count that FKGL of the field's papers rests on.
"""

from __future__ import annotations

import re
from functools import lru_cache

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
