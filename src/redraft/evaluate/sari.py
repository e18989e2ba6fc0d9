"""SARI as EASSE computes it: n-grams added, kept and deleted, counted over the corpus.

Let s and h be the counts of an n-gram in source and output, and r its count summed over R references (Xu et al., 2016):

    add   h > 0, s = 0           against  r > 0, s = 0            (each n-gram counts once)
    keep  min(R·s, R·h)          against  min(R·s, r)
    del   max(R·s − R·h, 0)      against  max(R·s − r, 0)

The overlap of the two columns is correct. F1 for each n comes from sums over the corpus, with 0/0 = 0; the scores are
means over n = 1 … 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from redraft.evaluate.measures import LIBRARY, SIGNATURE, Array, Texts, ratio, tokenized

ORDERS = 4
_SOURCE, _OUTPUT, _REFERENCE = range(3)
_BLOCK = 2000  # sentences counted at once; bounds the memory


class Sari:
    """Scores `sari`, `add`, `keep` and `del`, from 0 to 100."""

    signature = f"{SIGNATURE}|ngrams:{ORDERS}|f1:add,keep,del|level:corpus|{LIBRARY}"

    def count(self, texts: Texts) -> Array:
        """(sentence, operation · 3 · order): correct n-grams, n-grams of the output, n-grams of the references."""
        counts = np.empty((len(texts.sources), 9 * ORDERS))
        for start in range(0, len(counts), _BLOCK):
            rows = slice(start, start + _BLOCK)
            references = [reference[rows] for reference in texts.references]
            counts[rows] = _count_block(texts.sources[rows], texts.outputs[rows], references)
        return counts

    def figures(self, sums: Array) -> dict[str, Array]:
        correct, predicted, expected = np.moveaxis(sums.reshape(*sums.shape[:-1], 3, 3, ORDERS), -2, 0)
        precision, recall = ratio(correct, predicted), ratio(correct, expected)
        f1 = 100 * ratio(2 * precision * recall, precision + recall).mean(-1)  # (…, operation)
        add, keep, delete = np.moveaxis(f1, -1, 0)
        return {"sari": f1.mean(-1), "add": add, "keep": keep, "del": delete}


def _count_block(sources: Sequence[str], outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Array:
    """Counts of a block of sentences, vectorised over all n-grams of all their texts."""
    vocabulary: dict[str, int] = {}
    words: list[int] = []  # (word,) word ids of all texts, concatenated
    lengths: list[int] = []  # (text,)
    sides = [_SOURCE, _OUTPUT] + [_REFERENCE] * len(references)
    for row in zip(sources, outputs, *references, strict=True):
        for text in row:
            tokens = tokenized(text).split()
            words += [vocabulary.setdefault(token, len(vocabulary)) for token in tokens]
            lengths.append(len(tokens))
    word = np.array(words, dtype=np.int64)
    text_of = np.repeat(np.arange(len(lengths)), lengths)
    sentence, side = text_of // len(sides), np.array(sides)[text_of % len(sides)]
    counts = np.zeros((len(sources), 3, 3, ORDERS))
    gram = sentence  # (word,) id of (sentence, n-gram starting here); for n = 0, the sentence
    for order in range(ORDERS):
        size = max(len(word) - order, 0)
        whole = text_of[order:] == text_of[:size]  # the n-gram ends within its text
        keys = gram[:size] * len(vocabulary) + word[order:]
        _, first, cell = np.unique(keys, return_index=True, return_inverse=True)
        gram = cell
        s, h, r = (
            np.bincount(cell[whole & (side[:size] == this)], minlength=len(first))
            for this in (_SOURCE, _OUTPUT, _REFERENCE)
        )
        for operation, (predicted, expected) in enumerate(_operations(s * len(references), h * len(references), r)):
            for column, cells in enumerate((np.minimum(predicted, expected), predicted, expected)):
                counts[:, operation, column, order] = np.bincount(
                    sentence[first], weights=cells, minlength=len(sources)
                )
    return counts.reshape(len(sources), -1)


def _operations(s: Any, h: Any, r: Any) -> list[tuple[Any, Any]]:
    """(output, references) counts of added, kept and deleted n-grams; s and h are multiplied by R."""
    new = s == 0
    return [
        (new & (h > 0), new & (r > 0)),
        (np.minimum(s, h), np.minimum(s, r)),
        (np.maximum(s - h, 0), np.maximum(s - r, 0)),
    ]
