"""JSON schemas of requests and responses. Docstrings and descriptions appear in the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from redraft.plan.edits import DEFAULT_STRENGTH


def _without_lone_surrogates(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("has a lone surrogate, which is not valid Unicode")
    return text


def _one_error(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    """One error at the field itself, where pydantic reports one for each member of the union."""
    try:
        return validate(value)
    except ValidationError:
        raise ValueError("must be light, medium, strong or a number from 0 to 1") from None


Text = Annotated[str, AfterValidator(_without_lone_surrogates)]
Strength = Annotated[Text | float, WrapValidator(_one_error)]
Edits = list[dict[str, Any]]  # the format of plan files


def example(**fields: Any) -> ConfigDict:
    """The request that /docs shows and sends."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


class StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PlanSettings(StrictModel):
    """Settings of plan prediction."""

    strength: Strength = Field(DEFAULT_STRENGTH, description="light, medium, strong, or a number from 0 to 1")
    style: Text | None = Field(None, description="style of the predicted plans; null: the default style")
    spelling: Literal["british", "american"] | None = Field(
        None, description="spelling of predicted words; null: that of the text"
    )
    keep: list[Text] = Field([], description="words and phrases to keep")
    glossary: list[Annotated[list[Text], Field(min_length=2, max_length=2)]] = Field(
        [], description="pairs of a source phrase and its replacement"
    )


class PlanRequest(PlanSettings):
    model_config = example(text="They purchased 40 vehicles.")

    text: Text


class SentenceInput(StrictModel):
    """A sentence, with or without a plan."""

    space: Text = Field("", description="white space before the sentence")
    source: Text
    edits: list[Any] | None = Field(
        None, description="edits as in plan files, applied as given (even an empty list); null: predict them"
    )
    strength: Text | None = Field(None, description="strength of the plan, as in plan files")


class SimplifyRequest(PlanSettings):
    """Either `text` or `sentences`."""

    model_config = example(text="They purchased 40 vehicles.")

    text: Text | None = None
    sentences: list[SentenceInput] | None = None
    candidates: int = Field(1, ge=1, le=10, description="number of candidate texts per sentence")
    trace: bool = Field(False, description="return the steps of the search")

    @model_validator(mode="after")
    def _either_text_or_sentences(self) -> SimplifyRequest:
        if (self.text is None) == (self.sentences is None):
            raise ValueError("give either text or sentences")
        return self


class DiagnoseRequest(StrictModel):
    """Either `text` or `sentences`, which are taken as they are."""

    model_config = example(text="They purchased 40 vehicles notwithstanding the apprehension of the beneficiaries.")

    text: Text | None = None
    sentences: list[Text] | None = None

    @model_validator(mode="after")
    def _either_text_or_sentences(self) -> DiagnoseRequest:
        if (self.text is None) == (self.sentences is None):
            raise ValueError("give either text or sentences")
        return self


class EvaluateRequest(StrictModel):
    model_config = example(
        sources=["They purchased 40 vehicles."],
        outputs=["They got 40 vehicles."],
        references=[["They bought 40 cars."], ["They bought 40 vehicles."]],
    )

    sources: list[Text]
    outputs: list[Text]
    references: list[list[Text]] = Field(description="one or more lists with a reference for each source")


class ReadabilityRequest(StrictModel):
    """The sentences of a text before and after simplification."""

    model_config = example(before=["They purchased 40 vehicles."], after=["They bought 40 cars."])

    before: list[Text]
    after: list[Text]


class Choice(StrictModel):
    """A replacement for a word."""

    target: str
    probability: float = Field(description="share among all replacements of this word")


class WordChoices(StrictModel):
    """A word of a sentence and its possible replacements. `start` and `end` count characters."""

    text: str
    start: int
    end: int
    choices: list[Choice]


class PlannedSentence(StrictModel):
    """A sentence and its predicted plan."""

    space: str = Field(description="white space before the sentence")
    source: str
    edits: Edits
    strength: str | None = Field(None, description="strength of the plan, if stated")
    unchanged: str | None = Field(description="why the sentence should not be rewritten; null if it should")
    words: list[WordChoices]


class PlanResponse(StrictModel):
    sentences: list[PlannedSentence]


class SimplifiedCandidate(StrictModel):
    """One possible text for a sentence."""

    output: str
    log_prob: float
    edit_score: float
    truncated: bool = Field(description="cut at the maximum length")
    edits: Edits = Field(description="the edits, each with its status")
    literal: bool = Field(description="the edits were applied word by word, without the model")
    not_done: Edits = Field(description="requested edits (those without a probability) that the output lacks")
    meaning: dict[str, Any] | None = Field(
        None, description="meaning check: risk, alarm, words, why, spans; null if it was not run"
    )


class SimplifiedSentence(StrictModel):
    """`output`, `edits`, `literal`, `not_done` and `meaning` are those of the first candidate."""

    space: str = Field(description="white space before the sentence")
    source: str
    output: str
    edits: Edits
    strength: str | None = Field(description="strength of the plan, if stated")
    literal: bool
    not_done: Edits
    candidates: list[SimplifiedCandidate]
    missing: list[str] = Field(description="names, numbers and negations that the output lacks")
    meaning: dict[str, Any] | None = None
    unchanged: str | None = Field(description="why the sentence was not rewritten; null if it was")
    trace: list[dict[str, Any]] = []


class TextFigures(StrictModel):
    """How easy a text is to read."""

    sentences: int
    words: int
    words_per_sentence: float
    share_of_hard_words: float = Field(description="of all words: rare words, and words that people rate as difficult")
    grade: float = Field(description="Flesch-Kincaid grade level")
    levels: dict[str, float] | None = Field(
        description="CEFR level, A1 to C2 → share among the words with a known level; null: cefrpy is not installed"
    )


class Readability(StrictModel):
    """Figures of a text before and after simplification."""

    before: TextFigures
    after: TextFigures


class HardPlace(StrictModel):
    """A place that is hard to read. `start` and `end` count characters of the sentence."""

    start: int
    end: int
    kind: str = Field(description="rare word, hard word or long sentence")
    why: str


class DiagnosedSentence(StrictModel):
    space: str = Field(description="white space before the sentence")
    source: str
    hard: list[HardPlace]


class DiagnoseResponse(StrictModel):
    sentences: list[DiagnosedSentence]
    figures: TextFigures


class SimplifyResponse(StrictModel):
    text: str
    sentences: list[SimplifiedSentence]
    readability: Readability


class EvaluateResponse(StrictModel):
    figures: dict[str, float | None]


class Health(StrictModel):
    status: str
    version: str
    waiting: int = Field(description="sentences in the queue")


class ErrorDetail(StrictModel):
    problem: str
    hint: str


class ErrorResponse(StrictModel):
    error: ErrorDetail
