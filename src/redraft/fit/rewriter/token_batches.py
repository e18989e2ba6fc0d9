"""Pairs in tokens, the order in which they are learned, and the tensors of a few of them."""

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
from redraft.decode.model_loading import PLAIN_PROMPT
from redraft.errors import CorpusError
from redraft.fit.rewriter.pair_files import PairSet
from redraft.fit.rewriter.trainable_models import Start
from redraft.fit.rewriter.training_settings import RewriterTraining
from redraft.plan.marked_source import Marked

IGNORED = -100  # the label of a token that is not learned, as everywhere in transformers
_BLOCK = 1000  # texts tokenized at once
Tokens = NDArray[np.int32]


@dataclass(frozen=True)
class Examples:
    """Pairs in tokens: what is read, and what is to be written, with its end."""

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
        """Tokens of some rows, padding included."""
        if self.causal:
            return len(rows) * max(sum(self.sizes[row]) for row in rows)
        return len(rows) * (max(self.sizes[row][0] for row in rows) + max(self.sizes[row][1] for row in rows))

    def learned(self, rows: Sequence[int]) -> int:
        """Tokens of some rows that the loss is about."""
        return sum(self.sizes[row][1] for row in rows)

    def only(self, kept: Sequence[int]) -> Examples:
        return Examples([self.sources[at] for at in kept], [self.targets[at] for at in kept], self.causal, self.pad)


@dataclass(frozen=True)
class Batch:
    """Some pairs as tensors: (pair, token) each. Causal: both sides in `input_ids`, the source's labels ignored."""

    input_ids: Tensor
    attention_mask: Tensor
    labels: Tensor

    def to(self, device: torch.device) -> Batch:
        return Batch(self.input_ids.to(device), self.attention_mask.to(device), self.labels.to(device))


def make_examples(start: Start, sources: Sequence[str], targets: Sequence[str] | None, prompt: str | None) -> Examples:
    """Tokenize pairs as Redrafter tokenizes their sources; without targets, each is the end alone.

    `prompt` is what a causal model reads. It goes on from there: its target begins with a space unless the prompt ends
    with white space.
    """
    targets = [""] * len(sources) if targets is None else targets
    if start.reads_plans:
        read = encode_marked(start, [(source,) for source in sources], prompt)
    else:
        texts = sources if prompt is None else [prompt.replace("{source}", source) for source in sources]
        read = [_array(tokens) for tokens in _tokens(start.tokenizer, texts)]
    return Examples(read, encode_targets(start, targets, prompt), start.causal, start.pad)


def encode_marked(start: Start, sources: Sequence[Marked], prompt: str | None) -> list[Tokens]:
    """Sources with marks in tokens, for a model that is to read plans."""
    marks = MarkTokens(start.tokenizer)
    return [_array(marks.encode(source, prompt or PLAIN_PROMPT)) for source in sources]


def encode_targets(start: Start, targets: Sequence[str], prompt: str | None) -> list[Tokens]:
    if prompt is not None and not prompt[-1:].isspace():
        targets = [f" {target}" if target else "" for target in targets]
    special = frozenset(start.tokenizer.all_special_ids)
    written = _tokens(start.tokenizer, targets, target=True, bare=start.causal)
    return [_array(_ended(tokens, start.end, special)) for tokens in written]


def fits(source: int, target: int, causal: bool, most: int, positions: int | None) -> bool:
    """Whether a pair of so many tokens can be learned: at most `most` on each side, and what the model has room for."""
    longer = max(source, target)
    return longer <= most and (positions is None or (source + target if causal else longer) <= positions)


def usable_rows(examples: Examples, pairs: PairSet, settings: RewriterTraining, positions: int | None) -> list[int]:
    """The rows that can be learned. What is empty or too long in tokens is an error, or left out where that is asked.

    `positions`: how many tokens the model can tell apart, where it is bound to a number.
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
            why = f"{what} {total:,} tokens, and the model reads {positions:,}"
            long.append((f"{pairs.place(row, column)}: {why}", "take a model that reads more"))
    if empty and settings.on_error == "raise":
        raise CorpusError(
            f"{pairs.place(empty[0])}: nothing of the source is left in the model's tokens.",
            "Delete the line, or leave such lines out with --on-error skip.",
        )
    if long and settings.long == "raise":
        more = f"; {len(long):,} pairs are too long" if len(long) > 1 else ""
        why, help = long[0]
        raise CorpusError(f"{why}{more}.",
                          f"Shorten what is too long, {help}, or leave such pairs out with --long skip.")  # fmt: skip
    if not kept:
        raise CorpusError(f"{pairs.names[0]}: no pair is left.", "Raise --max-length, or give other pairs.")
    return kept


class Order:
    """Which pairs make up which update: shuffled anew in each epoch, the same in every run."""

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
    """Rows of like length, as many together as the padded tokens allow; a row that is longer stands alone."""
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
    """`bare`: without the special tokens that a tokenizer puts around a text."""
    for at in range(0, len(texts), _BLOCK):
        block = texts[at : at + _BLOCK]
        named = {"text_target": block} if target else {"text": block}
        yield from tokenizer(**named, add_special_tokens=not bare, verbose=False)["input_ids"]  # type: ignore[operator]


def _ended(tokens: list[int], end: int, special: frozenset[int]) -> list[int]:
    """With an end token, unless it is there: behind it mBART's first tokenizers put the language."""
    last = list(takewhile(special.__contains__, reversed(tokens)))
    return tokens if end in last else [*tokens, end]


def _array(tokens: list[int]) -> Tokens:
    return np.array(tokens, dtype=np.int32)


def pad_rows(rows: Sequence[NDArray[Any]], filler: int) -> Tensor:
    """(row, width) of whole numbers, filled on the right."""
    table = np.full((len(rows), max(len(row) for row in rows)), filler, dtype=np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return torch.from_numpy(table)


def summed_loss(model: Any, plain: Any, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
    """Cross-entropy of the target's tokens and its end, summed: whoever calls divides by the tokens of a whole update.

    A mean over each micro batch would weigh the tokens of short ones more. `plain` is the model that `model` wraps.
    """
    inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}
    labels = batch.labels
    if plain.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = shifted(plain, labels)
        logits = model(**inputs, use_cache=False).logits
    else:  # the scores at a token are about the next one
        logits, labels = model(**inputs, use_cache=False).logits[:, :-1], labels[:, 1:]
    return torch.nn.functional.cross_entropy(
        logits.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum",
        label_smoothing=label_smoothing,
    )  # fmt: skip


def shifted(model: Any, labels: Tensor) -> Tensor:
    """What the decoder reads when it is to write `labels`: the same, one place later, behind the start token."""
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):  # languages in MBart have a say
        return model.prepare_decoder_input_ids_from_labels(labels)  # type: ignore[no-any-return]
    start = labels.new_full((len(labels), 1), model.config.decoder_start_token_id)
    moved = torch.cat([start, labels[:, :-1]], 1)
    return moved.masked_fill(moved == IGNORED, model.config.pad_token_id)
