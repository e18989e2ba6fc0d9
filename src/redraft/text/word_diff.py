"""Word-level difference between a source and an output: kept, added and deleted words."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from redraft.text.words import Word, split_words


@dataclass(frozen=True, slots=True)
class DiffPiece:
    kind: Literal["kept", "added", "deleted"]
    text: str


def diff_words(source: str, output: str) -> list[DiffPiece]:
    """The output in pieces, with the deleted words of the source at their positions. Case is ignored."""
    before, after = split_words(source), split_words(output)
    matcher = SequenceMatcher(
        None, [word.text.lower() for word in before], [word.text.lower() for word in after], autojunk=False
    )
    pieces: list[DiffPiece] = []
    for step, i, j, k, m in matcher.get_opcodes():
        if step in ("delete", "replace"):
            pieces.append(DiffPiece("deleted", _span_text(source, before[i:j])))
        if step == "equal":
            pieces.append(DiffPiece("kept", _span_text(output, after[k:m])))
        elif step in ("insert", "replace"):
            pieces.append(DiffPiece("added", _span_text(output, after[k:m])))
    return pieces


def _span_text(text: str, words: list[Word]) -> str:
    """The text from the first to the last of the words, with one space before it if the text has white space there."""
    start = words[0].start
    gap = " " if start and text[start - 1].isspace() else ""
    return gap + text[start : words[-1].end]
