"""A plan for a source whose addresses, codes and mark-up are hidden from the model."""

from __future__ import annotations

from dataclasses import replace

from redraft.plan.edits import Edit, EditPlan, folded
from redraft.plan.phrases import places
from redraft.text.protected_spans import MaskedText, Span, mask_protected, overlaps, protected_spans


def mask_plan(plan: EditPlan) -> tuple[EditPlan, MaskedText]:
    """The plan for the masked source, and the placeholders that restore an output.

    What an edit deletes or replaces is not masked. An insertion of something protected becomes one of its
    placeholder; further insertions of the same placeholder are left out, as they would ask for it twice. So edits may
    be fewer than in the plan: judge the plan itself on the restored output.
    """
    hidden = protected_spans(plan.source)
    if not hidden:
        return plan, MaskedText(plan.source)
    opened = [span for edit in plan.edits if edit.kind != "insert" for span in _known_places(edit, plan.source, hidden)]
    masked = mask_protected(plan.source, opened=opened)
    edits: list[Edit] = []
    inserted = set()
    for edit in plan.edits:
        moved = _moved(edit, plan.source, masked)
        mark = moved.phrase if moved.kind == "insert" and moved.phrase in masked.marks else None
        if mark is None or mark not in inserted:
            edits.append(moved)
        inserted.add(mark)
    return replace(plan, source=masked.text, edits=tuple(edits)), masked


def _known_places(edit: Edit, source: str, hidden: list[Span]) -> list[Span]:
    """Where an edit applies, if that is known: at its span, or where its phrase stands if all its places are hidden."""
    found = places(source, edit, any_case=True)
    return found if edit.span is not None or all(overlaps(span, hidden) for span in found) else []


def _moved(edit: Edit, source: str, masked: MaskedText) -> Edit:
    """The edit for the masked text; an insertion of something that is hidden asks for its placeholder."""
    span = edit.span and masked.moved(edit.span)
    known = _known_places(edit, source, list(masked.spans))[:1]
    touched = [hidden for hidden in masked.spans if overlaps(hidden, known)]
    if edit.kind != "insert" or not touched:
        return replace(edit, span=span)
    whole = min(known[0][0], touched[0][0]), max(known[0][1], touched[-1][1])
    moved = masked.moved(whole)
    assert moved is not None  # it ends where hidden spans end, or outside of them
    is_there = folded(edit.phrase) in folded(source[slice(*whole)])
    phrase = masked.text[slice(*moved)] if is_there else edit.phrase
    return replace(edit, phrase=phrase, span=edit.span and moved)
