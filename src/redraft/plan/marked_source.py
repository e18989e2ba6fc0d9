"""Writes a plan into its source as marks (special tokens), for models trained to read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from redraft.plan.edits import Edit, EditPlan, Strength, fold_phrase
from redraft.plan.phrases import occurrences
from redraft.text.protected_spans import PLACEHOLDER_CHARACTERS, Span, overlaps
from redraft.text.words import split_words


class Mark(StrEnum):
    """The special tokens. A mark applies to the text up to the next mark."""

    LIGHT = "<|light|>"
    MEDIUM = "<|medium|>"
    STRONG = "<|strong|>"
    ADD = "<|add|>"
    TEXT = "<|text|>"  # the source starts here; before it are phrases that it does not contain
    KEEP = "<|keep|>"
    DELETE = "<|delete|>"
    REPLACE = "<|replace|>"
    WITH = "<|with|>"
    OR = "<|or|>"
    SPLIT = "<|split|>"
    END = "<|end|>"  # the following text is not marked


# Placeholders of protected spans: ordinary tokens, because a model writes them as well as reads them.
PLACEHOLDERS = tuple(PLACEHOLDER_CHARACTERS)

Marked = tuple["Mark | str", ...]

STRENGTH_MARKS: dict[Strength, Mark] = {"light": Mark.LIGHT, "medium": Mark.MEDIUM, "strong": Mark.STRONG}
_MARK_OF_KIND = {"insert": Mark.KEEP, "delete": Mark.DELETE, "substitute": Mark.REPLACE}


@dataclass(frozen=True)
class _Located:
    edit: Edit
    start: int
    end: int


def mark(plan: EditPlan) -> Marked:
    """The source of a plan with its edits as marks.

    The joined texts are the source, apart from texts before `Mark.TEXT` and after `Mark.WITH` and `Mark.OR`. An edit
    without a span is marked at the first free occurrence of its phrase, or before the text if the source does not
    contain it. Of overlapping edits, only the first is marked.
    """
    located, missing = _locate(plan)
    breaks = [_split_position(plan.source, edit) for edit in plan.edits if edit.kind == "split"]
    pieces: list[Mark | str] = [STRENGTH_MARKS[plan.strength]] if plan.strength in STRENGTH_MARKS else []
    pieces += [Mark.SPLIT for place in breaks if place is None]
    for edit in missing:
        pieces += _before_text(edit)
    if missing:
        pieces.append(Mark.TEXT)
    return (*pieces, *_body(plan.source, located, sorted({place for place in breaks if place is not None})))


def unmark(marked: Iterable[Mark | str]) -> EditPlan:
    """The plan that `mark` was given: the same edits in the same order, each with its span."""
    parser = _MarkParser()
    for piece in marked:
        parser.read(piece)
    return parser.plan()


def _split_position(source: str, edit: Edit) -> int | None:
    """Where the new sentence of a split starts; None: anywhere (also for the first word of the source)."""
    return next((start for start, _ in occurrences(source, edit) if source[:start].strip()), None)


def _locate(plan: EditPlan) -> tuple[list[_Located], list[Edit]]:
    """The edits with their positions in the source, in order, and those whose phrase it does not contain."""
    located: list[_Located] = []
    missing: list[Edit] = []
    taken: list[Span] = []
    edits = [edit for edit in plan.edits if edit.kind != "split"]
    for edit in sorted(edits, key=lambda edit: edit.span is None):  # edits with a span come first
        spans = occurrences(plan.source, edit)
        free = next((span for span in spans if not overlaps(span, taken)), None)
        if free is not None:
            taken.append(free)
            located.append(_Located(edit, *free))
        elif not spans and edit not in missing:
            missing.append(edit)
    return sorted(located, key=lambda one: one.start), missing


def _before_text(edit: Edit) -> Iterator[Mark | str]:
    yield Mark.ADD if edit.kind == "insert" else _MARK_OF_KIND[edit.kind]
    yield f" {edit.phrase}"
    yield from _targets(edit.targets)


def _targets(targets: Sequence[str]) -> Iterator[Mark | str]:
    for number, target in enumerate(targets):
        yield Mark.OR if number else Mark.WITH
        yield f" {target}"


def _match_case(target: str, text: str) -> str:
    """A target at the start of the source, capitalised like the text that it replaces."""
    return target[:1].upper() + target[1:] if text.strip()[:1].isupper() else target


def _body(source: str, located: Sequence[_Located], breaks: Sequence[int]) -> Iterator[Mark | str]:
    """White space before a marked word goes after the mark, so that the tokenizer merges it with the word."""
    at, is_open = 0, False  # `is_open`: the last mark still applies
    cuts = [*((one.start, 1, one) for one in located), *((place, 0, None) for place in breaks)]
    for start, _, one in sorted(cuts, key=lambda cut: cut[:2]):
        if start < at:  # a split inside a marked phrase
            continue
        plain = source[at:start].rstrip()
        if plain:
            if is_open:
                yield Mark.END
            yield plain
            at += len(plain)
        if one is None:
            yield Mark.SPLIT
            is_open = False
            continue
        text, targets = source[at : one.end], one.edit.targets
        kind = _MARK_OF_KIND[one.edit.kind]
        if one.edit.kind == "insert" and fold_phrase(text) != fold_phrase(one.edit.phrase):  # another form
            kind, targets = Mark.REPLACE, (one.edit.phrase,)
        yield kind
        yield text
        yield from _targets([_match_case(target, text) if not source[:at].strip() else target for target in targets])
        at, is_open = one.end, True
    if source[at:]:
        if is_open:
            yield Mark.END
        yield source[at:]


class _MarkParser:
    """Collects the source and the edits piece by piece."""

    def __init__(self) -> None:
        self._source, self._edits = "", list[Edit]()
        self._kind: Mark | None = None
        self._strength: Strength | None = None
        self._anywhere = 0  # number of splits without a position
        self._breaks: list[int] = []  # source offsets of the other splits

    def read(self, piece: Mark | str) -> None:
        if isinstance(piece, Mark):
            self._read_mark(piece)
        elif self._kind in (Mark.WITH, Mark.OR):
            last = self._edits[-1]
            targets = () if self._kind is Mark.WITH else last.targets
            self._edits[-1] = replace(last, kind="substitute", targets=(*targets, piece.strip()))
        else:
            self._read_text(piece)

    def _read_mark(self, mark: Mark) -> None:
        if mark in STRENGTH_MARKS.values():
            self._strength = next(name for name, one in STRENGTH_MARKS.items() if one is mark)
        elif mark is Mark.TEXT:
            self._source, self._kind = "", None
            self._edits = [replace(edit, span=None) for edit in self._edits]
        elif mark is Mark.SPLIT:
            if self._source:
                self._breaks.append(len(self._source))
            self._anywhere += not self._source
            self._kind = None
        else:
            self._kind = mark

    def _read_text(self, text: str) -> None:
        start = len(self._source) + len(text) - len(text.lstrip())
        self._source += text
        span = start, len(self._source)
        phrase = text.strip()
        if self._kind in (Mark.KEEP, Mark.ADD):
            self._edits.append(Edit.insert(phrase, span=span))
        elif self._kind in (Mark.DELETE, Mark.REPLACE):  # the targets of a replacement follow
            self._edits.append(Edit.delete(phrase, span=span))

    def plan(self) -> EditPlan:
        words = split_words(self._source)
        first_words = [next(word for word in words if word.start >= place) for place in self._breaks]
        splits = [Edit.split() for _ in range(self._anywhere)]
        splits += [Edit.split(word.text, span=(word.start, word.end)) for word in first_words]
        return EditPlan(self._source, (*splits, *self._edits), self._strength)
