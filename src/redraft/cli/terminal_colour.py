"""Edits marked on the words of a text: with signs everywhere, and with colours on a terminal."""

from __future__ import annotations

import os
import sys

from rich.console import Console
from rich.text import Text

from redraft.cli.console import visible
from redraft.plan.edits import Edit, EditPlan
from redraft.text.word_diff import diff_words

_EDIT_STYLES = {"insert": "underline", "delete": "red strike", "substitute": "yellow", "split": "blue"}
_DIFF_STYLES = {"kept": "", "added": "green bold", "deleted": "red strike"}


def colour_wanted() -> bool:
    """Whether standard output is a terminal and colours are not switched off by NO_COLOR or TERM=dumb."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def rendered(text: Text, *, colour: bool) -> str:
    """The text as a string without line wrapping. Its only control characters are those of the colours, if any."""
    text = Text(visible(text.plain), spans=text.spans)
    if not colour:
        return text.plain
    console = Console(force_terminal=True, color_system="standard", highlight=False, soft_wrap=True)
    with console.capture() as captured:
        console.print(text, end="")
    return captured.get()


def plan_marked(plan: EditPlan) -> Text:
    """The source with its edits marked on the words, then the edits without a span, then the strength."""
    text, end_of_last = Text(), 0
    placed = [(edit.span[0], edit.kind != "split", edit.span[1], edit) for edit in plan.edits if edit.span]
    for start, _, end, edit in sorted(placed, key=lambda place: place[:3]):
        if start >= end_of_last and edit.kind == "split":  # before its word, which may have another edit
            text.append(plan.source[end_of_last:start]).append("⏎ ", _EDIT_STYLES[edit.kind])
            end_of_last = start
        elif start >= end_of_last:  # of two overlapping edits, only the first is marked
            text.append(plan.source[end_of_last:start])
            text.append(_marked(edit, plan.source[start:end]), _EDIT_STYLES[edit.kind])
            end_of_last = end
    text.append(plan.source[end_of_last:])
    for edit in plan.edits:
        if not edit.span:
            text.append("  ").append(_marked(edit, edit.phrase, alone=True), _EDIT_STYLES[edit.kind])
    if plan.strength is not None:
        text.append(f"  ({plan.strength})")
    return text


def _marked(edit: Edit, words: str, *, alone: bool = False) -> str:
    if edit.kind == "split":
        return f"⏎ {words}".rstrip()
    if edit.kind == "insert":
        return f"+{words}" if alone else words
    return f"[-{words}-]" if edit.kind == "delete" else f"{{{words} → {' / '.join(edit.targets)}}}"


def change_marked(source: str, output: str) -> Text:
    """The output with its new words marked; deleted words are not shown."""
    text = Text()
    for piece in diff_words(source, output):
        if piece.kind != "deleted":
            text.append(piece.text, _DIFF_STYLES[piece.kind])
    return text if text.plain.strip() == output.strip() else Text(output)
