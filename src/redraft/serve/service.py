"""Turns requests into responses; independent of HTTP."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from redraft.decode.result import Candidate, Result
from redraft.evaluate.corpora import Corpus
from redraft.evaluate.readability import Readability
from redraft.evaluate.scores import score
from redraft.plan.edits import EditPlan
from redraft.plan.planner import bundled_word_frequency
from redraft.serve import schemas
from redraft.serve.batch_worker import BatchSettings, BatchWorker, PredictedPlan, WorkItem
from redraft.serve.batcher import Batcher
from redraft.serve.limits import Limits
from redraft.serve.log_escaping import escape_control
from redraft.serve.request_checks import (
    RequestSentence,
    check_evaluation,
    check_plan_settings,
    check_readability,
    check_search,
    request_sentences,
    sentences_of_text,
    sentences_to_diagnose,
    user_constraints_of,
)  # fmt: skip
from redraft.simplify.simplifier import Simplifier
from redraft.text.hard_places import hard_places
from redraft.text.spelling import Spelling, spelling_of

_log = logging.getLogger(__name__)


class Service:
    """One model for all requests. `log_text`: write sentences to the log."""

    def __init__(self, simplifier: Simplifier, limits: Limits, *, log_text: bool = False) -> None:
        self.limits, self.log_text = limits, log_text
        self.batcher: Batcher[WorkItem, BatchSettings, Any] = Batcher(
            BatchWorker(simplifier, limits), limits, size=lambda item: item.size
        )
        self._planner, self._beams = simplifier.planner, simplifier.redrafter.config.beams
        self._word_frequency = bundled_word_frequency()
        self._figures = Readability(self._word_frequency).figures

    async def plan(self, request: schemas.PlanRequest) -> schemas.PlanResponse:
        sentences = sentences_of_text(request.text, self.limits)
        user_constraints = user_constraints_of(request, sentences, self.limits)
        check_plan_settings(request, self._planner)
        settings = BatchSettings(
            task="plan",
            strength=request.strength,
            style=request.style,
            spelling=_spelling(request, sentences),
            constraints=user_constraints,
        )
        results = iter(await self._compute(sentences, settings))
        empty = PredictedPlan(EditPlan(""), None, [])
        planned = []
        for sentence in sentences:
            predicted = next(results) if sentence.item else empty
            planned.append(
                schemas.PlannedSentence(
                    space=sentence.space,
                    source=sentence.source,
                    edits=predicted.plan.to_json()["edits"],
                    strength=predicted.plan.strength,
                    unchanged=predicted.unchanged,
                    words=predicted.words,
                )
            )
        return schemas.PlanResponse(sentences=planned)

    async def simplify(self, request: schemas.SimplifyRequest) -> schemas.SimplifyResponse:
        sentences = request_sentences(request, self.limits)
        user_constraints = user_constraints_of(request, sentences, self.limits)
        check_plan_settings(request, self._planner)
        check_search(request, sentences, self._beams, self.limits)
        settings = BatchSettings(
            task="simplify",
            strength=request.strength,
            style=request.style,
            spelling=_spelling(request, sentences),
            constraints=user_constraints,
            candidates=request.candidates,
            trace=request.trace,
        )
        results = iter(await self._compute(sentences, settings))
        simplified = [
            _simplified_sentence(sentence, next(results) if sentence.item else None, with_trace=request.trace)
            for sentence in sentences
        ]
        return schemas.SimplifyResponse(
            text="".join(sentence.space + sentence.output for sentence in simplified),
            sentences=simplified,
            readability=self._readability(
                [sentence.source for sentence in simplified], [sentence.output for sentence in simplified]
            ),
        )

    def diagnose(self, request: schemas.DiagnoseRequest) -> schemas.DiagnoseResponse:
        sentences = sentences_to_diagnose(request, self.limits)
        return schemas.DiagnoseResponse(
            sentences=[
                schemas.DiagnosedSentence(
                    space=one.space,
                    source=one.source,
                    hard=[
                        schemas.HardPlace(**asdict(place)) for place in hard_places(one.source, self._word_frequency)
                    ],
                )
                for one in sentences
            ],
            figures=self._text_figures([one.source for one in sentences]),
        )

    def readability(self, request: schemas.ReadabilityRequest) -> schemas.Readability:
        check_readability(request, self.limits)
        return self._readability(request.before, request.after)

    def evaluate(self, request: schemas.EvaluateRequest) -> schemas.EvaluateResponse:
        check_evaluation(request, self.limits)
        corpus = Corpus("the request", "", request.sources, request.references)
        scores = score(request.outputs, corpus, samples=0)
        return schemas.EvaluateResponse(figures={name: figure.value for name, figure in scores.figures.items()})

    async def _compute(self, sentences: Sequence[RequestSentence], settings: BatchSettings) -> list[Any]:
        items = [sentence.item for sentence in sentences if sentence.item]
        if self.log_text:
            for item in items:
                _log.info("%s: %s", settings.task, escape_control(item.plan.source))
        return await self.batcher.submit(items, settings)

    def _readability(self, before: Sequence[str], after: Sequence[str]) -> schemas.Readability:
        return schemas.Readability(before=self._text_figures(before), after=self._text_figures(after))

    def _text_figures(self, sentences: Sequence[str]) -> schemas.TextFigures:
        return schemas.TextFigures(**asdict(self._figures(sentences)))


def _spelling(request: schemas.PlanSettings, sentences: Sequence[RequestSentence]) -> Spelling | None:
    return request.spelling or spelling_of(" ".join(sentence.source for sentence in sentences))


def _simplified_sentence(
    sentence: RequestSentence, result: Result | None, *, with_trace: bool
) -> schemas.SimplifiedSentence:
    if result is None:  # white space only
        return schemas.SimplifiedSentence(
            space=sentence.space, source=sentence.source, output=sentence.source, edits=[], strength=None,
            literal=False, not_done=[], candidates=[], missing=[], unchanged=None,
        )  # fmt: skip
    candidates = [_simplified_candidate(candidate) for candidate in result.candidates]
    best = candidates[0]
    simplified = schemas.SimplifiedSentence(
        space=sentence.space,
        source=sentence.source,
        output=best.output,
        edits=best.edits,
        strength=result.plan.strength if result.plan else None,
        literal=best.literal,
        not_done=best.not_done,
        candidates=candidates,
        missing=result.missing,
        meaning=best.meaning,
        unchanged=result.unchanged,
    )
    if with_trace:
        simplified.trace = list(result.trace)
    return simplified


def _simplified_candidate(candidate: Candidate) -> schemas.SimplifiedCandidate:
    return schemas.SimplifiedCandidate(
        **{**candidate.to_json(), "literal": candidate.literal},
        not_done=[verdict.to_json() for verdict in candidate.not_done],
    )
