"""Splits texts that are too long for a model between sentences or clauses, and joins the results of the pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle

from redraft.check.meaning import Meaning
from redraft.cooperative_scheduling import yield_point
from redraft.decode.model_loading import reads_plans
from redraft.decode.redrafter import Redrafter
from redraft.decode.result import Candidate, Result
from redraft.decode.step_model import StepModel
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.phrases import find_spans, surface_forms
from redraft.plan.verdicts import Verdict

_SPECIAL_TOKENS = 4  # at most, around a text
_OPENERS = "and|or|but|so|yet|nor|while|whereas|although|though|because|since|which|who|where|when"
# Places where a text may be split, best first; a piece ends with the match. Punctuation may be separated by spaces.
_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        # A full stop after an initial or a title does not end a sentence.
        r"(?<!\b[A-Z])(?<!\b[A-Z] )(?<!\b(?:Mr|Ms|Dr|St|vs))(?<!\b(?:Mr|Ms|Dr|St|vs) )(?<!\bMrs)"
        r"[.!?]+(?: ?[\"'”’)\]])*\s+(?![\sa-z\d])",
        r";\s+",
        rf",\s+(?=(?:{_OPENERS})\b)",
        r":\s+|\s[–—-]+\s+",
        r",\s+",
    )
)


def split_long_text(text: str, fits: Callable[[str], bool]) -> list[str] | None:
    """Pieces that fit; joined, they are the text. None if a piece does not fit and cannot be split."""
    yield_point()
    if fits(text):
        return [text]
    for place in _PLACES:
        ends = [match.end() for match in place.finditer(text) if match.end() < len(text)]
        if ends:
            end = min(ends, key=lambda end: abs(2 * end - len(text)))  # nearest to the middle
            first, second = split_long_text(text[:end], fits), split_long_text(text[end:], fits)
            return None if first is None or second is None else first + second
    return None


def pieces_of(redrafter: Redrafter, source: str) -> list[str]:
    """The text itself, or its sentences and clauses if it is too long for the model.

    A text that cannot be split is returned whole, and the model refuses it. Texts for decoder-only models, in which
    input and output share their positions, are never split.
    """
    model = redrafter.model
    if isinstance(model, StepModel) or not model.config.is_encoder_decoder:
        return [source]
    room = redrafter.room
    if room is not None and reads_plans(model):
        room //= 2  # a plan with a mark for every word doubles the length

    def fits(text: str) -> bool:
        if room is None or (text.isascii() and len(text) + _SPECIAL_TOKENS <= room):  # at least a character a token
            return True
        return len(redrafter.tokenizer(text.strip(), verbose=False)["input_ids"]) <= room

    pieces = None if fits(source) else split_long_text(source, fits)
    return [source] if pieces is None else [piece.strip() for piece in pieces]


def split_plan(plan: EditPlan, pieces: Sequence[str]) -> list[EditPlan]:
    """A plan for each piece of the source; the whole plan if an edit belongs to none of the pieces.

    A split without a span goes to the first piece that has its word; splits anywhere go to the longest pieces.
    """
    if len(pieces) == 1 and pieces[0] == plan.source:
        return [plan]
    starts = _starts(plan.source, pieces)
    edits: list[list[Edit]] = [[] for _ in pieces]
    longest = cycle(sorted(range(len(pieces)), key=lambda at: -len(pieces[at])))
    for edit in plan.edits:
        at = _piece_of(edit, pieces, starts)
        if at is None and edit.kind == "split" and edit.span is None:
            at = next(longest)
        if at is None:
            return [plan]
        edits[at].append(_shifted(edit, -starts[at]))
    return [replace(plan, source=piece, edits=tuple(some)) for piece, some in zip(pieces, edits, strict=True)]


def join_plans(source: str, plans: Sequence[EditPlan]) -> EditPlan:
    """The plan of a text from the plans of its pieces, which all have the same strength."""
    if len(plans) == 1 and plans[0].source == source:
        return plans[0]
    starts = _starts(source, [plan.source for plan in plans])
    edits = (_shifted(edit, start) for plan, start in zip(plans, starts, strict=True) for edit in plan.edits)
    return EditPlan(source, tuple(edits), plans[0].strength)


def join_results(source: str, parts: Sequence[Result]) -> Result:
    """The result of a text from the results of its pieces; of several pieces, the best candidate of each."""
    if len(parts) == 1:
        return replace(parts[0], source=source)
    best = Candidate(
        " ".join(part.text for part in parts),
        sum(part.log_prob for part in parts),
        sum(part.edit_score for part in parts),
        tuple(_verdicts(source, parts)),
        tuple(token for part in parts for token in part.candidates[0].tokens),
        any(part.truncated for part in parts),
        any(part.literal for part in parts),
        join_meanings(parts),
    )
    trace = tuple(step for part in parts for step in part.trace)
    unchanged = parts[0].unchanged if all(part.unchanged for part in parts) else None
    return Result(source, (best,), trace, pieces=len(parts), unchanged=unchanged)


def _verdicts(source: str, parts: Sequence[Result]) -> Iterator[Verdict]:
    """The verdicts of all pieces, with the spans of their edits in the whole text."""
    start = 0
    for part in parts:
        start = source.index(part.source, start)
        for verdict in part.verdicts:
            yield replace(verdict, edit=_shifted(verdict.edit, start))
        start += len(part.source)


def join_meanings(parts: Sequence[Result]) -> Meaning | None:
    """The meaning check of a text from those of its pieces: the highest risk counts; spans are dropped."""
    found = [part.meaning for part in parts if part.meaning is not None]
    if len(found) < len(parts):
        return None
    return Meaning(
        max(one.risk for one in found),
        any(one.alarm for one in found),
        "; ".join(one.why for one in found if one.why),
        words=tuple(dict.fromkeys(word for one in found for word in one.words)),
    )


def _starts(source: str, pieces: Sequence[str]) -> list[int]:
    """The start of each piece in the text."""
    starts, end = [], 0
    for piece in pieces:
        starts.append(source.index(piece, end))
        end = starts[-1] + len(piece)
    return starts


def _shifted(edit: Edit, by: int) -> Edit:
    return replace(edit, span=edit.span and (edit.span[0] + by, edit.span[1] + by))


def _piece_of(edit: Edit, pieces: Sequence[str], starts: Sequence[int]) -> int | None:
    numbers = range(len(pieces))
    if edit.span is not None:
        first, last = edit.span
        return next((at for at in numbers if starts[at] <= first and last <= starts[at] + len(pieces[at])), None)
    if edit.kind != "split" or not edit.phrase:
        return None
    return next((at for at in numbers if find_spans(pieces[at], surface_forms(edit.phrase))), None)
