"""The bundled rewriter in plain torch: the numbers of `MBartForConditionalGeneration`, from the same weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from redraft.empty_embedding import empty_embedding

_OFFSET = 2  # of positions in their table
_FED_ROWS = 512  # rows of the wide part of a layer computed together, which bounds the memory
# What the configuration must say for this network to be the right one; None: nothing.
_REQUIRED = {
    "model_type": "mbart", "architectures": ["MBartForConditionalGeneration"], "is_encoder_decoder": True,
    "activation_function": "gelu", "tie_word_embeddings": True, "scale_embedding": False, "auto_map": None,
}  # fmt: skip


@dataclass(frozen=True)
class RewriterShape:
    """The configuration of a rewriter."""

    vocab_size: int
    d_model: int
    encoder_layers: int
    encoder_attention_heads: int
    encoder_ffn_dim: int
    decoder_layers: int
    decoder_attention_heads: int
    decoder_ffn_dim: int
    max_position_embeddings: int
    pad_token_id: int
    decoder_start_token_id: int
    reads_plans: bool = False
    is_encoder_decoder: bool = True

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> RewriterShape | None:
        """The shape in the configuration of transformers; None if it describes another network."""
        if any(stored.get(name) != value for name, value in _REQUIRED.items()):
            return None
        known = {name: stored[name] for name in cls.__dataclass_fields__ if name in stored}
        if any(not isinstance(value, int) for value in known.values()):
            return None
        try:
            return cls(**known)
        except TypeError:  # a size is missing: transformers has defaults for it
            return None


class Sources(NamedTuple):
    """What a layer of the decoder reads of the sources, and the mask of their tokens."""

    keys: Tensor  # (batch, head, source token, size)
    values: Tensor
    mask: Tensor | None  # (batch, 1, 1, source token); None: no padding

    def repeat(self, times: int) -> Sources:
        mask = None if self.mask is None else self.mask.repeat_interleave(times, 0)
        return Sources(self.keys.repeat_interleave(times, 0), self.values.repeat_interleave(times, 0), mask)


class Past(NamedTuple):
    """Keys and values of the tokens so far in a layer of the decoder: (row, head, token, size)."""

    keys: Tensor
    values: Tensor

    def reorder(self, rows: Tensor) -> Past:
        return Past(self.keys.index_select(0, rows), self.values.index_select(0, rows))


class RewriterNetwork(nn.Module):
    """Encoder and decoder with tied embeddings; parameters have their names in `MBartForConditionalGeneration`."""

    def __init__(self, config: RewriterShape, end_tokens: tuple[int, ...]) -> None:
        super().__init__()
        self.config, self.start_token, self.end_tokens = config, config.decoder_start_token_id, frozenset(end_tokens)
        self.model = _Sides(config)
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.final_logits_bias = nn.Buffer(torch.zeros(1, config.vocab_size))

    @property
    def device(self) -> torch.device:
        return self.final_logits_bias.device

    def encode(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """(batch, token) each → (batch, token, hidden)."""
        encoder = self.model.encoder
        state, attended = encoder.embed(self.model.shared(tokens), 0), _attention_mask(mask)
        for layer in encoder.layers:
            state = layer(state, attended)
        encoded: Tensor = encoder.layer_norm(state)
        return encoded

    def sources(self, encoded: Tensor, mask: Tensor) -> Iterator[Sources]:
        """For each layer of the decoder, when it is asked for."""
        attended, layers = _attention_mask(mask), cast("list[_DecoderLayer]", self.model.decoder.layers)
        for layer in layers:
            yield Sources(*layer.encoder_attn.keys_and_values(encoded), attended)

    def decode(self, encoded: Tensor, mask: Tensor, tokens: Tensor) -> Tensor:
        """(batch, token, hidden): the states after each token."""
        return self.continue_texts(self.sources(encoded, mask), tokens)

    def decode_targets(self, encoded: Tensor, mask: Tensor, targets: Tensor) -> Tensor:
        """(batch, token, hidden): the state before each target; negative targets are padding."""
        start = targets.new_full((len(targets), 1), self.start_token)
        before = torch.cat([start, targets[:, :-1]], 1)
        return self.decode(encoded, mask, before.masked_fill(before < 0, self.config.pad_token_id))

    def continue_texts(
        self, sources: Iterable[Sources], tokens: Tensor, past: list[Past | None] | None = None
    ) -> Tensor:
        """The states after each of `tokens`, (row, token); a source for each row.

        `past`: for each layer, the tokens before these; extended by them.
        """
        decoder = self.model.decoder
        before = past[0] if past else None
        state = decoder.embed(self.model.shared(tokens), 0 if before is None else before.keys.shape[2])
        for place, (layer, read) in enumerate(zip(decoder.layers, sources, strict=True)):
            state, known = layer(state, read, past[place] if past else None)
            if past:
                past[place] = known
        states: Tensor = decoder.layer_norm(state)
        return states

    def logits(self, states: Tensor) -> Tensor:
        """(…, hidden) → (…, vocab): scores of the tokens that follow."""
        scores: Tensor = self.lm_head(states)
        return scores.add_(self.final_logits_bias[0])


class _Sides(nn.Module):
    def __init__(self, config: RewriterShape) -> None:
        super().__init__()
        self.shared = empty_embedding(config.vocab_size, config.d_model)
        encoder = (config.encoder_attention_heads, config.encoder_ffn_dim)
        decoder = (config.decoder_attention_heads, config.decoder_ffn_dim)
        self.encoder = _Side(config, [_EncoderLayer(config.d_model, *encoder) for _ in range(config.encoder_layers)])
        self.decoder = _Side(config, [_DecoderLayer(config.d_model, *decoder) for _ in range(config.decoder_layers)])


class _Side(nn.Module):
    def __init__(self, config: RewriterShape, layers: list[nn.Module]) -> None:
        super().__init__()
        self.embed_positions = empty_embedding(config.max_position_embeddings + _OFFSET, config.d_model)
        self.layernorm_embedding = nn.LayerNorm(config.d_model)
        self.layers = nn.ModuleList(layers)
        self.layer_norm = nn.LayerNorm(config.d_model)

    def embed(self, vectors: Tensor, start: int) -> Tensor:
        positions = torch.arange(start, start + vectors.shape[1], device=vectors.device) + _OFFSET
        embedded: Tensor = self.layernorm_embedding(vectors + self.embed_positions(positions))
        return embedded


class _EncoderLayer(nn.Module):
    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.self_attn_layer_norm, self.self_attn = nn.LayerNorm(width), _Attention(width, heads)
        self.final_layer_norm = nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, state: Tensor, mask: Tensor | None) -> Tensor:
        normed = self.self_attn_layer_norm(state)
        state = state + self.self_attn(normed, *self.self_attn.keys_and_values(normed), mask)
        return state + self.feed(state)

    def feed(self, state: Tensor) -> Tensor:
        parts = torch.split(state.flatten(0, 1), _FED_ROWS)
        fed = [self.fc2(nn.functional.gelu(self.fc1(self.final_layer_norm(part)))) for part in parts]
        return torch.cat(fed).view_as(state)


class _DecoderLayer(_EncoderLayer):
    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__(width, heads, inner)
        self.encoder_attn_layer_norm, self.encoder_attn = nn.LayerNorm(width), _Attention(width, heads)

    def forward(  # type: ignore[override]
        self, state: Tensor, sources: Sources, past: Past | None
    ) -> tuple[Tensor, Past]:
        normed = self.self_attn_layer_norm(state)
        present = Past(*self.self_attn.keys_and_values(normed))
        if past is not None:
            present = Past(*(torch.cat(both, 2) for both in zip(past, present, strict=True)))
        state = state + self.self_attn(normed, *present, causal=past is None and normed.shape[1] > 1)
        state = state + self.encoder_attn(self.encoder_attn_layer_norm(state), *sources)
        return state + self.feed(state), present


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj = nn.Linear(width, width), nn.Linear(width, width)
        self.v_proj, self.out_proj = nn.Linear(width, width), nn.Linear(width, width)

    def keys_and_values(self, state: Tensor) -> tuple[Tensor, Tensor]:
        return self._split(self.k_proj(state)), self._split(self.v_proj(state))

    def forward(
        self, state: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None, *, causal: bool = False
    ) -> Tensor:
        if mask is not None:
            mask = mask.expand(-1, -1, state.shape[1], -1)
        query = self._split(self.q_proj(state))
        found = nn.functional.scaled_dot_product_attention(query, keys, values, mask, is_causal=causal)
        attended: Tensor = self.out_proj(found.transpose(1, 2).flatten(2))
        return attended

    def _split(self, projected: Tensor) -> Tensor:
        return projected.view(*projected.shape[:-1], self.heads, -1).transpose(1, 2)


def _attention_mask(mask: Tensor) -> Tensor | None:
    return None if mask.all() else mask.bool()[:, None, None]
