"""Word-level difference between a source and an output: kept, added and deleted words."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from typing import Literal

from redraft.text.words import Word, split_words


@dataclass(frozen=True, slots=True)
class DiffPiece:
    kind: Literal["kept", "added", "deleted"]
    text: str


def diff_words(source: str, output: str) -> list[DiffPiece]:
    """The output in pieces, with the deleted words of the source at their positions. Case is ignored."""
    before, after = split_words(source), split_words(output)
    pieces: list[DiffPiece] = []
    for step, i, j, k, m in _matcher(before, after).get_opcodes():
        if step in ("delete", "replace"):
            pieces.append(DiffPiece("deleted", _span_text(source, before[i:j])))
        if step == "equal":
            pieces.append(DiffPiece("kept", _span_text(output, after[k:m])))
        elif step in ("insert", "replace"):
            pieces.append(DiffPiece("added", _span_text(output, after[k:m])))
    return pieces


def diff_exactly(source: str, output: str) -> list[DiffPiece]:
    """The same difference with all white space, and case taken into account.

    Joining the kept and deleted pieces gives the source, joining the kept and added pieces gives the output.
    """
    before, after = split_words(source), split_words(output)
    pieces: list[DiffPiece] = []
    old = new = 0  # ends of the last kept word
    for i, k, size in _matcher(before, after).get_matching_blocks():
        for word, same in zip(before[i : i + size], after[k : k + size], strict=True):
            if word.text == same.text:
                pieces += [*_replacement(source[old : word.start], output[new : same.start]), _kept(word.text)]
                old, new = word.end, same.end
    pieces += _replacement(source[old:], output[new:])
    return _joined(pieces)


def _replacement(deleted: str, added: str) -> list[DiffPiece]:
    """One text replaced by another; white space that both have at the same end is kept."""
    start = _common_space(deleted, added)
    end = _common_space(deleted[start:][::-1], added[start:][::-1])
    return [
        _kept(deleted[:start]),
        DiffPiece("deleted", deleted[start : len(deleted) - end]),
        DiffPiece("added", added[start : len(added) - end]),
        _kept(deleted[len(deleted) - end :]),
    ]


def _common_space(one: str, other: str) -> int:
    """The length of the white space with which both texts start."""
    pairs = takewhile(lambda pair: pair[0] == pair[1] and pair[0].isspace(), zip(one, other, strict=False))
    return sum(1 for _ in pairs)


def _kept(text: str) -> DiffPiece:
    return DiffPiece("kept", text)


def _joined(pieces: list[DiffPiece]) -> list[DiffPiece]:
    """Without empty pieces; neighbours of one kind as one piece."""
    filled = (piece for piece in pieces if piece.text)
    return [
        DiffPiece(kind, "".join(piece.text for piece in group))
        for kind, group in groupby(filled, key=lambda piece: piece.kind)
    ]


def _matcher(before: list[Word], after: list[Word]) -> SequenceMatcher[str]:
    return SequenceMatcher(
        None, [word.text.lower() for word in before], [word.text.lower() for word in after], autojunk=False
    )


def _span_text(text: str, words: list[Word]) -> str:
    """The text from the first to the last of the words, with one space before it if the text has white space there."""
    start = words[0].start
    gap = " " if start and text[start - 1].isspace() else ""
    return gap + text[start : words[-1].end]
