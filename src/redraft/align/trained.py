"""The trained aligner: loads, aligns in batches of like length, and saves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from redraft.align.encoders import chosen_device
from redraft.align.exact import align_exactly
from redraft.align.links import Links
from redraft.align.network import Aligner, HeadConfig, PairReader, Words
from redraft.eight_bit import load_eight_bit, save_eight_bit
from redraft.errors import ModelError

_TOKENS = 4096  # in a batch, padding included
_AHEAD = 1024  # pairs read at once and sorted by length
_WEIGHTS, _HEAD = "aligner.safetensors", "aligner.json"


class TrainedAligner:
    """Links where the network's probability is above a threshold.

    Pairs beyond the encoder's length are aligned exactly instead and counted in `too_long`.
    """

    def __init__(self, model: Aligner, reader: PairReader, *, threshold: float = 0.5) -> None:
        self.model = model.eval()
        self.reader = reader
        self.threshold = threshold
        self.too_long = 0

    @classmethod
    def load(cls, folder: str | Path | None = None, *, device: str | None = None) -> TrainedAligner:
        """The aligner of a folder, or the one that comes with the package."""
        from transformers import AutoConfig, AutoModel, AutoTokenizer

        path = Path(str(files("redraft.align").joinpath("shipped"))) if folder is None else Path(folder)
        try:
            about = json.loads((path / _HEAD).read_text(encoding="utf-8"))
            make: Any = AutoModel.from_config
            encoder: Any = make(AutoConfig.from_pretrained(path))
            reader = PairReader(AutoTokenizer.from_pretrained(path))
            weights = load_eight_bit(path / _WEIGHTS)
        except (OSError, ValueError) as error:
            raise ModelError(f"{path} holds no aligner: {str(error).splitlines()[0]}",
                             "Name a folder that redraft train-aligner has written.") from None  # fmt: skip
        encoder.pooler = None
        model = Aligner(encoder, HeadConfig(**about["head"]))
        model.load_state_dict(weights)
        place = chosen_device(device)
        return cls(model.to(place, _dtype(place)), reader, threshold=about["threshold"])

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
        for source, target, table in self._tables(pairs):
            if table is None:
                yield align_exactly(source, target)
            else:
                yield links_above(table, self.threshold)

    def probabilities(self, pairs: Iterable[tuple[Words, Words]]) -> Iterator[Tensor]:
        """(source words, target words) for each pair; zeros for one that is too long."""
        for source, target, table in self._tables(pairs):
            yield torch.zeros(len(source), len(target)) if table is None else table

    def _tables(self, pairs: Iterable[tuple[Words, Words]]) -> Iterator[tuple[Words, Words, Tensor | None]]:
        pairs = iter(pairs)
        while ahead := list(islice(pairs, _AHEAD)):
            tables: list[Tensor | None] = [None] * len(ahead)
            sizes = [self.reader.length(source, target) for source, target in ahead]
            fit = [at for at in range(len(ahead)) if all(ahead[at]) and sizes[at] <= self.reader.limit]
            self.too_long += sum(size > self.reader.limit for size in sizes)
            for group in _by_length(sorted(fit, key=lambda at: sizes[at]), sizes):
                for at, found in zip(group, self._forward([ahead[at] for at in group]), strict=True):
                    tables[at] = found
            for (source, target), table in zip(ahead, tables, strict=True):
                yield source, target, table

    @torch.inference_mode()
    def _forward(self, pairs: Sequence[tuple[Words, Words]]) -> list[Tensor]:
        weight = next(self.model.parameters())
        batch = self.reader.batch(pairs).to(weight.device)
        tables = self.model(batch).float().sigmoid().cpu()
        return [table[: len(source), : len(target)] for table, (source, target) in zip(tables, pairs, strict=True)]


def links_above(table: Tensor, threshold: float) -> Links:
    """The cells of a table of probabilities that are links."""
    return frozenset((int(i), int(j)) for i, j in (table > threshold).nonzero().tolist())


def _dtype(place: torch.device) -> torch.dtype:
    """bfloat16 where the machine computes in it, which is twice as fast; else float32."""
    if place.type == "cuda":
        return torch.bfloat16
    supported = getattr(torch.cpu, "_is_avx512_bf16_supported", bool)()
    return torch.bfloat16 if supported else torch.float32


def _by_length(order: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Groups of a few thousand tokens each, padding included; `order` is by size."""
    group: list[int] = []
    for at in order:
        if group and (len(group) + 1) * sizes[at] > _TOKENS:
            yield group
            group = []
        group.append(at)
    if group:
        yield group
