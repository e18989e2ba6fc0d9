"""The plain network of the rewriter as a StepModel."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from redraft.decode.rewriter_network import Past, RewriterNetwork, Sources


class RewriterSteps:
    """Feeds one token per row to a `RewriterNetwork`; a source is encoded once for all its rows."""

    def __init__(self, network: RewriterNetwork, tokens: Tensor, mask: Tensor) -> None:
        self.end_tokens = sorted(network.end_tokens)
        self._network, self._tokens, self._mask = network, tokens, mask
        self._sources: list[Sources] = []
        self._past: list[Past | None] = [None] * network.config.decoder_layers

    def start(self, sources: Sequence[str], beams: int) -> Tensor:
        read = self._network.sources(self._network.encode(self._tokens, self._mask), self._mask)
        # Attention of all beams to one copy would save 3 % of the time, but differs in the last bit, and 8-bit rounding
        # makes that visible.
        self._sources = [one.repeat(beams) for one in read]
        return self.step(torch.full((len(sources), beams), self._network.start_token, device=self._network.device))

    def step(self, tokens: Tensor) -> Tensor:
        states = self._network.continue_texts(self._sources, tokens.reshape(-1, 1), self._past)
        return torch.log_softmax(self._network.logits(states[:, -1]).float(), -1).view(*tokens.shape, -1)

    def reorder(self, parent: Tensor) -> None:
        batch, beams = parent.shape
        rows = (parent + torch.arange(batch, device=parent.device)[:, None] * beams).flatten()
        self._past = [past and past.reorder(rows) for past in self._past]
