"""What needs no model: a plan applied to its source word by word."""

from __future__ import annotations

from redraft.constrain.edits import EditPlan


def applied(plan: EditPlan) -> str:
    """The source with every edit carried out at its span: in broken English, but exactly.

    Edits without a span and splits are ignored.
    """
    pieces, at = [], 0
    placed = (edit for edit in plan.edits if edit.span and edit.kind != "split")
    for edit in sorted(placed, key=lambda edit: edit.span or (0, 0)):
        start, end = edit.span or (0, 0)
        if start >= at:
            written = {"insert": edit.phrase, "delete": "", "substitute": "".join(edit.targets[:1])}[edit.kind]
            pieces += [plan.source[at:start], written]
            at = end
    return " ".join("".join([*pieces, plan.source[at:]]).split())
