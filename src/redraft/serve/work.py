"""What is done with a batch of sentences in the thread that holds the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from redraft.constrain.edits import EditPlan
from redraft.constrain.wishes import Wishes
from redraft.decode.simplifier import Simplifier


@dataclass(frozen=True)
class Settings:
    """What all sentences of a batch share."""

    task: Literal["plan", "simplify"]
    strength: str | float = "medium"
    style: str | None = None
    wishes: Wishes | None = None
    candidates: int = 1
    trace: bool = False


@dataclass(frozen=True)
class Asked:
    """A sentence; `given`: its plan is carried out as it stands, were it empty."""

    plan: EditPlan
    given: bool = False


class Work:
    """Plans or rewritings of a batch, by one model under the settings of each batch."""

    def __init__(self, simplifier: Simplifier, batch_size: int) -> None:
        self._simplifier, self._batch_size = simplifier, batch_size

    def __call__(self, asked: Sequence[Asked], settings: Settings) -> list[Any]:
        simplifier = self._under(settings)
        if settings.task == "plan":
            return list(simplifier.plans([one.plan.source for one in asked]))
        texts = [one.plan if one.given else one.plan.source for one in asked]
        return list(simplifier.stream(texts, batch_size=self._batch_size, trace=settings.trace))

    def _under(self, settings: Settings) -> Simplifier:
        """The same model and planner with other settings."""
        config = self._simplifier.redrafter.config.with_changes(candidates=settings.candidates)
        planning = {"strength": settings.strength, "style": settings.style, "wishes": settings.wishes}
        return self._simplifier.under(config=config, **planning)
