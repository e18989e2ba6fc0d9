"""A model of `transformers` as a StepModel, inside its own `generate`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from redraft.errors import ModelError


class TransformersSteps:
    """Feeds one token per row to an encoder-decoder or decoder-only model and keeps its cache in the order of the rows.

    `generate` of transformers has prepared everything: inputs repeated for every beam, the encoder output, an empty
    cache, the processors. The forward pass is called directly, with the arguments that models document.
    """

    def __init__(
        self,
        model: Any,
        input_ids: Tensor,  # (batch · beam, prompt)
        processors: Any,
        end_tokens: Sequence[int],
        inputs: dict[str, Any],
        *,
        keep_scores: bool = False,
        forced_end: int | None = None,
    ) -> None:
        self.end_tokens = list(end_tokens)
        self.forced_end = forced_end
        self.scores: list[Tensor] = []
        self.model = model
        self.processors = processors
        self._sequences = input_ids
        self.cache = inputs.pop("past_key_values", None)
        self.inputs = {name: value for name, value in inputs.items() if value is not None}
        self.positions = None if _is_encoder_decoder(model) else self.inputs.pop("position_ids", None)
        self.last_position = None if self.positions is None else (position_limit(model) or 1 << 30) - 1
        self.keep_scores = keep_scores
        self.beams = 1

    def start(self, sources: Sequence[str], beams: int) -> Tensor:
        self.beams = beams
        return self._forward(self._sequences)

    def step(self, tokens: Tensor) -> Tensor:
        token = tokens.reshape(-1, 1)
        self._sequences = torch.cat([self._sequences, token], 1)
        mask = self.inputs.get("attention_mask")
        if not _is_encoder_decoder(self.model) and mask is not None:
            self.inputs["attention_mask"] = torch.cat([mask, mask.new_ones(len(mask), 1)], 1)
        if self.positions is not None:
            self.positions = self.positions[:, -1:] + 1 if self.cache is not None else _append_position(self.positions)
            # A sentence that has reached its limit stays in the batch, and the model needs a valid position for it.
            self.positions = self.positions.clamp(max=self.last_position)
        return self._forward(token if self.cache is not None else self._sequences)

    def reorder(self, parent: Tensor) -> None:
        batch, beams = parent.shape
        rows = (parent + torch.arange(batch, device=parent.device)[:, None] * beams).flatten()
        self._sequences = self._sequences.index_select(0, rows)
        if self.cache is None:
            return
        if hasattr(self.model, "_reorder_cache"):
            self.cache = self.model._reorder_cache(self.cache, rows)
        else:
            # All rows of a sentence share the keys and values of the source: only the self-attention cache moves.
            getattr(self.cache, "self_attention_cache", self.cache).reorder_cache(rows)

    def prompt_length(self) -> int:
        return int(self._sequences.shape[1])

    def source_length(self) -> int:
        """Tokens of the longest source in the batch; 0 if the source is part of the prompt."""
        encoded = self.inputs.get("encoder_outputs")
        return 0 if encoded is None else int(encoded[0].shape[1])

    def _forward(self, tokens: Tensor) -> Tensor:
        name = "decoder_input_ids" if _is_encoder_decoder(self.model) else "input_ids"
        more = {} if self.positions is None else {"position_ids": self.positions}
        if self.cache is not None:
            more["past_key_values"] = self.cache
        output = self.model(**{name: tokens}, **self.inputs, **more, return_dict=True)
        if self.cache is not None:
            self.cache = output.past_key_values
        # In float32 for any dtype of the weights, as transformers does.
        log_prob = torch.log_softmax(output.logits[:, -1].to(torch.float32), -1)
        if self.processors:
            log_prob = self.processors(self._sequences, log_prob)
        if self.keep_scores:
            self.scores.append(log_prob)
        return log_prob.view(-1, self.beams, log_prob.shape[-1])


def _is_encoder_decoder(model: Any) -> bool:
    return bool(model.config.is_encoder_decoder)


def _append_position(positions: Tensor) -> Tensor:
    return torch.cat([positions, positions[:, -1:] + 1], 1)


def position_limit(model: Any) -> int | None:
    """The number of positions of the decoder; None if it is not limited."""
    config = model.config.get_text_config(decoder=True)
    if config.model_type in ("t5", "mt5", "umt5", "longt5", "switch_transformers"):  # relative positions
        return None
    for name in ("max_position_embeddings", "n_positions", "max_target_positions"):
        limit = getattr(config, name, None)
        if isinstance(limit, int) and limit > 0:
            return limit
    return None


def check_can_generate(model: Any) -> None:
    if not hasattr(model, "generate") or "custom_generate" not in inspect.signature(model.generate).parameters:
        raise ModelError(
            f"the model {type(model).__name__} cannot be searched.",
            "Pass a seq2seq or causal model of transformers 5, or an object with end_tokens, start, step and reorder.",
        )
