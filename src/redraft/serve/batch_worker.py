"""What is done with a batch of sentences in the thread that holds the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from redraft.cancellation import yield_point
from redraft.plan.edits import EditPlan
from redraft.plan.user_constraints import UserConstraints
from redraft.serve.limits import Limits
from redraft.serve.schemas import WordChoices
from redraft.serve.word_choices import words_with_choices
from redraft.simplify.simplifier import PlannedText, Simplifier


@dataclass(frozen=True)
class Settings:
    """What all sentences of a batch share."""

    task: Literal["plan", "simplify"]
    strength: str | float = "medium"
    style: str | None = None
    constraints: UserConstraints | None = None
    candidates: int = 1
    trace: bool = False


@dataclass(frozen=True)
class WorkItem:
    """A sentence; `given`: its plan is carried out as it stands, were it empty."""

    plan: EditPlan
    given: bool = False

    @property
    def size(self) -> int:
        """How long it takes, roughly: characters of the sentence and of what is to be found and written in it."""
        phrases = (phrase for edit in self.plan.edits for phrase in (edit.phrase, *edit.targets))
        return len(self.plan.source) + sum(map(len, phrases))


@dataclass(frozen=True)
class Planned:
    """A predicted plan; `unchanged`: why the sentence is better left as it is; `words`: what could be written."""

    plan: EditPlan
    unchanged: str | None
    words: list[WordChoices]


class BatchWorker:
    """Plans or rewritings of a batch, by one model under the settings of each batch."""

    def __init__(self, simplifier: Simplifier, limits: Limits) -> None:
        self._simplifier, self._limits = simplifier, limits

    def __call__(self, asked: Sequence[WorkItem], settings: Settings) -> list[Any]:
        planning: dict[str, Any] = {
            "strength": settings.strength,
            "style": settings.style,
            "constraints": settings.constraints,
        }
        if settings.task == "plan":
            sources = [one.plan.source for one in asked]
            return [self._planned(one) for one in self._simplifier.planned(sources, **planning)]
        texts = [one.plan if one.given else one.plan.source for one in asked]
        trace = self._limits.max_trace if settings.trace else False
        return list(
            self._simplifier.pipe(
                texts, batch_size=self._limits.batch, trace=trace, candidates=settings.candidates, **planning
            )
        )

    def _planned(self, one: PlannedText) -> Planned:
        yield_point()
        return Planned(one.plan, one.unchanged, words_with_choices(one.plan.source, self._simplifier.planner))
