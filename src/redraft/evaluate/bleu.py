"""BLEU by sacrebleu, on the same lower-cased 13a tokens as SARI."""

from __future__ import annotations

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from redraft.evaluate.measures import LIBRARY, SIGNATURE, Array, Texts, tokenized


class Bleu:
    """Figure `bleu`, out of 100."""

    signature = f"{SIGNATURE}|eff:no|smooth:exp|{LIBRARY}"

    def __init__(self) -> None:
        self._bleu = BLEU(tokenize="none", force=True)  # the tokens are made already

    def count(self, texts: Texts) -> Array:
        """(sentence, 2 + 4 + 4): words of the output and of the closest reference, n-grams found, n-grams written."""
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
