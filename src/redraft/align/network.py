"""The trained aligner: both sentences read together, and a small network over the table of word pairs.

The encoder sees [CLS] source [SEP] target [SEP]. Every word pair gets the dot products of its words in several
projections and a few plain facts; convolutions over the table let neighbouring links support one another, and the
strongest of its row and column tell each cell of its rivals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

Words = Sequence[str]
FACTS = 5  # plain facts about a word pair


@dataclass(frozen=True)
class HeadConfig:
    """The shape of the network above the encoder."""

    hidden: int = 384
    layers: int = 7  # hidden states that are mixed, the embeddings included
    projections: int = 12
    size: int = 32  # of each projection
    channels: int = 32
    depth: int = 3  # convolutions
    dropout: float = 0.1

    def to_json(self) -> dict[str, float]:
        return asdict(self)


class AlignerHead(nn.Module):
    """Word vectors and facts → a logit for each word pair."""

    def __init__(self, config: HeadConfig) -> None:
        super().__init__()
        self.config = config
        self.mix = nn.Parameter(torch.zeros(config.layers))
        self.left = nn.Linear(config.hidden, config.projections * config.size)
        self.right = nn.Linear(config.hidden, config.projections * config.size)
        self.enter = nn.Conv2d(config.projections + FACTS, config.channels, 1)
        self.convolve = nn.ModuleList(
            nn.Conv2d(config.channels, config.channels, 3, padding=1) for _ in range(config.depth)
        )
        self.across = nn.ModuleList(nn.Conv2d(config.channels, config.channels, 1) for _ in range(config.depth))
        self.along = nn.ModuleList(nn.Conv2d(config.channels, config.channels, 1) for _ in range(config.depth))
        self.leave = nn.Conv2d(config.channels, 1, 1)
        self.drop = nn.Dropout(config.dropout)

    def mixed(self, states: Sequence[Tensor]) -> Tensor:
        """(batch, token, hidden): the layers of the encoder, weighed."""
        weights = self.mix.softmax(0)
        total = states[0] * weights[0]
        for weight, state in zip(weights[1:], states[1:], strict=True):
            total = total + state * weight
        return total

    def forward(self, source: Tensor, target: Tensor, facts: Tensor, cells: Tensor) -> Tensor:
        """(batch, n, hidden), (batch, m, hidden), (batch, facts, n, m), (batch, 1, n, m) → (batch, n, m)."""
        split = (self.config.projections, self.config.size)
        source, target = self.drop(source), self.drop(target)
        left = self.left(source).unflatten(-1, split).transpose(1, 2)  # (batch, projection, n, size)
        right = self.right(target).unflatten(-1, split).transpose(1, 2)
        products = left @ right.transpose(-1, -2) / self.config.size**0.5
        table = self.enter(torch.cat([products, facts.to(products.dtype)], 1)) * cells
        for near, across, along in zip(self.convolve, self.across, self.along, strict=True):
            seen = nn.functional.gelu(table)
            rivals = across(seen.amax(3, keepdim=True)) + along(seen.amax(2, keepdim=True))
            table = (table + near(seen) + rivals) * cells
        logits: Tensor = self.leave(nn.functional.gelu(table))[:, 0]
        return logits


@dataclass(frozen=True)
class PairBatch:
    """Pairs of sentences as tensors."""

    tokens: Tensor  # (batch, token)
    kinds: Tensor  # (batch, token) 0 source, 1 target
    mask: Tensor  # (batch, token)
    source_words: Tensor  # (batch, n, token) which tokens make a word, as shares that add up to 1
    target_words: Tensor  # (batch, m, token)
    facts: Tensor  # (batch, facts, n, m)
    cells: Tensor  # (batch, 1, n, m) 1 where there is a word pair

    def to(self, device: torch.device | str) -> PairBatch:
        return PairBatch(**{name: value.to(device, non_blocking=True) for name, value in vars(self).items()})


class Aligner(nn.Module):
    """An encoder of `transformers` with the head above it."""

    def __init__(self, encoder: Any, config: HeadConfig) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = AlignerHead(config)

    def forward(self, batch: PairBatch) -> Tensor:
        """(batch, n, m): a logit for each word pair; what lies outside the sentences means nothing."""
        kinds = batch.kinds if getattr(self.encoder.config, "type_vocab_size", 0) > 1 else None
        extra = {} if kinds is None else {"token_type_ids": kinds}
        states = self.encoder(
            input_ids=batch.tokens, attention_mask=batch.mask, output_hidden_states=True, **extra
        ).hidden_states
        vectors = self.head.mixed(states)
        source = batch.source_words.to(vectors.dtype) @ vectors
        target = batch.target_words.to(vectors.dtype) @ vectors
        logits: Tensor = self.head(source, target, batch.facts, batch.cells.to(vectors.dtype))
        return logits


class PairReader:
    """Pairs of sentences → a batch for the network. Remembers the tokens of every word it has seen."""

    def __init__(self, tokenizer: Any, limit: int = 512) -> None:
        self.tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}
        self.limit = limit

    def length(self, source: Words, target: Words) -> int:
        """Tokens of a pair, the three special ones included."""
        self._learn((*source, *target))
        return 3 + sum(len(self._known[word]) for word in (*source, *target))

    def cut(self, words: Words) -> Words:
        """The first words of a sentence, as many as the encoder can read."""
        self._learn(words)
        room = self.limit - 3
        for number, word in enumerate(words):
            room -= len(self._known[word])
            if room < 0:
                return words[:number]
        return words

    def batch(self, pairs: Sequence[tuple[Words, Words]]) -> PairBatch:
        self._learn([word for pair in pairs for side in pair for word in side])
        start, end, pad = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id, self.tokenizer.pad_token_id
        rows, kinds, owners = [], [], []
        for source, target in pairs:
            row, kind, owner = [start], [0], [-1]
            for side, offset in enumerate((0, len(source))):
                for number, word in enumerate((source, target)[side]):
                    row += self._known[word]
                    owner += [offset + number] * len(self._known[word])
                row.append(end)
                owner.append(-1)
                kind += [side] * (len(row) - len(kind))
            rows.append(row)
            kinds.append(kind)
            owners.append(owner)
        n, m = (max(len(pair[side]) for pair in pairs) for side in (0, 1))
        tokens, kinds_, owner_ = _padded(rows, pad), _padded(kinds, 0), _padded(owners, -1)
        lengths = torch.tensor([[len(source), len(target)] for source, target in pairs])
        left, right = torch.arange(n), torch.arange(m)
        in_source, in_target = left < lengths[:, :1], right < lengths[:, 1:]  # (batch, n), (batch, m)
        source_words = (owner_[:, None] == left[:, None]) & in_source[..., None]
        target_words = (owner_[:, None] == (right + lengths[:, :1])[..., None]) & in_target[..., None]
        return PairBatch(
            tokens=tokens,
            kinds=kinds_,
            mask=_padded([[1] * len(row) for row in rows], 0),
            source_words=_shares(source_words),
            target_words=_shares(target_words),
            facts=_facts(pairs, n, m),
            cells=(in_source[:, :, None] & in_target[:, None])[:, None].float(),
        )

    def hide(self, batch: PairBatch, share: float) -> PairBatch:
        """The batch with a share of its words, drawn at random, hidden behind the tokenizer's mask."""
        hidden = torch.zeros_like(batch.tokens, dtype=torch.bool)
        for words in (batch.source_words, batch.target_words):
            drawn = torch.rand(words.shape[:2]) < share  # (batch, word)
            hidden |= ((words > 0) & drawn[..., None]).any(1)
        mask = self.tokenizer.mask_token_id
        sign = self.tokenizer.unk_token_id if mask is None else mask
        return replace(batch, tokens=batch.tokens.masked_fill(hidden, sign))

    def _learn(self, words: Sequence[str]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        if not new:
            return
        if len(self._known) > 500_000:
            self._known.clear()
            new = list(dict.fromkeys(words))
        encoded = self.tokenizer(new, add_special_tokens=False)["input_ids"]
        unknown = [self.tokenizer.unk_token_id]
        for word, ids in zip(new, encoded, strict=True):
            self._known[word] = list(ids) or unknown


def _padded(rows: Sequence[list[int]], fill: int) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [fill] * (width - len(row)) for row in rows])


def _shares(owned: Tensor) -> Tensor:
    return owned / owned.sum(-1, keepdim=True).clamp(min=1)


def _facts(pairs: Sequence[tuple[Words, Words]], n: int, m: int) -> Tensor:
    """(batch, facts, n, m): same word, same beginning, same neighbours before and after, distance from the diagonal."""
    numbers: dict[str, int] = {}

    def ids(words: Sequence[str], width: int, fill: int) -> list[int]:
        return [numbers.setdefault(word, len(numbers)) for word in words] + [fill] * (width - len(words))

    lowered = [tuple([word.lower() for word in side] for side in pair) for pair in pairs]
    same = _equal([[ids(pair[0], n, -1), ids(pair[1], m, -2)] for pair in lowered])
    begins = _equal(
        [[ids([word[:4] for word in pair[0]], n, -1), ids([word[:4] for word in pair[1]], m, -2)] for pair in lowered]
    )
    before, after = torch.zeros_like(same), torch.zeros_like(same)
    before[:, 1:, 1:] = same[:, :-1, :-1]
    after[:, :-1, :-1] = same[:, 1:, 1:]
    lengths = torch.tensor([[len(source), len(target)] for source, target in pairs]).clamp(min=1)
    place = torch.arange(n)[:, None] / lengths[:, :1, None] - torch.arange(m) / lengths[:, 1:, None]
    return torch.stack([same, begins, before, after, place], 1)


def _equal(rows: list[list[list[int]]]) -> Tensor:
    left, right = (torch.tensor([row[side] for row in rows]) for side in (0, 1))
    return (left[:, :, None] == right[:, None]).float()
