"""BERTScore (Zhang et al., 2020) by the package `bert-score`, with any encoder."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from redraft.errors import ConfigError
from redraft.evaluate.measures import Array, Texts, share
from redraft.trust import check_weights, for_code, loading, unasked

DEFAULT = "roberta-large"  # what bert-score takes for English


class BertScore:
    """Figures `bertscore_precision`, `bertscore_recall` and `bertscore` (F1), out of 100, not rescaled.

    `encoder` is a name on the Hugging Face hub or a folder; `layer` the hidden layer whose vectors are compared: if not
    given, the one that bert-score has chosen for the encoder (for a folder: for its name), or else the last.
    """

    def __init__(self, encoder: str = DEFAULT, *, layer: int | None = None, device: str | None = None) -> None:
        try:
            from bert_score import BERTScorer
            from bert_score.utils import model2layers
            from transformers import AutoConfig
        except ImportError:
            raise ConfigError(
                "BERTScore needs the package bert-score.", "Install it: pip install 'redraft[bertscore]'"
            ) from None
        hint = "Give a name on the Hugging Face hub or a folder with an encoder and its tokenizer."
        with loading("the encoder", encoder, ConfigError, hint), unasked():
            check_weights(encoder)
            config = AutoConfig.from_pretrained(encoder, **for_code())
            known = model2layers.get(encoder) or model2layers.get(Path(encoder).name)
            layer = layer or known or config.num_hidden_layers
            self._scorer: Any = BERTScorer(model_type=encoder, num_layers=layer, device=device)
        # A tokenizer that states no limit overflows bert-score's truncation; RoBERTa's positions begin at 2.
        limit = getattr(config, "max_position_embeddings", 514) - 2
        self._scorer._tokenizer.model_max_length = min(self._scorer._tokenizer.model_max_length, limit)
        self.signature = (
            f"case:mixed|encoder:{encoder}|layer:{layer}|idf:no|rescale:no|bert-score:{version('bert-score')}"
        )

    def count(self, texts: Texts) -> Array:
        """(sentence, 4): precision, recall and F1 of the best reference, and 1. Empty text scores 0."""
        counts = np.zeros((len(texts.outputs), 4))
        counts[:, 3] = 1
        references = [[text for text in some if text.strip()] for some in zip(*texts.references, strict=True)]
        full = [row for row, output in enumerate(texts.outputs) if output.strip() and references[row]]
        if full:
            values = self._scorer.score([texts.outputs[row] for row in full], [references[row] for row in full])
            counts[full, :3] = np.stack([value.double().cpu().numpy() for value in values], axis=-1)
        return counts

    def figures(self, sums: Array) -> dict[str, Array]:
        *values, sentences = np.moveaxis(sums, -1, 0)
        precision, recall, f1 = (100 * share(value, sentences) for value in values)
        return {"bertscore": f1, "bertscore_precision": precision, "bertscore_recall": recall}
