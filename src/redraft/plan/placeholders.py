"""Adapts a plan to a source whose protected spans are replaced by placeholders."""

from __future__ import annotations

from dataclasses import replace

from redraft.plan.edits import Edit, EditPlan, fold_phrase
from redraft.plan.phrases import occurrences
from redraft.text.protected_spans import MaskedText, Span, mask_protected, overlaps, protected_spans


def mask_plan(plan: EditPlan) -> tuple[EditPlan, MaskedText]:
    """The plan for the masked source, and the masked text that restores an output.

    Spans that an edit deletes or replaces are not masked. An insertion of protected text becomes an insertion of its
    placeholder; further insertions of the same placeholder are dropped, because they would require it twice. The
    result may therefore have fewer edits: judge the original plan on the restored output.
    """
    protected = protected_spans(plan.source)
    if not protected:
        return plan, MaskedText(plan.source)
    changes = [edit for edit in plan.edits if edit.kind != "insert"]
    unprotected = [span for edit in changes for span in _resolved_spans(edit, plan.source, protected)]
    masked = mask_protected(plan.source, unprotected=unprotected)
    edits: list[Edit] = []
    inserted = set()
    for edit in plan.edits:
        moved = _to_masked(edit, plan.source, masked)
        placeholder = moved.phrase if moved.kind == "insert" and moved.phrase in masked.placeholders else None
        if placeholder is None or placeholder not in inserted:
            edits.append(moved)
        inserted.add(placeholder)
    return replace(plan, source=masked.text, edits=tuple(edits)), masked


def _resolved_spans(edit: Edit, source: str, protected: list[Span]) -> list[Span]:
    """Where an edit applies, if known: at its span, or at all its occurrences if all of them are protected."""
    found = occurrences(source, edit, any_case=True)
    return found if edit.span is not None or all(overlaps(span, protected) for span in found) else []


def _to_masked(edit: Edit, source: str, masked: MaskedText) -> Edit:
    """The edit for the masked text; an insertion of masked text becomes one of its placeholder."""
    span = edit.span and masked.to_masked(edit.span)
    spans = _resolved_spans(edit, source, list(masked.spans))[:1]
    touched = [hidden for hidden in masked.spans if overlaps(hidden, spans)]
    if edit.kind != "insert" or not touched:
        return replace(edit, span=span)
    whole = min(spans[0][0], touched[0][0]), max(spans[0][1], touched[-1][1])
    moved = masked.to_masked(whole)
    assert moved is not None  # `whole` starts and ends outside masked spans
    covers_phrase = fold_phrase(edit.phrase) in fold_phrase(source[slice(*whole)])
    phrase = masked.text[slice(*moved)] if covers_phrase else edit.phrase
    return replace(edit, phrase=phrase, span=edit.span and moved)
