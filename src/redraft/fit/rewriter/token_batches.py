"""Tokenized pairs, their order in training, micro-batches, and the loss."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.constrain.mark_tokens import MarkTokens
from redraft.decode.encoder_decoder import IGNORED, shifted
from redraft.decode.model_loading import PLAIN_PROMPT
from redraft.errors import CorpusError
from redraft.fit.rewriter.pair_files import PairSet
from redraft.fit.rewriter.trainable_models import Start
from redraft.fit.rewriter.training_settings import RewriterTraining
from redraft.plan.marked_source import Marked

_BLOCK = 1000  # texts tokenized at once
Tokens = NDArray[np.int32]


@dataclass(frozen=True)
class Examples:
    """Tokenized pairs: sources, and targets with an end token."""

    sources: list[Tokens]
    targets: list[Tokens]
    causal: bool
    pad: int

    def __len__(self) -> int:
        return len(self.sources)

    @cached_property
    def sizes(self) -> list[tuple[int, int]]:
        return [(len(source), len(target)) for source, target in zip(self.sources, self.targets, strict=True)]

    def padded(self, rows: Sequence[int]) -> int:
        """The number of tokens of some rows, padding included."""
        if self.causal:
            return len(rows) * max(sum(self.sizes[row]) for row in rows)
        return len(rows) * (max(self.sizes[row][0] for row in rows) + max(self.sizes[row][1] for row in rows))

    def target_tokens(self, rows: Sequence[int]) -> int:
        """The number of target tokens of some rows: those with a loss."""
        return sum(self.sizes[row][1] for row in rows)

    def only(self, kept: Sequence[int]) -> Examples:
        return Examples([self.sources[at] for at in kept], [self.targets[at] for at in kept], self.causal, self.pad)


@dataclass(frozen=True)
class Batch:
    """Pairs as tensors (pair, token). Causal: `input_ids` has source and target, and `labels` ignores the source."""

    input_ids: Tensor
    attention_mask: Tensor
    labels: Tensor

    def to(self, device: torch.device) -> Batch:
        return Batch(self.input_ids.to(device), self.attention_mask.to(device), self.labels.to(device))


def make_examples(start: Start, sources: Sequence[str], targets: Sequence[str] | None, prompt: str | None) -> Examples:
    """Tokenize pairs; sources as Redrafter does. Without `targets`, each target is only the end token.

    `prompt`: of a causal model. The target starts with a space, unless the prompt ends with white space.
    """
    targets = [""] * len(sources) if targets is None else targets
    if start.reads_plans:
        read = encode_marked(start, [(source,) for source in sources], prompt)
    else:
        texts = sources if prompt is None else [prompt.replace("{source}", source) for source in sources]
        read = [_array(tokens) for tokens in _tokens(start.tokenizer, texts)]
    return Examples(read, encode_targets(start, targets, prompt), start.causal, start.pad)


def encode_marked(start: Start, sources: Sequence[Marked], prompt: str | None) -> list[Tokens]:
    """Tokenize sources with marks, for a model that reads plans."""
    marks = MarkTokens(start.tokenizer)
    return [_array(marks.encode(source, prompt or PLAIN_PROMPT)) for source in sources]


def encode_targets(start: Start, targets: Sequence[str], prompt: str | None) -> list[Tokens]:
    if prompt is not None and not prompt[-1:].isspace():
        targets = [f" {target}" if target else "" for target in targets]
    special = frozenset(start.tokenizer.all_special_ids)
    written = _tokens(start.tokenizer, targets, target=True, bare=start.causal)
    return [_array(_ended(tokens, start.end, special)) for tokens in written]


def fits(source: int, target: int, causal: bool, max_length: int, positions: int | None) -> bool:
    """Whether a pair with these numbers of tokens is within `max_length` for each side and the model's positions."""
    longer = max(source, target)
    return longer <= max_length and (positions is None or (source + target if causal else longer) <= positions)


def usable_rows(examples: Examples, pairs: PairSet, settings: RewriterTraining, positions: int | None) -> list[int]:
    """The rows that can be trained on. Pairs with an empty source or too many tokens are an error, or left out.

    `positions`: the number of positions of the model, if it is limited.
    """
    kept, empty, long = [], list[int](), list[tuple[str, str]]()
    for row, (source, target) in enumerate(examples.sizes):
        side, size, column = ("source", source, 0) if source >= target else ("target", target, 1)
        total = source + target if examples.causal else size
        if not source:
            empty.append(row)
        elif fits(source, target, examples.causal, settings.max_length, positions):
            kept.append(row)
        elif size > settings.max_length:
            why = f"the {side} has {size:,} tokens, and --max-length is {settings.max_length:,}"
            long.append((f"{pairs.place(row, column)}: {why}", "raise --max-length"))
        else:
            what = "source and target have" if examples.causal else f"the {side} has"
            why = f"{what} {total:,} tokens, and the model has {positions:,} positions"
            long.append((f"{pairs.place(row, column)}: {why}", "use a model with more positions"))
    if empty and settings.on_error == "raise":
        raise CorpusError(
            f"{pairs.place(empty[0])}: the source has no tokens in the model's vocabulary.",
            "Delete the line, or skip such lines with --on-error skip.",
        )
    if long and settings.long == "raise":
        more = f"; {len(long):,} pairs are too long" if len(long) > 1 else ""
        why, help = long[0]
        raise CorpusError(f"{why}{more}.",
                          f"Shorten it, {help}, or skip such pairs with --long skip.")  # fmt: skip
    if not kept:
        raise CorpusError(f"{pairs.names[0]}: no usable pair is left.", "Raise --max-length, or give other pairs.")
    return kept


class Order:
    """The pairs of each update: shuffled in each epoch by the random seed alone."""

    def __init__(self, pairs: int, batch: int, epochs: int, seed: int) -> None:
        self.pairs, self.batch, self.seed = pairs, batch, seed
        self.steps_in_epoch = -(-pairs // batch)
        self.steps = epochs * self.steps_in_epoch
        self._epoch, self._rows = -1, list[int]()

    def __getitem__(self, step: int) -> list[int]:
        """The rows of an update, counted from 0."""
        epoch, at = divmod(step, self.steps_in_epoch)
        if epoch != self._epoch:
            self._epoch, self._rows = epoch, list(range(self.pairs))
            random.Random(self.seed * 1000 + epoch).shuffle(self._rows)
        return self._rows[at * self.batch : (at + 1) * self.batch]


def by_length(examples: Examples, rows: Iterable[int]) -> list[int]:
    return sorted(rows, key=lambda row: (sum(examples.sizes[row]), row))


def micro_batches(examples: Examples, rows: Sequence[int], tokens: int, most: int | None) -> Iterator[list[int]]:
    """Rows of similar length with at most `tokens` padded tokens and `most` rows together; a longer row is alone."""
    part: list[int] = []
    for row in by_length(examples, rows):
        if part and (len(part) == most or examples.padded([*part, row]) > tokens):
            yield part
            part = []
        part.append(row)
    if part:
        yield part


def make_batch(examples: Examples, rows: Sequence[int]) -> Batch:
    """The tensors of some rows, padded on the right."""
    sources, targets = [examples.sources[row] for row in rows], [examples.targets[row] for row in rows]
    if examples.causal:
        masked = [np.full(len(source), IGNORED, np.int32) for source in sources]
        labels = pad_rows([np.concatenate(both) for both in zip(masked, targets, strict=True)], IGNORED)
        sources = [np.concatenate(both) for both in zip(sources, targets, strict=True)]
    else:
        labels = pad_rows(targets, IGNORED)
    mask = pad_rows([np.ones(len(source), np.int32) for source in sources], 0)
    return Batch(pad_rows(sources, examples.pad), mask, labels)


def _tokens(
    tokenizer: object, texts: Sequence[str], *, target: bool = False, bare: bool = False
) -> Iterator[list[int]]:
    """`bare`: without special tokens."""
    for at in range(0, len(texts), _BLOCK):
        block = texts[at : at + _BLOCK]
        named = {"text_target": block} if target else {"text": block}
        yield from tokenizer(**named, add_special_tokens=not bare, verbose=False)["input_ids"]  # type: ignore[operator]


def _ended(tokens: list[int], end: int, special: frozenset[int]) -> list[int]:
    """With an end token, if it has none yet; mBART's slow tokenizers add the language after it."""
    last = list(takewhile(special.__contains__, reversed(tokens)))
    return tokens if end in last else [*tokens, end]


def _array(tokens: list[int]) -> Tokens:
    return np.array(tokens, dtype=np.int32)


def pad_rows(rows: Sequence[NDArray[Any]], filler: int) -> Tensor:
    """(row, width) of integers, padded on the right."""
    table = np.full((len(rows), max(len(row) for row in rows)), filler, dtype=np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return torch.from_numpy(table)


def summed_loss(model: Any, plain: Any, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """The sum of the cross-entropy over all target tokens, to be divided by the target tokens of the whole update.

    A mean over each micro-batch would give the tokens of small ones a larger weight. `plain`: the model inside `model`.
    """
    inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    labels = batch.labels
    if plain.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = shifted(plain, labels)
        logits = model(**inputs, use_cache=False).logits
    else:  # the logits at a token predict the next one
        logits, labels = model(**inputs, use_cache=False).logits[:, :-1], labels[:, 1:]
    return torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum",
        label_smoothing=label_smoothing,
    )  # fmt: skip
