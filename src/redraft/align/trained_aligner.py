"""The trained aligner: loading, saving, and alignment in batches of similar length."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from redraft.align.aligner_network import Aligner, HeadConfig
from redraft.align.bert_encoder import stored_encoder
from redraft.align.encoders import chosen_device
from redraft.align.exact_aligner import align_exactly
from redraft.align.links import Links
from redraft.align.word_batches import PairReader, Words, padded_size
from redraft.eight_bit_weights import load_eight_bit, save_eight_bit
from redraft.errors import ModelError
from redraft.files import file_digest
from redraft.light_tokenizer import load_tokenizer
from redraft.models import bundled
from redraft.reading import number_members, read_json, typed_member
from redraft.trust import loading

_BATCH_TOKENS = 2048  # including padding
_READ_AHEAD = 1024  # pairs read at once and sorted by length
_GPU_FACTOR = 32  # multiplies both on a GPU
_WEIGHTS, _HEAD = "aligner.safetensors", "aligner.json"

Result = TypeVar("Result")


class TrainedAligner:
    """Links every word pair whose probability is above a threshold.

    Pairs longer than the encoder's limit are aligned by the exact aligner instead and counted in `too_long`.
    """

    def __init__(self, model: Aligner, reader: PairReader, *, threshold: float = 0.5, digest: str = "") -> None:
        self.model = model.eval()
        self.reader = reader
        self.threshold = threshold
        self.digest = digest  # of the stored weights; identifies the aligner
        self.too_long = 0

    @classmethod
    def load(cls, folder: str | Path | None = None, *, device: str | None = None) -> TrainedAligner:
        """Load the aligner of a folder, by default the bundled one."""
        path = bundled("aligner") if folder is None else Path(folder)
        target_device = chosen_device(device)
        hint = "Give a folder written by redraft train-aligner."
        with loading("the aligner", path, ModelError, hint, problem=f"{path} does not contain an aligner"):
            about = read_json(path / _HEAD)
            threshold = typed_member(about, "threshold", int, float)
            encoder, reader = stored_encoder(path), PairReader(load_tokenizer(path))
            dtype = fast_dtype(target_device)
            with torch.device("meta"):
                model = Aligner(encoder, HeadConfig(**number_members(about, "head")))
            model.load_state_dict(load_eight_bit(path / _WEIGHTS, dtype), assign=True)
            _check_vocabulary(reader, encoder)
        known = file_digest(path / _WEIGHTS)
        return cls(model.to(target_device, dtype), reader, threshold=threshold, digest=known)

    def save(self, folder: str | Path) -> None:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        self.model.encoder.config.save_pretrained(path)
        self.reader.tokenizer.save_pretrained(path)
        save_eight_bit(path / _WEIGHTS, self.model.state_dict())
        about = {"threshold": self.threshold, "head": self.model.head.config.to_json()}
        (path / _HEAD).write_text(json.dumps(about) + "\n", encoding="utf-8")

    def align(self, pairs: Iterable[tuple[Words, Words]]) -> Iterator[Links]:
        """The links of each pair, in order. Reads about a thousand pairs ahead."""
        for source, target, links in self._read_in_order(pairs, lambda tables: links_above(tables, self.threshold)):
            yield align_exactly(source, target) if links is None else links

    def probabilities(self, pairs: Iterable[tuple[Words, Words]]) -> Iterator[Tensor]:
        """(source words, target words) for each pair; zeros for a pair that is too long."""
        for source, target, table in self._read_in_order(pairs, list):
            size = len(source), len(target)
            yield torch.zeros(size) if table is None else table[: size[0], : size[1]].cpu()

    def _read_in_order(
        self, pairs: Iterable[tuple[Words, Words]], read: Callable[[Tensor], Sequence[Result]]
    ) -> Iterator[tuple[Words, Words, Result | None]]:
        """The result of `read` on the tables of a batch, for each pair; None if empty or too long."""
        pairs = iter(pairs)
        scale = _GPU_FACTOR if self.device.type == "cuda" else 1
        while ahead := list(islice(pairs, _READ_AHEAD * scale)):
            found: list[Result | None] = [None] * len(ahead)
            sizes = self.reader.lengths(ahead)
            fit = [at for at in range(len(ahead)) if all(ahead[at]) and sizes[at] <= self.reader.limit]
            self.too_long += sum(size > self.reader.limit for size in sizes)
            for group in length_batches(sorted(fit, key=lambda at: sizes[at]), sizes, _BATCH_TOKENS * scale):
                for at, one in zip(group, read(self._tables([ahead[at] for at in group])), strict=True):
                    found[at] = one
            for (source, target), what in zip(ahead, found, strict=True):
                yield source, target, what

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @torch.inference_mode()
    def _tables(self, pairs: Sequence[tuple[Words, Words]]) -> Tensor:
        """(batch, n, m): probabilities; 0 in the padding."""
        batch = self.reader.batch(pairs).to(self.device)
        logits: Tensor = self.model(batch)
        return logits.float().sigmoid() * batch.pair_mask[:, 0]


def _check_vocabulary(reader: PairReader, encoder: Any) -> None:
    if len(reader.tokenizer) > encoder.config.vocab_size:
        raise ValueError(
            f"its tokenizer has {len(reader.tokenizer):,} tokens, but its encoder {encoder.config.vocab_size:,}"
        )


def links_above(tables: Tensor, threshold: float) -> list[Links]:
    """The links of each table of a batch (batch, n, m), computed together to synchronise with the GPU only once."""
    row, left, right = (tables > threshold).nonzero().cpu().numpy().T
    links = list(zip(left.tolist(), right.tolist(), strict=True))
    ends = np.searchsorted(row, np.arange(len(tables) + 1)).tolist()  # rows come in order
    return [frozenset(links[start:end]) for start, end in pairwise(ends)]


def fast_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 if the device supports it in hardware (twice as fast), else float32."""
    if device.type == "cuda":
        return torch.bfloat16
    supported = getattr(torch.cpu, "_is_avx512_bf16_supported", bool)()
    return torch.bfloat16 if supported else torch.float32


def length_batches(order: Sequence[int], sizes: Sequence[int], max_tokens: int) -> Iterator[list[int]]:
    """Batches of at most `max_tokens` tokens including padding; `order` has the indices sorted by size."""
    group: list[int] = []
    for at in order:
        if group and (len(group) + 1) * padded_size(sizes[at]) > max_tokens:
            yield group
            group = []
        group.append(at)
    if group:
        yield group
