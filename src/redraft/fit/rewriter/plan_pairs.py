"""Pairs with their plans: linked once, then in each epoch a part of every plan is drawn and written into its source."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from redraft.align.trained_aligner import TrainedAligner
from redraft.decode.transformers_steps import position_limit
from redraft.fit.linked_pairs import LinkedPair, Row, link_pairs, link_parts, read_rows
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

_TRIED = 500  # pairs whose examples are drawn at the start, to see how many are too long


class PlanPairs:
    """The examples of a training with plans. What is drawn depends on the seed, the epoch and the pair alone."""

    def __init__(self, start: Start, data: TrainingData, settings: RewriterTraining, rows: Sequence[Row]) -> None:
        self._start, self._data, self._settings, self._rows = start, data, settings, rows
        self._positions = position_limit(start)
        # Without marks the model is to write what the pairs have, splits included: it is validated so.
        self._sampler = PlanSampler.load(bare_splits=True)

    def examples(self, epoch: int, rows: Sequence[int]) -> Examples:
        """The examples of some pairs, in their order; the pair itself where its marks would make it too long."""
        bare = self._data.examples.only(rows)
        drawn = self._encoded([self.drawn(epoch, row) for row in rows])
        kept = [
            told if self._fits(told) else plain
            for told, plain in zip(drawn, zip(bare.sources, bare.targets, strict=True), strict=True)
        ]
        return Examples([source for source, _ in kept], [target for _, target in kept], bare.causal, bare.pad)

    def drawn(self, epoch: int, row: int) -> PlanExample:
        rng = random.Random(f"{self._settings.seed} {epoch} {row}")
        return self._sampler.example(LinkedPair.of(self._rows[row]), rng)

    def too_long(self) -> float:
        """The share of examples that are learned without their marks, of the first so many pairs."""
        tried = self._encoded([self.drawn(0, row) for row in range(min(_TRIED, len(self._rows)))])
        return sum(not self._fits(told) for told in tried) / len(tried)

    def _encoded(self, examples: Sequence[PlanExample]) -> list[tuple[Tokens, Tokens]]:
        sources = encode_marked(self._start, [mark(example.plan) for example in examples], self._data.prompt)
        targets = encode_targets(self._start, [example.target for example in examples], self._data.prompt)
        return list(zip(sources, targets, strict=True))

    def _fits(self, told: tuple[Tokens, Tokens]) -> bool:
        source, target = map(len, told)
        return fits(source, target, self._start.causal, self._settings.max_length, self._positions)


def content_plans(rows: Sequence[Row]) -> list[EditPlan]:
    """What became of the content words of each source in its reference."""
    found = []
    for pair, links in ((one.pair, one.links) for one in map(LinkedPair.of, rows)):
        found.append(extract(pair.source, pair.target, pair.source_words, pair.target_words, links).plan)
    return found


def linked_rows(pairs: Sequence[TaggedPair], folder: Path, accelerator: Any, say: Say) -> list[Row]:
    """The pairs with the links of the shipped aligner. Each process links its share into a file, which is resumed after
    a kill, and reads all of them."""
    accelerator.wait_for_everyone()  # the first process has locked the folder
    parts = link_parts(pairs, folder, accelerator.num_processes)
    own, path = parts[accelerator.process_index]
    link_pairs(own, TrainedAligner.load(device=str(accelerator.device)), path, say)
    accelerator.wait_for_everyone()
    return [row for _, path in parts for row in read_rows(path)]
