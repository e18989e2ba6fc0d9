"""Encoder-decoder models that score whole texts: the rewriter's plain network, and those of transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from redraft.decode.rewriter_network import RewriterNetwork

_ROWS, _ROWS_GPU = 64, 8192
IGNORED = -100  # a target that is padding, as in transformers


class EncoderDecoder(Protocol):
    """Scores all tokens of given texts in one pass."""

    @property
    def start_token(self) -> int:
        """The first token that the decoder reads."""
        ...

    @property
    def end_tokens(self) -> frozenset[int]:
        """Tokens that end a text."""
        ...

    def encode(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """(batch, token) each → (batch, token, hidden)."""
        ...

    def decode(self, encoded: Tensor, mask: Tensor, tokens: Tensor) -> Tensor:
        """(batch, token, …): the states after each token of the outputs."""
        ...

    def decode_targets(self, encoded: Tensor, mask: Tensor, targets: Tensor) -> Tensor:
        """(batch, token, …): the state before each target; IGNORED targets are padding."""
        ...

    def logits(self, states: Tensor) -> Tensor:
        """(row, vocab): scores of the tokens that follow each row of states."""
        ...


class TransformersEncoderDecoder:
    """A model of transformers. What it calls states are the logits: not every model computes them separately."""

    def __init__(self, model: Any) -> None:
        self._model = model
        ends = model.generation_config.eos_token_id
        self.start_token: int = model.generation_config.decoder_start_token_id
        self.end_tokens = frozenset([ends] if isinstance(ends, int) else ends or ())

    def encode(self, tokens: Tensor, mask: Tensor) -> Tensor:
        encoded: Tensor = self._model.get_encoder()(input_ids=tokens, attention_mask=mask).last_hidden_state
        return encoded

    def decode(self, encoded: Tensor, mask: Tensor, tokens: Tensor) -> Tensor:
        from transformers.modeling_outputs import BaseModelOutput

        states: Any = encoded
        logits: Tensor = self._model(
            encoder_outputs=BaseModelOutput(last_hidden_state=states), attention_mask=mask, decoder_input_ids=tokens,
            use_cache=False,
        ).logits  # fmt: skip
        return logits

    def decode_targets(self, encoded: Tensor, mask: Tensor, targets: Tensor) -> Tensor:
        return self.decode(encoded, mask, shifted(self._model, targets))

    def logits(self, states: Tensor) -> Tensor:
        return states


def encoder_decoder(model: Any) -> EncoderDecoder:
    return model if isinstance(model, RewriterNetwork) else TransformersEncoderDecoder(model)


def row_parts(rows: Tensor) -> Sequence[Tensor]:
    """(batch, token, …) → (row, …) in parts: the scores of all tokens take 64 KB a row."""
    return torch.split(rows.flatten(0, 1), _ROWS_GPU if rows.is_cuda else _ROWS)


def shifted(model: Any, targets: Tensor) -> Tensor:
    """The decoder inputs of a model of transformers for `targets`: shifted right by one, after the start token."""
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):  # MBart puts the language first
        return model.prepare_decoder_input_ids_from_labels(targets)  # type: ignore[no-any-return]
    start = targets.new_full((len(targets), 1), model.config.decoder_start_token_id)
    moved = torch.cat([start, targets[:, :-1]], 1)
    return moved.masked_fill(moved == IGNORED, model.config.pad_token_id)
