"""Requests to answers; knows nothing of HTTP."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from redraft.decode.result import Candidate, Result
from redraft.evaluate.corpora import Corpus
from redraft.evaluate.fkgl import Fkgl
from redraft.evaluate.scores import score
from redraft.plan.edits import EditPlan
from redraft.serve import schemas as bodies
from redraft.serve.batch_worker import BatchWorker, Planned, Settings, WorkItem
from redraft.serve.batcher import Batcher
from redraft.serve.limits import Limits
from redraft.serve.log_escaping import escape_control
from redraft.serve.request_checks import (
    RequestSentence,
    check_evaluation,
    check_planning,
    check_search,
    check_texts,
    request_sentences,
    sentences_of_text,
    user_constraints_of,
)  # fmt: skip
from redraft.simplify.simplifier import Simplifier
from redraft.text.words import split_words

_log = logging.getLogger(__name__)


class Service:
    """One model for all requests. `log_text`: sentences are written to the log."""

    def __init__(self, simplifier: Simplifier, limits: Limits, *, log_text: bool = False) -> None:
        self.limits, self.log_text = limits, log_text
        self.batcher: Batcher[WorkItem, Settings, Any] = Batcher(
            BatchWorker(simplifier, limits), limits, size=lambda asked: asked.size
        )
        self._planner, self._beams = simplifier.planner, simplifier.redrafter.config.beams
        self._fkgl = Fkgl()

    async def plan(self, request: bodies.PlanRequest) -> bodies.PlanAnswer:
        pieces = sentences_of_text(request.text, self.limits)
        user_constraints = user_constraints_of(request, pieces, self.limits)
        check_planning(request, self._planner)
        found = iter(await self._done(pieces, Settings("plan", request.strength, request.style, user_constraints)))
        nothing = Planned(EditPlan(""), None, [])
        sentences = []
        for piece in pieces:
            planned = next(found) if piece.asked else nothing
            sentences.append(
                bodies.PlannedSentence(
                    space=piece.space,
                    source=piece.source,
                    edits=planned.plan.to_json()["edits"],
                    strength=planned.plan.strength,
                    unchanged=planned.unchanged,
                    words=planned.words,
                )
            )
        return bodies.PlanAnswer(sentences=sentences)

    async def simplify(self, request: bodies.SimplifyRequest) -> bodies.SimplifyAnswer:
        pieces = request_sentences(request, self.limits)
        user_constraints = user_constraints_of(request, pieces, self.limits)
        check_planning(request, self._planner)
        check_search(request, pieces, self._beams, self.limits)
        settings = Settings(
            "simplify",
            request.strength,
            request.style,
            user_constraints,
            candidates=request.candidates,
            trace=request.trace,
        )
        found = iter(await self._done(pieces, settings))
        sentences = [self._simple(piece, next(found) if piece.asked else None, request) for piece in pieces]
        return bodies.SimplifyAnswer(
            text="".join(one.space + one.output for one in sentences),
            sentences=sentences,
            readability=self._measured([one.source for one in sentences], [one.output for one in sentences]),
        )

    def _simple(
        self, piece: RequestSentence, found: Result | None, request: bodies.SimplifyRequest
    ) -> bodies.SimplifiedSentence:
        if found is None or piece.asked is None:  # white space
            return bodies.SimplifiedSentence(
                space=piece.space, source=piece.source, output=piece.source, edits=[], strength=None, literal=False,
                not_done=[], candidates=[], missing=[], unchanged=None,
            )  # fmt: skip
        candidates = [_candidate(one) for one in found.candidates]
        best = candidates[0]
        simple = bodies.SimplifiedSentence(
            space=piece.space,
            source=piece.source,
            output=best.output,
            edits=best.edits,
            strength=found.plan.strength if found.plan else None,
            literal=best.literal,
            not_done=best.not_done,
            candidates=candidates,
            missing=found.missing,
            meaning=best.meaning,
            unchanged=found.unchanged,
        )
        if request.trace:
            simple.trace = list(found.trace)
        return simple

    def evaluate(self, request: bodies.EvaluateRequest) -> bodies.EvaluateAnswer:
        check_evaluation(request, self.limits)
        corpus = Corpus("the request", "", request.sources, request.references)
        scores = score(request.outputs, corpus, samples=0)
        return bodies.EvaluateAnswer(figures={name: figure.value for name, figure in scores.figures.items()})

    async def _done(self, pieces: Sequence[RequestSentence], settings: Settings) -> list[Any]:
        asked = [piece.asked for piece in pieces if piece.asked]
        if self.log_text:
            for one in asked:
                _log.info("%s: %s", settings.task, escape_control(one.plan.source))
        return await self.batcher.submit(asked, settings)

    def readability(self, request: bodies.ReadabilityRequest) -> bodies.Readability:
        check_texts([*request.before, *request.after], self.limits)
        return self._measured(request.before, request.after)

    def _measured(self, sources: Sequence[str], outputs: Sequence[str]) -> bodies.Readability:
        return bodies.Readability(
            before=self._grade(sources),
            after=self._grade(outputs),
            words_before=_words(sources),
            words_after=_words(outputs),
        )

    def _grade(self, texts: Sequence[str]) -> float:
        counts = np.array([self._fkgl.count_one(text) for text in texts], dtype=np.float64).reshape(-1, 3)
        return float(self._fkgl.figures(counts.sum(0))["fkgl"])


def _words(texts: Sequence[str]) -> int:
    return sum(any(map(str.isalnum, word.text)) for text in texts for word in split_words(text))


def _candidate(found: Candidate) -> bodies.SimplifiedCandidate:
    return bodies.SimplifiedCandidate(
        **{**found.to_json(), "literal": found.literal},
        not_done=[verdict.to_json() for verdict in found.not_done],
    )
