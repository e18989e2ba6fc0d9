"""BERTScore (Zhang et al., 2020), computed by the package `bert-score` with any encoder."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from redraft.errors import ConfigError
from redraft.evaluate.measures import Array, Texts, ratio
from redraft.trust import loading, refuse_pickled_weights, refuse_remote_code_prompt, remote_code_kwargs

DEFAULT_ENCODER = "roberta-large"  # bert-score's default for English


class BertScore:
    """Scores `bertscore_precision`, `bertscore_recall` and `bertscore` (F1) in percent, not rescaled.

    encoder: a name on the Hugging Face hub, or a folder.
    layer: the hidden layer whose vectors are compared. Default: the layer that bert-score recommends for this encoder
        (a folder is looked up by its name), else the last layer.
    """

    def __init__(self, encoder: str = DEFAULT_ENCODER, *, layer: int | None = None, device: str | None = None) -> None:
        try:
            from bert_score import BERTScorer
            from bert_score.utils import model2layers
            from transformers import AutoConfig
        except ImportError:
            raise ConfigError(
                "BERTScore needs the package bert-score.", "Install it: pip install 'redraft[bertscore]'"
            ) from None
        hint = "Give a name on the Hugging Face hub, or a folder that contains an encoder and its tokenizer."
        with loading("the encoder", encoder, ConfigError, hint), refuse_remote_code_prompt():
            refuse_pickled_weights(encoder)
            config = AutoConfig.from_pretrained(encoder, **remote_code_kwargs())
            known = model2layers.get(encoder) or model2layers.get(Path(encoder).name)
            layer = layer or known or config.num_hidden_layers
            self._scorer: Any = BERTScorer(model_type=encoder, num_layers=layer, device=device)
        # Without a stated maximum length, bert-score's truncation overflows. RoBERTa's position ids start at 2.
        limit = getattr(config, "max_position_embeddings", 514) - 2
        self._scorer._tokenizer.model_max_length = min(self._scorer._tokenizer.model_max_length, limit)
        self.signature = (
            f"case:mixed|encoder:{encoder}|layer:{layer}|idf:no|rescale:no|bert-score:{version('bert-score')}"
        )

    def count(self, texts: Texts) -> Array:
        """(sentence, 4): precision, recall and F1 with the best reference, and 1. Empty text scores 0."""
        counts = np.zeros((len(texts.outputs), 4))
        counts[:, 3] = 1
        references = [[text for text in row if text.strip()] for row in zip(*texts.references, strict=True)]
        scorable = [row for row, output in enumerate(texts.outputs) if output.strip() and references[row]]
        if scorable:
            values = self._scorer.score([texts.outputs[row] for row in scorable], [references[row] for row in scorable])
            counts[scorable, :3] = np.stack([value.double().cpu().numpy() for value in values], axis=-1)
        return counts

    def figures(self, sums: Array) -> dict[str, Array]:
        *values, sentences = np.moveaxis(sums, -1, 0)
        precision, recall, f1 = (100 * ratio(value, sentences) for value in values)
        return {"bertscore": f1, "bertscore_precision": precision, "bertscore_recall": recall}
