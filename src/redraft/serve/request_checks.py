"""Checks requests against the limits before anything is computed."""

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
from redraft.serve.schemas import (
    DiagnoseRequest,
    EvaluateRequest,
    PlanSettings,
    ReadabilityRequest,
    SentenceInput,
    SimplifyRequest,
)
from redraft.text.sentences import split_document
from redraft.text.words import normalise, split_words


@dataclass(frozen=True)
class RequestSentence:
    """A sentence and the white space before it; `item` is None if the sentence is empty."""

    space: str
    source: str
    item: WorkItem | None


def sentences_of_text(text: str, limits: Limits) -> list[RequestSentence]:
    _check_count("text", "characters", len(text), limits.max_characters)
    sentences = [
        RequestSentence(part.space, part.text, WorkItem(EditPlan(part.text)) if part.text else None)
        for part in split_document(text)
    ]
    _check_count("text", "sentences", sum(sentence.item is not None for sentence in sentences), limits.max_sentences)
    for sentence in sentences:
        _check_sentence("text", sentence.source, limits)
    return sentences


def request_sentences(request: SimplifyRequest, limits: Limits) -> list[RequestSentence]:
    if request.sentences is None:
        return sentences_of_text(request.text or "", limits)
    inputs = request.sentences
    _check_sentences([sentence.space + sentence.source for sentence in inputs], limits)
    return [_request_sentence(sentence, f"sentences[{index}]", limits) for index, sentence in enumerate(inputs)]


def _check_sentences(texts: Sequence[str], limits: Limits) -> None:
    _check_count("sentences", "sentences", len(texts), limits.max_sentences)
    _check_count("sentences", "characters", sum(map(len, texts)), limits.max_characters)


def sentences_to_diagnose(request: DiagnoseRequest, limits: Limits) -> list[RequestSentence]:
    """Sentences that are given are not changed, even if they contain several."""
    if request.sentences is None:
        return sentences_of_text(request.text or "", limits)
    _check_sentences(request.sentences, limits)
    for index, source in enumerate(request.sentences):
        _check_sentence(f"sentences[{index}]", source, limits)
    return [RequestSentence("", source, None) for source in request.sentences]


def _request_sentence(sentence: SentenceInput, place: str, limits: Limits) -> RequestSentence:
    edits = sentence.edits
    _check_sentence(place, sentence.source, limits)
    if not sentence.source.strip():
        if edits:
            raise PlanError("the source is empty, but there are edits.", "Remove the edits.", field=place)
        return RequestSentence(sentence.space, sentence.source, None)
    _check_count(f"{place}.edits", "edits", len(edits or ()), limits.max_edits)
    try:
        plan = EditPlan.from_json({"source": sentence.source, "edits": edits or [], "strength": sentence.strength})
    except PlanError as error:
        raise error.inside(place) from None
    for index, edit in enumerate(plan.edits):
        edit_place = f"{place}.edits[{index}]"
        _check_count(edit_place, "targets", len(edit.targets), limits.max_targets)
        for phrase in (edit.phrase, *edit.targets):
            _check_count(edit_place, "characters in a phrase", len(phrase), limits.max_phrase)
    return RequestSentence(sentence.space, sentence.source, WorkItem(plan, use_plan=edits is not None))


def _check_sentence(place: str, source: str, limits: Limits) -> None:
    if len(source) > limits.max_sentence:
        raise ConfigError(
            f"{place}: the sentence {shown(source)} has {len(source):,} characters, "
            f"and the limit is {limits.max_sentence:,}.",
            "Divide it with full stops or line breaks.",
        )


def user_constraints_of(
    settings: PlanSettings, sentences: Sequence[RequestSentence], limits: Limits
) -> UserConstraints | None:
    """Words only: an untrusted regular expression could take unlimited time."""
    _check_count("keep and glossary", "entries", len(settings.keep) + len(settings.glossary),
                 limits.max_user_constraints)  # fmt: skip
    constraints = [
        _user_constraint(source, target, f"glossary[{index}]", limits)
        for index, (source, target) in enumerate(settings.glossary)
    ]
    constraints += [_user_constraint(text, None, f"keep[{index}]", limits) for index, text in enumerate(settings.keep)]
    if not constraints:
        return None
    user_constraints = UserConstraints(tuple(constraints))
    for sentence in sentences:
        if sentence.item and not sentence.item.use_plan:
            edits = len(user_constraints.edits(sentence.source))
            _check_count(f"keep and glossary: {shown(sentence.source)}", "edits", edits, limits.max_edits)
    return user_constraints


def _user_constraint(text: str, target: str | None, place: str, limits: Limits) -> UserConstraint:
    for phrase in (text, target or ""):
        _check_count(place, "characters in a phrase", len(phrase), limits.max_phrase)
    if not text.strip() or (target is not None and not target.strip()):
        raise ConfigError(f"{place}: the phrase is empty.", "Give at least one word, or remove the entry.")
    if len(text) > 2 and text[0] == text[-1] == "/":
        raise ConfigError(
            f"{place}: {shown(text)} is a regular expression, and the service accepts only words.",
            "Give the words, or use redraft simplify, which accepts regular expressions.",
        )
    return UserConstraint(tuple(normalise(word.text) for word in split_words(text)), None, target and target.strip())


def check_plan_settings(settings: PlanSettings, planner: Planner | None) -> None:
    Levels.of(settings.strength)  # type: ignore[arg-type]  # raises an error that lists the names
    if planner is not None:
        planner.check_style(settings.style or planner.default_style)
    elif settings.style or settings.keep or settings.glossary:
        raise ConfigError(
            "style, keep and glossary change predicted plans, and this service does not predict plans.",
            "Remove them, or send edits.",
        )


def check_search(request: SimplifyRequest, sentences: Sequence[RequestSentence], beams: int, limits: Limits) -> None:
    _check_count("candidates", "candidates", request.candidates, beams)
    if request.trace:
        traced = sum(sentence.item is not None for sentence in sentences)
        _check_count("trace", "sentences with traces", traced, limits.max_traced)


def check_readability(request: ReadabilityRequest, limits: Limits) -> None:
    """Before and after may each be as long as one text."""
    characters = sum(map(len, [*request.before, *request.after]))
    _check_count("before and after", "characters", characters, 2 * limits.max_characters)


def check_evaluation(request: EvaluateRequest, limits: Limits) -> None:
    """Sources, outputs and each of the references may each be as long as one text."""
    _check_count("references", "references", len(request.references), limits.max_references)
    fields = {"sources": request.sources, "outputs": request.outputs}
    fields |= {f"references[{index}]": texts for index, texts in enumerate(request.references)}
    for place, texts in fields.items():
        _check_count(place, "sentences", len(texts), limits.max_sentences)
        _check_count(place, "characters", sum(map(len, texts)), limits.max_characters)


def _check_count(place: str, noun: str, count: int, limit: int) -> None:
    if count > limit:
        raise ConfigError(f"{place}: {count:,} {noun}, and the limit is {limit:,}.", f"Send at most {limit:,}.")
