"""Training examples with plans: pairs are aligned once, and in each epoch part of every plan is put into its source."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from redraft.align.trained_aligner import TrainedAligner
from redraft.decode.transformers_steps import position_limit
from redraft.fit.linked_pairs import LinkedPair, Row, link_pairs, read_rows, split_for_processes
from redraft.fit.rewriter.plan_examples import PlanExample, PlanSampler
from redraft.fit.rewriter.token_batches import Examples, Tokens, encode_marked, encode_targets, fits
from redraft.fit.rewriter.trainable_models import Start
from redraft.fit.rewriter.training_data import TrainingData
from redraft.fit.rewriter.training_settings import RewriterTraining
from redraft.fit.tagged_pairs import TaggedPair
from redraft.plan.edits import EditPlan
from redraft.plan.extraction import extract
from redraft.plan.marked_source import mark
from redraft.progress_bar import Say

_SAMPLE = 500  # pairs from which the share of too long examples is estimated at the start


class PlanPairs:
    """The examples of a training with plans. They depend only on the seed, the epoch and the pair."""

    def __init__(self, start: Start, data: TrainingData, settings: RewriterTraining, rows: Sequence[Row]) -> None:
        self._start, self._data, self._settings, self._rows = start, data, settings, rows
        self._positions = position_limit(start)
        # Validation is without marks, where the model should split sentences like the pairs do.
        self._sampler = PlanSampler.load(bare_splits=True)

    def examples(self, epoch: int, rows: Sequence[int]) -> Examples:
        """The examples of some pairs, in their order; without a plan if the marks would make it too long."""
        bare = self._data.examples.only(rows)
        encoded = self._encode([self.sample(epoch, row) for row in rows])
        kept = [
            marked if self._fits(marked) else plain
            for marked, plain in zip(encoded, zip(bare.sources, bare.targets, strict=True), strict=True)
        ]
        return Examples([source for source, _ in kept], [target for _, target in kept], bare.causal, bare.pad)

    def sample(self, epoch: int, row: int) -> PlanExample:
        """The example of a pair in an epoch."""
        rng = random.Random(f"{self._settings.seed} {epoch} {row}")
        return self._sampler.example(LinkedPair.of(self._rows[row]), rng)

    def share_too_long(self) -> float:
        """The estimated share of examples that are trained on without a plan."""
        sample = self._encode([self.sample(0, row) for row in range(min(_SAMPLE, len(self._rows)))])
        return sum(not self._fits(marked) for marked in sample) / len(sample)

    def _encode(self, examples: Sequence[PlanExample]) -> list[tuple[Tokens, Tokens]]:
        sources = encode_marked(self._start, [mark(example.plan) for example in examples], self._data.prompt)
        targets = encode_targets(self._start, [example.target for example in examples], self._data.prompt)
        return list(zip(sources, targets, strict=True))

    def _fits(self, example: tuple[Tokens, Tokens]) -> bool:
        source, target = map(len, example)
        return fits(source, target, self._start.causal, self._settings.max_length, self._positions)


def content_plans(rows: Sequence[Row]) -> list[EditPlan]:
    """The oracle plan of the content words of each source."""
    found = []
    for pair, links in ((one.pair, one.links) for one in map(LinkedPair.of, rows)):
        found.append(extract(pair.source, pair.target, pair.source_words, pair.target_words, links).plan)
    return found


def linked_rows(pairs: Sequence[TaggedPair], folder: Path, accelerator: Any, say: Say) -> list[Row]:
    """The pairs with the links of the bundled aligner.

    Each process aligns its share into a file, resuming an incomplete one, and then reads the files of all.
    """
    accelerator.wait_for_everyone()  # the first process has locked the folder
    parts = split_for_processes(pairs, folder, accelerator.num_processes)
    own, path = parts[accelerator.process_index]
    link_pairs(own, TrainedAligner.load(device=str(accelerator.device)), path, say)
    accelerator.wait_for_everyone()
    return [row for _, path in parts for row in read_rows(path)]
