"""A text that is too long for a model in pieces that are not: parted between sentences or clauses, never cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from redraft.constrain.edits import Edit, EditPlan
from redraft.constrain.phrases import find, forms

_OPENERS = "and|or|but|so|yet|nor|while|whereas|although|though|because|since|which|who|where|when"
# Where a text may be parted, the best places first; a piece ends with the match. Signs may stand apart from words.
_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        # A full stop behind an initial or a title ends no sentence.
        r"(?<!\b[A-Z])(?<!\b[A-Z] )(?<!\b(?:Mr|Ms|Dr|St|vs))(?<!\b(?:Mr|Ms|Dr|St|vs) )(?<!\bMrs)"
        r"[.!?]+(?: ?[\"'”’)\]])*\s+(?![\sa-z\d])",
        r";\s+",
        rf",\s+(?=(?:{_OPENERS})\b)",
        r":\s+|\s[–—-]+\s+",
        r",\s+",
    )
)


def parted(text: str, fits: Callable[[str], bool]) -> list[str] | None:
    """Pieces that fit and, joined, are the text; None where there is no place to part what does not fit."""
    if fits(text):
        return [text]
    for place in _PLACES:
        ends = [match.end() for match in place.finditer(text) if match.end() < len(text)]
        if ends:
            end = min(ends, key=lambda end: abs(2 * end - len(text)))  # nearest to the middle
            first, second = parted(text[:end], fits), parted(text[end:], fits)
            return None if first is None or second is None else first + second
    return None


def divided(plan: EditPlan, pieces: Sequence[str]) -> list[EditPlan]:
    """The plan in plans of the pieces of its source; whole where an edit has no place in one of them.

    A split without a span goes to the first piece that has its word, a split anywhere to the longest piece.
    """
    starts, end = [], 0
    for piece in pieces:
        starts.append(plan.source.index(piece, end))
        end = starts[-1] + len(piece)
    edits: list[list[Edit]] = [[] for _ in pieces]
    for edit in plan.edits:
        at = _piece_of(edit, pieces, starts)
        if at is None:
            return [plan]
        moved = edit.span and (edit.span[0] - starts[at], edit.span[1] - starts[at])
        edits[at].append(replace(edit, span=moved))
    return [replace(plan, source=piece, edits=tuple(some)) for piece, some in zip(pieces, edits, strict=True)]


def _piece_of(edit: Edit, pieces: Sequence[str], starts: Sequence[int]) -> int | None:
    numbers = range(len(pieces))
    if edit.span is not None:
        first, last = edit.span
        return next((at for at in numbers if starts[at] <= first and last <= starts[at] + len(pieces[at])), None)
    if edit.kind != "split":
        return None
    having = (at for at in numbers if edit.phrase and find(pieces[at], forms(edit.phrase)))
    return next(having, max(numbers, key=lambda at: len(pieces[at])))
