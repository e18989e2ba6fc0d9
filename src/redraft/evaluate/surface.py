"""Reference-free statistics: length, compression, copies, words added and deleted."""

from __future__ import annotations

from collections import Counter

import numpy as np

from redraft.evaluate.measures import LIBRARY, SIGNATURE, Array, Texts, ratio, tokenized


class Surface:
    """Means over sentences.

    `len`: output length in words. `compression`: output characters / source characters. In percent: `copies` (outputs
    equal to their source), `added` and `deleted` (words in only the output or only the source, relative to the number
    of words of the longer text).
    """

    signature = f"{SIGNATURE}|level:sentence|{LIBRARY}"

    def count(self, texts: Texts) -> Array:
        """(sentence, 6): the five values of each sentence, and 1."""
        rows = [
            _values(tokenized(source), tokenized(output))
            for source, output in zip(texts.sources, texts.outputs, strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, 6)

    def figures(self, sums: Array) -> dict[str, Array]:
        *values, sentences = np.moveaxis(sums, -1, 0)
        words, compression, copies, added, deleted = (ratio(value, sentences) for value in values)
        return {
            "len": words,
            "compression": compression,
            "copies": 100 * copies,
            "added": 100 * added,
            "deleted": 100 * deleted,
        }


def _values(source: str, output: str) -> tuple[float, ...]:
    before, after = Counter(source.split()), Counter(output.split())
    longer = max(before.total(), after.total(), 1)
    return (
        after.total(),
        len(output) / max(len(source), 1),
        source == output,
        (after - before).total() / longer,
        (before - after).total() / longer,
        1,
    )
