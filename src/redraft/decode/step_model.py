"""The interface of models that can be searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class StepModel(Protocol):
    """Anything that gives next-token scores for many rows at once.

    Scores are log-probabilities after all processors; -inf bans a token. The search uses them unchanged.
    """

    @property
    def end_tokens(self) -> Sequence[int]:
        """Tokens that end a text."""
        ...

    def start(self, sources: Sequence[str], beams: int) -> Tensor:
        """Start `beams` empty rows for each source; returns scores of the first token, (batch, beam, vocab)."""
        ...

    def step(self, tokens: Tensor) -> Tensor:
        """Append tokens (batch, beam) to the rows; returns scores of the next token, (batch, beam, vocab)."""
        ...

    def reorder(self, parent: Tensor) -> None:
        """Row r of each sentence becomes a copy of its previous row parent[r]; parent: (batch, beam)."""
        ...
