"""What a request asks for, checked against the limits before anything is computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redraft.errors import ConfigError, PlanError, shown
from redraft.plan.edits import EditPlan
from redraft.plan.planner import Planner
from redraft.plan.prediction import Levels
from redraft.plan.user_constraints import UserConstraint, UserConstraints
from redraft.serve.batch_worker import WorkItem
from redraft.serve.limits import Limits
from redraft.serve.schemas import EvaluateRequest, GivenSentence, Planning, SimplifyRequest
from redraft.text.sentences import split_document
from redraft.text.words import normal, split_words


@dataclass(frozen=True)
class RequestSentence:
    """White space and a sentence; nothing is asked of one that is empty."""

    space: str
    source: str
    asked: WorkItem | None


def sentences_of_text(text: str, limits: Limits) -> list[RequestSentence]:
    _check("text", "characters", len(text), limits.max_characters)
    found = [RequestSentence(one.space, one.text, WorkItem(EditPlan(one.text)) if one.text else None)
             for one in split_document(text)]  # fmt: skip
    _check("text", "sentences", sum(one.asked is not None for one in found), limits.max_sentences)
    for one in found:
        _check_sentence("text", one.source, limits)
    return found


def request_sentences(request: SimplifyRequest, limits: Limits) -> list[RequestSentence]:
    if request.sentences is None:
        return sentences_of_text(request.text or "", limits)
    given = request.sentences
    _check("sentences", "sentences", len(given), limits.max_sentences)
    _check("sentences", "characters", sum(len(one.space) + len(one.source) for one in given), limits.max_characters)
    return [_piece(one, f"sentences[{place}]", limits) for place, one in enumerate(given)]


def _piece(given: GivenSentence, place: str, limits: Limits) -> RequestSentence:
    edits = given.edits
    _check_sentence(place, given.source, limits)
    if not given.source.strip():
        if edits:
            raise PlanError("has edits, but no words.", "Leave the edits out.", field=place)
        return RequestSentence(given.space, given.source, None)
    _check(f"{place}.edits", "edits", len(edits or ()), limits.max_edits)
    try:
        plan = EditPlan.from_json({"source": given.source, "edits": edits or [], "strength": given.strength})
    except PlanError as error:
        raise error.inside(place) from None
    for number, edit in enumerate(plan.edits):
        here = f"{place}.edits[{number}]"
        _check(here, "targets", len(edit.targets), limits.max_targets)
        for phrase in (edit.phrase, *edit.targets):
            _check(here, "characters in a phrase", len(phrase), limits.max_phrase)
    return RequestSentence(given.space, given.source, WorkItem(plan, given=edits is not None))


def _check_sentence(place: str, source: str, limits: Limits) -> None:
    if len(source) > limits.max_sentence:
        raise ConfigError(
            f"{place}: the sentence {shown(source)} has {len(source):,} characters, "
            f"and the limit is {limits.max_sentence:,}.",
            "Part it with full stops or line breaks.",
        )


def user_constraints_of(
    planning: Planning, pieces: Sequence[RequestSentence], limits: Limits
) -> UserConstraints | None:
    """Words only: a pattern from anywhere could keep the service busy for ever."""
    _check("keep and glossary", "entries", len(planning.keep) + len(planning.glossary), limits.max_user_constraints)
    found = [_wish(source, target, f"glossary[{place}]", limits)
             for place, (source, target) in enumerate(planning.glossary)]  # fmt: skip
    found += [_wish(text, None, f"keep[{place}]", limits) for place, text in enumerate(planning.keep)]
    if not found:
        return None
    user_constraints = UserConstraints(tuple(found))
    for piece in pieces:
        if piece.asked and not piece.asked.given:
            edits = len(user_constraints.edits(piece.source))
            _check(f"keep and glossary: {shown(piece.source)}", "edits", edits, limits.max_edits)
    return user_constraints


def _wish(text: str, target: str | None, place: str, limits: Limits) -> UserConstraint:
    for phrase in (text, target or ""):
        _check(place, "characters in a phrase", len(phrase), limits.max_phrase)
    if not text.strip() or (target is not None and not target.strip()):
        raise ConfigError(f"{place}: the phrase is empty.", "Name at least one word here, or drop the entry.")
    if len(text) > 2 and text[0] == text[-1] == "/":
        raise ConfigError(
            f"{place}: {shown(text)} is a pattern, and the service takes words only.",
            "Name the words, or use redraft simplify, which takes patterns.",
        )
    return UserConstraint(tuple(normal(word.text) for word in split_words(text)), None, target and target.strip())


def check_planning(planning: Planning, planner: Planner | None) -> None:
    Levels.of(planning.strength)  # type: ignore[arg-type]  # any other name is an error that lists them
    if planner is not None:
        planner.check_style(planning.style or planner.usual)
    elif planning.style or planning.keep or planning.glossary:
        raise ConfigError(
            "style, keep and glossary are about plans that are predicted, and this service predicts none.",
            "Leave them out, or give edits.",
        )


def check_search(request: SimplifyRequest, pieces: Sequence[RequestSentence], beams: int, limits: Limits) -> None:
    _check("candidates", "candidates", request.candidates, beams)
    if request.trace:
        _check("trace", "sentences with traces", sum(one.asked is not None for one in pieces), limits.max_traced)


def check_texts(texts: Sequence[str], limits: Limits) -> None:
    """Of a text as it was and as it is: twice as much as one may have."""
    _check("texts", "characters", sum(map(len, texts)), 2 * limits.max_characters)


def check_evaluation(request: EvaluateRequest, limits: Limits) -> None:
    """Sources, outputs and each of the references may have as much as one text."""
    _check("references", "references", len(request.references), limits.max_references)
    given = {"sources": request.sources, "outputs": request.outputs}
    given |= {f"references[{number}]": texts for number, texts in enumerate(request.references)}
    for place, texts in given.items():
        _check(place, "sentences", len(texts), limits.max_sentences)
        _check(place, "characters", sum(map(len, texts)), limits.max_characters)


def _check(place: str, what: str, number: int, most: int) -> None:
    if number > most:
        raise ConfigError(f"{place}: {number:,} {what}, and the limit is {most:,}.", f"Send at most {most:,} at once.")
