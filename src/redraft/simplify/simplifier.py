"""Texts in, simpler ones out, the same way for every door: plan, prepare, search, restore, rerank, check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any, Literal, overload

from redraft.cancellation import yield_point
from redraft.check.meaning import SAME
from redraft.check.meaning_check import MeaningCheck
from redraft.decode.config import SIMPLIFY, DecodeConfig
from redraft.decode.redrafter import Redrafter
from redraft.decode.result import Candidate, Result
from redraft.decode.step_model import StepModel
from redraft.errors import ConfigError, RedraftError, did_you_mean, shown
from redraft.plan.apply_edits import apply_edits
from redraft.plan.edits import DEFAULT_STRENGTH, EditPlan, Strength
from redraft.plan.planner import Planner, bundled_word_frequency
from redraft.plan.prediction import Levels
from redraft.plan.user_constraints import UserConstraints
from redraft.plan.verdicts import judge
from redraft.simplify.batching import BATCH_SIZE, WINDOW, length_order
from redraft.simplify.documents import Document
from redraft.simplify.likelihood import log_probs
from redraft.simplify.long_inputs import join_plans, join_results, pieces_of
from redraft.simplify.meaning_fallback import choose_trusted
from redraft.simplify.preparation import Part, own_verdicts, prepare, restore
from redraft.simplify.reranking import rerank
from redraft.simplify.target_ranking import rank_targets
from redraft.text.eligibility import ineligible_reason
from redraft.text.sentences import split_document
from redraft.text.word_frequency import WordFrequency

_PLANNED_TOGETHER = 512  # texts
_OFFERED = 6  # targets of a substitution, of which the model chooses those that fit

Auto = Literal["auto"]
Text = str | EditPlan


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """The settings of one call: of the search, and of predicted plans."""

    config: DecodeConfig
    strength: Strength | float | Levels = DEFAULT_STRENGTH
    style: str | None = None
    constraints: UserConstraints | None = None

    def with_changes(self, changes: Mapping[str, Any]) -> _Settings:
        """Changed by name: settings of DecodeConfig, `strength`, `style`, `keep` and `glossary`, or `constraints`."""
        own = {name: changes[name] for name in ("strength", "style", "constraints") if name in changes}
        if "keep" in changes or "glossary" in changes:
            own["constraints"] = UserConstraints.of(changes.get("keep") or (), changes.get("glossary") or {})
        others = (*own, "keep", "glossary", "config")
        search = {name: value for name, value in changes.items() if name not in others}
        known = [field.name for field in fields(DecodeConfig)]
        for name in search:
            if name not in known:
                names = [*known, "strength", "style", "keep", "glossary"]
                raise ConfigError(f"there is no setting {name!r}.", did_you_mean(name, names))
        if "strength" in own:
            Levels.of(own["strength"])
        config = changes.get("config") or self.config
        return replace(self, config=config.with_changes(**search) if search else config, **own)


@dataclass(frozen=True, slots=True)
class PlannedText:
    """The plan of a text, and why the text is not rewritten, if so."""

    plan: EditPlan
    unchanged: str | None = None


class Simplifier:
    """Rewrites sentences and documents in simpler words.

    `Simplifier()` has the model, the planner and the meaning check that come with the package. `model` is what
    `Redrafter` takes, or a `Redrafter`. A text gets a plan from the planner; an `EditPlan` is applied as it stands, and
    the words it does not name are asked to stay. A plan with the strength "off" is applied to its source word by word,
    without the model. Text that is not English prose is left unchanged.

    `planner` and `check` may be replaced, or left out with None: then sentences without a plan have no edits, or
    results are not checked. With "auto", a model that is no transformer, such as a scripted one, has neither.

    `settings` are defaults for those of a call: `strength`, `style`, `keep` (words or phrases), `glossary` (what to
    write for what), `config` and every setting of `DecodeConfig`.

    Edits that a person asked for (edits without a probability) come before everything else; where no text of the model
    shows them, the source is edited word by word. With a check, a text that may not say the same as its source gives
    way to one that does; every result says how sure that is (`meaning`).

    `search_only` returns what the search finds: nothing is predicted, hidden from the model, reranked or checked. With
    the method "beam", the baseline, nothing is hidden, reranked or checked either.
    """

    def __init__(
        self, model: Any = None, planner: Planner | Auto | None = "auto", *, check: MeaningCheck | Auto | None = "auto",
        config: DecodeConfig | None = None, device: str | None = None, search_only: bool = False, **settings: Any,
    ) -> None:  # fmt: skip
        if isinstance(model, Redrafter):
            self.redrafter = model
        else:
            self.redrafter = Redrafter(model, config=config or DecodeConfig(**SIMPLIFY), device=device)
        self.search_only = search_only
        bare = search_only or isinstance(self.redrafter.model, StepModel)
        if planner == "auto":
            planner = None if bare else Planner.load(device=device)
        self.planner = None if search_only else planner
        if check == "auto":
            check = None if bare else MeaningCheck.load(planner=self.planner, device=device)
        self.check = None if search_only else check
        self._settings = _Settings(config=config or self.redrafter.config).with_changes(settings)

    @overload
    def __call__(self, text: Text, **options: Any) -> Result: ...
    @overload
    def __call__(self, text: Iterable[Text], **options: Any) -> list[Result]: ...
    def __call__(self, text: Text | Iterable[Text], **options: Any) -> Result | list[Result]:
        """The result of one text, or of each text of a list; `options` are those of `pipe`."""
        results: Iterator[Result] = self.pipe([text] if isinstance(text, Text) else text, **options)
        return next(results) if isinstance(text, Text) else list(results)

    def document(self, text: str, **options: Any) -> Document:
        """A text of several sentences, rewritten with its spacing and paragraphs; `options` are those of `pipe`."""
        if not isinstance(text, str):
            raise ConfigError(f"the document is {shown(text)}.", "Give it as a string.")
        sentences = split_document(text)
        return Document(tuple(sentences), tuple(self.pipe((one.text for one in sentences if one.text), **options)))

    @overload
    def pipe(
        self, texts: Iterable[Text], *, batch_size: int = ..., window: int = ..., trace: bool | int = ...,
        on_error: Literal["raise"] = ..., **settings: Any,
    ) -> Iterator[Result]: ...  # fmt: skip
    @overload
    def pipe(
        self, texts: Iterable[Text], *, batch_size: int = ..., window: int = ..., trace: bool | int = ...,
        on_error: Literal["return"], **settings: Any,
    ) -> Iterator[Result | RedraftError]: ...  # fmt: skip
    def pipe(
        self, texts: Iterable[Text], *, batch_size: int = BATCH_SIZE, window: int = WINDOW, trace: bool | int = False,
        on_error: Literal["raise", "return"] = "raise", **settings: Any,
    ) -> Iterator[Result | RedraftError]:  # fmt: skip
        """Results in the order of the texts, `batch_size` searched at a time; texts are read as they are needed.

        `window` batches are read ahead and made of texts of like length, which changes no result. `trace` is that of
        `Redrafter.stream`. With on_error="return", a text that cannot be rewritten yields its error, not a result.
        """
        if isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
            raise ConfigError(f"the texts are {shown(texts)}.", "Give a list or an iterator of texts and plans.")
        if batch_size < 1 or window < 1:
            raise ConfigError(f"batch_size is {batch_size!r}, window {window!r}.", "Give whole numbers of at least 1.")
        call = self._settings.with_changes(settings)
        waiting = iter(texts)
        while ahead := list(islice(waiting, batch_size * window)):
            if on_error == "raise":
                yield from self._rewritten(ahead, call, batch_size, trace)
            else:
                yield from self._outcomes(ahead, call, batch_size, trace)

    def plans(self, sources: Iterable[str], **settings: Any) -> Iterator[EditPlan]:
        """The plan that is predicted for each text, with the targets that fit it."""
        return (one.plan for one in self.planned(sources, **settings))

    def planned(self, sources: Iterable[str], **settings: Any) -> Iterator[PlannedText]:
        """The same, with the reason where a text is not to be rewritten.

        A text longer than the model reads is predicted piece by piece: what stands in another piece changes nothing.
        """
        call = self._settings.with_changes(settings)
        waiting = iter(sources)
        while ahead := list(islice(waiting, _PLANNED_TOGETHER)):
            yield from self._planned(ahead, call)

    def _outcomes(
        self, texts: Sequence[Text], call: _Settings, batch_size: int, trace: bool | int
    ) -> Iterator[Result | RedraftError]:
        """Where several fail, halves are tried by themselves, to find whose fault it is."""
        try:
            yield from self._rewritten(texts, call, batch_size, trace)
        except ConfigError:
            raise
        except RedraftError as error:
            if len(texts) == 1:
                yield error
                return
            half = len(texts) // 2
            for some in (texts[:half], texts[half:]):
                yield from self._outcomes(some, call, batch_size, trace)

    def _planned(self, texts: Sequence[Text], call: _Settings) -> list[PlannedText]:
        """The plan of each text, given or predicted."""
        reasons = {
            text: ineligible_reason(text, self._word_frequency)
            for text in texts if isinstance(text, str) and self.planner
        }  # fmt: skip
        eligible = [text for text in texts if isinstance(text, str) and self.planner and reasons[text] is None]
        predicted = self._predicted(self.planner, eligible, call) if self.planner else iter(())
        planned = []
        for text in texts:
            if isinstance(text, EditPlan):
                planned.append(PlannedText(text, self._given_reason(text)))
            elif not isinstance(text, str):
                raise ConfigError(f"{shown(text)} is neither a text nor an EditPlan.", "Give strings or plans.")
            elif not self.planner:
                planned.append(PlannedText(EditPlan(text)))
            elif reason := reasons[text]:
                plan = EditPlan(text, (), "off")
                planned.append(PlannedText(call.constraints.apply_to(plan) if call.constraints else plan, reason))
            else:
                planned.append(PlannedText(next(predicted)))
        return planned

    def _given_reason(self, plan: EditPlan) -> str | None:
        if plan.strength != "off" or self.search_only:
            return None
        return ineligible_reason(plan.source, self._word_frequency) or "its plan says so"

    def _predicted(self, planner: Planner, sources: Sequence[str], call: _Settings) -> Iterator[EditPlan]:
        pieces = [pieces_of(self.redrafter, source) for source in sources]
        every = (piece for some in pieces for piece in some)
        plans = planner.plans(
            every, strength=call.strength, style=call.style, constraints=call.constraints, alternatives=_OFFERED,
            eligible=True,
        )  # fmt: skip
        ranked = rank_targets(self.redrafter, plans, planner=planner, check=self.check)
        for source, some in zip(sources, pieces, strict=True):
            yield join_plans(source, list(islice(ranked, len(some))))

    def _rewritten(
        self, texts: Sequence[Text], call: _Settings, batch_size: int, trace: bool | int
    ) -> Iterator[Result]:
        planned = self._planned(texts, call)
        is_plain = self.search_only or call.config.method == "beam"
        parts = [[] if one.unchanged else prepare(one.plan, self.redrafter, as_it_is=is_plain) for one in planned]
        every = [part for some in parts for part in some]
        order = length_order([part.plan.source for part in every], batch_size)
        searched = self.redrafter.stream(
            [every[at].shown for at in order], batch_size=batch_size, trace=trace, config=call.config,
            candidates=call.config.candidates if is_plain else call.config.beams,
        )  # fmt: skip
        in_order = [every[at] for at in order]
        finished = searched if is_plain else self._finished(in_order, searched, call, batch_size)
        found = dict(zip(order, finished, strict=True))
        done = (found[at] for at in range(len(every)))
        for one, some in zip(planned, parts, strict=True):
            joined = join_results(one.plan.source, list(islice(done, len(some)))) if some else self._untouched(one)
            yield replace(joined, plan=one.plan)

    def _finished(
        self, parts: Sequence[Part], found: Iterator[Result], call: _Settings, batch_size: int
    ) -> Iterator[Result]:
        """Restored, reranked, checked and cut to the candidates that were asked for."""
        waiting = iter(parts)
        while some := list(islice(waiting, batch_size)):
            ranked = [(part.plan, self._ranked(part, next(found))) for part in some]
            best = choose_trusted(self.check, ranked) if self.check else (one for _, one in ranked)
            for one in best:
                yield_point()
                kept = one.candidates[: call.config.candidates]
                yield replace(one, candidates=tuple(self._scored(one.source, candidate) for candidate in kept))

    def _ranked(self, part: Part, found: Result) -> Result:
        restored = restore(part, found, self.redrafter)
        return own_verdicts(part, rerank(restored, part.whole, self._word_frequency, part.is_intact))

    def _scored(self, source: str, candidate: Candidate) -> Candidate:
        """A text that was not written by the model gets the likelihood that it would have had."""
        if not candidate.literal or isinstance(self.redrafter.model, StepModel):
            return candidate
        (likely,) = log_probs(self.redrafter, [(source, candidate.text)])
        return replace(candidate, log_prob=max(likely, -1e9))

    @property
    def _word_frequency(self) -> WordFrequency:
        return self.planner.classifier.tables.word_frequency if self.planner else bundled_word_frequency()

    def _untouched(self, planned: PlannedText) -> Result:
        """The source with the edits of its plan made in place, without the model."""
        plan = planned.plan
        text = apply_edits(plan).strip()
        is_edited = text != plan.source.strip()
        meaning = None if self.check is None else self.check(plan.source, text) if is_edited else SAME
        same = Candidate(text, 0.0, 0.0, tuple(judge(plan, text)), (), False, is_edited, meaning)
        return Result(plan.source, (same,), unchanged=None if same.literal else planned.unchanged)
