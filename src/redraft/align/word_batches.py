"""Pairs of sentences as tensors: only numbers leave the host, tables of word pairs are made where the network runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Words = Sequence[str]
Ints = NDArray[np.int64]

FACTS = 5  # plain facts about a word pair
_KNOWN = 500_000  # words remembered before all are forgotten
_NONE = -1  # no word: a special token, or padding
_ROUND = 16  # widths are whole multiples of it: kernels are kept for every shape, and few shapes keep memory flat


@dataclass(frozen=True)
class PairBatch:
    """[CLS] source [SEP] target [SEP] for each pair. Places of words: sources from 0, targets from `width` on."""

    width: int  # words of the longest source
    tokens: Tensor  # (batch, token)
    owners: Tensor  # (batch, token) the place of the word that the token belongs to
    ends: Tensor  # (batch, 2) where in the row source and target end, their [SEP] included
    lengths: Tensor  # (batch, 2) words of each side
    forms: Tensor  # (batch, place) the same number for the same word, case apart
    stems: Tensor  # (batch, place) the same number for the same first four letters

    def to(self, device: torch.device | str) -> PairBatch:
        moved = {name: value.to(device, non_blocking=True) for name, value in vars(self).items() if name != "width"}
        return replace(self, **moved)

    @property
    def mask(self) -> Tensor:
        """(batch, token): 1 where there is a token."""
        return (self._columns < self.ends[:, 1:]).long()

    @property
    def kinds(self) -> Tensor:
        """(batch, token): 0 for the source, 1 for the target."""
        return ((self._columns >= self.ends[:, :1]) & (self._columns < self.ends[:, 1:])).long()

    @property
    def source_words(self) -> Tensor:
        """(batch, n, token): which tokens make a word, as shares that add up to 1."""
        return self._shares(0, self.width)

    @property
    def target_words(self) -> Tensor:
        """(batch, m, token)."""
        return self._shares(self.width, self.forms.shape[1])

    @property
    def there(self) -> Tensor:
        """(batch, place): whether there is a word."""
        return self.forms != _NONE

    @property
    def cells(self) -> Tensor:
        """(batch, 1, n, m): 1 where there is a word pair."""
        there = self.there
        return (there[:, : self.width, None] & there[:, None, self.width :])[:, None].float()

    @property
    def facts(self) -> Tensor:
        """(batch, facts, n, m): same word, same beginning, same neighbour before, after, distance from the diagonal."""
        same, begins = self._equal(self.forms), self._equal(self.stems)
        before, after = torch.zeros_like(same), torch.zeros_like(same)
        before[:, 1:, 1:] = same[:, :-1, :-1]
        after[:, :-1, :-1] = same[:, 1:, 1:]
        n, m = same.shape[1:]
        sizes = self.lengths.clamp(min=1)[:, :, None, None]
        left, right = (torch.arange(size, device=same.device) for size in (n, m))
        return torch.stack([same, begins, before, after, left[:, None] / sizes[:, 0] - right / sizes[:, 1]], 1)

    @property
    def _columns(self) -> Tensor:
        return torch.arange(self.tokens.shape[1], device=self.tokens.device)

    def _shares(self, start: int, end: int) -> Tensor:
        owned = self.owners[:, None] == torch.arange(start, end, device=self.owners.device)[:, None]
        return owned / owned.sum(-1, keepdim=True).clamp(min=1)

    def _equal(self, numbers: Tensor) -> Tensor:
        left, right = numbers[:, : self.width, None], numbers[:, None, self.width :]
        return ((left == right) & (left != _NONE)).float()


class PairReader:
    """Pairs of sentences → a batch for the network. Remembers the tokens of every word it has seen."""

    def __init__(self, tokenizer: Any, limit: int = 512) -> None:
        self.tokenizer = tokenizer
        self.limit = limit
        self._forget()

    def _forget(self) -> None:
        self._numbers: dict[str, int] = {}  # of a word as it stands
        self._forms: dict[str, int] = {}  # of its lower-cased form, and of its beginning
        self._tokens = np.zeros(0, np.int64)  # of all words, one after the other
        self._table = np.zeros((0, 4), np.int64)  # for each word: first token, tokens, form, stem

    def lengths(self, pairs: Sequence[tuple[Words, Words]]) -> list[int]:
        """Tokens of each pair, the three special ones included."""
        numbers, sizes = self._read(pairs)
        ends = np.cumsum(sizes.sum(1))
        pieces = np.concatenate([[0], np.cumsum(self._table[numbers, 1])])
        return [int(size) for size in pieces[ends] - pieces[ends - sizes.sum(1)] + 3]

    def cut(self, words: Words) -> Words:
        """The first words of a sentence, as many as the encoder can read."""
        numbers, _ = self._read([(words, ())])
        return words[: int((np.cumsum(self._table[numbers, 1]) <= self.limit - 3).sum())]

    def batch(self, pairs: Sequence[tuple[Words, Words]]) -> PairBatch:
        numbers, sizes = self._read(pairs)
        table = self._table[numbers]  # (word, 4), all pairs one after the other
        n, m = (rounded(int(size)) for size in sizes.max(0))
        pair = np.repeat(np.arange(len(pairs)), sizes.sum(1))  # of each word
        first = np.cumsum(sizes.sum(1)) - sizes.sum(1)  # word of each pair
        place = np.arange(len(numbers)) - first[pair]
        in_target = place >= sizes[pair, 0]
        place = np.where(in_target, place - sizes[pair, 0] + n, place)

        owner = np.repeat(np.arange(len(numbers)), table[:, 1])  # of each token: the word
        begin = np.cumsum(table[:, 1]) - table[:, 1]  # token of each word
        token = self._tokens[table[owner, 0] + np.arange(len(owner)) - begin[owner]]
        counts = np.zeros((len(pairs), 2), np.int64)  # tokens of each side
        np.add.at(counts, (pair, in_target.astype(np.int64)), table[:, 1])
        ends = np.cumsum(counts + np.array([2, 1]), axis=1)
        start = np.cumsum(counts.sum(1)) - counts.sum(1)  # token of each pair
        column = np.arange(len(owner)) - start[pair[owner]] + 1 + in_target[owner]

        shape = (len(pairs), rounded(int(ends.max())))
        tokens = np.full(shape, self.tokenizer.pad_token_id, np.int64)
        owners = np.full(shape, _NONE, np.int64)
        tokens[:, 0] = self.tokenizer.cls_token_id
        tokens[np.arange(len(pairs))[:, None], ends - 1] = self.tokenizer.sep_token_id
        tokens[pair[owner], column] = token
        owners[pair[owner], column] = place[owner]
        forms, stems = (np.full((len(pairs), n + m), _NONE, np.int64) for _ in range(2))
        forms[pair, place], stems[pair, place] = table[:, 2], table[:, 3]
        arrays = (torch.from_numpy(array) for array in (tokens, owners, ends, sizes, forms, stems))
        return PairBatch(n, *arrays)

    def hide(self, batch: PairBatch, share: float) -> PairBatch:
        """The batch with a share of its words, drawn at random, hidden behind the tokenizer's mask."""
        drawn = torch.rand(batch.forms.shape) < share  # (batch, place)
        hidden = drawn.gather(1, batch.owners.clamp(min=0)) & (batch.owners != _NONE)
        mask = self.tokenizer.mask_token_id
        sign = self.tokenizer.unk_token_id if mask is None else mask
        return replace(batch, tokens=batch.tokens.masked_fill(hidden, sign))

    def _read(self, pairs: Sequence[tuple[Words, Words]]) -> tuple[Ints, Ints]:
        """The number of each word, all pairs one after the other, and (pair, 2) how many words each side has."""
        words = [word for source, target in pairs for side in (source, target) for word in side]
        sizes = np.array([[len(source), len(target)] for source, target in pairs], np.int64).reshape(-1, 2)
        try:
            numbers = [self._numbers[word] for word in words]
        except KeyError:
            self._learn(words)
            numbers = [self._numbers[word] for word in words]
        return np.array(numbers, np.int64), sizes

    def _learn(self, words: Sequence[str]) -> None:
        if len(self._numbers) > _KNOWN:
            self._forget()
        new = [word for word in dict.fromkeys(words) if word not in self._numbers]
        encoded = self.tokenizer(new, add_special_tokens=False)["input_ids"]
        unknown = [self.tokenizer.unk_token_id]
        rows: list[tuple[int, ...]] = []
        pieces: list[int] = []
        for word, ids in zip(new, encoded, strict=True):
            form = word.lower()
            keys = (self._forms.setdefault(key, len(self._forms)) for key in (form, form[:4] + "…"))
            rows.append((len(self._tokens) + len(pieces), len(ids) or 1, *keys))
            pieces += ids or unknown
            self._numbers[word] = len(self._numbers)
        self._table = np.concatenate([self._table, np.array(rows, np.int64).reshape(-1, 4)])
        self._tokens = np.concatenate([self._tokens, np.array(pieces, np.int64)])


def rounded(size: int) -> int:
    """The width of a batch for the size of its largest."""
    return -(-size // _ROUND) * _ROUND
