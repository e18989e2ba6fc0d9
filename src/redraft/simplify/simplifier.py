"""Texts in, simpler ones out, the same way for every door: predict, mark, search, rank, restore, check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from redraft.cancellation import yield_point
from redraft.check.meaning import SAME
from redraft.check.meaning_check import MeaningCheck
from redraft.decode.config import SIMPLIFY, DecodeConfig
from redraft.decode.model_loading import reads_plans
from redraft.decode.redrafter import Redrafter
from redraft.decode.result import Candidate, Result
from redraft.decode.step_model import StepModel
from redraft.plan.apply_edits import apply_edits
from redraft.plan.edits import EditPlan
from redraft.plan.placeholders import mask_plan
from redraft.plan.planner import Planner, bundled_word_frequency
from redraft.plan.prediction import with_the_rest_kept
from redraft.plan.verdicts import Verdict, judge
from redraft.simplify.endings import add_full_stop, remove_full_stop
from redraft.simplify.long_inputs import pieces_of, split_plan, united
from redraft.simplify.meaning_fallback import choose_trusted
from redraft.simplify.meaning_fallback import united as join_meanings
from redraft.simplify.reranking import rerank
from redraft.simplify.target_ranking import log_probs, rank_targets
from redraft.text.eligibility import ineligible_reason
from redraft.text.protected_spans import MaskedText
from redraft.text.word_frequency import WordFrequency

_AHEAD = 512  # texts planned at once
_OFFERED = 6  # targets of a substitution, of which the model chooses those that fit


@dataclass(frozen=True)
class _Part:
    """A piece of a text on its way: its plan, with what else is to stay, and that as the model sees it."""

    plan: EditPlan
    whole: EditPlan  # the plan's edits come first
    shown: EditPlan
    mask_protected: MaskedText


class Simplifier:
    """Rewrites whole texts: one too long for the model in pieces, one that is no English prose not at all.

    A text gets a plan from the planner, if there is one; an EditPlan is carried out as it stands. One that has edits
    and states no strength changes what it names: the other words are asked to stay. One with the strength "off" is
    applied to its source word by word, without the model. `planning` is what `Planner.plans` is told: strength, style,
    user constraints. What a person asked for (an edit without a probability) comes before everything else; where no
    text of the model does it, the source is edited word by word.

    With a `check`, a text that may not say the same as its source gives way to one that does; every result says how
    sure that is (`meaning`).

    `search_only`: what the search finds is what comes out. Nothing is predicted, hidden from the model or ranked. With
    the method "beam", the baseline, nothing is hidden or ranked either.
    """

    def __init__(
        self, redrafter: Redrafter | None = None, planner: Planner | None = None, *, check: MeaningCheck | None = None,
        search_only: bool = False, **planning: Any,
    ) -> None:  # fmt: skip
        self.redrafter, self.planning, self.search_only = redrafter or Redrafter(), planning, search_only
        self.planner = None if search_only else planner
        self.check = None if self._is_plain else check

    @classmethod
    def load(cls, model: Any = None, *, device: str | None = None, **planning: Any) -> Simplifier:
        """With the model, the classifier and the check that come with the package, or another model."""
        redrafter = Redrafter(model, config=DecodeConfig(**SIMPLIFY), device=device)
        planner = Planner.load(device=device)
        return cls(redrafter, planner, check=MeaningCheck.load(planner=planner), **planning)

    def under(self, *, config: DecodeConfig | None = None, **planning: Any) -> Simplifier:
        """The same model and planner with other settings."""
        redrafter = self.redrafter if config is None else self.redrafter.under(config)
        return Simplifier(
            redrafter, self.planner, check=self.check, search_only=self.search_only, **{**self.planning, **planning}
        )

    def __call__(self, text: EditPlan | str, **changes: Any) -> Result:
        return next(self.stream([text], **changes))

    def stream(
        self, texts: Iterable[EditPlan | str], *, batch_size: int = 8, trace: bool | int = False
    ) -> Iterator[Result]:
        """In order, `batch_size` at a time; `trace` as for `Redrafter.stream`."""
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
        pieces = [[] if planner.ineligible_reason(source) else pieces_of(self.redrafter, source) for source in sources]
        every = (piece for some in pieces for piece in some)
        plans = planner.plans(every, alternatives=_OFFERED, readable=True, **self.planning)
        found = rank_targets(self.redrafter, plans, planner=planner, check=self.check)
        for source, some in zip(sources, pieces, strict=True):
            yield united(source, list(islice(found, len(some)))) if some else planner(source, **self.planning)

    def _rewritten(self, plans: Sequence[EditPlan], batch_size: int, trace: bool | int) -> Iterator[Result]:
        stays = [plan.strength == "off" and not self.search_only for plan in plans]
        parts = [[] if off else self._parts(plan) for plan, off in zip(plans, stays, strict=True)]
        every = [part for some in parts for part in some]
        config = self.redrafter.config
        searched = self.redrafter.stream(
            [part.shown for part in every], batch_size=batch_size, trace=trace,
            candidates=config.candidates if self._is_plain else config.beams,
        )  # fmt: skip
        done = searched if self._is_plain else self._finished(every, searched, batch_size)
        for plan, some in zip(plans, parts, strict=True):
            yield _joined(plan.source, list(islice(done, len(some)))) if some else self._untouched(plan)

    @property
    def _is_plain(self) -> bool:
        """Whether what the search finds is what comes out. So it is for plain beam search, the baseline."""
        return self.search_only or self.redrafter.config.method == "beam"

    def _parts(self, plan: EditPlan) -> list[_Part]:
        """A text longer than the model reads is parted, and its plan with it where all edits have a place."""
        return [self._part(part) for part in split_plan(plan, pieces_of(self.redrafter, plan.source))]

    def _part(self, plan: EditPlan) -> _Part:
        """Placeholders are tokens of models that read plans; others see the text as it is."""
        yield_point()
        if self._is_plain:
            return _Part(plan, plan, plan, MaskedText(plan.source))
        whole = with_the_rest_kept(plan)
        shown, mask_protected = mask_plan(whole)
        return _Part(plan, whole, add_full_stop(shown if reads_plans(self.redrafter.model) else whole), mask_protected)

    def _finished(self, parts: Sequence[_Part], found: Iterator[Result], batch_size: int) -> Iterator[Result]:
        """Restored, ranked, checked and cut to the candidates that were asked for."""
        waiting = iter(parts)
        while some := list(islice(waiting, batch_size)):
            ranked = [(part.plan, self._restored(part, next(found))) for part in some]
            best = choose_trusted(self.check, ranked) if self.check else (one for _, one in ranked)
            for one in best:
                yield_point()
                kept = one.candidates[: self.redrafter.config.candidates]
                scored = (self._scored(one.source, candidate) for candidate in kept)
                yield replace(one, candidates=tuple(scored))

    def _restored(self, part: _Part, found: Result) -> Result:
        """The candidates for the plan itself, the best first, with everything that was hidden."""
        yield_point()
        source = part.plan.source
        hidden = reads_plans(self.redrafter.model) and bool(part.mask_protected.originals)
        found = remove_full_stop(replace(part.shown, source=part.mask_protected.text if hidden else source), found)
        if hidden:
            texts = [part.mask_protected.restore(one.output) for one in found.candidates]
            found = replace(found, source=source, candidates=tuple(
                replace(one, output=text, edits=tuple(judge(part.whole, text)))
                for one, text in zip(found.candidates, texts, strict=True)
            ))  # fmt: skip

        def is_intact(text: str) -> bool:
            return all(text.count(original) >= source.count(original) for original in part.mask_protected.originals)

        best = rerank(found, part.whole, self._commonness, is_intact)
        own = (replace(one, edits=one.edits[: len(part.plan.edits)]) for one in best.candidates)
        return replace(best, source=source, candidates=tuple(own))

    def _scored(self, source: str, candidate: Candidate) -> Candidate:
        """A text that was not written by the model gets the likelihood that it would have had."""
        if not candidate.literal or isinstance(self.redrafter.model, StepModel):
            return candidate
        (likely,) = log_probs(self.redrafter, [(source, candidate.output)])
        return replace(candidate, log_prob=max(likely, -1e9))

    @property
    def _commonness(self) -> WordFrequency:
        return self.planner.classifier.tables.word_frequency if self.planner else bundled_word_frequency()

    def _untouched(self, plan: EditPlan) -> Result:
        """The source with the edits of its plan made in place, without the model."""
        text = apply_edits(plan).strip()
        is_edited = text != plan.source.strip()
        meaning = None if self.check is None else self.check(plan.source, text) if is_edited else SAME
        same = Candidate(text, 0.0, 0.0, tuple(judge(plan, text)), (), False, is_edited, meaning)
        why = ineligible_reason(plan.source, self._commonness) or "its plan says so"
        return Result(plan.source, (same,), unchanged=None if same.literal else why)


def _joined(source: str, parts: Sequence[Result]) -> Result:
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
        join_meanings(parts),
    )
    return Result(source, (best,), tuple(step for part in parts for step in part.trace), pieces=len(parts))


def _verdicts(source: str, parts: Sequence[Result]) -> Iterator[Verdict]:
    """Those of all pieces, with the spans that their edits have in the whole text."""
    start = 0
    for part in parts:
        start = source.index(part.source, start)
        for verdict in part.edits:
            span = verdict.edit.span
            moved = replace(verdict.edit, span=(span[0] + start, span[1] + start)) if span else verdict.edit
            yield replace(verdict, edit=moved)
        start += len(part.source)
