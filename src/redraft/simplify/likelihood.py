"""Log-probabilities of given texts, conditional on their sources."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from redraft.cooperative_scheduling import yield_point
from redraft.decode.encoder_decoder import IGNORED, encoder_decoder, row_parts
from redraft.decode.redrafter import Redrafter
from redraft.decode.token_rows import padded
from redraft.memory import return_freed_memory

BATCH, BATCH_GPU = 64, 256  # texts scored together


def log_probs(redrafter: Redrafter, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """log p(text | source) of each (source, text), summed over tokens; −∞ if a text is too long for the model."""
    room = redrafter.room
    fit = [at for at, size in enumerate(input_lengths(redrafter, pairs)) if room is None or size <= room]
    order = sorted(fit, key=lambda at: len(pairs[at][1]))  # texts of similar length share a batch
    scores = [-math.inf] * len(pairs)
    size = BATCH if redrafter.model.device.type == "cpu" else BATCH_GPU
    for start in range(0, len(order), size):
        yield_point()
        group = order[start : start + size]
        for at, score in zip(group, _scored(redrafter, [pairs[at] for at in group]), strict=True):
            scores[at] = score
        return_freed_memory()
    return scores


def input_lengths(redrafter: Redrafter, pairs: Sequence[tuple[str, str]]) -> list[int]:
    """The number of positions that each pair needs in the model."""
    texts = list(dict.fromkeys(text for pair in (*pairs, (redrafter.prompt,)) for text in pair))
    size_of = dict(zip(texts, map(len, redrafter.tokenizer(texts, verbose=False)["input_ids"]), strict=True))
    if redrafter.model.config.is_encoder_decoder:
        return [max(size_of[source], size_of[text]) for source, text in pairs]
    return [size_of[source] + size_of[text] + size_of[redrafter.prompt] for source, text in pairs]


@torch.inference_mode()
def _scored(redrafter: Redrafter, pairs: Sequence[tuple[str, str]]) -> list[float]:
    model, tokenizer = redrafter.model, redrafter.tokenizer
    sources, texts = map(list, zip(*pairs, strict=True))
    if not model.config.is_encoder_decoder:
        prompts = [redrafter.prompt.replace("{source}", one) for one in sources]
        return _scored_after_prompt(model, tokenizer, prompts, texts)
    known = list(dict.fromkeys(sources))  # each is encoded only once
    pad, side, network = tokenizer.pad_token_id, tokenizer.padding_side, encoder_decoder(model)
    read = padded(tokenizer(known, verbose=False)["input_ids"], pad, side)
    written, _ = padded(tokenizer(text_target=texts, verbose=False)["input_ids"], IGNORED, side)
    tokens, mask, targets = (rows.to(model.device) for rows in (*read, written))
    encoded = network.encode(tokens, mask)
    rows = torch.tensor([known.index(source) for source in sources], device=model.device)
    states = network.decode_targets(encoded[rows], mask[rows], targets)
    return _summed((network.logits(part) for part in row_parts(states)), targets)


def _scored_after_prompt(model: Any, tokenizer: Any, prompts: Sequence[str], texts: Sequence[str]) -> list[float]:
    """For decoder-only models: scores of the tokens of each text after those of its prompt."""
    before = tokenizer(list(prompts), verbose=False)["input_ids"]
    after = tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
    width = max(len(one) + len(other) for one, other in zip(before, after, strict=True))
    tokens = torch.zeros(len(before), width, dtype=torch.long)
    targets = torch.full_like(tokens, IGNORED)
    mask = torch.zeros_like(tokens)
    for row, (one, other) in enumerate(zip(before, after, strict=True)):
        size = len(one) + len(other)
        tokens[row, :size], mask[row, :size] = torch.tensor([*one, *other]), 1
        targets[row, len(one) : size] = torch.tensor(other)
    tokens, targets, mask = (tensor.to(model.device) for tensor in (tokens, targets, mask))
    logits = model(input_ids=tokens, attention_mask=mask).logits
    return _summed(row_parts(logits[:, :-1]), targets[:, 1:])


def _summed(parts: Iterable[torch.Tensor], targets: torch.Tensor) -> list[float]:
    """The log-probability of each row's targets, from logits in the parts of `row_parts`; IGNORED is no target."""
    found = []
    for part, wanted in zip(parts, row_parts(targets), strict=True):
        logits = part.float()
        found.append(logits.gather(-1, wanted.clamp(min=0)[:, None])[:, 0] - logits.logsumexp(-1))
    scores: list[float] = torch.cat(found).view(targets.shape).masked_fill(targets < 0, 0.0).sum(1).tolist()
    return scores
