"""Edits and edit plans: the changes requested in a sentence, independent of any tokenizer."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, get_args

from redraft.errors import PlanError, shown
from redraft.text.words import cached_for_words

Kind = Literal["insert", "delete", "substitute", "split"]
Strength = Literal["light", "medium", "strong", "off"]  # off: apply the edits of the plan, change nothing else

ALL_KINDS: tuple[Kind, ...] = get_args(Kind)
KINDS: tuple[Kind, ...] = ("insert", "delete", "substitute")  # the kinds scored by the search, which has a λ for each
STRENGTHS: tuple[Strength, ...] = get_args(Strength)
DEFAULT_STRENGTH: Strength = "medium"
EDIT_KEYS = (*ALL_KINDS, "with", "weight", "span", "probability", "note")
PLAN_KEYS = ("source", "edits", "strength")


@dataclass(frozen=True, slots=True)
class Edit:
    """One requested change. Errors name its fields by their JSON keys."""

    kind: Kind
    phrase: str  # to insert, delete or replace; split: the first word of the new sentence, or "" for anywhere
    targets: tuple[str, ...] = ()  # substitution: any one of these satisfies it
    weight: float = 1.0  # factor on the λ of its kind
    span: tuple[int, int] | None = None  # character offsets in the source
    probability: float | None = None  # predicted edits: the probability that a person would make the edit
    note: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in ALL_KINDS:
            raise PlanError(
                f"must be one of {_join_quoted(ALL_KINDS)}, but it is {_describe_value(self.kind)}.",
                'Write Edit.insert("old"), Edit.delete("remain"), Edit.substitute("big", "large") or Edit.split().',
                field="kind",
            )
        assign = object.__setattr__  # the only way to assign to a frozen dataclass
        anywhere = self.kind == "split" and self.phrase == ""
        assign(self, "phrase", "" if anywhere else _phrase(self.phrase, self.kind))
        assign(self, "targets", _targets(self.targets, self.kind, self.phrase))
        assign(self, "weight", _weight(self.weight))
        assign(self, "span", _span(self.span))
        if anywhere and self.span is not None:
            raise PlanError(
                "a split anywhere cannot have a span.",
                f'Give the first word of the new sentence: {{"split": "which", "span": {list(self.span)}}}, '
                'or leave "span" out.',
                field="span",
            )
        assign(self, "probability", _probability(self.probability))
        if self.note is not None:
            _text(self.note, "note")

    @classmethod
    def insert(
        cls, phrase: str, *, weight: float = 1.0, span: tuple[int, int] | None = None,
        probability: float | None = None, note: str | None = None,
    ) -> Edit:  # fmt: skip
        """Require this phrase in the output."""
        return cls("insert", phrase, (), weight, span, probability, note)

    @classmethod
    def delete(
        cls, phrase: str, *, weight: float = 1.0, span: tuple[int, int] | None = None,
        probability: float | None = None, note: str | None = None,
    ) -> Edit:  # fmt: skip
        """Avoid this phrase in the output."""
        return cls("delete", phrase, (), weight, span, probability, note)

    @classmethod
    def substitute(
        cls, phrase: str, *targets: str, weight: float = 1.0, span: tuple[int, int] | None = None,
        probability: float | None = None, note: str | None = None,
    ) -> Edit:  # fmt: skip
        """Replace this phrase by one of the targets."""
        return cls("substitute", phrase, targets, weight, span, probability, note)

    @classmethod
    def split(
        cls, phrase: str = "", *, weight: float = 1.0, span: tuple[int, int] | None = None,
        probability: float | None = None, note: str | None = None,
    ) -> Edit:  # fmt: skip
        """Start a new sentence at this word of the source, or anywhere."""
        return cls("split", phrase, (), weight, span, probability, note)

    def to_json(self) -> dict[str, Any]:
        """The edit as an object of a plan file, without default values."""
        obj: dict[str, Any] = {self.kind: self.phrase or True}
        if self.targets:
            obj["with"] = list(self.targets)
        if self.weight != 1.0:
            obj["weight"] = self.weight
        if self.span is not None:
            obj["span"] = list(self.span)
        if self.probability is not None:
            obj["probability"] = self.probability
        if self.note is not None:
            obj["note"] = self.note
        return obj

    @classmethod
    def from_json(cls, obj: object) -> Edit:
        """Parse one object of a plan's "edits"."""
        values = _object(obj, EDIT_KEYS, "an edit", 'Write for example {"insert": "old"}.')
        kinds = [kind for kind in ALL_KINDS if kind in values]
        if len(kinds) != 1:
            found = f"has {_join_quoted(kinds, 'and')} together" if kinds else f"has none of {_join_quoted(ALL_KINDS)}"
            raise PlanError(
                f"this edit {found}.", 'Give each edit exactly one of them, for example {"delete": "remain"}.'
            )
        (kind,) = kinds
        rest = {key: values[key] for key in ("weight", "span", "probability", "note") if key in values}
        phrase = _split_phrase(values[kind]) if kind == "split" else values[kind]
        return cls(kind, phrase, values.get("with", ()), **rest)


@dataclass(frozen=True, slots=True)
class EditPlan:
    """A sentence and the edits requested in it."""

    source: str
    edits: tuple[Edit, ...] = ()
    strength: Strength | None = None  # how much to simplify; None: unspecified

    def __post_init__(self) -> None:
        _text(self.source, "source")
        if not isinstance(self.edits, list | tuple):
            raise PlanError(
                f"must be a list of edits, but it is {_describe_value(self.edits)}.",
                "Put the edits in square brackets; [] requests none.",
                field="edits",
            )
        object.__setattr__(self, "edits", tuple(self.edits))
        for index, edit in enumerate(self.edits):
            _check_belongs(edit, self.source, f"edits[{index}]")
        _check_agreement(self.edits)
        if self.strength is not None and self.strength not in STRENGTHS:
            raise PlanError(
                f"must be one of {_join_quoted(STRENGTHS)}, but it is {_describe_value(self.strength)}.",
                'Write for example "strength": "light", or leave "strength" out.',
                field="strength",
            )

    def to_json(self) -> dict[str, Any]:
        """The plan as the object of one line of a plan file."""
        stated = {} if self.strength is None else {"strength": self.strength}
        return {"source": self.source, "edits": [edit.to_json() for edit in self.edits], **stated}

    @classmethod
    def from_json(cls, obj: object) -> EditPlan:
        """Parse the object of one line of a plan file."""
        example = 'Write for example {"source": "They remain old .", "edits": [{"delete": "remain"}]}.'
        values = _object(obj, PLAN_KEYS, "a plan", example)
        if "source" not in values:
            raise PlanError("the plan has no source sentence.", example, field="source")
        edits = values.get("edits", ())
        if isinstance(edits, list | tuple):
            edits = [_edit_at(index, edit) for index, edit in enumerate(edits)]
        return cls(values["source"], edits, values.get("strength"))


def _edit_at(index: int, obj: object) -> Edit:
    try:
        return Edit.from_json(obj)
    except PlanError as error:
        raise error.inside(f"edits[{index}]") from None


def _check_belongs(edit: object, source: str, field: str) -> None:
    """Check the type, which Python callers may get wrong, and that the span lies within the source."""
    if not isinstance(edit, Edit):
        raise PlanError(
            f"must be an Edit, but it is {_describe_value(edit)}.",
            'Write Edit.insert("old"), or read JSON with EditPlan.from_json.',
            field=field,
        )
    if edit.span is not None and edit.span[1] > len(source):
        raise PlanError(
            f"{list(edit.span)} ends outside the source, which has {len(source)} characters.",
            f"Write [start, end] with 0 <= start < end <= {len(source)}, or leave the span out.",
            field=f"{field}.span",
        )


def _check_agreement(edits: Sequence[Edit]) -> None:
    """Raise PlanError if the same phrase is inserted and deleted with the same span, or both times without a span."""
    first: dict[tuple[Kind, str, tuple[int, int] | None], int] = {}
    opposite: dict[Kind, Kind] = {"insert": "delete", "delete": "insert"}
    for index, edit in enumerate(edits):
        if edit.kind not in opposite:
            continue
        phrase = fold_phrase(edit.phrase)
        conflict = first.get((opposite[edit.kind], phrase, edit.span))
        if conflict is not None:
            where = "both without a span" if edit.span is None else f"both at span {list(edit.span)}"
            raise PlanError(
                f"edit {index + 1} {edit.kind}s {shown(edit.phrase)} but edit {conflict + 1} "
                f"{edits[conflict].kind}s {shown(edits[conflict].phrase)} ({where}).",
                'Remove one of them, or give each the "span" of its occurrence.',
                field=f"edits[{index}]",
            )
        first.setdefault((edit.kind, phrase, edit.span), index)


def _object(obj: object, keys: Sequence[str], what: str, example: str) -> Mapping[str, Any]:
    if not isinstance(obj, Mapping):
        raise PlanError(f"{what} must be an object, but it is {_describe_value(obj)}.", example)
    for key in obj:
        if key not in keys:
            closest = difflib.get_close_matches(str(key).casefold(), keys, n=1, cutoff=0.0)[0]
            raise PlanError(
                f"unknown key {shown(key)}.",
                f'The closest key is "{closest}"; the keys of {what} are {_join_quoted(keys, "and")}.',
                field=shown(str(key))[1:-1],
            )
    return obj


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise PlanError(
            f"must be a string, but it is {_describe_value(value)}.",
            'Write text in quotes, for example "old".',
            field=field,
        )
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise PlanError(
            f"character {error.start + 1} of {shown(value)} is half of a surrogate pair.",
            "Write the character itself, or both halves, for example \\ud83d\\ude00.",
            field=field,
        ) from None
    return value


def _phrase(value: object, field: str) -> str:
    phrase = _text(value, field).strip()
    if not phrase:
        raise PlanError("the phrase is empty.", "Give at least one word, or remove this edit.", field=field)
    return phrase


def _split_phrase(value: object) -> str:
    """The phrase of a split in JSON; true means anywhere."""
    if value is True:
        return ""
    if not isinstance(value, str) or not value.strip():
        problem = "the phrase is empty." if isinstance(value, str) else (
            f"must be true or a word of the source, but it is {_describe_value(value)}.")  # fmt: skip
        hint = 'Write {"split": true} for anywhere, or {"split": "which"} for a new sentence at that word.'
        raise PlanError(problem, hint, field="split")
    return value


def _targets(value: object, kind: Kind, phrase: str) -> tuple[str, ...]:
    example = f'Write {{"substitute": {shown(phrase)}, "with": ["..."]}}'
    if isinstance(value, str):
        value = (value,)
    if not isinstance(value, list | tuple):
        raise PlanError(f"must be a list of strings, but it is {_describe_value(value)}.", f"{example}.", field="with")
    if kind != "substitute":
        if value:
            raise PlanError(
                f'only substitutions can have "with", but this edit is {kind}.',
                f'{example}, or leave "with" out.',
                field="with",
            )
        return ()
    if not value:
        raise PlanError("the substitution has no targets.", f"{example} with one or more phrases.", field="with")
    targets = tuple(_phrase(target, f"with[{index}]") for index, target in enumerate(value))
    for index, target in enumerate(targets):
        if fold_phrase(target) == fold_phrase(phrase):
            raise PlanError(
                f"{shown(phrase)} is replaced by itself.",
                f'Give another phrase, or write {{"insert": {shown(phrase)}}} to keep it.',
                field=f"with[{index}]",
            )
    return targets


def _weight(value: object) -> float:
    hint = 'Write a number such as 0.5 or 2, or leave "weight" out for 1.'
    if not isinstance(value, Real) or isinstance(value, bool):
        raise PlanError(f"must be a number, but it is {_describe_value(value)}.", hint, field="weight")
    try:
        weight = float(value)
    except OverflowError:  # an int too large for a float
        weight = math.inf
    if not (math.isfinite(weight) and weight >= 0):
        raise PlanError(f"must be finite and not negative, but it is {weight:g}.", hint, field="weight")
    return weight


def _probability(value: object) -> float | None:
    hint = 'Write a number from 0 to 1, or leave "probability" out.'
    if value is None:
        return None
    if not isinstance(value, Real) or isinstance(value, bool):
        raise PlanError(f"must be a number, but it is {_describe_value(value)}.", hint, field="probability")
    if not 0 <= value <= 1:  # type: ignore[operator]  # of Real numbers; an int may be too large for a float
        raise PlanError(f"must be from 0 to 1, but it is {shown(value)}.", hint, field="probability")
    return float(value)


def _span(value: object) -> tuple[int, int] | None:
    hint = 'Write [start, end] with 0 <= start < end, counted in characters of the source, or leave "span" out.'
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise PlanError(f"must be a list of two integers, but it is {_describe_value(value)}.", hint, field="span")
    if len(value) != 2 or not all(isinstance(end, Integral) and not isinstance(end, bool) for end in value):
        raise PlanError(f"must be two integers, but it is {shown(value)}.", hint, field="span")
    start, end = int(value[0]), int(value[1])
    if start < 0:
        raise PlanError(f"[{start}, {end}] starts before the source.", hint, field="span")
    if start >= end:
        raise PlanError(f"[{start}, {end}] is empty: its start is not before its end.", hint, field="span")
    return start, end


def describe_edit(edit: Edit) -> str:
    """A short description of an edit, for messages."""
    match edit.kind:
        case "insert":
            return f"keep {edit.phrase}"
        case "delete":
            return f"leave out {edit.phrase}"
        case "substitute":
            return f"{edit.phrase} → {' / '.join(edit.targets)}"
        case "split":
            return f"new sentence at {edit.phrase}" if edit.phrase else "one more sentence"


@cached_for_words
def fold_phrase(phrase: str) -> str:
    """The phrase with folded case and single spaces; equal results mean equivalent phrases."""
    return " ".join(phrase.casefold().split())


def _join_quoted(words: Iterable[str], last: str = "or") -> str:
    *head, tail = (f'"{word}"' for word in words)
    return f"{', '.join(head)} {last} {tail}" if head else tail


def _describe_value(value: object) -> str:
    match value:
        case None | bool():
            return shown(value)
        case str():
            return f"the string {shown(value)}"
        case int() | float():
            return f"the number {shown(value)}"
        case list() | tuple():
            return f"the list {shown(value)}"
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"
