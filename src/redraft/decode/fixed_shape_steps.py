"""Steps of a `transformers` model in fixed buffers: the same shapes and addresses, as a CUDA graph requires."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface
from transformers.cache_utils import Cache, CacheLayerMixin, EncoderDecoderCache

from redraft.decode.transformers_steps import TransformersSteps


class _FixedLayer(CacheLayerMixin):  # type: ignore[no-untyped-call]
    """Keys and values of one layer in buffers for all steps; `written` (tokens so far) is shared by the layers.

    A layer that is reordered has two buffers, used in turn: rows are copied from one to the other.
    """

    is_sliding = False

    def __init__(self, like: Any, room: int, written: Tensor, share: int = 1, *, moves: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        rows, heads, _, width = like.keys.shape
        self._share = share
        sizes = [(rows // share, heads, room, size) for size in (width, like.values.shape[-1])]
        self._buffers = [[like.keys.new_zeros(size) for size in sizes] for _ in range(1 + moves)]
        self.keys: Tensor = self._buffers[0][0]
        self.values: Tensor = self._buffers[0][1]
        self.written = written
        self.is_initialized = True

    def load(self, layer: Any) -> None:
        length = layer.keys.shape[2]
        self.keys, self.values = self._buffers[0]
        self.keys[:, :, :length].copy_(layer.keys[:: self._share])
        self.values[:, :, :length].copy_(layer.values[:: self._share])

    def reorder(self, rows: Tensor) -> None:
        before, after = self._buffers if self.keys is self._buffers[0][0] else self._buffers[::-1]
        for old, new in zip(before, after, strict=True):
            torch.index_select(old, 0, rows, out=new)
        self.keys, self.values = after

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        at = self.written.view(1)
        self.keys.index_copy_(2, at, key_states)
        self.values.index_copy_(2, at, value_states)
        return self.keys, self.values

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        raise AssertionError("a fixed layer is complete when it is made")

    def get_seq_length(self) -> Any:
        return self.written

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.keys.shape[2], 0

    def get_max_length(self) -> int:
        return int(self.keys.shape[2])

    get_max_cache_shape = get_max_length  # its name in earlier releases


def can_be_fixed(model: Any) -> bool:
    """Whether a model's steps can run in fixed buffers: a plain cache, and no processors after the first token."""
    if not isinstance(model, TransformersSteps) or model.cache is None or model.keep_scores:
        return False
    own = getattr(model.cache, "self_attention_cache", model.cache)
    plain = not any(getattr(own, "is_sliding", ())) and not hasattr(model.model, "_reorder_cache")
    first_only = ("ForcedBOSTokenLogitsProcessor",)
    return plain and all(type(processor).__name__ in first_only for processor in model.processors or ())


class FixedSteps:
    """Continues a started TransformersSteps, step by step, without new lasting allocations."""

    def __init__(self, started: TransformersSteps, room: int, source_room: int) -> None:
        cache = started.cache
        self._model = started.model
        self._configs = _attention_configs(self._model)
        self._encoder_decoder = isinstance(cache, EncoderDecoderCache)
        own = cache.self_attention_cache if self._encoder_decoder else cache
        first = own.layers[0].keys
        prompt = first.shape[2]
        self.room = prompt + room
        self._written = torch.zeros((), dtype=torch.int64, device=first.device)
        self._layers = [_FixedLayer(layer, self.room, self._written, moves=True) for layer in own.layers]
        self._hidden = torch.finfo(first.dtype).min
        self._mask = torch.empty(first.shape[0], 1, 1, self.room, dtype=first.dtype, device=first.device)
        self._positions: Tensor | None = None
        if started.positions is not None:
            self._positions = torch.zeros_like(started.positions[:, -1:])
        self._last_position = started.last_position
        self._cache: Any = Cache(layers=[*self._layers])
        self._inputs = {
            name: started.inputs[name] for name in started.inputs if name in ("use_cache", "logits_to_keep")
        }
        self._across: list[_FixedLayer] = []
        if self._encoder_decoder:
            # All rows of a sentence attend to the same source, so one copy of its keys and values is enough for models
            # that use our attention function; T5 and others compute attention themselves and get a copy for each row.
            self._share = started.beams if self._configs else 1
            self._across = [
                _FixedLayer(layer, source_room, self._written, self._share)
                for layer in cache.cross_attention_cache.layers
            ]
            self._cache = EncoderDecoderCache(self._cache, Cache(layers=[*self._across]))
            self._cache.is_updated = dict.fromkeys(range(len(self._across)), True)
            self._read = self._mask.new_empty(first.shape[0] // self._share, 1, 1, source_room)
            hidden = started.inputs["encoder_outputs"][0]
            # Only its presence matters: the keys and values of the source are in the cache.
            self._encoded = (hidden.new_zeros(hidden.shape[0], source_room, hidden.shape[2]),)

    def load(self, started: TransformersSteps) -> None:
        """Copy a batch into the buffers: its cache after the first step, its masks, its positions."""
        cache = started.cache
        own = cache.self_attention_cache if self._encoder_decoder else cache
        for fixed, layer in zip(self._layers, own.layers, strict=True):
            fixed.load(layer)
        prompt = own.layers[0].keys.shape[2]
        self._written.fill_(prompt)
        self._mask.fill_(self._hidden)
        self._mask[..., :prompt] = 0
        mask = started.inputs.get("attention_mask")
        if self._encoder_decoder:
            for fixed, layer in zip(self._across, cache.cross_attention_cache.layers, strict=True):
                fixed.load(layer)
            source = cache.cross_attention_cache.layers[0].keys.shape[2]
            self._read.fill_(self._hidden)
            self._read[..., :source] = 0 if mask is None else self._additive(mask[:: self._share])
        elif mask is not None:
            self._mask[..., :prompt] = self._additive(mask)
        if self._positions is not None and started.positions is not None:
            self._positions.copy_(started.positions[:, -1:])

    @contextmanager
    def _attention(self) -> Iterator[None]:
        """Use attention made for one token per row: the usual kernels are made for long texts and slow here."""
        before = [config._attn_implementation for config in self._configs]
        for config in self._configs:
            config._attn_implementation = _ATTENTION
        try:
            yield
        finally:
            for config, name in zip(self._configs, before, strict=True):
                config._attn_implementation = name

    def _additive(self, mask: Tensor) -> Tensor:
        """(row, n) of 0 and 1 → (row, 1, 1, n) to be added to attention scores."""
        return (mask[:, None, None] == 0).to(self._mask.dtype) * self._hidden

    def step(self, parent: Tensor, tokens: Tensor) -> Tensor:
        """Continue the parent rows with these tokens, (batch, beam) both; returns scores, (batch, beam, vocab)."""
        with self._attention():
            return self._step(parent, tokens)

    def _step(self, parent: Tensor, tokens: Tensor) -> Tensor:
        batch, beams = parent.shape
        rows = (parent + torch.arange(batch, device=parent.device)[:, None] * beams).flatten()
        for layer in self._layers:
            layer.reorder(rows)
        self._mask.index_fill_(3, self._written.view(1), 0)
        token = tokens.reshape(-1, 1)
        if self._encoder_decoder:
            output = self._model(
                decoder_input_ids=token,
                decoder_attention_mask=self._mask,
                encoder_outputs=self._encoded,
                attention_mask=self._read,
                past_key_values=self._cache,
                return_dict=True,
                **self._inputs,
            )
        else:
            if self._positions is not None:
                self._positions.add_(1).clamp_(max=self._last_position)
                self._inputs["position_ids"] = self._positions
            output = self._model(
                input_ids=token,
                attention_mask=self._mask,
                past_key_values=self._cache,
                return_dict=True,
                **self._inputs,
            )
        self._written.add_(1)
        log_prob = torch.log_softmax(output.logits[:, -1].to(torch.float32), -1)
        return log_prob.view(batch, beams, -1)


_ATTENTION = "redraft_rows"


def _attention_configs(model: Any) -> list[Any]:
    """The configs in which the model's layers look up their attention function; none if it computes its own."""
    if not getattr(model, "_supports_sdpa", False):
        return []
    modules = (module for module in model.modules() if hasattr(getattr(module, "config", None), "_attn_implementation"))
    return list({id(module.config): module.config for module in modules}.values())


def _attend(
    module: Any,
    query: Tensor,  # (row, head, 1, width)
    key: Tensor,  # (row or sentence, key head, length, width)
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    position_bias: Tensor | None = None,  # T5's, the same for all rows
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention of one new token per row. Rows that share their keys become the queries of one sentence."""
    rows, heads, _, width = query.shape
    groups = heads // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    sentences = key.shape[0]
    together = query.reshape(sentences, rows // sentences, heads, width).transpose(1, 2)
    scores = torch.matmul(together, key.transpose(2, 3)) * (scaling if scaling is not None else width**-0.5)
    if attention_mask is not None:
        scores = scores + attention_mask
    if position_bias is not None:
        scores = scores + position_bias
    weights = torch.softmax(scores, -1, dtype=torch.promote_types(scores.dtype, torch.float32)).to(query.dtype)
    mixed = torch.matmul(weights, value)  # (sentence, head, rows of it, width)
    return mixed.transpose(1, 2).reshape(rows, 1, heads, width), None


AttentionInterface.register(_ATTENTION, _attend)
