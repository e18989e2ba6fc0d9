"""Sound texts first: a model that writes piece by piece at times invents a word, or says one twice.

And a search that follows guesses at times writes what the model itself finds most unlikely.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from redraft.align.function_words import is_content
from redraft.align.words import APOSTROPHES, HYPHENS, normal, split_words
from redraft.constrain.commonness import Commonness
from redraft.decode.decoded import Candidate, Decoded

_HYPHEN = re.compile(f"[{HYPHENS}]")
_ENDING = 2  # letters of 's, 've, 'll
_UNLIKELY = 5.0  # log-probability behind the likeliest text beyond which guessed edits do not make up for it


def sound_first(decoded: Decoded, commonness: Commonness, keep: int) -> Decoded:
    """The candidates in their order, but those with fewer faults before others; the first `keep` of them.

    A fault is a word that neither the source, nor the plan, nor English has; or one that stands there again though the
    source has it less often. Where all edits are predicted, texts that are far less likely than another come last.
    """
    said = Counter(_words(decoded.source))
    asked = [text for verdict in decoded.edits for text in (verdict.edit.phrase, *verdict.edit.targets)]
    known = {part for text in (decoded.source, *asked) for part in _parts(text)}

    def faults(candidate: Candidate) -> int:
        new = (part for part in _parts(candidate.output) if part not in known and any(map(str.isalpha, part)))
        invented = sum(not commonness.zipf(part) for part in new)
        again = (count - max(1, said[word]) for word, count in Counter(_words(candidate.output)).items())
        return invented + sum(more for more in again if more > 0)

    scored = [verdict.edit for verdict in decoded.edits if verdict.edit.kind != "split"]
    guessed = all(edit.probability is not None for edit in scored)
    least = max(one.log_prob for one in decoded.candidates) - _UNLIKELY if guessed else -math.inf
    order = sorted(decoded.candidates, key=lambda one: (one.log_prob < least, faults(one)))
    return replace(decoded, candidates=tuple(order[:keep]))


def _words(text: str) -> Iterator[str]:
    """Content words; names aside, which two sentences made of one both need."""
    for word in split_words(text):
        if word.text[:1].islower() and is_content(word.text):
            yield word.text


def _parts(text: str) -> Iterator[str]:
    """Words as they are compared, parted at hyphens, and without endings that hold to a word by an apostrophe."""
    for word in split_words(text):
        bare = word.text.lstrip(APOSTROPHES)
        if bare == word.text or len(bare) > _ENDING:
            yield from filter(None, _HYPHEN.split(normal(bare)))
