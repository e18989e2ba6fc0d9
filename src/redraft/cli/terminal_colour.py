"""Marks on words: signs everywhere, and colours where a terminal shows them."""

from __future__ import annotations

import os
import sys

from rich.console import Console
from rich.text import Text

from redraft.cli.console import visible
from redraft.plan.edits import Edit, EditPlan
from redraft.text.word_diff import diff_words

_STYLES = {"insert": "underline", "delete": "red strike", "substitute": "yellow", "split": "blue"}
_PIECES = {"kept": "", "added": "green bold", "deleted": "red strike"}


def wanted() -> bool:
    """Whether standard output is a terminal that shows colours (NO_COLOR, TERM=dumb: it is not)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def rendered(text: Text, *, colour: bool) -> str:
    """As a string, never wrapped; without colour the plain text. Nothing in it but the colours rules a terminal."""
    text = Text(visible(text.plain), spans=text.spans)
    if not colour:
        return text.plain
    console = Console(force_terminal=True, color_system="standard", highlight=False, soft_wrap=True)
    with console.capture() as captured:
        console.print(text, end="")
    return captured.get()


def plan_marked(plan: EditPlan) -> Text:
    """The source with its edits on the words; edits without a place follow behind it, then the strength."""
    text, at = Text(), 0
    placed = [(edit.span[0], edit.kind != "split", edit.span[1], edit) for edit in plan.edits if edit.span]
    for start, _, end, edit in sorted(placed, key=lambda place: place[:3]):
        if start >= at and edit.kind == "split":  # before its word, which may have an edit of its own
            text.append(plan.source[at:start]).append("⏎ ", _STYLES[edit.kind])
            at = start
        elif start >= at:  # of two that overlap, the first
            text.append(plan.source[at:start]).append(_sign(edit, plan.source[start:end]), _STYLES[edit.kind])
            at = end
    text.append(plan.source[at:])
    for edit in plan.edits:
        if not edit.span:
            text.append("  ").append(_sign(edit, edit.phrase, alone=True), _STYLES[edit.kind])
    if plan.strength is not None:
        text.append(f"  ({plan.strength})")
    return text


def _sign(edit: Edit, written: str, *, alone: bool = False) -> str:
    if edit.kind == "split":
        return f"⏎ {written}".rstrip()
    if edit.kind == "insert":
        return f"+{written}" if alone else written
    return f"[-{written}-]" if edit.kind == "delete" else f"{{{written} → {' / '.join(edit.targets)}}}"


def change_marked(source: str, output: str) -> Text:
    """The output, with words that are new marked; what was left out stands in the source."""
    text = Text()
    for piece in diff_words(source, output):
        if piece.kind != "deleted":
            text.append(piece.text, _PIECES[piece.kind])
    return text if text.plain.strip() == output.strip() else Text(output)
