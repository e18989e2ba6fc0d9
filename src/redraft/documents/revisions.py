"""The changes of a block as kept, deleted and added pieces of its text, and the remarks about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from redraft.documents.blocks import Author, Block, BlockChange, DocumentError, JudgedEdit, SentenceChange
from redraft.errors import shown
from redraft.plan.edits import Edit, describe_edit
from redraft.plan.phrases import find_spans, occurrences, surface_forms
from redraft.text.word_diff import diff_exactly

Span = tuple[int, int]

# What XML cannot hold, and what only some programs take for a line break. One character for one: offsets stay valid.
_CONTROL = dict.fromkeys((*range(32), *range(0x7F, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF), " ")
_CONTROL |= dict.fromkeys((0x0B, 0x0C, 0x85, 0x2028, 0x2029), "\n") | {0x09: "\t", 0x0A: "\n"}
_STATUSES = {"satisfied": "done", "violated": "not done", "unmet": "not done", "impossible": "not possible"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a block. `start` and `end` are offsets in its old text; for an added piece they are equal."""

    kind: Literal["kept", "deleted", "added"]
    text: str
    start: int
    end: int
    by: Author = "redraft"


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment about the pieces from `first` to `last`."""

    author: Author
    text: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Revision:
    """Joining the kept and deleted pieces gives the old text of the block, the kept and added ones the new text."""

    pieces: tuple[Piece, ...]
    remarks: tuple[Remark, ...] = ()

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces if piece.kind != "deleted")

    @property
    def is_empty(self) -> bool:
        return not self.remarks and all(piece.kind == "kept" for piece in self.pieces)


def printable(text: str) -> str:
    """The text with each control character replaced by a space or a line break."""
    return text.translate(_CONTROL)


def revisions_of(blocks: Sequence[Block], changes: Sequence[BlockChange]) -> list[Revision]:
    """One revision for each block; the changes must be of exactly these blocks."""
    if len(blocks) != len(changes):
        raise DocumentError(
            f"there are changes of {len(changes):,} blocks, but the document has {len(blocks):,}.",
            "Send all blocks of the document, in their order.",
        )
    pairs = enumerate(zip(blocks, changes, strict=True))
    return [_revision(number, block, change) for number, (block, change) in pairs]


def _revision(number: int, block: Block, change: BlockChange) -> Revision:
    if change.source != block.text:
        raise DocumentError(
            f"blocks[{number}]: the sentences are of {shown(change.source)}, but the block is {shown(block.text)}.",
            "space and source of all sentences, then tail, must be the text of the block.",
        )
    pieces: list[Piece] = []
    remarks: list[Remark] = []
    at = 0
    for sentence in change.sentences:
        if sentence.space:
            pieces.append(Piece("kept", sentence.space, at, at + len(sentence.space)))
            at += len(sentence.space)
        if sentence.text != sentence.source:
            sentence = replace(sentence, text=printable(sentence.text))
        found, about = _revised_sentence(sentence, at)
        first = len(pieces)
        pieces += found
        remarks += [replace(one, first=one.first + first, last=one.last + first) for one in about]
        at += len(sentence.source)
    if change.tail:
        pieces.append(Piece("kept", change.tail, at, at + len(change.tail)))
    return Revision(tuple(pieces), tuple(remarks))


@dataclass(frozen=True, slots=True)
class _Note:
    """A remark before its pieces are numbered: about the pieces from an old offset to another."""

    author: Author
    text: str
    span: Span


def _revised_sentence(sentence: SentenceChange, at: int) -> tuple[list[Piece], list[Remark]]:
    pieces = _pieces(sentence)
    notes = list(_notes(sentence, _replacements(pieces)))
    pieces = _cut_kept(pieces, {end for note in notes for end in note.span})
    remarks = [remark for note in notes if (remark := _remark(note, pieces)) is not None]
    return [replace(piece, start=piece.start + at, end=piece.end + at) for piece in pieces], remarks


def _pieces(sentence: SentenceChange) -> list[Piece]:
    pieces, at = [], 0
    for one in diff_exactly(sentence.source, sentence.text):
        end = at if one.kind == "added" else at + len(one.text)
        pieces.append(Piece(one.kind, one.text, at, end, sentence.by))
        at = end
    divided: list[Piece] = []
    for piece in pieces:
        before = divided[-1] if divided else None
        if piece.kind == "added" and before is not None and before.kind == "deleted":
            divided[-1:] = _divided_by_edits(before, piece, sentence)
        else:
            divided.append(piece)
    return divided


def _divided_by_edits(deleted: Piece, added: Piece, sentence: SentenceChange) -> list[Piece]:
    """Neighbouring words that several substitutions replaced, one by one: each can then be rejected by itself.

    Only if the words between them are the same before and after; otherwise both pieces stay whole.
    """
    spans = sorted(
        (span, judged.edit.targets)
        for judged in sentence.edits
        if judged.edit.kind == "substitute"
        for span in occurrences(sentence.source, judged.edit, any_case=True)
        if deleted.start <= span[0] and span[1] <= deleted.end
    )
    found: list[Piece] = []
    old, new = deleted.start, 0
    for (start, end), targets in spans:
        gap = sentence.source[old:start]
        target = _target_at(added.text, new + len(gap), targets)
        if start < old or not added.text.startswith(gap, new) or not target:
            continue
        found += [
            replace(deleted, kind="kept", text=gap, start=old, end=start),
            replace(deleted, text=sentence.source[start:end], start=start, end=end),
            replace(added, text=target, start=end, end=end),
        ]
        old, new = end, new + len(gap) + len(target)
    for one in diff_exactly(sentence.source[old : deleted.end], added.text[new:]):
        end = old if one.kind == "added" else old + len(one.text)
        found.append(Piece(one.kind, one.text, old, end, sentence.by))
        old = end
    return [piece for piece in found if piece.text]


def _target_at(text: str, at: int, targets: Sequence[str]) -> str:
    """The longest of the targets that the text has there as whole words, as written in the text; "" if none."""
    for target in sorted(targets, key=len, reverse=True):
        end = at + len(target)
        if text[at:end].lower() == target.lower() and not text[end : end + 1].isalnum():
            return text[at:end]
    return ""


@dataclass(frozen=True, slots=True)
class _Replacement:
    """A deleted text, the added text after it, or both. `old` and `new` are spans in the source and in the text."""

    old: Span
    new: Span


def _replacements(pieces: Sequence[Piece]) -> list[_Replacement]:
    found: list[_Replacement] = []
    at = 0  # in the new text
    for piece in pieces:
        length = 0 if piece.kind == "deleted" else len(piece.text)
        if piece.kind == "added" and found and found[-1].old[1] == piece.start and found[-1].new == (at, at):
            found[-1] = _Replacement(found[-1].old, (at, at + length))
        elif piece.kind != "kept":
            found.append(_Replacement((piece.start, piece.end), (at, at + length)))
        at += length
    return found


def _notes(sentence: SentenceChange, replacements: Sequence[_Replacement]) -> Iterator[_Note]:
    """One for each edit that changed something or was not done, each change without an edit, and the warnings."""
    whole = (0, len(sentence.source))
    if sentence.warnings:
        yield _Note("redraft", _lines("Check:", *sentence.warnings, _review(sentence)), whole)
    explained = set()
    for judged in sentence.edits:
        spans = occurrences(sentence.source, judged.edit, any_case=True)
        made = [one for one in replacements if _belongs(judged.edit, one, spans, sentence.text)]
        explained |= set(made)
        text = _describe(judged, _review(sentence))
        author: Author = "redraft" if judged.edit.probability is not None else "editor"
        if made:
            yield _Note(author, text, made[0].old)
        elif _is_worth_a_remark(judged, is_changed=bool(replacements)):
            yield _Note(author, text, spans[0] if spans else whole)
    for one in replacements:
        if one not in explained:
            asked = "Written by the editor." if sentence.by == "editor" else "No edit asked for this change."
            yield _Note(sentence.by, _lines(asked, _review(sentence)), one.old)


def _is_worth_a_remark(judged: JudgedEdit, *, is_changed: bool) -> bool:
    """Of edits that left no trace in the text: those not done in a changed sentence, and requested ones anywhere."""
    requested = judged.edit.probability is None
    return judged.status not in (None, "satisfied") and (requested or is_changed)


def _belongs(edit: Edit, made: _Replacement, spans: Sequence[Span], text: str) -> bool:
    """Whether an edit explains a change: it deletes or replaces these words, or asks for the words that came."""
    if edit.kind in ("delete", "substitute"):
        return any(made.old[0] < end and start < made.old[1] for start, end in spans)
    if edit.kind == "insert":
        added = find_spans(text, surface_forms(edit.phrase))
        return any(made.new[0] < end and start < made.new[1] for start, end in added)
    if spans:  # a split
        return any(made.old[0] - 1 <= start <= made.old[1] + 1 for start, _ in spans)
    return any(mark in text[slice(*made.new)] for mark in ".!?…")


def _describe(judged: JudgedEdit, review: str) -> str:
    edit = judged.edit
    return _lines(
        describe_edit(edit),
        f"Reason: {edit.note}" if edit.note else "",
        f"Probability: {edit.probability:.0%}" if edit.probability is not None else "",
        f"Status: {_STATUSES.get(judged.status, judged.status)}" if judged.status else "",
        f"Why: {judged.reason}" if judged.reason else "",
        review,
    )


def _review(sentence: SentenceChange) -> str:
    return "Reviewed." if sentence.reviewed else "Not reviewed."


def _lines(*lines: str) -> str:
    return printable("\n".join(line for line in lines if line))


def _cut_kept(pieces: Sequence[Piece], cuts: set[int]) -> list[Piece]:
    """The kept pieces divided at these offsets, so that remarks can begin and end there."""
    found: list[Piece] = []
    for piece in pieces:
        inside = sorted(cut for cut in cuts if piece.start < cut < piece.end) if piece.kind == "kept" else []
        for start, end in zip([piece.start, *inside], [*inside, piece.end], strict=True):
            text = piece.text[start - piece.start : end - piece.start] if inside else piece.text
            found.append(replace(piece, text=text, start=start, end=end))
    return found


def _remark(note: _Note, pieces: Sequence[Piece]) -> Remark | None:
    """None if the sentence is empty."""
    start, end = note.span
    covered = [
        number
        for number, piece in enumerate(pieces)
        if (piece.start < end and start < piece.end) or (piece.start == piece.end and start <= piece.start <= end)
    ]
    return Remark(note.author, note.text, covered[0], covered[-1]) if covered else None
