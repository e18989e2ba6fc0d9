"""A plan written into its source: marks between the words, for models that have learned to read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from redraft.plan.edits import Edit, EditPlan, Strength, folded
from redraft.plan.phrases import places
from redraft.text.protected_spans import MARKS, Span, overlaps
from redraft.text.words import split_words


class Mark(StrEnum):
    """One special token each. A mark is in force up to the next one."""

    LIGHT = "<|light|>"
    MEDIUM = "<|medium|>"
    STRONG = "<|strong|>"
    ADD = "<|add|>"
    TEXT = "<|text|>"  # the source begins here, behind phrases that it does not have
    KEEP = "<|keep|>"
    DELETE = "<|delete|>"
    REPLACE = "<|replace|>"
    WITH = "<|with|>"
    OR = "<|or|>"
    SPLIT = "<|split|>"
    END = "<|end|>"  # what follows is not marked


# Stand for what a model never rewrites: ordinary tokens, so that they are written as well as read.
PLACEHOLDERS = tuple(MARKS)

Marked = tuple["Mark | str", ...]

STRENGTH_MARKS: dict[Strength, Mark] = {"light": Mark.LIGHT, "medium": Mark.MEDIUM, "strong": Mark.STRONG}
_OF_KIND = {"insert": Mark.KEEP, "delete": Mark.DELETE, "substitute": Mark.REPLACE}


@dataclass(frozen=True)
class _Placed:
    edit: Edit
    start: int
    end: int


def mark(plan: EditPlan) -> Marked:
    """The source of a plan with its edits as marks. Its texts, joined, are the source, but for what stands before
    `Mark.TEXT` and behind `Mark.WITH` and `Mark.OR`.

    An edit without a span is marked at the first place of its phrase that is free, or before the text where the source
    does not have it. Of edits that overlap the first one is marked.
    """
    here, elsewhere = _placed(plan)
    breaks = [_break(plan.source, edit) for edit in plan.edits if edit.kind == "split"]
    pieces: list[Mark | str] = [STRENGTH_MARKS[plan.strength]] if plan.strength in STRENGTH_MARKS else []
    pieces += [Mark.SPLIT for place in breaks if place is None]
    for edit in elsewhere:
        pieces += _before_text(edit)
    if elsewhere:
        pieces.append(Mark.TEXT)
    return (*pieces, *_body(plan.source, here, sorted({place for place in breaks if place is not None})))


def unmark(marked: Iterable[Mark | str]) -> EditPlan:
    """The plan that `mark` has written: the same edits in the same order, each with its place."""
    reader = _Reader()
    for piece in marked:
        reader.read(piece)
    return reader.plan()


def _break(source: str, edit: Edit) -> int | None:
    """Where a split asks for a new sentence to begin; None: anywhere, as at the first word, where one begins anyway."""
    return next((start for start, _ in places(source, edit) if source[:start].strip()), None)


def _placed(plan: EditPlan) -> tuple[list[_Placed], list[Edit]]:
    """Edits with their places in the source, in order, and those whose phrase it does not have."""
    here: list[_Placed] = []
    elsewhere: list[Edit] = []
    taken: list[Span] = []
    edits = [edit for edit in plan.edits if edit.kind != "split"]
    for edit in sorted(edits, key=lambda edit: edit.span is None):  # those with a span take theirs first
        spans = places(plan.source, edit)
        free = next((span for span in spans if not overlaps(span, taken)), None)
        if free is not None:
            taken.append(free)
            here.append(_Placed(edit, *free))
        elif not spans and edit not in elsewhere:
            elsewhere.append(edit)
    return sorted(here, key=lambda placed: placed.start), elsewhere


def _before_text(edit: Edit) -> Iterator[Mark | str]:
    yield Mark.ADD if edit.kind == "insert" else _OF_KIND[edit.kind]
    yield f" {edit.phrase}"
    yield from _targets(edit.targets)


def _targets(targets: Sequence[str]) -> Iterator[Mark | str]:
    for number, target in enumerate(targets):
        yield Mark.OR if number else Mark.WITH
        yield f" {target}"


def _cased(target: str, text: str) -> str:
    """A target at the beginning of the source with the capital of the word that it is written for."""
    return target[:1].upper() + target[1:] if text.strip()[:1].isupper() else target


def _body(source: str, placed: Sequence[_Placed], breaks: Sequence[int]) -> Iterator[Mark | str]:
    """White space before a marked word stands behind the mark, where a tokenizer joins it to the word."""
    at, is_open = 0, False  # open: the last mark is still in force
    cuts = [*((one.start, 1, one) for one in placed), *((place, 0, None) for place in breaks)]
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
        kind = _OF_KIND[one.edit.kind]
        if one.edit.kind == "insert" and folded(text) != folded(one.edit.phrase):  # another form of the word there
            kind, targets = Mark.REPLACE, (one.edit.phrase,)
        yield kind
        yield text
        yield from _targets([_cased(target, text) if not source[:at].strip() else target for target in targets])
        at, is_open = one.end, True
    if source[at:]:
        if is_open:
            yield Mark.END
        yield source[at:]


class _Reader:
    """Collects a source and its edits, piece by piece."""

    def __init__(self) -> None:
        self._source, self._edits = "", list[Edit]()
        self._kind: Mark | None = None
        self._strength: Strength | None = None
        self._anywhere = 0  # splits without a place
        self._breaks: list[int] = []  # characters of the source read before the others

    def read(self, piece: Mark | str) -> None:
        if isinstance(piece, Mark):
            self._read_mark(piece)
        elif self._kind in (Mark.WITH, Mark.OR):
            last = self._edits[-1]
            known = () if self._kind is Mark.WITH else last.targets
            self._edits[-1] = replace(last, kind="substitute", targets=(*known, piece.strip()))
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
        elif self._kind in (Mark.DELETE, Mark.REPLACE):  # the targets of a replacement come next
            self._edits.append(Edit.delete(phrase, span=span))

    def plan(self) -> EditPlan:
        words = split_words(self._source)
        begun = [next(word for word in words if word.start >= place) for place in self._breaks]
        splits = [Edit.split() for _ in range(self._anywhere)]
        splits += [Edit.split(word.text, span=(word.start, word.end)) for word in begun]
        return EditPlan(self._source, (*splits, *self._edits), self._strength)
