"""What a rewriter is trained to make small."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from redraft.fit.rewriter_batches import IGNORED, Batch


def summed_loss(model: Any, plain: Any, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy of the target's tokens and its end, summed: whoever calls divides by the tokens of a whole update.

    A mean over each micro batch would weigh the tokens of short ones more. `plain` is the model that `model` wraps.
    """
    inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    labels = batch.labels
    if plain.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = shifted(plain, labels)
        logits = model(**inputs, use_cache=False).logits
    else:  # the scores at a token are about the next one
        logits, labels = model(**inputs, use_cache=False).logits[:, :-1], labels[:, 1:]
    return torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum",
        label_smoothing=label_smoothing,
    )  # fmt: skip


def shifted(model: Any, labels: Tensor) -> Tensor:
    """What the decoder reads when it is to write `labels`: the same, one place later, behind the start token."""
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):  # languages in MBart have a say
        return model.prepare_decoder_input_ids_from_labels(labels)  # type: ignore[no-any-return]
    start = labels.new_full((len(labels), 1), model.config.decoder_start_token_id)
    moved = torch.cat([start, labels[:, :-1]], 1)
    return moved.masked_fill(moved == IGNORED, model.config.pad_token_id)
