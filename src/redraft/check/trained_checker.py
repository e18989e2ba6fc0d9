"""The trained check: loading, saving, and classification of pairs in batches of similar length."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from redraft.align.trained_aligner import length_batches
from redraft.align.word_batches import PairBatch, PairReader, Words
from redraft.check.checker_network import CheckNetwork, CheckShape
from redraft.check.word_facts import FACTS, Floats, WordFacts
from redraft.cooperative_scheduling import yield_point
from redraft.eight_bit_weights import EightBitFile, save_eight_bit
from redraft.errors import ModelError
from redraft.files import file_digest
from redraft.plan.edit_classifier import EditClassifier
from redraft.reading import number_members, read_json, typed_member
from redraft.trust import loading

ABOUT = "checker.json"
_TOKENS, _GPU_TOKENS = 2048, 65_536  # in a batch, padding included
_WINDOW = 2048  # pairs sorted by length together
_WEIGHTS = "checker.safetensors"
_SHARED = "encoder.embeddings."  # weights that belong to the aligner


@dataclass(frozen=True)
class Judged:
    """Logits that the meaning is altered and that the source does not entail the output, and word probabilities."""

    altered: float
    unsupported: float
    source: tuple[float, ...]  # probability of each word that it is wrong or lost
    output: tuple[float, ...]


class CheckReader:
    """Converts pairs of texts, as words, into the inputs of the network."""

    def __init__(self, pairs: PairReader, facts: WordFacts) -> None:
        self.pairs, self.facts = pairs, facts

    def batch(
        self, pairs: Sequence[tuple[Words, Words]], facts: Sequence[tuple[Floats, Floats]] | None = None
    ) -> tuple[PairBatch, Tensor]:
        """`facts`: the features of each pair from tables, if they are already known."""
        batch = self.pairs.batch(pairs)
        known = np.zeros((*batch.word_ids.shape, FACTS), np.float32)
        for row, sides in zip(known, facts or [self.facts.of(*pair) for pair in pairs], strict=True):
            for start, side in zip((0, batch.width), sides, strict=True):
                row[start : start + len(side)] = side
        return batch, torch.from_numpy(known)


class TrainedCheck:
    """Predicts whether an output differs in meaning from its source, and which words are wrong."""

    def __init__(self, network: CheckNetwork, reader: CheckReader, above: str = "", digest: str = "") -> None:
        self.network, self.reader, self.above = network.eval(), reader, above
        self.digest = digest  # of the stored weights: identifies the check

    @classmethod
    def load(cls, folder: str | Path, classifier: EditClassifier, facts: WordFacts) -> TrainedCheck:
        """Load a check from a folder; its embeddings are those of the classifier's aligner."""
        path = Path(folder)
        hint = "Name a folder that redraft train-checker has written."
        with loading("the meaning check", path, ModelError, hint, problem=f"{path} holds no meaning check"):
            about = read_json(path / ABOUT)
            if typed_member(about, "above", str) != classifier.encoder_digest:
                raise ModelError(f"{path} was trained on top of another aligner.", "Run redraft train-checker again.")
            network = CheckNetwork(_same_weights(classifier.encoder), CheckShape(**number_members(about, "shape")))
            missing, unknown = network.load_state_dict(_weights(path, classifier.encoder), strict=False, assign=True)
            lost = [name for name in missing if not name.startswith(_SHARED)]
            if lost or unknown:
                raise ValueError(f"{_WEIGHTS} lacks {lost[0]}" if lost else f"{_WEIGHTS} has {unknown[0]}")
        return cls(network.to(classifier.device), CheckReader(classifier.reader, facts), classifier.encoder_digest,
                   file_digest(path / _WEIGHTS))  # fmt: skip

    def save(self, folder: str | Path, about: dict[str, Any]) -> None:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        own = {name: weight for name, weight in self.network.state_dict().items() if not name.startswith(_SHARED)}
        save_eight_bit(path / _WEIGHTS, own)
        facts = {"above": self.above, "shape": self.network.shape.to_json(), **about}
        (path / ABOUT).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")

    @property
    def device(self) -> torch.device:
        return self.network.look.weight.device

    def judge(self, pairs: Iterable[tuple[Words, Words]]) -> Iterator[Judged | None]:
        """In order; None for a pair with an empty side, or too long for the encoder."""
        waiting, reader = iter(pairs), self.reader.pairs
        while ahead := list(islice(waiting, _WINDOW)):
            found: list[Judged | None] = [None] * len(ahead)
            sizes = reader.lengths(ahead)
            fit = [at for at in range(len(ahead)) if all(ahead[at]) and sizes[at] <= reader.limit]
            tokens = _GPU_TOKENS if self.device.type == "cuda" else _TOKENS
            for group in length_batches(sorted(fit, key=lambda at: sizes[at]), sizes, tokens):
                for at, one in zip(group, self._judged([ahead[at] for at in group]), strict=True):
                    found[at] = one
                yield_point()
            yield from found

    @torch.inference_mode()
    def _judged(self, pairs: Sequence[tuple[Words, Words]]) -> Iterator[Judged]:
        batch, known = self.reader.batch(pairs)
        words, logits = self.network(batch.to(self.device), known.to(self.device))
        probabilities = words.float().sigmoid().cpu().numpy()
        for (source, output), row, logit in zip(pairs, probabilities, logits.float().tolist(), strict=True):
            yield Judged(
                logit[0], logit[1], tuple(map(float, row[: len(source)])),
                tuple(map(float, row[batch.width : batch.width + len(output)])),
            )  # fmt: skip


def _same_weights(encoder: Any) -> Any:
    """A copy of the modules of an encoder that shares its weights, until others are assigned."""
    return deepcopy(encoder, {id(weight): weight for weight in (*encoder.parameters(), *encoder.buffers())})


def _weights(folder: Path, encoder: Any) -> dict[str, Tensor]:
    """The stored weights; those of the encoder in the type of its embeddings."""
    dtype, file = next(encoder.parameters()).dtype, EightBitFile(folder / _WEIGHTS)
    return {name: value.to(dtype) if name.startswith("encoder.") else value for name, value in file.items()}


def new_network(aligner: Any, shape: CheckShape | None = None) -> CheckNetwork:
    """A new network, initialised with a copy of the encoder of an aligner, in float32."""
    encoder = deepcopy(aligner).float()
    return CheckNetwork(encoder, shape or CheckShape(hidden=encoder.config.hidden_size))
