"""Simplifier: plans, prepares, searches, restores, reranks and checks texts, for Python, command line and service."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal, overload

from redraft.check.meaning import SAME
from redraft.check.meaning_check import MeaningCheck
from redraft.cooperative_scheduling import yield_point
from redraft.decode.argument_checks import check_config, check_text, check_texts
from redraft.decode.config import SIMPLIFY, DecodeConfig
from redraft.decode.model_loading import fastest_dtype
from redraft.decode.redrafter import Redrafter
from redraft.decode.result import Candidate, Result
from redraft.decode.step_model import StepModel
from redraft.errors import ConfigError, RedraftError, shown
from redraft.plan.apply_edits import apply_edits
from redraft.plan.edits import DEFAULT_STRENGTH, EditPlan, Strength
from redraft.plan.planner import Planner, bundled_word_frequency
from redraft.plan.prediction import Levels, with_spelling
from redraft.plan.user_constraints import UserConstraints
from redraft.plan.verdicts import judge
from redraft.settings_checks import check_names, check_setting
from redraft.simplify.batching import WINDOW, default_batch_size, length_order
from redraft.simplify.documents import Document
from redraft.simplify.first_pass import FirstPass
from redraft.simplify.likelihood import log_probs
from redraft.simplify.long_inputs import join_plans, join_results, pieces_of
from redraft.simplify.meaning_fallback import prefer_safe_candidates
from redraft.simplify.preparation import Part, prepare, restore, without_added_verdicts
from redraft.simplify.reranking import rerank
from redraft.simplify.target_ranking import rank_targets
from redraft.text.eligibility import ineligible_reason
from redraft.text.sentences import split_document
from redraft.text.spelling import Spelling, spelling_of
from redraft.text.word_frequency import WordFrequency

_MAX_PLANNED = 2048  # texts planned together
_ALTERNATIVES, _QUICK_ALTERNATIVES = 6, 3  # targets of a predicted substitution, before they are ranked

Auto = Literal["auto"]
Text = str | EditPlan

_SEARCH_SETTINGS = tuple(field.name for field in fields(DecodeConfig))
_PLAN_SETTINGS = ("strength", "style", "spelling", "keep", "glossary", "constraints")


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """The settings of one call: of the search, and of predicted plans."""

    config: DecodeConfig
    strength: Strength | float | Levels = DEFAULT_STRENGTH
    style: str | None = None
    spelling: Spelling | None = None  # None: that of each text
    keep: Sequence[str] = ()
    glossary: Mapping[str, str] = field(default_factory=dict)
    constraints: UserConstraints | None = None  # of `keep` and `glossary`, or given

    def with_changes(self, changes: Mapping[str, Any]) -> _Settings:
        """Changed by name: fields of DecodeConfig, `config`, and the settings of predicted plans."""
        check_names(changes, (*_PLAN_SETTINGS, "config", *_SEARCH_SETTINGS))
        own = {name: changes[name] for name in ("strength", "style", "spelling") if name in changes}
        if "strength" in own:
            Levels.of(own["strength"])
        check_setting("style", own.get("style"), str | None)
        check_setting("spelling", own.get("spelling"), Spelling | None)
        config = check_config(changes.get("config")) or self.config
        search = {name: changes[name] for name in _SEARCH_SETTINGS if name in changes}
        config = config.with_changes(**search) if search else config
        return replace(self, config=config, **own, **self._changed_constraints(changes))

    def _changed_constraints(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        named = [name for name in ("keep", "glossary") if name in changes]
        if "constraints" in changes:
            constraints = changes["constraints"]
            if named:
                raise ConfigError(f"constraints and {named[0]} were given together.", "Leave one of them out.")
            if not isinstance(constraints, UserConstraints | None):
                raise ConfigError(
                    f"constraints is {shown(constraints)}.", "Give UserConstraints, or keep and glossary."
                )
            return {"keep": (), "glossary": {}, "constraints": constraints}
        if not named:
            return {}
        keep, glossary = (changes.get(name, getattr(self, name)) for name in ("keep", "glossary"))
        keep, glossary = () if keep is None else keep, {} if glossary is None else glossary
        if not isinstance(keep, str) and isinstance(keep, Iterable):
            keep = tuple(keep)  # an iterator can be read only once
        return {"keep": keep, "glossary": glossary, "constraints": UserConstraints.of(keep, glossary)}

    def apply_constraints(self, plan: EditPlan) -> EditPlan:
        return self.constraints.apply_to(plan) if self.constraints else plan


@dataclass(frozen=True, slots=True)
class PlannedText:
    """The plan of a text, and the reason if the text is not to be rewritten by the model."""

    plan: EditPlan
    unchanged: str | None = None


class Simplifier:
    """Rewrites sentences and documents in simpler words.

    `Simplifier()` uses the bundled model, planner and meaning check. `model` is a model for
    `Redrafter`, or a `Redrafter`. The planner predicts a plan for a string; an `EditPlan` is applied unchanged, and
    words without an edit are kept. A plan with the strength "off" is applied to its source in place, without the model.
    Text that is not English prose is not rewritten.

    `planner` and `check` can be replaced, or left out with None: without a planner, the plan of a string has no edits
    but those of `keep` and `glossary`; without a check, results have no `meaning`. With "auto", models that are not of
    transformers, such as scripted ones, have neither.

    `dtype` is the type of the weights. The bundled model is computed with 8-bit integers ("int8") on a CPU that has
    instructions for them; "float32" is exact.

    `settings` are the defaults of a call: `strength`, `style`, `spelling` ("british" or "american"; default: that of
    the text), `keep` (words or phrases), `glossary` (word or phrase → what to write for it), `config` and every setting
    of `DecodeConfig`.

    Requested edits (edits without a probability) have priority over everything else; if no text of the model satisfies
    them, they are made in place in the source. With a check, a text that may differ in meaning from its source is
    replaced by one that does not, if there is one; `meaning` of a result states the risk.

    `search_only` returns the texts of the search: nothing is predicted, masked, reranked or checked. With the method
    "beam", the baseline, nothing is masked, reranked or checked either.
    """

    def __init__(
        self, model: Any = None, planner: Planner | Auto | None = "auto", *, check: MeaningCheck | Auto | None = "auto",
        config: DecodeConfig | None = None, device: str | None = None, dtype: str | None = None,
        search_only: bool = False, **settings: Any,
    ) -> None:  # fmt: skip
        check_config(config)
        for name, value, kind in (("planner", planner, "Planner"), ("check", check, "MeaningCheck")):
            if isinstance(value, str | Path) and value != "auto":
                raise ConfigError(f"{name} is {shown(str(value))}.", f"Give a {kind}, such as {kind}.load(FOLDER).")
        if isinstance(model, Redrafter):
            self.redrafter = model
        else:
            dtype = dtype or fastest_dtype(model, device)
            self.redrafter = Redrafter(model, config=config or DecodeConfig(**SIMPLIFY), device=device, dtype=dtype)
        # Before the planner and the check are loaded, so that a wrong setting is reported at once.
        self._settings = _Settings(config=config or self.redrafter.config).with_changes(settings)
        self.search_only = search_only
        bare = search_only or isinstance(self.redrafter.model, StepModel)
        if planner == "auto":
            planner = None if bare else Planner.load(device=device)
        self.planner = None if search_only else planner
        if check == "auto":
            check = None if bare else MeaningCheck.load(planner=self.planner, device=device)
        self.check = None if search_only else check

    @property
    def spelling(self) -> Spelling | None:
        """The spelling of all texts; None: each is written as it was."""
        return self._settings.spelling

    @overload
    def __call__(self, text: Text, **options: Any) -> Result: ...
    @overload
    def __call__(self, text: Iterable[Text], **options: Any) -> list[Result]: ...
    def __call__(self, text: Text | Iterable[Text], **options: Any) -> Result | list[Result]:
        """The result of one text, or of each text of a list; `options` are those of `pipe`."""
        if isinstance(text, Text):
            result: Result = next(iter(self.pipe([text], **options)))
            return result
        if not isinstance(text, Iterable):
            check_text(text, "the text")  # raises the error
        return list(self.pipe(text, **options))

    def document(self, text: str, **options: Any) -> Document:
        """A text of several sentences, rewritten with its spacing and paragraphs.

        `options` are those of `pipe`, except `on_error`.
        """
        if not isinstance(text, str):
            raise ConfigError(f"the document is {shown(text)}.", "Give it as one string.")
        if "on_error" in options:
            raise ConfigError("a document takes no on_error.", "Leave it out, or give the sentences to pipe.")
        sentences = split_document(text)
        options = {"spelling": self.spelling or spelling_of(text), **options}
        return Document(tuple(sentences), tuple(self.pipe((one.text for one in sentences if one.text), **options)))

    @overload
    def pipe(
        self, texts: Iterable[Text], *, batch_size: int | None = ..., window: int = ..., trace: bool | int = ...,
        on_error: Literal["raise"] = ..., **settings: Any,
    ) -> Iterator[Result]: ...  # fmt: skip
    @overload
    def pipe(
        self, texts: Iterable[Text], *, batch_size: int | None = ..., window: int = ..., trace: bool | int = ...,
        on_error: Literal["return"], **settings: Any,
    ) -> Iterator[Result | RedraftError]: ...  # fmt: skip
    def pipe(
        self, texts: Iterable[Text], *, batch_size: int | None = None, window: int = WINDOW, trace: bool | int = False,
        on_error: Literal["raise", "return"] = "raise", **settings: Any,
    ) -> Iterator[Result | RedraftError]:  # fmt: skip
        """Results in the order of the texts, `batch_size` rewritten together; texts are read as they are needed.

        The default of `batch_size` is 8 on a CPU and 512 on a GPU. `window` batches are read ahead and sorted by
        length, which changes no result. `trace` is that of `Redrafter.stream`. With on_error="return", a text that
        cannot be rewritten yields its error instead of a result; a wrong setting or argument is always raised.
        """
        checked = check_texts(texts)
        check_setting("batch_size", batch_size, int | None, least=1)
        check_setting("window", window, int, least=1)
        check_setting("trace", trace, bool | int, least=0)
        check_setting("on_error", on_error, Literal["raise", "return"])
        batch_size = batch_size or default_batch_size(self.redrafter.model)
        call = self._settings.with_changes(settings)
        rewrite = self._rewrite if on_error == "raise" else self._rewrite_each
        windows = iter(lambda: list(islice(checked, batch_size * window)), [])
        return (outcome for some in windows for outcome in rewrite(some, call, batch_size, trace))

    def plans(self, sources: Iterable[str], **settings: Any) -> Iterator[EditPlan]:
        """The predicted plan of each text, with targets that fit its sentence."""
        return (one.plan for one in self.planned(sources, **settings))

    def planned(self, sources: Iterable[str], *, quick: bool = False, **settings: Any) -> Iterator[PlannedText]:
        """The predicted plan of each text, and the reason if the text is not to be rewritten.

        The pieces of a text that is too long for the model are planned separately. A `quick` plan takes less than half
        the time: fewer targets are considered, and neither the model nor the meaning check judges them.
        """
        checked = check_texts(sources, "sources")
        call = self._settings.with_changes(settings)
        groups = iter(lambda: list(islice(checked, _MAX_PLANNED)), [])
        return (one for some in groups for one in self._plan(some, call, quick))

    def judged(self, pairs: Iterable[tuple[EditPlan, str]], *, keep: Sequence[str] = ()) -> Iterator[Result]:
        """Results for texts that other programs or people wrote for these plans: verdicts, missing words, meaning.

        `keep` are words that a text must have if its source has them.
        """
        waiting = iter(pairs)
        while some := list(islice(waiting, _MAX_PLANNED)):
            meanings = (
                self.check.check(((plan.source, text) for plan, text in some), stays=keep) if self.check else None
            )
            for plan, text in some:
                verdicts = tuple(judge(plan, text))
                candidate = Candidate(text, 0.0, 0.0, verdicts, (), False, meaning=next(meanings) if meanings else None)
                yield Result(plan.source, (candidate,), plan=plan)

    def _rewrite_each(
        self, texts: Sequence[Text], call: _Settings, batch_size: int, trace: bool | int
    ) -> list[Result | RedraftError]:
        """Results and errors. If texts cannot be rewritten together, each half is tried separately."""
        try:
            return list(self._rewrite(texts, call, batch_size, trace))
        except ConfigError:
            raise
        except RedraftError as error:
            if len(texts) == 1:
                return [error]
            middle = len(texts) // 2
            halves = (texts[:middle], texts[middle:])
            return [outcome for half in halves for outcome in self._rewrite_each(half, call, batch_size, trace)]

    def _plan(self, texts: Sequence[Text], call: _Settings, quick: bool = False) -> list[PlannedText]:
        """The plan of each text, given or predicted."""
        plans = [text if isinstance(text, EditPlan) else EditPlan(text) for text in texts]  # refuses invalid strings
        given = [isinstance(text, EditPlan) for text in texts]
        reasons = [self._unchanged_reason(*pair) for pair in zip(plans, given, strict=True)]
        facts = list(zip(plans, given, reasons, strict=True))
        sources = [plan.source for plan, is_given, reason in facts if not is_given and reason is None]
        predicted = self._predict(sources, call, quick)
        planned = []
        for plan, is_given, reason in facts:
            if not is_given and reason is None:
                plan = next(predicted)
            elif not is_given:
                plan = call.apply_constraints(replace(plan, strength="off"))
            planned.append(PlannedText(plan, reason))
        return planned

    def _unchanged_reason(self, plan: EditPlan, is_given: bool) -> str | None:
        """Why the model is not to rewrite a text; None if it is."""
        if is_given and plan.strength == "off" and not self.search_only:
            return ineligible_reason(plan.source, self._word_frequency) or "its plan says so"
        if is_given or self.planner is None:
            return None
        return ineligible_reason(plan.source, self._word_frequency)

    def _predict(self, sources: Sequence[str], call: _Settings, quick: bool) -> Iterator[EditPlan]:
        if self.planner is None:
            yield from (call.apply_constraints(EditPlan(source)) for source in sources)
            return
        pieces = [pieces_of(self.redrafter, source) for source in sources]
        plans = self.planner.plans(
            (piece for some in pieces for piece in some), strength=call.strength, style=call.style,
            constraints=call.constraints, alternatives=_QUICK_ALTERNATIVES if quick else _ALTERNATIVES, eligible=True,
        )  # fmt: skip
        check = None if quick else self.check
        ranked = rank_targets(self.redrafter, plans, planner=self.planner, check=check, likelihood=not quick)
        for source, some in zip(sources, pieces, strict=True):
            plan = join_plans(source, list(islice(ranked, len(some))))
            yield with_spelling(plan, call.spelling or spelling_of(source))

    def _rewrite(self, texts: Sequence[Text], call: _Settings, batch_size: int, trace: bool | int) -> Iterator[Result]:
        planned = self._plan(texts, call)
        is_plain = self.search_only or call.config.method == "beam"
        parts = [[] if one.unchanged else prepare(one.plan, self.redrafter, verbatim=is_plain) for one in planned]
        every = [part for some in parts for part in some]
        found: list[Result | None] = [None] * len(every)
        if self._has_first_pass(call, trace):
            found = FirstPass(self.redrafter, self.check, self._word_frequency).results(every, call.config, batch_size)
        rest = [at for at, result in enumerate(found) if result is None]
        order = [rest[at] for at in length_order([every[at].plan.source for at in rest], batch_size)]
        searched = self.redrafter.stream(
            [every[at].shown for at in order], batch_size=batch_size, trace=trace, config=call.config,
            candidates=call.config.candidates if is_plain else call.config.beams,
        )  # fmt: skip
        by_length = [every[at] for at in order]
        finished = searched if is_plain else self._finish(by_length, searched, call, batch_size)
        found_later = dict(zip(order, finished, strict=True))  # number of the part → its result
        results = (result or found_later[at] for at, result in enumerate(found))
        for one, some in zip(planned, parts, strict=True):
            result = join_results(one.plan.source, list(islice(results, len(some)))) if some else self._in_place(one)
            yield replace(result, plan=one.plan)

    def _has_first_pass(self, call: _Settings, trace: bool | int) -> bool:
        """Whether texts are first written without a search: unless the caller chose settings for the search."""
        return (
            call.config == DecodeConfig(**SIMPLIFY)
            and not (self.search_only or trace)
            and self.redrafter.can_write_greedily
        )

    def _finish(
        self, parts: Sequence[Part], searched: Iterator[Result], call: _Settings, batch_size: int
    ) -> Iterator[Result]:
        """Results of the search, restored, reranked, checked and cut to the requested number of candidates."""
        waiting = iter(parts)
        while batch := list(islice(waiting, batch_size)):
            ranked = [(part.plan, self._rank(part, next(searched))) for part in batch]
            best = prefer_safe_candidates(self.check, ranked) if self.check else (result for _, result in ranked)
            for result in best:
                yield_point()
                kept = result.candidates[: call.config.candidates]
                scored = tuple(self._with_log_prob(result.source, candidate) for candidate in kept)
                yield replace(result, candidates=scored)

    def _rank(self, part: Part, found: Result) -> Result:
        restored = restore(part, found, self.redrafter)
        return without_added_verdicts(part, rerank(restored, part.whole, self._word_frequency, part.is_intact))

    def _with_log_prob(self, source: str, candidate: Candidate) -> Candidate:
        """A literal candidate with the log-probability that the model gives to its text."""
        if not candidate.literal or isinstance(self.redrafter.model, StepModel):
            return candidate
        (log_prob,) = log_probs(self.redrafter, [(source, candidate.text)])
        return replace(candidate, log_prob=max(log_prob, -1e9))

    @property
    def _word_frequency(self) -> WordFrequency:
        return self.planner.classifier.tables.word_frequency if self.planner else bundled_word_frequency()

    def _in_place(self, planned: PlannedText) -> Result:
        """The source with the edits of its plan made in place, without the model."""
        plan = planned.plan
        text = apply_edits(plan).strip()
        is_edited = text != plan.source.strip()
        meaning = None if self.check is None else self.check(plan.source, text) if is_edited else SAME
        candidate = Candidate(text, 0.0, 0.0, tuple(judge(plan, text)), (), False, is_edited, meaning)
        return Result(plan.source, (candidate,), unchanged=None if is_edited else planned.unchanged)
