"""The objective function: the score of some settings on validation sentences, with intermediate values for pruning."""

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

_PARTS = 4  # a trial may be pruned after each part
ReportPart = Callable[[int, float], bool]  # (part, value so far) → whether to continue


@dataclass(frozen=True)
class Sample:
    """Plans and aligned references: sentence n of each reference belongs to plan n."""

    plans: Sequence[EditPlan]
    references: Sequence[Sequence[str]]  # (reference, sentence)

    def draw(self, sentences: int, seed: int) -> Sample:
        """A random sample of at most `sentences` plans, in random order."""
        rows = list(range(len(self.plans)))
        random.Random(seed).shuffle(rows)
        rows = rows[:sentences]
        return Sample([self.plans[row] for row in rows], [[texts[row] for row in rows] for texts in self.references])


@dataclass(frozen=True)
class TrialResult:
    """The result of a trial; `finished` is False if it was pruned."""

    value: float
    seconds: float
    finished: bool


def goal_value(texts: Texts, goal: Goal) -> float:
    """The value to maximise.

    The weight of BLEU in "both" is from human ratings of 18 systems: one point of SARI is worth about three of BLEU.
    """
    sari, bleu = Sari(), Bleu()
    value = float(sari.figures(sari.count(texts).sum(0))["sari"])
    return value if goal == "sari" else value + float(bleu.figures(bleu.count(texts).sum(0))["bleu"]) / 3


def evaluate_config(
    redrafter: Redrafter, config: DecodeConfig, sample: Sample, report: ReportPart, *,
    goal: Goal = "sari", batch_size: int = 16,
) -> TrialResult:  # fmt: skip
    """Rewrite the sample in parts and score the outputs so far after each; batches have sentences of similar length."""
    start_time = time.monotonic()
    simplifier = Simplifier(redrafter, search_only=True, config=config)
    size = -(-len(sample.plans) // _PARTS)
    outputs: list[str] = []
    value = 0.0
    for start in range(0, len(sample.plans), size):
        part = sample.plans[start : start + size]
        outputs += [result.text for result in simplifier.pipe(part, batch_size=batch_size, window=len(part))]
        done = len(outputs)
        texts = Texts(
            [plan.source for plan in sample.plans[:done]],
            outputs,
            [reference[:done] for reference in sample.references],
        )
        value = goal_value(texts, goal)
        if not report(start // size, value) and done < len(sample.plans):
            return TrialResult(value, time.monotonic() - start_time, finished=False)
    return TrialResult(value, time.monotonic() - start_time, finished=True)
