"""The network of the trained meaning check: a cross-encoder with a logit for each word and two for the pair.

Word and position embeddings are shared with the aligner; the layers above them belong to the check. The encoder reads
[CLS] source [SEP] output [SEP].
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from redraft.align.word_batches import PairBatch
from redraft.check.word_facts import FACTS as KNOWN

FACTS = 3 + KNOWN  # the same word, or one with the same beginning, on the other side; the side; features from tables


@dataclass(frozen=True)
class CheckShape:
    """The shape of the network above the encoder."""

    hidden: int = 384
    size: int = 128
    dropout: float = 0.1

    def to_json(self) -> dict[str, float]:
        return asdict(self)


ALTERED, UNSUPPORTED = 0, 1  # indices of the logits of a pair


class CheckNetwork(nn.Module):
    """An encoder of `transformers`, a head for words and a head for the pair.

    A pair has two logits: that a careful reader finds the meaning altered, and that the source does not entail the
    output. The second is trained on labelled inference (an omission alters the meaning but is entailed).
    """

    def __init__(self, encoder: Any, shape: CheckShape) -> None:
        super().__init__()
        self.encoder, self.shape = encoder, shape
        self.word = nn.Sequential(
            nn.Linear(shape.hidden + FACTS, shape.size), nn.GELU(), nn.Dropout(shape.dropout), nn.Linear(shape.size, 1)
        )
        self.look = nn.Linear(shape.hidden + FACTS, 1)
        self.pair = nn.Sequential(
            nn.Linear(2 * shape.hidden + FACTS + 1, shape.size), nn.GELU(), nn.Dropout(shape.dropout),
            nn.Linear(shape.size, 2),
        )  # fmt: skip

    def forward(self, batch: PairBatch, known: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits of the words of source and output, (batch, place), and of the pair, (batch, 2).

        known: (batch, place, fact) features of `WordFacts`
        """
        states = self.encoder(
            input_ids=batch.tokens, attention_mask=batch.mask, token_type_ids=batch.token_types
        ).last_hidden_state.float()
        words = torch.cat([batch.source_words, batch.target_words], 1) @ states  # (batch, place, hidden)
        there = batch.is_word
        words = torch.cat([words, _plain_facts(batch), known], -1)
        logits = self.word(words)[..., 0].masked_fill(~there, -torch.inf)
        weights = self.look(words).masked_fill(~there[..., None], -torch.inf).softmax(1)
        worst = logits.amax(1, keepdim=True)
        pair: Tensor = self.pair(torch.cat([states[:, 0], (weights * words).sum(1), worst], -1))
        return logits, pair


def _plain_facts(batch: PairBatch) -> Tensor:
    """(batch, place, 3)."""
    same, begins = batch.features[:, 0], batch.features[:, 1]  # (batch, n, m)
    sides = []
    for other, side in ((2, 0.0), (1, 1.0)):
        found = torch.stack([same.amax(other), begins.amax(other)], -1)
        sides.append(torch.cat([found, torch.full_like(found[..., :1], side)], -1))
    return torch.cat(sides, 1)
