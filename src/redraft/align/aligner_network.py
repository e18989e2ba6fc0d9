"""The network of the trained aligner: a cross-encoder with a small convolutional head over the table of word pairs.

The encoder reads [CLS] source [SEP] target [SEP]. The features of a word pair are the dot products of its two words
in several projections and a few features of the surface. Convolutions let neighbouring links support each other, and
maxima over rows and columns tell each cell how strong the competing links are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from redraft.align.word_batches import PAIR_FEATURES, PairBatch


@dataclass(frozen=True)
class HeadConfig:
    """The shape of the head."""

    hidden: int = 384
    layers: int = 7  # hidden states in the scalar mix, including the embeddings
    projections: int = 12
    size: int = 32  # of each projection
    channels: int = 32
    depth: int = 3  # number of convolutions
    dropout: float = 0.1

    def to_json(self) -> dict[str, float]:
        return asdict(self)


class AlignerHead(nn.Module):
    """Word vectors and pair features → a logit for each word pair."""

    def __init__(self, config: HeadConfig) -> None:
        super().__init__()
        self.config = config
        self.mix = nn.Parameter(torch.zeros(config.layers))
        self.left = nn.Linear(config.hidden, config.projections * config.size)
        self.right = nn.Linear(config.hidden, config.projections * config.size)
        self.enter = nn.Conv2d(config.projections + PAIR_FEATURES, config.channels, 1)
        self.convolve = nn.ModuleList(
            nn.Conv2d(config.channels, config.channels, 3, padding=1) for _ in range(config.depth)
        )
        self.across = nn.ModuleList(nn.Conv2d(config.channels, config.channels, 1) for _ in range(config.depth))
        self.along = nn.ModuleList(nn.Conv2d(config.channels, config.channels, 1) for _ in range(config.depth))
        self.leave = nn.Conv2d(config.channels, 1, 1)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, source: Tensor, target: Tensor, features: Tensor, pair_mask: Tensor) -> Tensor:
        """(batch, n, hidden), (batch, m, hidden), (batch, facts, n, m), (batch, 1, n, m) → (batch, n, m)."""
        split = (self.config.projections, self.config.size)
        source, target = self.drop(source), self.drop(target)
        left = self.left(source).unflatten(-1, split).transpose(1, 2)  # (batch, projection, n, size)
        right = self.right(target).unflatten(-1, split).transpose(1, 2)
        products = left @ right.transpose(-1, -2) / self.config.size**0.5
        table = self.enter(torch.cat([products, features.to(products.dtype)], 1)) * pair_mask
        for near, across, along in zip(self.convolve, self.across, self.along, strict=True):
            active = nn.functional.gelu(table)
            competitors = across(active.amax(3, keepdim=True)) + along(active.amax(2, keepdim=True))
            table = (table + near(active) + competitors) * pair_mask
        logits: Tensor = self.leave(nn.functional.gelu(table))[:, 0]
        return logits


class Aligner(nn.Module):
    """An encoder of `transformers` with the alignment head."""

    def __init__(self, encoder: Any, config: HeadConfig) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = AlignerHead(config)

    def forward(self, batch: PairBatch) -> Tensor:
        """(batch, n, m): a logit for each word pair; values in the padding are meaningless."""
        token_types = batch.token_types if getattr(self.encoder.config, "type_vocab_size", 0) > 1 else None
        extra = {} if token_types is None else {"token_type_ids": token_types}
        states = self.encoder(
            input_ids=batch.tokens, attention_mask=batch.mask, output_hidden_states=True, **extra
        ).hidden_states
        vectors = scalar_mix(self.head.mix, states)
        source = batch.source_words.to(vectors.dtype) @ vectors
        target = batch.target_words.to(vectors.dtype) @ vectors
        logits: Tensor = self.head(source, target, batch.features, batch.pair_mask.to(vectors.dtype))
        return logits


def scalar_mix(mix: Tensor, states: Sequence[Tensor]) -> Tensor:
    """(batch, token, hidden): the layers of an encoder weighted by the softmax of `mix`, in the dtype of the layers."""
    weights = mix.softmax(0).to(states[0].dtype)
    total = states[0] * weights[0]
    for weight, state in zip(weights[1:], states[1:], strict=True):
        total = total + state * weight
    return total
