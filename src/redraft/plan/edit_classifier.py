"""Predicts which words of a sentence to keep, delete or replace: a head on the aligner's encoder.

The encoder is shared with the aligner and frozen. The head combines its layers, adds features of each word from the
tables, and applies another small transformer over the words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from redraft.align.aligner_network import scalar_mix
from redraft.align.trained_aligner import TrainedAligner
from redraft.align.word_batches import PairReader, Words
from redraft.cooperative_scheduling import yield_point
from redraft.memory import return_freed_memory
from redraft.plan.lexicon import Entry, Lexicon
from redraft.plan.prediction import ALTERNATIVES
from redraft.text.function_words import is_content
from redraft.text.word_frequency import WordFrequency

Floats = NDArray[np.float32]

ACTIONS = ("keep", "delete", "substitute")
WORD_FEATURES = 11  # features of a word from tables and spelling
_BATCH_SIZE, _GPU_BATCH_SIZE = 32, 512


@dataclass(frozen=True)
class HeadShape:
    """The shape of the head."""

    hidden: int = 384
    layers: int = 7  # hidden states in the scalar mix, including the embeddings
    size: int = 192
    heads: int = 4
    depth: int = 2
    dropout: float = 0.1
    styles: int = 1  # number of training styles, plus 0 for "any style"

    def to_json(self) -> dict[str, float]:
        return asdict(self)


class EditHead(nn.Module):
    """Word vectors and word features → a logit for each action."""

    def __init__(self, shape: HeadShape) -> None:
        super().__init__()
        self.shape = shape
        self.mix = nn.Parameter(torch.zeros(shape.layers))
        self.enter = nn.Linear(shape.hidden + WORD_FEATURES, shape.size)
        self.style = nn.Embedding(shape.styles, shape.size)
        layer = nn.TransformerEncoderLayer(
            shape.size, shape.heads, 4 * shape.size, shape.dropout, "gelu", batch_first=True, norm_first=True
        )
        self.look = nn.TransformerEncoder(layer, shape.depth, enable_nested_tensor=False)
        self.leave = nn.Linear(shape.size, len(ACTIONS))
        nn.init.zeros_(self.style.weight)

    def forward(
        self, states: Sequence[Tensor], words: Tensor, features: Tensor, is_word: Tensor, styles: Tensor
    ) -> Tensor:
        """(batch, token, hidden) each, (batch, n, token), (batch, n, feature), (batch, n), (batch,) → (batch, n, 3)."""
        tokens = scalar_mix(self.mix, states)
        vectors = words.to(tokens.dtype) @ tokens
        encoded = self.enter(torch.cat([vectors.float(), features], -1)) + self.style(styles)[:, None]
        logits: Tensor = self.leave(self.look(encoded, src_key_padding_mask=~is_word))
        return logits


@dataclass(frozen=True)
class WordTables:
    """Tables of words, independent of the sentence."""

    lexicon: Lexicon
    word_frequency: WordFrequency

    def features(self, words: Words, entries: Sequence[Entry | None]) -> Floats:
        """(word, feature); `entries` are the lexicon entries of the words."""
        rows = []
        for place, (word, entry) in enumerate(zip(words, entries, strict=True)):
            seen, deleted, replaced = (entry.seen, entry.deleted, entry.replaced) if entry else (0, 0, 0)
            difficulty = self.word_frequency.difficulty(word)
            rows.append([
                math.log1p(seen) / 10,
                (deleted + 0.5) / (seen + 2),
                (replaced + 0.3) / (seen + 2),
                entry.target_probability(ALTERNATIVES) if entry else 0.0,
                is_content(word),
                word[:1].isupper() and place > 0,
                any(map(str.isdigit, word)),
                place / len(words),
                self.word_frequency.zipf(word) / 8,
                (difficulty or 3.0) / 6,
                difficulty is not None,
            ])  # fmt: skip
        return np.array(rows, np.float32).reshape(len(words), WORD_FEATURES)


class EditClassifier:
    """Predicts the probabilities of the three actions for each word of a sentence."""

    def __init__(self, aligner: TrainedAligner, head: EditHead, tables: WordTables) -> None:
        self.encoder, self.reader, self.encoder_digest = aligner.model.encoder, aligner.reader, aligner.digest
        self.head, self.tables = head.to(aligner.device).eval(), tables

    @property
    def device(self) -> torch.device:
        return self.head.mix.device

    def predict(self, sentences: Sequence[Words], style: int = 0) -> list[Floats]:
        """(word, action) for each sentence; zeros for words beyond the encoder's limit."""
        found = [np.zeros((len(words), len(ACTIONS)), np.float32) for words in sentences]
        cut = [self.reader.cut(words) for words in sentences]
        order = sorted((at for at in range(len(cut)) if cut[at]), key=lambda at: len(cut[at]))
        size = _GPU_BATCH_SIZE if self.device.type == "cuda" else _BATCH_SIZE
        for start in range(0, len(order), size):
            yield_point()
            group = order[start : start + size]
            logits = self.logits([cut[at] for at in group], [style] * len(group))
            for at, table in zip(group, logits.softmax(-1).cpu().numpy(), strict=True):
                found[at][: len(cut[at])] = table[: len(cut[at])]
            return_freed_memory()
        return found

    @torch.inference_mode()
    def logits(self, sentences: Sequence[Words], styles: Sequence[int]) -> Tensor:
        entries = [[self.tables.lexicon.entry(word) for word in words] for words in sentences]
        features = [self.tables.features(words, known) for words, known in zip(sentences, entries, strict=True)]
        return edit_logits(self.encoder, self.head, self.reader, sentences, features, styles)


def edit_logits(
    encoder: Any, head: EditHead, reader: PairReader, sentences: Sequence[Words], features: Sequence[Floats],
    styles: Sequence[int],
) -> Tensor:  # fmt: skip
    """(batch, n, action); no gradient flows into the encoder."""
    device = head.mix.device
    batch = reader.batch([(words, ()) for words in sentences]).to(device)
    with torch.no_grad():
        states = encoder(input_ids=batch.tokens, attention_mask=batch.mask, output_hidden_states=True).hidden_states
    is_word = torch.arange(batch.width, device=device) < batch.lengths[:, :1]
    table = torch.zeros(len(sentences), batch.width, WORD_FEATURES)
    for row, values in zip(table, features, strict=True):
        row[: len(values)] = torch.from_numpy(values)
    logits: Tensor = head(states, batch.source_words, table.to(device), is_word, torch.tensor(styles, device=device))
    return logits
