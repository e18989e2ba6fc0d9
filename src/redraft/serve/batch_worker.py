"""Plans or rewrites one batch of sentences, in the thread that holds the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from redraft.cooperative_scheduling import yield_point
from redraft.plan.edits import EditPlan
from redraft.plan.user_constraints import UserConstraints
from redraft.serve.limits import Limits
from redraft.serve.schemas import WordChoices
from redraft.serve.word_choices import words_with_choices
from redraft.simplify.simplifier import PlannedText, Simplifier
from redraft.text.spelling import Spelling


@dataclass(frozen=True, kw_only=True)
class BatchSettings:
    """Settings shared by all sentences of a batch."""

    task: Literal["plan", "simplify"]
    strength: str | float
    style: str | None
    spelling: Spelling | None
    constraints: UserConstraints | None
    candidates: int = 1
    trace: bool = False


@dataclass(frozen=True)
class WorkItem:
    """One sentence. `use_plan`: apply the plan as given, even an empty one; otherwise predict a plan."""

    plan: EditPlan
    use_plan: bool = False

    @property
    def size(self) -> int:
        """Rough cost: characters of the sentence and of the phrases of its edits."""
        phrases = (phrase for edit in self.plan.edits for phrase in (edit.phrase, *edit.targets))
        return len(self.plan.source) + sum(map(len, phrases))


@dataclass(frozen=True)
class PredictedPlan:
    """A predicted plan. `unchanged`: why the sentence should not be rewritten; `words`: replacements for each word."""

    plan: EditPlan
    unchanged: str | None
    words: list[WordChoices]


class BatchWorker:
    """Plans or rewrites batches with one model; settings are given per batch."""

    def __init__(self, simplifier: Simplifier, limits: Limits) -> None:
        self._simplifier, self._limits = simplifier, limits

    def __call__(self, items: Sequence[WorkItem], settings: BatchSettings) -> list[Any]:
        planning: dict[str, Any] = {
            "strength": settings.strength,
            "style": settings.style,
            "spelling": settings.spelling,
            "constraints": settings.constraints,
        }
        if settings.task == "plan":
            sources = [item.plan.source for item in items]
            return [self._predicted_plan(planned) for planned in self._simplifier.planned(sources, **planning)]
        texts = [item.plan if item.use_plan else item.plan.source for item in items]
        trace = self._limits.max_trace if settings.trace else False
        return list(
            self._simplifier.pipe(
                texts, batch_size=self._limits.batch, trace=trace, candidates=settings.candidates, **planning
            )
        )

    def _predicted_plan(self, planned: PlannedText) -> PredictedPlan:
        yield_point()
        words = words_with_choices(planned.plan.source, self._simplifier.planner)
        return PredictedPlan(planned.plan, planned.unchanged, words)
