"""Greedy decoding that verifies a draft: one forward pass writes all tokens up to the first one that the draft lacks.

A simplification repeats most of its source, so the source with its edits made in place is a good draft: two or three
passes write a sentence. The texts are those of greedy search (aggressive decoding: Sun et al., 2021).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from redraft.cooperative_scheduling import yield_point
from redraft.decode.encoder_decoder import EncoderDecoder, encoder_decoder, row_parts
from redraft.decode.rewriter_network import RewriterNetwork
from redraft.memory import return_freed_memory

_POSITIONS, _POSITIONS_GPU = 1024, 8192  # read together
_AHEAD = 8  # draft tokens among which a token that differs from the draft is looked for


@dataclass
class GreedyText:
    """A text that is being written."""

    draft: list[int]  # what is expected to follow
    limit: int  # of tokens, the end token included
    tokens: list[int] = field(default_factory=list)
    log_prob: float = 0.0
    ended: bool = False

    @property
    def finished(self) -> bool:
        return self.ended or len(self.tokens) >= self.limit

    def shown(self) -> list[int]:
        """The tokens that the model reads in the next pass, after the start token."""
        return [*self.tokens, *self.draft][: self.limit - 1]

    def extend(self, best: Sequence[int], log_probs: Sequence[float], ends: frozenset[int]) -> None:
        """Take the best tokens after each prefix of the draft, up to the first that the draft lacks.

        best: the best token after the tokens so far, and after each further token of the draft
        """
        for token, log_prob in zip(best, log_probs, strict=True):
            self.tokens.append(token)
            self.log_prob += log_prob
            self.ended = token in ends
            if self.finished:
                return
            if not self.draft or token != self.draft[0]:
                self.draft = _rest_after(self.draft, token)
                return
            self.draft = self.draft[1:]


def _rest_after(draft: Sequence[int], token: int) -> list[int]:
    """What is left of a draft after a token that differs from its next: what follows the token there, if it is near;
    otherwise the draft without the token that was replaced."""
    near = list(draft[1 : 1 + _AHEAD])
    return list(draft[2 + near.index(token) :]) if token in near else list(draft[1:])


@torch.inference_mode()
def write_greedily(
    model: Any, inputs: dict[str, Tensor], drafts: Sequence[Sequence[int]], limits: Sequence[int]
) -> list[GreedyText]:
    """The greedy text of each input of an encoder-decoder model; `limits` are their maximum lengths in tokens."""
    network = encoder_decoder(model)
    ends = network.end_tokens
    texts = [
        GreedyText([token for token in draft if token not in ends], limit)
        for draft, limit in zip(drafts, limits, strict=True)
    ]
    mask, start = inputs["attention_mask"], network.start_token
    encoded = network.encode(inputs["input_ids"], mask)
    most = _POSITIONS_GPU if encoded.is_cuda else _POSITIONS
    while open_rows := [row for row, text in enumerate(texts) if not text.finished]:
        for rows in _groups(open_rows, texts, most):
            yield_point()
            shown = [[start, *texts[row].shown()] for row in rows]
            width, known = max(map(len, shown)), min(len(texts[row].tokens) for row in rows)
            # Padding comes last, where the causal decoder never looks.
            tokens = torch.tensor([[*row, *[start] * (width - len(row))] for row in shown], device=encoded.device)
            index = torch.tensor(rows, device=encoded.device)
            best, log_prob = _most_likely(network, network.decode(encoded[index], mask[index], tokens)[:, known:])
            for row, size, best_tokens, log_probs in zip(rows, map(len, shown), best, log_prob, strict=True):
                new = slice(len(texts[row].tokens) - known, size - known)
                texts[row].extend(best_tokens[new], log_probs[new], ends)
    return_freed_memory()
    return texts


def _most_likely(network: EncoderDecoder, states: Tensor) -> tuple[list[list[int]], list[list[float]]]:
    """(batch, token) each: the most likely token that follows, and its log-probability."""
    found = []
    for part in row_parts(states):
        logits = network.logits(part).float()
        value, best = logits.max(-1)
        found.append((best, value - logits.logsumexp(-1)))
    tokens, log_probs = (torch.cat(parts).view(states.shape[:2]).tolist() for parts in zip(*found, strict=True))
    return tokens, log_probs


def _groups(rows: Sequence[int], texts: Sequence[GreedyText], most: int) -> Iterator[list[int]]:
    """Rows of similar length, with at most `most` positions, padding included: each has scores of all tokens."""
    group: list[int] = []
    for row in sorted(rows, key=lambda row: len(texts[row].shown())):
        if group and (len(group) + 1) * (1 + len(texts[row].shown())) > most:
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def can_verify_drafts(model: Any) -> bool:
    """Whether greedy decoding is all that `generate` would do: an encoder-decoder model without forced tokens."""
    if isinstance(model, RewriterNetwork):
        return True
    config = getattr(model, "generation_config", None)
    if config is None or not getattr(model.config, "is_encoder_decoder", False) or config.eos_token_id is None:
        return False
    changing = ("forced_bos_token_id", "suppress_tokens", "begin_suppress_tokens", "bad_words_ids", "sequence_bias")
    plain = all(getattr(config, name, None) is None for name in changing)
    return plain and getattr(config, "repetition_penalty", None) in (None, 1.0)
