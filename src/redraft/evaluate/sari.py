"""SARI as EASSE computes it: n-grams added, kept and deleted, counted over the whole corpus.

With s, h the counts of an n-gram in source and output, and r its count summed over R references (Xu et al., 2016):

    add   h > 0, s = 0           against  r > 0, s = 0            (1 each, however often)
    keep  min(R·s, R·h)          against  min(R·s, r)
    del   max(R·s − R·h, 0)      against  max(R·s − r, 0)

What output and references both do is right; F1 per n from the sums over the corpus, 0/0 = 0; mean over n = 1 … 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from redraft.evaluate.measures import LIBRARY, SIGNATURE, Array, Texts, share, tokenized

ORDERS = 4
_SOURCE, _OUTPUT, _REFERENCE = range(3)
_BLOCK = 2000  # sentences counted at once: memory stays small however long the corpus


class Sari:
    """Figures `sari`, `add`, `keep` and `del`, out of 100."""

    signature = f"{SIGNATURE}|ngrams:{ORDERS}|f1:add,keep,del|level:corpus|{LIBRARY}"

    def count(self, texts: Texts) -> Array:
        """(sentence, operation · count · order): right, made by the output, made by the references."""
        counts = np.empty((len(texts.sources), 9 * ORDERS))
        for start in range(0, len(counts), _BLOCK):
            rows = slice(start, start + _BLOCK)
            references = [reference[rows] for reference in texts.references]
            counts[rows] = _count_block(texts.sources[rows], texts.outputs[rows], references)
        return counts

    def figures(self, sums: Array) -> dict[str, Array]:
        right, made, wanted = np.moveaxis(sums.reshape(*sums.shape[:-1], 3, 3, ORDERS), -2, 0)
        precision, recall = share(right, made), share(right, wanted)
        f1 = 100 * share(2 * precision * recall, precision + recall).mean(-1)  # (…, operation)
        add, keep, delete = np.moveaxis(f1, -1, 0)
        return {"sari": f1.mean(-1), "add": add, "keep": keep, "del": delete}


def _count_block(sources: Sequence[str], outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Array:
    """The counts of some sentences, all n-grams of all their texts at once."""
    vocabulary: dict[str, int] = {}
    words: list[int] = []  # (word,) every word of every text, text by text
    lengths: list[int] = []  # (text,)
    sides = [_SOURCE, _OUTPUT] + [_REFERENCE] * len(references)
    for together in zip(sources, outputs, *references, strict=True):
        for text in together:
            tokens = tokenized(text).split()
            words += [vocabulary.setdefault(token, len(vocabulary)) for token in tokens]
            lengths.append(len(tokens))
    word = np.array(words, dtype=np.int64)
    text_of = np.repeat(np.arange(len(lengths)), lengths)
    sentence, side = text_of // len(sides), np.array(sides)[text_of % len(sides)]
    counts = np.zeros((len(sources), 3, 3, ORDERS))
    gram = sentence  # (word,) a number for the n-gram that starts here and its sentence together; n = 0: the sentence
    for order in range(ORDERS):
        size = max(len(word) - order, 0)
        whole = text_of[order:] == text_of[:size]  # the n-gram does not run into the next text
        keys = gram[:size] * len(vocabulary) + word[order:]
        _, first, cell = np.unique(keys, return_index=True, return_inverse=True)
        gram = cell
        s, h, r = (
            np.bincount(cell[whole & (side[:size] == this)], minlength=len(first))
            for this in (_SOURCE, _OUTPUT, _REFERENCE)
        )
        for operation, (made, wanted) in enumerate(_operations(s * len(references), h * len(references), r)):
            for column, cells in enumerate((np.minimum(made, wanted), made, wanted)):
                counts[:, operation, column, order] = np.bincount(
                    sentence[first], weights=cells, minlength=len(sources)
                )
    return counts.reshape(len(sources), -1)


def _operations(s: Any, h: Any, r: Any) -> list[tuple[Any, Any]]:
    """What output and references do with each n-gram: added, kept, deleted; s and h times the references."""
    new = s == 0
    return [
        (new & (h > 0), new & (r > 0)),
        (np.minimum(s, h), np.minimum(s, r)),
        (np.maximum(s - h, 0), np.maximum(s - r, 0)),
    ]
