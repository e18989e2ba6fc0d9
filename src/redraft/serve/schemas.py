"""The JSON of requests and answers."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from redraft.plan.edits import DEFAULT_STRENGTH


def _whole(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("has half of a surrogate pair")
    return text


Text = Annotated[str, AfterValidator(_whole)]
Edits = list[dict[str, Any]]  # as in plan files


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Planning(Body):
    """How plans are predicted."""

    strength: Text | float = DEFAULT_STRENGTH
    style: Text | None = None
    keep: list[Text] = []
    glossary: list[Annotated[list[Text], Field(min_length=2, max_length=2)]] = []  # source, target


class PlanRequest(Planning):
    text: Text


class GivenSentence(Body):
    """`edits` that are given, were it none, are carried out as they stand; null: they are predicted."""

    space: Text = ""
    source: Text
    edits: list[Any] | None = None
    strength: Text | None = None  # of the plan, as in plan files


class SimplifyRequest(Planning):
    text: Text | None = None
    sentences: list[GivenSentence] | None = None
    candidates: int = Field(1, ge=1, le=10)
    trace: bool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> SimplifyRequest:
        if (self.text is None) == (self.sentences is None):
            raise ValueError("give either text or sentences")
        return self


class EvaluateRequest(Body):
    sources: list[Text]
    outputs: list[Text]
    references: list[list[Text]]  # each a list of sentences


class ReadabilityRequest(Body):
    """Sentences of a text as they were and as they are."""

    before: list[Text]
    after: list[Text]


class Choice(Body):
    target: str
    probability: float  # of all that people write for the word, where they replace it


class WordChoices(Body):
    """A word of a sentence, and what could be written for it."""

    text: str
    start: int
    end: int
    choices: list[Choice]


class PlannedSentence(Body):
    space: str
    source: str
    edits: Edits
    strength: str | None = None  # of the plan, where it states one
    unchanged: str | None  # why it is better left as it is
    words: list[WordChoices]


class PlanAnswer(Body):
    sentences: list[PlannedSentence]


class SimplifiedCandidate(Body):
    """One text for a sentence."""

    output: str
    log_prob: float
    edit_score: float
    truncated: bool  # cut at the maximum length
    edits: Edits  # with what became of each
    literal: bool  # edited word by word, not written by the model
    not_done: Edits  # asked for by a person (without a probability), but not in the output
    meaning: dict[str, Any] | None = None  # risk, alarm, words, why, spans; null where it was not checked


class SimplifiedSentence(Body):
    """`output`, `edits`, `literal`, `not_done` and `meaning` are those of the first candidate."""

    space: str
    source: str
    output: str
    edits: Edits
    strength: str | None  # of the plan, where it states one
    literal: bool
    not_done: Edits
    candidates: list[SimplifiedCandidate]
    missing: list[str]  # names, numbers and negations that the output lacks
    meaning: dict[str, Any] | None = None
    unchanged: str | None
    trace: list[dict[str, Any]] = []


class Readability(Body):
    """Grade levels and words."""

    before: float
    after: float
    words_before: int
    words_after: int


class SimplifyAnswer(Body):
    text: str
    sentences: list[SimplifiedSentence]
    readability: Readability


class EvaluateAnswer(Body):
    figures: dict[str, float | None]


class Health(Body):
    status: str
    version: str
    waiting: int


class Problem(Body):
    problem: str
    hint: str


class ErrorAnswer(Body):
    error: Problem
