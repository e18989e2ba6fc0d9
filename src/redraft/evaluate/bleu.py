"""BLEU, computed by sacrebleu on lower-cased 13a tokens, as for SARI."""

from __future__ import annotations

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from redraft.evaluate.measures import LIBRARY, SIGNATURE, Array, Texts, tokenized


class Bleu:
    """Score `bleu`, from 0 to 100."""

    signature = f"{SIGNATURE}|eff:no|smooth:exp|{LIBRARY}"

    def __init__(self) -> None:
        self._bleu = BLEU(tokenize="none", force=True)  # the text is tokenized before

    def count(self, texts: Texts) -> Array:
        """(sentence, 2 + 4 + 4): output length, closest reference length, matching and output n-grams (n = 1 … 4)."""
        rows = []
        for output, *references in zip(texts.outputs, *texts.references, strict=True):
            score = self._bleu.corpus_score([tokenized(output)], [[tokenized(text)] for text in references])
            rows.append([score.sys_len, score.ref_len, *score.counts, *score.totals])
        return np.array(rows, dtype=np.float64).reshape(len(rows), 10)

    def figures(self, sums: Array) -> dict[str, Array]:
        rows = sums.reshape(-1, sums.shape[-1]).astype(int).tolist()
        scores = [
            BLEU.compute_bleu(row[2:6], row[6:10], row[0], row[1], smooth_method="exp", max_ngram_order=4).score
            for row in rows
        ]
        return {"bleu": np.array(scores).reshape(sums.shape[:-1])}
