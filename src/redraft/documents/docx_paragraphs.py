"""The paragraphs of a Word document in reading order: their text, its formatting, and the runs it comes from."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RELATIONSHIP
from docx.oxml.ns import qn
from lxml import etree

from redraft.documents.blocks import Block, Formatting, FormattingStyle, ListPlace, TablePlace

Element = Any  # of lxml, which ships no types

RUN, TEXT, TAB, BREAK, RETURN = (qn(f"w:{name}") for name in ("r", "t", "tab", "br", "cr"))
HYPHEN, RUN_STYLE, HYPERLINK = qn("w:noBreakHyphen"), qn("w:rPr"), qn("w:hyperlink")
PARAGRAPH, TABLE, ROW, CELL = (qn(f"w:{name}") for name in ("p", "tbl", "tr", "tc"))
VALUE, SPACE = qn("w:val"), "{http://www.w3.org/XML/1998/namespace}space"
INSERTED = (qn("w:ins"), qn("w:moveTo"))  # tracked changes whose text is part of the text
DELETED = (qn("w:del"), qn("w:moveFrom"))
_CONTENT_CONTROL, _CONTROL_CONTENT = qn("w:sdt"), qn("w:sdtContent")
# Elements around runs whose runs belong to the paragraph.
_INLINE = (
    HYPERLINK, *INSERTED, *(qn(f"w:{name}") for name in ("smartTag", "customXml", "fldSimple", "bdo", "dir")),
    _CONTENT_CONTROL, _CONTROL_CONTENT,
)  # fmt: skip
_AROUND_BLOCKS = (_CONTENT_CONTROL, _CONTROL_CONTENT, qn("w:customXml"))
_FIXED_TEXTS = {TAB: "\t", RETURN: "\n", HYPHEN: "\u2011"}
_STYLES: tuple[tuple[str, FormattingStyle], ...] = (("w:b", "bold"), ("w:i", "italic"), ("w:u", "underline"))
_OFF = ("0", "false", "off", "none")
_HEADING_NAME = re.compile("heading ([1-9])", re.IGNORECASE)
_CONTENTS_STYLE = "toc "  # names of the styles of a table of contents
_MONOSPACE = ("courier", "consolas", "mono", "menlo")


@dataclass(frozen=True, slots=True)
class TextPart:
    """An element of a run that stands for text. `link`: the hyperlink around it."""

    element: Element
    run: Element
    text: str
    link: Element | None


@dataclass(frozen=True, slots=True)
class DocxParagraph:
    element: Element
    block: Block


def text_parts(paragraph: Element) -> list[TextPart]:
    """The parts of a paragraph's text, as if all tracked changes were accepted."""
    return list(_parts(paragraph, None))


def _parts(around: Element, link: Element | None) -> Iterator[TextPart]:
    for child in around:
        if child.tag == RUN:
            if not _is_on(child.find(RUN_STYLE), "w:vanish"):
                for element in child:
                    if text := text_of(element):
                        yield TextPart(element, child, text, link)
        elif child.tag in _INLINE:
            yield from _parts(child, child if child.tag == HYPERLINK else link)


def text_of(element: Element) -> str:
    """The text that a child of a run stands for; "" for pictures, footnote marks and the like."""
    if element.tag == TEXT:
        text = element.text or ""
        return text if element.get(SPACE) == "preserve" else text.strip(" \t\r\n")
    if element.tag == BREAK:  # of a page or column: not text
        return "\n" if element.get(qn("w:type"), "textWrapping") == "textWrapping" else ""
    return _FIXED_TEXTS.get(element.tag, "")


def _is_on(properties: Element | None, name: str) -> bool:
    found = None if properties is None else properties.find(qn(name))
    return found is not None and found.get(VALUE, "true") not in _OFF


@dataclass(slots=True)
class _Lists:
    """Numbers of list items: counted for each list and level, and again after an item of a higher level."""

    counts: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    def next_number(self, number_id: str, level: int) -> int:
        count = self.counts[number_id]
        for deeper in [one for one in count if one > level]:
            del count[deeper]
        count[level] += 1
        return count[level]


class ParagraphReader:
    """Reads the paragraphs of a document's body; `left_out` counts what has no place in blocks."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._styles = {style.get(qn("w:styleId")): style for style in document.part.styles.element.iter(qn("w:style"))}
        self._numbering = _numbering(document)
        self._lists = _Lists()
        self._tables = 0
        self.left_out: Counter[str] = Counter()

    def paragraphs(self) -> list[DocxParagraph]:
        return list(self._walk(self._document.element.body, None))

    def _walk(self, around: Element, place: TablePlace | None) -> Iterator[DocxParagraph]:
        for child in around:
            if child.tag == PARAGRAPH:
                yield from self._paragraph(child, place)
            elif child.tag == TABLE:
                yield from self._table(child)
            elif child.tag == _CONTENT_CONTROL and _is_table_of_contents(child):
                self.left_out["table of contents"] += 1
            elif child.tag in _AROUND_BLOCKS:
                yield from self._walk(child, place)

    def _table(self, table: Element) -> Iterator[DocxParagraph]:
        number, self._tables = self._tables, self._tables + 1
        for row_number, row in enumerate(_inside(table, ROW)):
            column = 0
            for cell in _inside(row, CELL):
                yield from self._walk(cell, TablePlace(row_number, column, number))
                column += _columns(cell)

    def _paragraph(self, paragraph: Element, place: TablePlace | None) -> Iterator[DocxParagraph]:
        own_and_inherited = (paragraph.find(qn("w:pPr")), *self._inherited(paragraph))
        properties = [one for one in own_and_inherited if one is not None]
        name = self._style_name(paragraph)
        list_place, level = self._list_place(properties, name)
        parts = text_parts(paragraph)
        text = "".join(part.text for part in parts)
        if not text.strip():
            return
        if name.lower().startswith(_CONTENTS_STYLE):
            self.left_out["table of contents"] += 1
            return
        heading = _heading_level(properties, name)
        block = Block("paragraph", text, 0, tuple(self._formatting(parts)), list_place, place)
        if place is not None:
            block = replace(block, kind="table cell")
        elif heading:
            block = replace(block, kind="heading", level=heading, list_place=None)
        elif list_place is not None:
            block = replace(block, kind="list item", level=level)
        yield DocxParagraph(paragraph, block)

    def _style(self, paragraph: Element) -> Element | None:
        style = paragraph.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        return None if style is None else self._styles.get(style.get(VALUE))

    def _style_name(self, paragraph: Element) -> str:
        style = self._style(paragraph)
        name = None if style is None else style.find(qn("w:name"))
        return "" if name is None else name.get(VALUE, "")

    def _inherited(self, paragraph: Element) -> Iterator[Element | None]:
        """The paragraph properties of the style and of the styles it is based on."""
        style, seen = self._style(paragraph), set[Any]()
        while style is not None and style not in seen:
            seen.add(style)
            yield style.find(qn("w:pPr"))
            base = style.find(qn("w:basedOn"))
            style = None if base is None else self._styles.get(base.get(VALUE))

    def _list_place(self, properties: list[Element], style_name: str) -> tuple[ListPlace | None, int]:
        number_id, level = _first(properties, "w:numPr/w:numId"), int(_first(properties, "w:numPr/w:ilvl") or 0)
        if number_id is None or number_id == "0" or number_id not in self._numbering:
            return None, 0
        format_name = self._numbering[number_id].get(level, "decimal")
        if format_name == "none":
            return None, 0
        number = self._lists.next_number(number_id, level)
        # "List Bullet 2" is the first level of a list of its own.
        shown_level = int(style_name[-1]) if style_name[-2:-1] == " " and style_name[-1] in "23456789" else level + 1
        return ListPlace(format_name != "bullet", number), min(shown_level, 9)

    def _formatting(self, parts: list[TextPart]) -> Iterator[Formatting]:
        at = 0
        found: dict[tuple[FormattingStyle, str | None], list[tuple[int, int]]] = defaultdict(list)
        for part in parts:
            end = at + len(part.text)
            for key in self._styles_of(part):
                spans = found[key]
                if spans and spans[-1][1] == at:
                    spans[-1] = (spans[-1][0], end)
                else:
                    spans.append((at, end))
            at = end
        spans_in_order = ((*span, *key) for key, spans in found.items() for span in spans)
        for start, end, style, target in sorted(spans_in_order, key=lambda one: one[:3]):
            yield Formatting(start, end, style, target)

    def _styles_of(self, part: TextPart) -> Iterator[tuple[FormattingStyle, str | None]]:
        properties = part.run.find(RUN_STYLE)
        if part.link is not None:
            yield "link", self._address(part.link)
        for tag, style in _STYLES:
            if _is_on(properties, tag) and (style != "underline" or part.link is None):
                yield style, None
        font = None if properties is None else properties.find(qn("w:rFonts"))
        if font is not None and any(name in font.get(qn("w:ascii"), "").lower() for name in _MONOSPACE):
            yield "code", None

    def _address(self, link: Element) -> str | None:
        relation = self._document.part.rels.get(link.get(qn("r:id"), ""))
        if relation is not None and relation.is_external and relation.reltype == RELATIONSHIP.HYPERLINK:
            return str(relation.target_ref)
        anchor = link.get(qn("w:anchor"))
        return f"#{anchor}" if anchor else None


def _inside(around: Element, tag: str) -> Iterator[Element]:
    """The rows of a table or the cells of a row, also inside content controls."""
    for child in around:
        if child.tag == tag:
            yield child
        elif child.tag in _AROUND_BLOCKS:
            yield from _inside(child, tag)


def _columns(cell: Element) -> int:
    span = cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}")
    return int(span.get(VALUE, "1")) if span is not None else 1


def _is_table_of_contents(control: Element) -> bool:
    gallery = control.find(f"{qn('w:sdtPr')}//{qn('w:docPartGallery')}")
    return gallery is not None and gallery.get(VALUE) == "Table of Contents"


def _heading_level(properties: list[Element], style_name: str) -> int:
    """From 1; 0 if it is no heading."""
    if style_name == "Title":
        return 1
    if named := _HEADING_NAME.fullmatch(style_name):
        return int(named[1])
    outline = _first(properties, "w:outlineLvl")
    return min(int(outline) + 1, 9) if outline is not None and int(outline) < 9 else 0


def _first(properties: list[Element], path: str) -> str | None:
    """The value of a property, of the paragraph itself or inherited."""
    names = "/".join(map(qn, path.split("/")))
    for one in properties:
        found = one.find(names)
        if found is not None:
            value: str | None = found.get(VALUE)
            return value
    return None


def _numbering(document: Document) -> dict[str, dict[int, str]]:
    """The number format of each level of each list."""
    if not any(relation.reltype == RELATIONSHIP.NUMBERING for relation in document.part.rels.values()):
        return {}
    root = document.part.numbering_part.element
    abstract = {
        one.get(qn("w:abstractNumId")): {
            int(level.get(qn("w:ilvl"), "0")): form.get(VALUE, "decimal")
            for level in one.iter(qn("w:lvl"))
            if (form := level.find(qn("w:numFmt"))) is not None
        }
        for one in root.iter(qn("w:abstractNum"))
    }
    lists = {}
    for number in root.iter(qn("w:num")):
        base = number.find(qn("w:abstractNumId"))
        lists[number.get(qn("w:numId"))] = abstract.get(None if base is None else base.get(VALUE), {})
    return lists


def formats_of(parts: list[TextPart]) -> tuple[list[int], list[int | None]]:
    """A number for the formatting of each character, and for the link around it (None: no link)."""
    formats: list[int] = []
    links: list[int | None] = []
    known: dict[Any, int] = {}
    for run, group in groupby(parts, key=lambda part: part.run):
        same_run = list(group)
        properties, link = run.find(RUN_STYLE), same_run[0].link
        key = (id(link), None if properties is None else etree.tostring(properties))
        length = sum(len(part.text) for part in same_run)
        formats += [known.setdefault(key, len(known))] * length
        links += [None if link is None else id(link)] * length
    return formats, links
