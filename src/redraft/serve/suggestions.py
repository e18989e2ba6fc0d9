"""What an editor could change in a sentence, for programs that mark places in a text: predicted edits, hard places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from redraft.plan.edits import Edit
from redraft.plan.replacements import replacement_of
from redraft.simplify.simplifier import PlannedText
from redraft.text.hard_places import HardPlace, hard_places
from redraft.text.word_frequency import WordFrequency

SuggestionKind = Literal["simpler words", "unnecessary words", "new sentence", "hard word", "long sentence"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A range of a sentence, in characters, and the texts that may replace it; none: the writer has to find one."""

    start: int
    end: int
    kind: SuggestionKind
    message: str
    replacements: tuple[str, ...] = ()


def suggestions_of(planned: PlannedText, word_frequency: WordFrequency) -> tuple[Suggestion, ...]:
    """In text order. A hard word with a suggested edit, and a long sentence that is to be split, are named once.

    Text that is not English prose has none.
    """
    if planned.unchanged is not None:
        return ()
    plan = planned.plan
    places = hard_places(plan.source, word_frequency)
    is_long = any(place.kind == "long sentence" for place in places)
    edits = [found for edit in plan.edits if (found := _of_edit(plan.source, edit, is_long))]
    hard = [_of_place(place) for place in places if place.kind == "long sentence" or not _is_covered(place, edits)]
    return tuple(sorted([*edits, *hard], key=lambda one: (one.start, -one.end)))


def _of_edit(source: str, edit: Edit, is_long: bool) -> Suggestion | None:
    reason = f" ({edit.note})" if edit.note else ""
    if edit.kind == "split":
        start, end = edit.span or (0, len(source))
        return None if is_long else Suggestion(start, end, "new sentence", f"Start a new sentence here{reason}.")
    if edit.kind == "insert" or (change := replacement_of(source, edit)) is None:
        return None
    if edit.kind == "delete":
        message = f"“{edit.phrase}” can be left out{reason}."
        return Suggestion(change.start, change.end, "unnecessary words", message, change.texts)
    words = " or ".join(f"“{target}”" for target in edit.targets)
    message = f"Simpler than “{edit.phrase}”: {words}{reason}."
    return Suggestion(change.start, change.end, "simpler words", message, change.texts)


def _of_place(place: HardPlace) -> Suggestion:
    message = f"{place.why[:1].upper()}{place.why[1:]}."
    if place.kind == "long sentence":
        return Suggestion(place.start, place.end, "long sentence", f"A long sentence: {place.why}. Divide it.")
    return Suggestion(place.start, place.end, "hard word", message)


def _is_covered(place: HardPlace, edits: list[Suggestion]) -> bool:
    return any(edit.kind != "new sentence" and edit.start < place.end and place.start < edit.end for edit in edits)
