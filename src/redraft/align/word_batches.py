"""Batches of sentence pairs: only token ids are copied to the device; word-pair tables are built there."""

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

PAIR_FEATURES = 5  # surface features of a word pair
_MAX_CACHED_WORDS = 500_000  # the cache is cleared when it has more
_NO_WORD = -1  # a special token, or padding
_SIZE_MULTIPLE = 16  # widths are multiples of it: kernels are cached for each shape, and few shapes bound the memory


@dataclass(frozen=True)
class PairBatch:
    """[CLS] source [SEP] target [SEP] for each pair. Word slots: source words from 0, target words from `width`."""

    width: int  # number of source slots
    tokens: Tensor  # (batch, token)
    word_of_token: Tensor  # (batch, token) the slot of the word that the token belongs to
    ends: Tensor  # (batch, 2) end offsets of source and target in the row, including their [SEP]
    lengths: Tensor  # (batch, 2) number of words of each side
    word_ids: Tensor  # (batch, slot) equal for equal words, ignoring case
    prefix_ids: Tensor  # (batch, slot) equal for words with the same first four letters

    def to(self, device: torch.device | str) -> PairBatch:
        moved = {name: value.to(device, non_blocking=True) for name, value in vars(self).items() if name != "width"}
        return replace(self, **moved)

    @property
    def mask(self) -> Tensor:
        """(batch, token): 1 for tokens, 0 for padding."""
        return (self._columns < self.ends[:, 1:]).long()

    @property
    def token_types(self) -> Tensor:
        """(batch, token): 0 for the source, 1 for the target."""
        return ((self._columns >= self.ends[:, :1]) & (self._columns < self.ends[:, 1:])).long()

    @property
    def source_words(self) -> Tensor:
        """(batch, n, token): weights that average the tokens of each source word."""
        return self._token_weights(0, self.width)

    @property
    def target_words(self) -> Tensor:
        """(batch, m, token): the same for target words."""
        return self._token_weights(self.width, self.word_ids.shape[1])

    @property
    def is_word(self) -> Tensor:
        """(batch, slot): whether the slot has a word."""
        return self.word_ids != _NO_WORD

    @property
    def pair_mask(self) -> Tensor:
        """(batch, 1, n, m): 1 for word pairs, 0 for padding."""
        is_word = self.is_word
        return (is_word[:, : self.width, None] & is_word[:, None, self.width :])[:, None].float()

    @property
    def features(self) -> Tensor:
        """(batch, feature, n, m): same word, prefix, previous word, next word; offset from the diagonal."""
        same, same_prefix = self._equal(self.word_ids), self._equal(self.prefix_ids)
        before, after = torch.zeros_like(same), torch.zeros_like(same)
        before[:, 1:, 1:] = same[:, :-1, :-1]
        after[:, :-1, :-1] = same[:, 1:, 1:]
        n, m = same.shape[1:]
        sizes = self.lengths.clamp(min=1)[:, :, None, None]
        left, right = (torch.arange(size, device=same.device) for size in (n, m))
        return torch.stack([same, same_prefix, before, after, left[:, None] / sizes[:, 0] - right / sizes[:, 1]], 1)

    @property
    def _columns(self) -> Tensor:
        return torch.arange(self.tokens.shape[1], device=self.tokens.device)

    def _token_weights(self, start: int, end: int) -> Tensor:
        owned = self.word_of_token[:, None] == torch.arange(start, end, device=self.word_of_token.device)[:, None]
        return owned / owned.sum(-1, keepdim=True).clamp(min=1)

    def _equal(self, numbers: Tensor) -> Tensor:
        left, right = numbers[:, : self.width, None], numbers[:, None, self.width :]
        return ((left == right) & (left != _NO_WORD)).float()


class PairReader:
    """Sentence pairs → a batch for the network. Caches the tokens of each word."""

    def __init__(self, tokenizer: Any, limit: int = 512) -> None:
        self.tokenizer = tokenizer
        self.limit = limit
        self._clear()

    def _clear(self) -> None:
        self._indices: dict[str, int] = {}  # word → its row in `_table`
        self._keys: dict[str, int] = {}  # ids of lower-cased words and of prefixes
        self._tokens = np.zeros(0, np.int64)  # of all words, concatenated
        self._table = np.zeros((0, 4), np.int64)  # for each word: first token, number of tokens, word id, prefix id

    def lengths(self, pairs: Sequence[tuple[Words, Words]]) -> list[int]:
        """Number of tokens of each pair, including the three special tokens."""
        numbers, sizes = self._read(pairs)
        ends = np.cumsum(sizes.sum(1))
        pieces = np.concatenate([[0], np.cumsum(self._table[numbers, 1])])
        return [int(size) for size in pieces[ends] - pieces[ends - sizes.sum(1)] + 3]

    def cut(self, words: Words) -> Words:
        """The longest prefix of a sentence that fits the encoder's limit."""
        numbers, _ = self._read([(words, ())])
        return words[: int((np.cumsum(self._table[numbers, 1]) <= self.limit - 3).sum())]

    def batch(self, pairs: Sequence[tuple[Words, Words]]) -> PairBatch:
        numbers, sizes = self._read(pairs)
        table = self._table[numbers]  # (word, 4), all pairs concatenated
        n, m = (padded_size(int(size)) for size in sizes.max(0))
        pair = np.repeat(np.arange(len(pairs)), sizes.sum(1))  # pair of each word
        first = np.cumsum(sizes.sum(1)) - sizes.sum(1)  # first word of each pair
        slot = np.arange(len(numbers)) - first[pair]
        in_target = slot >= sizes[pair, 0]
        slot = np.where(in_target, slot - sizes[pair, 0] + n, slot)

        owner = np.repeat(np.arange(len(numbers)), table[:, 1])  # word of each token
        begin = np.cumsum(table[:, 1]) - table[:, 1]  # first token of each word
        token = self._tokens[table[owner, 0] + np.arange(len(owner)) - begin[owner]]
        counts = np.zeros((len(pairs), 2), np.int64)  # number of tokens of each side
        np.add.at(counts, (pair, in_target.astype(np.int64)), table[:, 1])
        ends = np.cumsum(counts + np.array([2, 1]), axis=1)
        start = np.cumsum(counts.sum(1)) - counts.sum(1)  # first token of each pair
        column = np.arange(len(owner)) - start[pair[owner]] + 1 + in_target[owner]

        shape = (len(pairs), padded_size(int(ends.max())))
        tokens = np.full(shape, self.tokenizer.pad_token_id, np.int64)
        word_of_token = np.full(shape, _NO_WORD, np.int64)
        tokens[:, 0] = self.tokenizer.cls_token_id
        tokens[np.arange(len(pairs))[:, None], ends - 1] = self.tokenizer.sep_token_id
        tokens[pair[owner], column] = token
        word_of_token[pair[owner], column] = slot[owner]
        word_ids, prefix_ids = (np.full((len(pairs), n + m), _NO_WORD, np.int64) for _ in range(2))
        word_ids[pair, slot], prefix_ids[pair, slot] = table[:, 2], table[:, 3]
        arrays = (torch.from_numpy(array) for array in (tokens, word_of_token, ends, sizes, word_ids, prefix_ids))
        return PairBatch(n, *arrays)

    def mask_words(self, batch: PairBatch, share: float) -> PairBatch:
        """The batch with a random share of its words replaced by the mask token (or the unknown token)."""
        drawn = torch.rand(batch.word_ids.shape) < share  # (batch, slot)
        hidden = drawn.gather(1, batch.word_of_token.clamp(min=0)) & (batch.word_of_token != _NO_WORD)
        mask = self.tokenizer.mask_token_id
        replacement = self.tokenizer.unk_token_id if mask is None else mask
        return replace(batch, tokens=batch.tokens.masked_fill(hidden, replacement))

    def _read(self, pairs: Sequence[tuple[Words, Words]]) -> tuple[Ints, Ints]:
        """The table row of each word, all pairs concatenated, and (pair, 2) the number of words of each side."""
        words = [word for source, target in pairs for side in (source, target) for word in side]
        sizes = np.array([[len(source), len(target)] for source, target in pairs], np.int64).reshape(-1, 2)
        try:
            numbers = [self._indices[word] for word in words]
        except KeyError:
            self._add_words(words)
            numbers = [self._indices[word] for word in words]
        return np.array(numbers, np.int64), sizes

    def _add_words(self, words: Sequence[str]) -> None:
        if len(self._indices) > _MAX_CACHED_WORDS:
            self._clear()
        new = [word for word in dict.fromkeys(words) if word not in self._indices]
        encoded = self.tokenizer(new, add_special_tokens=False)["input_ids"]
        unknown = [self.tokenizer.unk_token_id]
        rows: list[tuple[int, ...]] = []
        pieces: list[int] = []
        for word, ids in zip(new, encoded, strict=True):
            form = word.lower()
            keys = (self._keys.setdefault(key, len(self._keys)) for key in (form, form[:4] + "…"))
            rows.append((len(self._tokens) + len(pieces), len(ids) or 1, *keys))
            pieces += ids or unknown
            self._indices[word] = len(self._indices)
        self._table = np.concatenate([self._table, np.array(rows, np.int64).reshape(-1, 4)])
        self._tokens = np.concatenate([self._tokens, np.array(pieces, np.int64)])


def padded_size(size: int) -> int:
    """The size rounded up to the next multiple."""
    return -(-size // _SIZE_MULTIPLE) * _SIZE_MULTIPLE
