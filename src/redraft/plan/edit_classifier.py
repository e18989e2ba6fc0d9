"""Which words of a sentence to keep, delete or replace: a head above the aligner's encoder.

The encoder is the aligner's own and stays as it is; the head mixes its layers, adds what the tables know of each word,
and lets the words of a sentence see one another once more.
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

from redraft.align.aligner_network import mixed
from redraft.align.trained_aligner import TrainedAligner
from redraft.align.word_batches import PairReader, Words
from redraft.cancellation import yield_point
from redraft.plan.lexicon import Entry, Lexicon
from redraft.plan.prediction import ALTERNATIVES
from redraft.text.function_words import is_content
from redraft.text.word_frequency import WordFrequency

Floats = NDArray[np.float32]

ACTIONS = ("keep", "delete", "substitute")
FACTS = 11  # plain facts about a word
_BATCH = 32


@dataclass(frozen=True)
class HeadShape:
    """The shape of the network above the encoder."""

    hidden: int = 384
    layers: int = 7  # hidden states that are mixed, the embeddings included
    size: int = 192
    heads: int = 4
    depth: int = 2
    dropout: float = 0.1
    styles: int = 1  # kinds of text it was trained on; number 0 stands for any

    def to_json(self) -> dict[str, float]:
        return asdict(self)


class EditHead(nn.Module):
    """Word vectors and facts → a logit for each action."""

    def __init__(self, shape: HeadShape) -> None:
        super().__init__()
        self.shape = shape
        self.mix = nn.Parameter(torch.zeros(shape.layers))
        self.enter = nn.Linear(shape.hidden + FACTS, shape.size)
        self.style = nn.Embedding(shape.styles, shape.size)
        layer = nn.TransformerEncoderLayer(
            shape.size, shape.heads, 4 * shape.size, shape.dropout, "gelu", batch_first=True, norm_first=True
        )
        self.look = nn.TransformerEncoder(layer, shape.depth, enable_nested_tensor=False)
        self.leave = nn.Linear(shape.size, len(ACTIONS))
        nn.init.zeros_(self.style.weight)

    def forward(self, states: Sequence[Tensor], words: Tensor, facts: Tensor, there: Tensor, styles: Tensor) -> Tensor:
        """(batch, token, hidden) each, (batch, n, token), (batch, n, facts), (batch, n), (batch,) → (batch, n, 3)."""
        tokens = mixed(self.mix, states)
        vectors = words.to(tokens.dtype) @ tokens
        seen = self.enter(torch.cat([vectors.float(), facts], -1)) + self.style(styles)[:, None]
        logits: Tensor = self.leave(self.look(seen, src_key_padding_mask=~there))
        return logits


@dataclass(frozen=True)
class Tables:
    """What is known of words before a sentence is read."""

    lexicon: Lexicon
    word_frequency: WordFrequency

    def facts(self, words: Words, entries: Sequence[Entry | None]) -> Floats:
        """(word, fact); `entries` are those of the words."""
        rows = []
        for place, (word, entry) in enumerate(zip(words, entries, strict=True)):
            seen, deleted, replaced = (entry.seen, entry.deleted, entry.replaced) if entry else (0, 0, 0)
            hard = self.word_frequency.difficulty(word)
            rows.append([
                math.log1p(seen) / 10,
                (deleted + 0.5) / (seen + 2),
                (replaced + 0.3) / (seen + 2),
                entry.likely(ALTERNATIVES) if entry else 0.0,
                is_content(word),
                word[:1].isupper() and place > 0,
                any(map(str.isdigit, word)),
                place / len(words),
                self.word_frequency.zipf(word) / 8,
                (hard or 3.0) / 6,
                hard is not None,
            ])  # fmt: skip
        return np.array(rows, np.float32).reshape(len(words), FACTS)


class EditClassifier:
    """Probabilities of the three actions for each word of a sentence, by a head above the encoder of an aligner."""

    def __init__(self, aligner: TrainedAligner, head: EditHead, tables: Tables) -> None:
        self.encoder, self.reader, self.above = aligner.model.encoder, aligner.reader, aligner.digest
        self.head, self.tables = head.to(aligner.device).eval(), tables

    @property
    def device(self) -> torch.device:
        return self.head.mix.device

    def predict(self, sentences: Sequence[Words], style: int = 0) -> list[Floats]:
        """(word, action) for each sentence; of words beyond the encoder's length nothing is known: zeros."""
        found = [np.zeros((len(words), len(ACTIONS)), np.float32) for words in sentences]
        cut = [self.reader.cut(words) for words in sentences]
        order = sorted((at for at in range(len(cut)) if cut[at]), key=lambda at: len(cut[at]))
        for start in range(0, len(order), _BATCH):
            yield_point()
            group = order[start : start + _BATCH]
            logits = self.logits([cut[at] for at in group], [style] * len(group))
            for at, table in zip(group, logits.softmax(-1).cpu().numpy(), strict=True):
                found[at][: len(cut[at])] = table[: len(cut[at])]
        return found

    @torch.inference_mode()
    def logits(self, sentences: Sequence[Words], styles: Sequence[int]) -> Tensor:
        entries = [[self.tables.lexicon.entry(word) for word in words] for words in sentences]
        facts = [self.tables.facts(words, known) for words, known in zip(sentences, entries, strict=True)]
        return logits_of(self.encoder, self.head, self.reader, sentences, facts, styles)


def logits_of(
    encoder: Any, head: EditHead, reader: PairReader, sentences: Sequence[Words], facts: Sequence[Floats],
    styles: Sequence[int],
) -> Tensor:  # fmt: skip
    """(batch, n, action); no gradient reaches the encoder."""
    device = head.mix.device
    batch = reader.batch([(words, ()) for words in sentences]).to(device)
    with torch.no_grad():
        states = encoder(input_ids=batch.tokens, attention_mask=batch.mask, output_hidden_states=True).hidden_states
    there = torch.arange(batch.width, device=device) < batch.lengths[:, :1]
    table = torch.zeros(len(sentences), batch.width, FACTS)
    for row, known in zip(table, facts, strict=True):
        row[: len(known)] = torch.from_numpy(known)
    logits: Tensor = head(states, batch.source_words, table.to(device), there, torch.tensor(styles, device=device))
    return logits
