"""How good settings are on a sample of validation sentences, told as it grows so that poor ones end early."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redraft.decode.config import DecodeConfig
from redraft.decode.redrafter import Redrafter
from redraft.evaluate.bleu import Bleu
from redraft.evaluate.measures import Texts
from redraft.evaluate.sari import Sari
from redraft.plan.edits import EditPlan
from redraft.simplify.simplifier import Simplifier
from redraft.tune.search_space import Goal

_PARTS = 4  # after each of which a try may end
Report = Callable[[int, float], bool]  # part and value so far → whether to go on


@dataclass(frozen=True)
class Sample:
    """Plans and their references; sentence n of each belongs together."""

    plans: Sequence[EditPlan]
    references: Sequence[Sequence[str]]  # (reference, sentence)

    def drawn(self, sentences: int, seed: int) -> Sample:
        """So many of them, in an order that the seed decides."""
        rows = list(range(len(self.plans)))
        random.Random(seed).shuffle(rows)
        rows = rows[:sentences]
        return Sample([self.plans[row] for row in rows], [[texts[row] for row in rows] for texts in self.references])


@dataclass(frozen=True)
class Tried:
    """What came of a try; `finished` is False where it was given up."""

    value: float
    seconds: float
    finished: bool


def value_of(texts: Texts, goal: Goal) -> float:
    """What is made as large as can be. People's ratings of 18 systems follow both measures: a point of SARI is worth
    about three of BLEU."""
    sari, bleu = Sari(), Bleu()
    value = float(sari.figures(sari.count(texts).sum(0))["sari"])
    return value if goal == "sari" else value + float(bleu.figures(bleu.count(texts).sum(0))["bleu"]) / 3


def tried(
    redrafter: Redrafter, config: DecodeConfig, sample: Sample, report: Report, *,
    goal: Goal = "sari", batch_size: int = 16,
) -> Tried:  # fmt: skip
    """Rewrite the sample part by part; within a part, sentences of like length together."""
    began = time.monotonic()
    simplifier = Simplifier(redrafter, search_only=True, config=config)
    size = -(-len(sample.plans) // _PARTS)
    outputs: list[str] = []
    value = 0.0
    for start in range(0, len(sample.plans), size):
        part = sample.plans[start : start + size]
        outputs += [one.text for one in simplifier.pipe(part, batch_size=batch_size, window=len(part))]
        done = len(outputs)
        texts = Texts([plan.source for plan in sample.plans[:done]], outputs, [one[:done] for one in sample.references])
        value = value_of(texts, goal)
        if not report(start // size, value) and done < len(sample.plans):
            return Tried(value, time.monotonic() - began, finished=False)
    return Tried(value, time.monotonic() - began, finished=True)
