"""Writes revisions into the paragraphs of a Word document: tracked changes and comments, or the new text alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from datetime import datetime
from itertools import count

from docx.document import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from redraft.documents.blocks import Author
from redraft.documents.docx_paragraphs import (
    DELETED,
    HYPERLINK,
    INSERTED,
    RUN_STYLE,
    SPACE,
    TEXT,
    Element,
    TextPart,
    formats_of,
    text_of,
    text_parts,
)  # fmt: skip
from redraft.documents.format_takeover import Place, places_of_added
from redraft.documents.revisions import Piece, Remark, Revision

AUTHORS: dict[Author, tuple[str, str]] = {"redraft": ("redraft", "R"), "editor": ("Editor", "E")}  # name, initials
_DELETED_TEXT = qn("w:delText")
_LINK_LOOK = tuple(qn(f"w:{name}") for name in ("rStyle", "color", "u"))
_NEVER_COPIED = tuple(qn(f"w:{name}") for name in ("rPrChange", "ins", "del", "moveFrom", "moveTo"))


class ParagraphWriter:
    """Writes the revisions of one document. `date`: of the tracked changes and comments."""

    def __init__(self, document: Document, *, tracked: bool, date: datetime) -> None:
        self._document, self._tracked, self._date = document, tracked, date
        self._ids = count(_highest_id(document) + 1)

    def revise(self, paragraph: Element, revision: Revision) -> None:
        parts = text_parts(paragraph)
        places = places_of_added(revision.pieces, *formats_of(parts))
        _divide_runs(parts, revision.pieces, places.values())
        runs = _RunsByOffset(text_parts(paragraph))
        # Added words first: they take over the formatting of runs that are about to be deleted.
        # Of several behind the same run, the last first.
        in_order = sorted(places.items(), key=lambda one: -one[0] if one[1].after else one[0])
        written: dict[int, list[Element]] = {
            number: [self._add(revision.pieces[number], runs, place)] for number, place in in_order
        }
        for number, piece in enumerate(revision.pieces):
            if piece.kind == "deleted":
                written[number] = self._delete(piece, runs)
            elif piece.kind == "kept":
                written[number] = runs.between(piece.start, piece.end)
        if self._tracked:
            for remark in revision.remarks:
                self._comment(paragraph, remark, written)

    def _add(self, piece: Piece, runs: _RunsByOffset, place: Place) -> Element:
        anchor = runs.ending(place.character + 1) if place.after else runs.starting(place.character)
        run = _new_run(piece.text, _taken_over(anchor, outside_link=place.outside_link))
        beside = _outside(anchor, HYPERLINK) if place.outside_link else anchor
        beside = _divide_insertion(beside, after=place.after)
        new = run
        if self._tracked:
            new = self._change("w:ins", piece.by)
            new.append(run)
        if place.after:
            beside.addnext(new)
        else:
            beside.addprevious(new)
        return new

    def _delete(self, piece: Piece, runs: _RunsByOffset) -> list[Element]:
        """The elements of the deleted text that are still there."""
        written: list[Element] = []
        change: Element | None = None
        for run in runs.between(piece.start, piece.end):
            if not self._tracked:
                _remove(run)
                continue
            if change is None or run.getprevious() is not change:
                change = self._change("w:del", piece.by)
                run.addprevious(change)
                written.append(change)
            change.append(run)
            for text in run.iter(TEXT):
                text.tag = _DELETED_TEXT
                text.set(SPACE, "preserve")
        return written

    def _change(self, tag: str, by: Author) -> Element:
        change = OxmlElement(tag)
        change.set(qn("w:id"), str(next(self._ids)))
        change.set(qn("w:author"), AUTHORS[by][0])
        change.set(qn("w:date"), self._date.strftime("%Y-%m-%dT%H:%M:%SZ"))
        return change

    def _comment(self, paragraph: Element, remark: Remark, written: dict[int, list[Element]]) -> None:
        covered = [element for number in range(remark.first, remark.last + 1) for element in written.get(number, ())]
        if not covered:
            return
        name, initials = AUTHORS[remark.author]
        comment = self._document.part.comments.add_comment(remark.text, name, initials)
        comment._comment_elm.date = self._date
        start, end = OxmlElement("w:commentRangeStart"), OxmlElement("w:commentRangeEnd")
        reference = OxmlElement("w:r")
        reference.append(OxmlElement("w:commentReference"))
        for mark in (start, end, reference[0]):
            mark.set(qn("w:id"), str(comment.comment_id))
        # Directly in the paragraph: ranges inside tracked changes and links disappear with them.
        _child_of(paragraph, covered[0]).addprevious(start)
        _child_of(paragraph, covered[-1]).addnext(end)
        end.addnext(reference)


class _RunsByOffset:
    """The runs of a paragraph by the offsets of their text."""

    def __init__(self, parts: Sequence[TextPart]) -> None:
        self._spans: list[tuple[int, int, Element]] = []
        at = 0
        for part in parts:
            end = at + len(part.text)
            if self._spans and self._spans[-1][2] is part.run:
                self._spans[-1] = (self._spans[-1][0], end, part.run)
            else:
                self._spans.append((at, end, part.run))
            at = end
        self._starts = {start: number for number, (start, _, _) in enumerate(self._spans)}
        self._ends = {end: run for _, end, run in self._spans}

    def starting(self, at: int) -> Element:
        return self._spans[self._starts[at]][2]

    def ending(self, at: int) -> Element:
        return self._ends[at]

    def between(self, start: int, end: int) -> list[Element]:
        found = []
        for number in range(self._starts[start], len(self._spans)):
            if self._spans[number][0] >= end:
                break
            found.append(self._spans[number][2])
        return found


def _divide_runs(parts: Sequence[TextPart], pieces: Sequence[Piece], places: Iterable[Place]) -> None:
    """Divide runs so that each piece consists of whole runs and added words go between two runs.

    A run with deleted text is divided at pictures and footnote marks too, since these stay.
    """
    cuts = {end for piece in pieces for end in (piece.start, piece.end)}
    cuts |= {place.character + place.after for place in places}
    deleted = [False] * (sum(len(part.text) for part in parts) + 1)
    for piece in pieces:
        if piece.kind == "deleted":
            deleted[piece.start : piece.end] = [True] * (piece.end - piece.start)
    at = 0
    by_run: dict[Element, list[tuple[TextPart, int]]] = {}
    for part in parts:
        by_run.setdefault(part.run, []).append((part, at))
        at += len(part.text)
    for run, inside in by_run.items():
        start, end = inside[0][1], inside[-1][1] + len(inside[-1][0].text)
        is_cut = any(cut in cuts for cut in range(start + 1, end))
        if is_cut or any(deleted[start:end]):
            _divide_run(run, {part.element: at for part, at in inside}, cuts)


def _divide_run(run: Element, offsets: dict[Element, int], cuts: set[int]) -> None:
    """A run for each of its elements, and for each piece of a text."""
    properties = run.find(RUN_STYLE)
    elements = []
    for child in [one for one in run if one is not properties]:
        if child.tag == TEXT and child in offsets:
            elements += _divided_text(text_of(child), offsets[child], cuts)
        else:
            elements.append(child)
    before = run
    for child in elements[1:]:
        new = OxmlElement("w:r", run.attrib)
        if properties is not None:
            new.append(deepcopy(properties))
        new.append(child)
        before.addnext(new)
        before = new
    for child in list(run):
        if child is not properties:
            run.remove(child)
    run.append(elements[0])


def _divided_text(text: str, at: int, cuts: set[int]) -> list[Element]:
    ends = [cut - at for cut in range(at + 1, at + len(text)) if cut in cuts]
    return [_text_element(text[start:end]) for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def _text_element(text: str) -> Element:
    element = OxmlElement("w:t")
    element.text = text
    element.set(SPACE, "preserve")
    return element


def _new_run(text: str, properties: Element | None) -> Element:
    """Line breaks, tabs and hard hyphens of the text become elements."""
    run = OxmlElement("w:r")
    if properties is not None:
        run.append(properties)
    special = {"\n": "w:br", "\t": "w:tab"}
    start = 0
    for at, character in enumerate(text):
        if character in special:
            if start < at:
                run.append(_text_element(text[start:at]))
            run.append(OxmlElement(special[character]))
            start = at + 1
    if start < len(text):
        run.append(_text_element(text[start:]))
    return run


def _taken_over(anchor: Element, *, outside_link: bool) -> Element | None:
    """A copy of the properties of a run, without its own tracked changes, and without the look of a link."""
    properties = anchor.find(RUN_STYLE)
    if properties is None:
        return None
    copy = deepcopy(properties)
    for child in list(copy):
        if child.tag in _NEVER_COPIED or (outside_link and child.tag in _LINK_LOOK):
            copy.remove(child)
    return copy


def _outside(element: Element, tag: str) -> Element:
    """The element around this one with the tag, or the element itself."""
    return next(element.iterancestors(tag), element)


def _divide_insertion(beside: Element, *, after: bool) -> Element:
    """The element beside which new words go. A tracked insertion of someone else cannot hold ours: it is divided."""
    insertion = beside.getparent()
    if insertion.tag not in INSERTED:
        return beside
    moved = list(beside.itersiblings()) if after else [beside, *beside.itersiblings()]
    rest = OxmlElement("w:ins" if insertion.tag == INSERTED[0] else "w:moveTo", insertion.attrib)
    rest.extend(moved)
    if len(rest):
        insertion.addnext(rest)
    return _divide_insertion(insertion if after else rest, after=after)


def _remove(run: Element) -> None:
    """The run, and the link or tracked insertion around it that becomes empty."""
    parent = run.getparent()
    parent.remove(run)
    if not len(parent) and parent.tag in (HYPERLINK, *INSERTED, *DELETED):
        _remove(parent)


def _child_of(paragraph: Element, element: Element) -> Element:
    while element.getparent() is not paragraph:
        element = element.getparent()
    return element


def _highest_id(document: Document) -> int:
    """Of the elements that have an id: tracked changes, bookmarks, comments."""
    found = (element.get(qn("w:id")) for element in document.element.iter())
    return max((int(one) for one in found if one is not None and one.lstrip("-").isdecimal()), default=0)
