"""An edit as a replacement in its source, for editors that show suggestions at their place."""

from __future__ import annotations

from dataclasses import dataclass, replace

from redraft.plan.apply_edits import apply_edits
from redraft.plan.edits import Edit, EditPlan


@dataclass(frozen=True, slots=True)
class Replacement:
    """A range of a source, and the texts that may be written there instead; each carries out the edit."""

    start: int
    end: int
    texts: tuple[str, ...]


def replacement_of(source: str, edit: Edit) -> Replacement | None:
    """The range that the edit changes, with articles, capitals and spaces; None if it changes nothing.

    The range has the span of the edit and whole words. A deletion also takes one of the spaces around it.
    """
    options = [replace(edit, targets=(target,)) for target in edit.targets] or [edit]
    results = [text for option in options if (text := apply_edits(EditPlan(source, (option,)))) != source]
    if not results:
        return None
    first, last = edit.span or (len(source), 0)
    start = min(first, *(_common_start(source, text) for text in results))
    end = max(last, *(len(source) - _common_start(source[start:][::-1], text[start:][::-1]) for text in results))
    texts = [source, *results]
    while any(_cuts_word(text, start) for text in texts):
        start -= 1
    while any(_cuts_word(text, len(text) - (len(source) - end)) for text in texts):
        end += 1
    kept = len(source) - end  # characters after the range
    return Replacement(start, end, tuple(dict.fromkeys(text[start : len(text) - kept] for text in results)))


def _cuts_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _common_start(one: str, other: str) -> int:
    """The number of characters at the start that are equal."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))
