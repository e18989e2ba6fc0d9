"""A BERT encoder in plain torch: the numbers of `BertModel` of transformers, from the same weights."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from redraft.empty_embedding import empty_embedding
from redraft.reading import read_json

_CONFIG = "config.json"
# What the configuration must say, where it says anything, for this network to be the right one.
_REQUIRED = {
    "hidden_act": "gelu", "is_decoder": False, "add_cross_attention": False, "position_embedding_type": "absolute",
    "auto_map": None,
}  # fmt: skip


@dataclass(frozen=True)
class BertShape:
    """The configuration of an encoder."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    pad_token_id: int | None = 0
    layer_norm_eps: float = 1e-12
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    stored: Mapping[str, Any] = field(default_factory=dict)  # the whole file

    @classmethod
    def read(cls, folder: str | Path) -> BertShape | None:
        """The shape in config.json; None if it describes another network."""
        stored = read_json(Path(folder) / _CONFIG)
        if not isinstance(stored, dict) or stored.get("model_type") != "bert":
            return None
        if any(stored.get(name, value) != value for name, value in _REQUIRED.items()):
            return None
        known = {name: stored[name] for name in cls.__dataclass_fields__ if name in stored and name != "stored"}
        if any(not isinstance(value, int | float | None) for value in known.values()):
            return None
        try:
            return cls(**known, stored=stored)
        except TypeError:  # a size is missing: transformers has defaults for it
            return None

    def save_pretrained(self, folder: str | Path) -> None:
        (Path(folder) / _CONFIG).write_text(json.dumps(self.stored, indent=2) + "\n", encoding="utf-8")


class Encoded(NamedTuple):
    """(batch, token, hidden) each; `hidden_states`, if asked for: the embeddings and the output of each layer."""

    last_hidden_state: Tensor
    hidden_states: tuple[Tensor, ...] | None = None


class BertEncoder(nn.Module):
    """The encoder without its pooler. Modules have the names that transformers stores weights under."""

    def __init__(self, config: BertShape) -> None:
        super().__init__()
        self.config = config
        self.embeddings = _Embeddings(config)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer(config) for _ in range(config.num_hidden_layers))})

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> Encoded:  # fmt: skip
        token_types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        states = self._states(input_ids, attention_mask, token_types)
        if output_hidden_states:
            every = tuple(states)
            return Encoded(every[-1], every)
        return Encoded(deque(states, maxlen=1).pop())

    def after_layer(self, input_ids: Tensor, attention_mask: Tensor, layer: int) -> Tensor:
        """(batch, token, hidden): the output of a layer, or of the last one; layers above it are not computed."""
        states = self._states(input_ids, attention_mask, torch.zeros_like(input_ids))
        return deque(islice(states, layer + 1), maxlen=1).pop()

    def _states(self, tokens: Tensor, attended: Tensor, token_types: Tensor) -> Iterator[Tensor]:
        """The embeddings, then the output of each layer."""
        mask = None if attended.all() else attended.bool()[:, None, None].expand(-1, -1, tokens.shape[1], -1)
        state = self.embeddings(tokens, token_types)
        yield state
        for layer in self.encoder["layer"].children():
            state = layer(state, mask)
            yield state


def states_after_layer(encoder: Any, tokens: Tensor, mask: Tensor, layer: int) -> Tensor:
    """(batch, token, hidden): the output of a layer of any encoder, or of its last one."""
    if isinstance(encoder, BertEncoder):
        return encoder.after_layer(tokens, mask, layer)
    states = encoder(input_ids=tokens, attention_mask=mask, output_hidden_states=True).hidden_states
    found: Tensor = states[min(layer, len(states) - 1)]
    return found


class _Embeddings(nn.Module):
    def __init__(self, config: BertShape) -> None:
        super().__init__()
        self.word_embeddings = empty_embedding(config.vocab_size, config.hidden_size, config.pad_token_id)
        self.position_embeddings = empty_embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = empty_embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, tokens: Tensor, token_types: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        state = self.word_embeddings(tokens) + self.token_type_embeddings(token_types)
        summed: Tensor = self.dropout(self.LayerNorm(state + self.position_embeddings(positions)))
        return summed


class _Layer(nn.Module):
    def __init__(self, config: BertShape) -> None:
        super().__init__()
        self.attention = _Attention(config)
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(config.hidden_size, config.intermediate_size)})
        self.output = _Output(config, config.intermediate_size)

    def forward(self, state: Tensor, mask: Tensor | None) -> Tensor:
        attended = self.attention(state, mask)
        output: Tensor = self.output(nn.functional.gelu(self.intermediate["dense"](attended)), attended)
        return output


class _Attention(nn.Module):
    def __init__(self, config: BertShape) -> None:
        super().__init__()
        size = config.hidden_size
        self.heads = config.num_attention_heads
        self.self = nn.ModuleDict({name: nn.Linear(size, size) for name in ("query", "key", "value")})
        self.self["dropout"] = nn.Dropout(config.attention_probs_dropout_prob)
        self.output = _Output(config, size)

    def forward(self, state: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (
            self.self[name](state).unflatten(-1, (self.heads, -1)).transpose(1, 2) for name in ("query", "key", "value")
        )
        dropout: Any = self.self["dropout"]
        found = nn.functional.scaled_dot_product_attention(
            query, key, value, mask, dropout_p=dropout.p if self.training else 0.0
        )
        output: Tensor = self.output(found.transpose(1, 2).flatten(2), state)
        return output


class _Output(nn.Module):
    def __init__(self, config: BertShape, size: int) -> None:
        super().__init__()
        self.dense = nn.Linear(size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, inputs: Tensor, residual: Tensor) -> Tensor:
        normed: Tensor = self.LayerNorm(self.dropout(self.dense(inputs)) + residual)
        return normed


def stored_encoder(folder: str | Path) -> Any:
    """The encoder that a configuration describes, in float32 without its weights; of transformers if it is no BERT."""
    from redraft.trust import remote_code_kwargs

    shape = BertShape.read(folder)
    if shape is not None:
        with torch.device("meta"):
            return BertEncoder(shape)
    from transformers import AutoConfig, AutoModel

    make: Any = AutoModel.from_config
    encoder = make(AutoConfig.from_pretrained(folder, **remote_code_kwargs()), **remote_code_kwargs())
    encoder.pooler = None
    return encoder
