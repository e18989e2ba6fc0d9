"""The trained aligner: loads, aligns in batches of like length, and saves."""

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
from redraft.align.encoders import chosen_device
from redraft.align.exact_aligner import align_exactly
from redraft.align.links import Links
from redraft.align.word_batches import PairReader, Words, rounded
from redraft.eight_bit_weights import load_eight_bit, save_eight_bit
from redraft.errors import ModelError
from redraft.files import digest
from redraft.models import bundled
from redraft.reading import member, numbers, read_json
from redraft.trust import for_code, loading

_TOKENS = 2048  # in a batch, padding included
_AHEAD = 1024  # pairs read at once and sorted by length
_SCALE_ON_GPU = 32  # times as many of both
_WEIGHTS, _HEAD = "aligner.safetensors", "aligner.json"

Found = TypeVar("Found")


class TrainedAligner:
    """Links where the network's probability is above a threshold.

    Pairs beyond the encoder's length are aligned exactly instead and counted in `too_long`.
    """

    def __init__(self, model: Aligner, reader: PairReader, *, threshold: float = 0.5, digest: str = "") -> None:
        self.model = model.eval()
        self.reader = reader
        self.threshold = threshold
        self.digest = digest  # of the stored weights: tells one aligner from another
        self.too_long = 0

    @classmethod
    def load(cls, folder: str | Path | None = None, *, device: str | None = None) -> TrainedAligner:
        """The aligner of a folder, or the one that comes with the package."""
        from transformers import AutoConfig, AutoModel, AutoTokenizer

        path = bundled("aligner") if folder is None else Path(folder)
        place = chosen_device(device)
        hint = "Name a folder that redraft train-aligner has written."
        with loading("the aligner", path, ModelError, hint, problem=f"{path} holds no aligner"):
            about = read_json(path / _HEAD)
            threshold = member(about, "threshold", int, float)
            make: Any = AutoModel.from_config
            encoder: Any = make(AutoConfig.from_pretrained(path, **for_code()), **for_code())
            reader = PairReader(AutoTokenizer.from_pretrained(path, **for_code()))
            encoder.pooler = None
            model = Aligner(encoder, HeadConfig(**numbers(about, "head")))
            model.load_state_dict(load_eight_bit(path / _WEIGHTS))
            _check_vocabulary(reader, encoder)
        known = digest((path / _WEIGHTS).read_bytes())
        return cls(model.to(place, fast_dtype(place)), reader, threshold=threshold, digest=known)

    def save(self, folder: str | Path) -> None:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        self.model.encoder.config.save_pretrained(path)
        self.reader.tokenizer.save_pretrained(path)
        save_eight_bit(path / _WEIGHTS, self.model.state_dict())
        about = {"threshold": self.threshold, "head": self.model.head.config.to_json()}
        (path / _HEAD).write_text(json.dumps(about) + "\n", encoding="utf-8")

    def align(self, pairs: Iterable[tuple[Words, Words]]) -> Iterator[Links]:
        """Links of each pair, in order; pairs are read ahead by a thousand or so."""
        for source, target, links in self._in_order(pairs, lambda tables: links_above(tables, self.threshold)):
            yield align_exactly(source, target) if links is None else links

    def probabilities(self, pairs: Iterable[tuple[Words, Words]]) -> Iterator[Tensor]:
        """(source words, target words) for each pair; zeros for one that is too long."""
        for source, target, table in self._in_order(pairs, list):
            size = len(source), len(target)
            yield torch.zeros(size) if table is None else table[: size[0], : size[1]].cpu()

    def _in_order(
        self, pairs: Iterable[tuple[Words, Words]], read: Callable[[Tensor], Sequence[Found]]
    ) -> Iterator[tuple[Words, Words, Found | None]]:
        """What `read` makes of the tables of a batch, for each pair; None for one without words or too long."""
        pairs = iter(pairs)
        scale = _SCALE_ON_GPU if self.device.type == "cuda" else 1
        while ahead := list(islice(pairs, _AHEAD * scale)):
            found: list[Found | None] = [None] * len(ahead)
            sizes = self.reader.lengths(ahead)
            fit = [at for at in range(len(ahead)) if all(ahead[at]) and sizes[at] <= self.reader.limit]
            self.too_long += sum(size > self.reader.limit for size in sizes)
            for group in by_length(sorted(fit, key=lambda at: sizes[at]), sizes, _TOKENS * scale):
                for at, one in zip(group, read(self._tables([ahead[at] for at in group])), strict=True):
                    found[at] = one
            for (source, target), what in zip(ahead, found, strict=True):
                yield source, target, what

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @torch.inference_mode()
    def _tables(self, pairs: Sequence[tuple[Words, Words]]) -> Tensor:
        """(batch, n, m): probabilities, 0 where there is no word pair."""
        batch = self.reader.batch(pairs).to(self.device)
        logits: Tensor = self.model(batch)
        return logits.float().sigmoid() * batch.cells[:, 0]


def _check_vocabulary(reader: PairReader, encoder: Any) -> None:
    if len(reader.tokenizer) > encoder.config.vocab_size:
        raise ValueError(
            f"its tokenizer has {len(reader.tokenizer):,} tokens, its encoder {encoder.config.vocab_size:,}"
        )


def links_above(tables: Tensor, threshold: float) -> list[Links]:
    """The links of every table, (batch, n, m): found for all at once, since each question to a GPU costs a wait."""
    row, left, right = (tables > threshold).nonzero().cpu().numpy().T
    links = list(zip(left.tolist(), right.tolist(), strict=True))
    ends = np.searchsorted(row, np.arange(len(tables) + 1)).tolist()  # rows come in order
    return [frozenset(links[start:end]) for start, end in pairwise(ends)]


def fast_dtype(place: torch.device) -> torch.dtype:
    """bfloat16 where the machine computes in it, which is twice as fast; else float32."""
    if place.type == "cuda":
        return torch.bfloat16
    supported = getattr(torch.cpu, "_is_avx512_bf16_supported", bool)()
    return torch.bfloat16 if supported else torch.float32


def by_length(order: Sequence[int], sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """Groups of at most so many tokens, padding included; `order` is by size."""
    group: list[int] = []
    for at in order:
        if group and (len(group) + 1) * rounded(sizes[at]) > most:
            yield group
            group = []
        group.append(at)
    if group:
        yield group
