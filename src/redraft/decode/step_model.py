"""What the search asks of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class StepModel(Protocol):
    """Anything that yields next-token scores for many rows at once can be searched.

    Scores are log-probabilities after all processors; -inf forbids a token. They are used as they stand.
    """

    @property
    def end_tokens(self) -> Sequence[int]:
        """Tokens that end a text."""
        ...

    def start(self, sources: Sequence[str], beams: int) -> Tensor:
        """Begin `beams` empty rows for each source; returns scores of the first token, (batch, beam, vocab)."""
        ...

    def step(self, tokens: Tensor) -> Tensor:
        """Append tokens (batch, beam) to the rows; returns scores of the next token, (batch, beam, vocab)."""
        ...

    def reorder(self, parent: Tensor) -> None:
        """Row r of each sentence goes on from what was its row parent[r]; parent: (batch, beam)."""
        ...
