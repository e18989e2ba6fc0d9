"""Sentences in, simpler ones out: a plan is predicted for each, fitted to the model and carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from redraft.constrain.edits import EditPlan
from redraft.constrain.planner import Planner
from redraft.constrain.verdicts import Verdict, judge
from redraft.decode.config import PREDICTED, DecodeConfig
from redraft.decode.decoded import Candidate, Decoded
from redraft.decode.endings import closed, reopened
from redraft.decode.fitting import fitted
from redraft.decode.pieces import divided
from redraft.decode.redrafter import Redrafter
from redraft.decode.sound import sound_first

_Rewrite = Callable[[Sequence[EditPlan], int, bool], list[Decoded]]
_OFFERED = 6  # targets of a substitution, of which the model chooses those that fit


class Simplifier:
    """Rewrites whole texts: one too long for the model in pieces, one that is no English prose not at all.

    `planning` is what `Planner.plans` is told: strength, style, wishes. Without a planner nothing is predicted, and a
    text is rewritten as the model likes. A plan that has edits of its own is carried out as it stands.
    """

    def __init__(self, redrafter: Redrafter | None = None, planner: Planner | None = None, **planning: Any) -> None:
        self.redrafter, self.planner, self.planning = redrafter or Redrafter(), planner, planning

    @classmethod
    def load(cls, model: Any = None, *, device: str | None = None, **planning: Any) -> Simplifier:
        """With the model and the predictor that come with the package, or another model."""
        redrafter = Redrafter(model, config=DecodeConfig(**PREDICTED), device=device)
        return cls(redrafter, Planner.load(device=device), **planning)

    def __call__(self, text: EditPlan | str, **changes: Any) -> Decoded:
        return next(self.stream([text], **changes))

    def stream(self, texts: Iterable[EditPlan | str], *, batch_size: int = 8, trace: bool = False) -> Iterator[Decoded]:
        """In order, `batch_size` at a time."""
        waiting = (EditPlan(text) if isinstance(text, str) else text for text in texts)
        while batch := list(islice(waiting, batch_size)):
            why = [self._unreadable(plan) for plan in batch]
            asked = [plan for plan, reason in zip(batch, why, strict=True) if reason is None]
            found = self._ended(asked, self._rewritten, batch_size, trace)
            for plan, reason in zip(batch, why, strict=True):
                yield next(found) if reason is None else self._untouched(plan, reason)

    def carried_out(self, plans: Iterable[EditPlan], *, batch_size: int = 8, trace: bool = False) -> Iterator[Decoded]:
        """Each plan as it stands, in order: nothing is predicted, not even for one without edits."""
        waiting = iter(plans)
        while batch := list(islice(waiting, batch_size)):
            yield from self._ended(batch, self._as_given, batch_size, trace)

    def plans(self, sources: Iterable[str]) -> Iterator[EditPlan]:
        """What is predicted for each sentence, with the targets that the model finds fit."""
        if self.planner is None:
            return map(EditPlan, sources)
        return fitted(self.redrafter, self.planner.plans(sources, alternatives=_OFFERED, **self.planning))

    def _unreadable(self, plan: EditPlan) -> str | None:
        return self.planner.unreadable(plan.source) if self.planner and not plan.edits else None

    def _untouched(self, plan: EditPlan, why: str) -> Decoded:
        (asked,) = self.plans([plan.source])  # nothing but what the user wants
        same = Candidate(plan.source.strip(), 0.0, 0.0, tuple(judge(asked, plan.source)), (), False)
        return Decoded(plan.source, (same,), unchanged=why)

    def _ended(self, plans: Sequence[EditPlan], rewrite: _Rewrite, batch_size: int, trace: bool) -> Iterator[Decoded]:
        """With a full stop lent to texts without an end; a model of one's own reads what it is given."""
        if self.planner is None:
            return iter(rewrite(plans, batch_size, trace))
        return map(reopened, plans, rewrite([closed(plan) for plan in plans], batch_size, trace))

    def _as_given(self, plans: Sequence[EditPlan], batch_size: int, trace: bool) -> list[Decoded]:
        parts = [divided(plan, self.redrafter.pieces(plan.source)) for plan in plans]
        return self._together(plans, parts, batch_size, trace)

    def _rewritten(self, plans: Sequence[EditPlan], batch_size: int, trace: bool) -> list[Decoded]:
        """Texts longer than the model reads are parted, and their plans with them where all edits have a place."""
        parts = [divided(plan, self.redrafter.pieces(plan.source)) for plan in plans]
        predicted = self.plans([part.source for plan, some in zip(plans, parts, strict=True) if not plan.edits
                                for part in some])  # fmt: skip
        parts = [some if plan.edits else list(islice(predicted, len(some)))
                 for plan, some in zip(plans, parts, strict=True)]  # fmt: skip
        return self._together(plans, parts, batch_size, trace)

    def _together(
        self, plans: Sequence[EditPlan], parts: Sequence[Sequence[EditPlan]], batch_size: int, trace: bool
    ) -> list[Decoded]:
        found = self._found([part for some in parts for part in some], batch_size, trace)
        return [_joined(plan.source, list(islice(found, len(some)))) for plan, some in zip(plans, parts, strict=True)]

    def _found(self, plans: Sequence[EditPlan], batch_size: int, trace: bool) -> Iterator[Decoded]:
        config = self.redrafter.config
        if self.planner is None:
            return self.redrafter.stream(plans, batch_size=batch_size, trace=trace)
        found = self.redrafter.stream(plans, batch_size=batch_size, trace=trace, candidates=config.beams)
        commonness = self.planner.predictor.tables.commonness
        return (sound_first(one, commonness, config.candidates) for one in found)


def _joined(source: str, parts: Sequence[Decoded]) -> Decoded:
    """The result of a text from those of its pieces; of several, the best candidate of each."""
    if len(parts) == 1:
        return parts[0]
    best = Candidate(
        " ".join(part.output for part in parts),
        sum(part.log_prob for part in parts),
        sum(part.edit_score for part in parts),
        tuple(_verdicts(source, parts)),
        tuple(token for part in parts for token in part.candidates[0].tokens),
        any(part.truncated for part in parts),
    )
    return Decoded(source, (best,), tuple(step for part in parts for step in part.trace), pieces=len(parts))


def _verdicts(source: str, parts: Sequence[Decoded]) -> Iterator[Verdict]:
    """Those of all pieces, with the spans that their edits have in the whole text."""
    start = 0
    for part in parts:
        start = source.index(part.source, start)
        for verdict in part.edits:
            span = verdict.edit.span
            moved = replace(verdict.edit, span=(span[0] + start, span[1] + start)) if span else verdict.edit
            yield replace(verdict, edit=moved)
        start += len(part.source)
