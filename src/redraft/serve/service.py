"""Requests to answers; knows nothing of HTTP."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from redraft.align.words import split_words
from redraft.constrain.edits import EditPlan
from redraft.constrain.predicted import strength_named
from redraft.decode.decoded import Candidate, Decoded
from redraft.decode.simplifier import Simplifier
from redraft.evaluate.corpora import Corpus
from redraft.evaluate.fkgl import Fkgl
from redraft.evaluate.scores import score
from redraft.serve import bodies
from redraft.serve.asked import (
    Piece,
    check_evaluation,
    check_planning,
    check_search,
    check_texts,
    pieces_of,
    pieces_of_text,
    wishes_of,
)  # fmt: skip
from redraft.serve.batcher import Batcher
from redraft.serve.limits import Limits
from redraft.serve.log_lines import printable
from redraft.serve.work import Asked, Planned, Settings, Work

_log = logging.getLogger(__name__)


class Service:
    """One model for all requests. `log_text`: sentences are written to the log."""

    def __init__(self, simplifier: Simplifier, limits: Limits, *, log_text: bool = False) -> None:
        self.limits, self.log_text = limits, log_text
        self.batcher: Batcher[Asked, Settings, Any] = Batcher(
            Work(simplifier, limits), limits, size=lambda asked: asked.size
        )
        self._planner, self._beams = simplifier.planner, simplifier.redrafter.config.beams
        self._fkgl = Fkgl()

    async def plan(self, request: bodies.PlanRequest) -> bodies.PlanAnswer:
        pieces = pieces_of_text(request.text, self.limits)
        wishes = wishes_of(request, pieces, self.limits)
        check_planning(request, self._planner)
        found = iter(await self._done(pieces, Settings("plan", request.strength, request.style, wishes)))
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
        pieces = pieces_of(request, self.limits)
        wishes = wishes_of(request, pieces, self.limits)
        check_planning(request, self._planner)
        check_search(request, pieces, self._beams, self.limits)
        settings = Settings(
            "simplify", request.strength, request.style, wishes, candidates=request.candidates, trace=request.trace
        )
        found = iter(await self._done(pieces, settings))
        sentences = [self._simple(piece, next(found) if piece.asked else None, request) for piece in pieces]
        return bodies.SimplifyAnswer(
            text="".join(one.space + one.output for one in sentences),
            sentences=sentences,
            readability=self._measured([one.source for one in sentences], [one.output for one in sentences]),
        )

    def _simple(self, piece: Piece, found: Decoded | None, request: bodies.SimplifyRequest) -> bodies.SimpleSentence:
        if found is None or piece.asked is None:  # white space
            return bodies.SimpleSentence(
                space=piece.space, source=piece.source, output=piece.source, edits=[], strength=None, literal=False,
                not_done=[], candidates=[], missing=[], unchanged=None,
            )  # fmt: skip
        candidates = [_candidate(one) for one in found.candidates]
        best = candidates[0]
        simple = bodies.SimpleSentence(
            space=piece.space,
            source=piece.source,
            output=best.output,
            edits=best.edits,
            strength=self._strength(piece.asked, request),
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

    def _strength(self, asked: Asked, request: bodies.SimplifyRequest) -> str | None:
        """What the plan of a sentence states, given or predicted."""
        if asked.given:
            return asked.plan.strength
        if self._planner is None:
            return None
        if self._planner.unreadable(asked.plan.source):
            return "off"
        return strength_named(request.strength)  # type: ignore[arg-type]  # its name is checked

    def evaluate(self, request: bodies.EvaluateRequest) -> bodies.EvaluateAnswer:
        check_evaluation(request, self.limits)
        corpus = Corpus("the request", "", request.sources, request.references)
        scores = score(request.outputs, corpus, samples=0)
        return bodies.EvaluateAnswer(figures={name: figure.value for name, figure in scores.figures.items()})

    async def _done(self, pieces: Sequence[Piece], settings: Settings) -> list[Any]:
        asked = [piece.asked for piece in pieces if piece.asked]
        if self.log_text:
            for one in asked:
                _log.info("%s: %s", settings.task, printable(one.plan.source))
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


def _candidate(found: Candidate) -> bodies.SimpleCandidate:
    return bodies.SimpleCandidate(
        **{**found.to_json(), "literal": found.literal},
        not_done=[verdict.to_json() for verdict in found.not_done],
    )
