"""A text that is too long for a model in pieces that are not: parted between sentences or clauses, never cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from redraft.constrain.edits import Edit, EditPlan

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
    """The plan in plans of the pieces of its source; whole where an edit has no place in one of them."""
    found: list[EditPlan] = []
    start = 0
    for piece in pieces:
        start = plan.source.index(piece, start)
        found.append(EditPlan(piece, tuple(_within(plan, start, start + len(piece)))))
        start += len(piece)
    return found if sum(len(part.edits) for part in found) == len(plan.edits) else [plan]


def _within(plan: EditPlan, start: int, end: int) -> list[Edit]:
    inside = [edit for edit in plan.edits if edit.span and start <= edit.span[0] and edit.span[1] <= end]
    return [replace(edit, span=(edit.span[0] - start, edit.span[1] - start)) for edit in inside if edit.span]
