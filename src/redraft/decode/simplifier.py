"""Texts in, simpler ones out, the same way for every door: predict, mark, search, rank, restore."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from redraft.align.protected import Shielded
from redraft.constrain.commonness import Commonness
from redraft.constrain.edits import EditPlan
from redraft.constrain.literal import literal
from redraft.constrain.planner import Planner, shipped_commonness
from redraft.constrain.predicted import with_the_rest_kept
from redraft.constrain.readable import unreadable
from redraft.constrain.shielded_plans import shielded_plan
from redraft.constrain.verdicts import Verdict, judge
from redraft.decode.config import SIMPLIFY, DecodeConfig
from redraft.decode.decoded import Candidate, Decoded
from redraft.decode.endings import closed, reopened
from redraft.decode.fitting import fitted, log_probs
from redraft.decode.loading import reads_plans
from redraft.decode.models import StepModel
from redraft.decode.pieces import divided, united
from redraft.decode.ranking import ranked
from redraft.decode.redrafter import Redrafter

_AHEAD = 512  # texts planned at once
_OFFERED = 6  # targets of a substitution, of which the model chooses those that fit


@dataclass(frozen=True)
class _Part:
    """A piece of a text on its way: its plan, with what else is to stay, and that as the model sees it."""

    plan: EditPlan
    whole: EditPlan  # the plan's edits come first
    shown: EditPlan
    shield: Shielded


class Simplifier:
    """Rewrites whole texts: one too long for the model in pieces, one that is no English prose not at all.

    A text gets a plan from the planner, if there is one; an EditPlan is carried out as it stands. One that has edits
    and states no strength changes what it names: the other words are asked to stay. One with the strength "off" is
    applied to its source word by word, without the model. `planning` is what `Planner.plans` is told: strength, style,
    wishes. What a person asked for (an edit without a probability) comes before everything else; where no text of the
    model does it, the source is edited word by word.

    `search_only`: what the search finds is what comes out. Nothing is predicted, hidden from the model or ranked. With
    the method "beam", the baseline, nothing is hidden or ranked either.
    """

    def __init__(
        self, redrafter: Redrafter | None = None, planner: Planner | None = None, *, search_only: bool = False,
        **planning: Any,
    ) -> None:  # fmt: skip
        self.redrafter, self.planning, self.search_only = redrafter or Redrafter(), planning, search_only
        self.planner = None if search_only else planner

    @classmethod
    def load(cls, model: Any = None, *, device: str | None = None, **planning: Any) -> Simplifier:
        """With the model and the predictor that come with the package, or another model."""
        redrafter = Redrafter(model, config=DecodeConfig(**SIMPLIFY), device=device)
        return cls(redrafter, Planner.load(device=device), **planning)

    def under(self, *, config: DecodeConfig | None = None, **planning: Any) -> Simplifier:
        """The same model and planner with other settings."""
        redrafter = self.redrafter if config is None else self.redrafter.under(config)
        return Simplifier(redrafter, self.planner, search_only=self.search_only, **{**self.planning, **planning})

    def __call__(self, text: EditPlan | str, **changes: Any) -> Decoded:
        return next(self.stream([text], **changes))

    def stream(self, texts: Iterable[EditPlan | str], *, batch_size: int = 8, trace: bool = False) -> Iterator[Decoded]:
        """In order, `batch_size` at a time."""
        waiting = iter(texts)
        while batch := list(islice(waiting, batch_size)):
            predicted = self.plans(text for text in batch if isinstance(text, str))
            plans = [next(predicted) if isinstance(text, str) else text for text in batch]
            yield from self._rewritten(plans, batch_size, trace)

    def plans(self, sources: Iterable[str]) -> Iterator[EditPlan]:
        """What is predicted for each text, with the targets that the model finds fit.

        A text longer than the model reads is predicted piece by piece: what stands in another piece changes nothing.
        """
        waiting = iter(sources)
        while ahead := list(islice(waiting, _AHEAD)):
            plain = [EditPlan(source) for source in ahead]  # or an error, where it is no text
            yield from self._predicted(self.planner, ahead) if self.planner else plain

    def _predicted(self, planner: Planner, sources: Sequence[str]) -> Iterator[EditPlan]:
        pieces = [[] if planner.unreadable(source) else self.redrafter.pieces(source) for source in sources]
        every = (piece for some in pieces for piece in some)
        plans = planner.plans(every, alternatives=_OFFERED, readable=True, **self.planning)
        found = fitted(self.redrafter, plans, planner=planner)
        for source, some in zip(sources, pieces, strict=True):
            yield united(source, list(islice(found, len(some)))) if some else planner(source, **self.planning)

    def _rewritten(self, plans: Sequence[EditPlan], batch_size: int, trace: bool) -> Iterator[Decoded]:
        stays = [plan.strength == "off" and not self.search_only for plan in plans]
        parts = [[] if off else self._parts(plan) for plan, off in zip(plans, stays, strict=True)]
        every = [part for some in parts for part in some]
        config = self.redrafter.config
        searched = self.redrafter.stream(
            [part.shown for part in every], batch_size=batch_size, trace=trace,
            candidates=config.candidates if self._is_plain else config.beams,
        )  # fmt: skip
        done = (
            found if self._is_plain else self._restored(part, found, config.candidates)
            for part, found in zip(every, searched, strict=True)
        )
        for plan, some in zip(plans, parts, strict=True):
            yield _joined(plan.source, list(islice(done, len(some)))) if some else self._untouched(plan)

    @property
    def _is_plain(self) -> bool:
        """Whether what the search finds is what comes out. So it is for plain beam search, the baseline."""
        return self.search_only or self.redrafter.config.method == "beam"

    def _parts(self, plan: EditPlan) -> list[_Part]:
        """A text longer than the model reads is parted, and its plan with it where all edits have a place."""
        return [self._part(part) for part in divided(plan, self.redrafter.pieces(plan.source))]

    def _part(self, plan: EditPlan) -> _Part:
        """Placeholders are tokens of models that read plans; others see the text as it is."""
        if self._is_plain:
            return _Part(plan, plan, plan, Shielded(plan.source))
        whole = with_the_rest_kept(plan)
        shown, shield = shielded_plan(whole)
        return _Part(plan, whole, closed(shown if reads_plans(self.redrafter.model) else whole), shield)

    def _restored(self, part: _Part, found: Decoded, keep: int) -> Decoded:
        """The best candidates for the plan itself, with everything that was hidden."""
        source = part.plan.source
        hidden = reads_plans(self.redrafter.model) and bool(part.shield.originals)
        found = reopened(replace(part.shown, source=part.shield.text if hidden else source), found)
        if hidden:
            texts = [part.shield.restore(one.output) for one in found.candidates]
            found = replace(found, source=source, candidates=tuple(
                replace(one, output=text, edits=tuple(judge(part.whole, text)))
                for one, text in zip(found.candidates, texts, strict=True)
            ))  # fmt: skip

        def is_intact(text: str) -> bool:
            return all(text.count(original) >= source.count(original) for original in part.shield.originals)

        best = ranked(found, part.whole, self._commonness, keep, is_intact)
        return replace(best, candidates=tuple(
            replace(self._scored(source, one), edits=one.edits[: len(part.plan.edits)]) for one in best.candidates
        ))  # fmt: skip

    def _scored(self, source: str, candidate: Candidate) -> Candidate:
        """A text that was not written by the model gets the likelihood that it would have had."""
        if not candidate.literal or isinstance(self.redrafter.model, StepModel):
            return candidate
        (likely,) = log_probs(self.redrafter, [(source, candidate.output)])
        return replace(candidate, log_prob=max(likely, -1e9))

    @property
    def _commonness(self) -> Commonness:
        return self.planner.predictor.tables.commonness if self.planner else shipped_commonness()

    def _untouched(self, plan: EditPlan) -> Decoded:
        """The source with the edits of its plan made in place, without the model."""
        text = literal(plan).strip()
        same = Candidate(text, 0.0, 0.0, tuple(judge(plan, text)), (), False, literal=text != plan.source.strip())
        why = unreadable(plan.source, self._commonness) or "its plan says so"
        return Decoded(plan.source, (same,), unchanged=None if same.literal else why)


def _joined(source: str, parts: Sequence[Decoded]) -> Decoded:
    """The result of a text from those of its pieces; of several, the best candidate of each."""
    if len(parts) == 1:
        return replace(parts[0], source=source)
    best = Candidate(
        " ".join(part.output for part in parts),
        sum(part.log_prob for part in parts),
        sum(part.edit_score for part in parts),
        tuple(_verdicts(source, parts)),
        tuple(token for part in parts for token in part.candidates[0].tokens),
        any(part.truncated for part in parts),
        any(part.literal for part in parts),
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
