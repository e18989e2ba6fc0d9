"""OpenDocument text files (.odt): their text in blocks, changes in place, and new files made from blocks."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from redraft.documents.archives import checked_archive, damaged, read_entry
from redraft.documents.block_groups import formatted_stretches, link_target, table_of, tables_and_blocks
from redraft.documents.blocks import Block, FormattingStyle, ListPlace, TablePlace
from redraft.documents.odt_template import MANIFEST, META, MIME_TYPE, STYLES, content_xml
from redraft.documents.revisions import Revision
from redraft.documents.source_items import Item, ItemBuilder, SourceBlock, revised_source, without_revealed_space

CONTENT = "content.xml"
_MAX_REPEATED = 1_000  # spaces of one element, columns of one cell
_SPACE = re.compile(r"[ \t\r\n]+")
_CELLS = ("table:table-cell", "table:covered-table-cell")
_PARAGRAPHS = ("text:p", "text:h")
_INLINE = {"text:span", "text:a", "text:meta", "text:meta-field", "text:ruby", "text:ruby-base"}
# Elements whose content is not text of the document, each with its name in the notes; "": not worth one.
_SKIPPED = {
    "text:tracked-changes": "deleted texts of tracked changes", "office:annotation": "comments",
    "text:note": "footnotes and endnotes", "draw:frame": "pictures and text boxes", "draw:g": "drawings",
    "draw:custom-shape": "drawings", "draw:line": "drawings", "draw:rect": "drawings", "text:ruby-text": "",
    "text:table-of-content": "tables of contents", "text:alphabetical-index": "indexes", "text:bibliography": "indexes",
    "text:illustration-index": "indexes", "text:table-index": "indexes", "text:user-index": "indexes",
    "text:object-index": "indexes", "office:forms": "forms", "text:sequence-decls": "", "text:variable-decls": "",
    "text:user-field-decls": "",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OdtText:
    """`content.xml` of a document, and its blocks."""

    source: str
    blocks: tuple[SourceBlock, ...]
    notes: tuple[str, ...]


def read_odt(data: bytes) -> OdtText:
    archive = checked_archive(data)
    content, styles = read_entry(archive, CONTENT), b""
    if "styles.xml" in archive.namelist():
        styles = read_entry(archive, "styles.xml")
    try:
        source = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(error) from None
    reader = _Reader(source, _Styles.of(styles, content))
    reader.read()
    notes = [f"not changed: {what} ({count})" for what, count in sorted(reader.skipped.items()) if what]
    return OdtText(source, tuple(reader.blocks), tuple(notes))


def revised_odt(data: bytes, revisions: Sequence[Revision]) -> bytes:
    """The same archive with a new `content.xml`."""
    document = read_odt(data)
    content = revised_source(document.source, document.blocks, revisions, lambda _: OdtSyntax()).text
    archive, file = checked_archive(data), io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as copy:
        for entry in archive.infolist():
            new = content.encode("utf-8") if entry.filename == CONTENT else read_entry(archive, entry.filename)
            copy.writestr(entry, new)
    return file.getvalue()


class OdtSyntax:
    def write(self, items: Sequence[Item]) -> str:
        items = without_revealed_space(items)
        parts: list[str] = []
        before = after = "\n"
        followers = []  # the character after each item
        for item in reversed(items):
            followers.append(after)
            after = item.text[:1] or after
        for item, after in zip(items, reversed(followers), strict=True):
            if item.kind == "text" and (item.change == "added" or item.raw.isspace()):
                parts.append(written_text(item.text, before, after))
            else:
                parts.append(item.raw)
            before = item.text[-1:] or before
        return "".join(parts)


def written_text(text: str, before: str, after: str) -> str:
    """Text between two characters. Readers drop white space at line ends and after white space, but not text:s."""
    parts = []
    padded = f"{before}{text}{after}"
    for previous, character, following in zip(padded, text, padded[2:], strict=False):
        if character == " ":
            parts.append("<text:s/>" if previous in " \n\t" or following == "\n" else " ")
        else:
            parts.append({"\n": "<text:line-break/>", "\t": "<text:tab/>"}.get(character, escape(character)))
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class _Styles:
    """What the styles of a document say about text and lists."""

    text: dict[str, FormattingStyle]
    ordered: dict[tuple[str, int], bool]  # by name of the list style and level

    @classmethod
    def of(cls, *files: bytes) -> _Styles:
        text: dict[str, FormattingStyle] = {}
        ordered: dict[tuple[str, int], bool] = {}
        around: list[tuple[str, str]] = []

        def start(tag: str, attributes: dict[str, str]) -> None:
            around.append((tag, attributes.get("style:name", "")))
            name = next((name for one, name in reversed(around) if one in ("style:style", "text:list-style")), "")
            if tag in ("text:list-level-style-number", "text:list-level-style-bullet"):
                ordered[name, _whole(attributes.get("text:level"), 1)] = tag.endswith("number")
            elif tag == "style:text-properties" and any(one == "style:style" for one, _ in around):
                if attributes.get("fo:font-weight", "") in ("bold", "600", "700", "800", "900"):
                    text[name] = "bold"
                elif attributes.get("fo:font-style") == "italic":
                    text[name] = "italic"
                elif attributes.get("style:text-underline-style", "none") != "none":
                    text[name] = "underline"
                elif "mono" in (attributes.get("style:font-name", "") + attributes.get("fo:font-family", "")).lower():
                    text[name] = "code"

        for data in filter(None, files):
            parser = expat.ParserCreate()
            parser.StartElementHandler = start
            parser.EndElementHandler = lambda _: around.pop()
            try:
                parser.Parse(data, True)
            except expat.ExpatError as error:
                raise damaged(error) from None
        return cls(text, ordered)


@dataclass(slots=True)
class _Element:
    tag: str
    number: int = 0  # list: of its items; table: of its rows; row: of its columns
    index: int = -1  # of a table
    style: str = ""  # of a list


@dataclass(frozen=True, slots=True)
class _Event:
    kind: str  # start, end, text, other
    at: int  # in bytes
    name: str
    attributes: dict[str, str]


class _Reader:
    """Collects the paragraphs. The source of an event reaches from its place to that of the next one."""

    def __init__(self, source: str, styles: _Styles) -> None:
        self.source, self._styles = source, styles
        self.blocks: list[SourceBlock] = []
        self.skipped: Counter[str] = Counter()
        self._around: list[_Element] = []
        self._builder: ItemBuilder | None = None  # of the current paragraph
        self._paragraph: tuple[str, int, int] = ("", 0, 0)  # its tag, heading level and start
        self._closing: list[bool] = []  # for each element in the paragraph: whether it opened a span
        self._skip = 0  # depth inside a skipped element
        self._tables = 0

    def read(self) -> None:
        data = self.source.encode("utf-8")
        events = _events(data)
        at = 0  # in characters
        for number, event in enumerate(events):
            next_byte = events[number + 1].at if number + 1 < len(events) else len(data)
            raw = data[event.at : next_byte].decode("utf-8")
            self._read_event(event, raw, at)
            at += len(raw)

    def _read_event(self, event: _Event, raw: str, at: int) -> None:
        if self._skip:
            self._skip += {"start": 1, "end": -1}.get(event.kind, 0)
            if self._builder is not None:
                self._builder.other(raw)
        elif event.kind == "start" and event.name in _SKIPPED:
            self._skip = 1
            self.skipped[_SKIPPED[event.name]] += 1
            if self._builder is not None:
                self._builder.other(raw)
        elif self._builder is not None:
            self._read_inline(self._builder, event, raw, at)
        elif event.kind == "start":
            self._open(event, at + len(raw))
        elif event.kind == "end":
            self._around.pop()

    def _open(self, event: _Event, end: int) -> None:
        if event.name in _PARAGRAPHS:
            level = _whole(event.attributes.get("text:outline-level"), 1) if event.name == "text:h" else 0
            self._builder, self._paragraph = ItemBuilder(collapses=True), (event.name, level, end)
            return
        element = _Element(event.name)
        self._around.append(element)
        if event.name == "table:table":
            element.index, self._tables = self._tables, self._tables + 1
        elif event.name == "text:list":
            outer = self._nearest("text:list")
            element.style = event.attributes.get("text:style-name") or (outer.style if outer else "")
        elif event.name == "text:list-item" and (around := self._nearest("text:list")):
            around.number = _whole(event.attributes.get("text:start-value"), around.number + 1)
        elif event.name == "table:table-row" and (around := self._nearest("table:table")):
            around.number += 1
        elif event.name in _CELLS and (around := self._nearest("table:table-row")):
            element.number = around.number
            repeated = _whole(event.attributes.get("table:number-columns-repeated"), 1)
            around.number += min(repeated, _MAX_REPEATED)

    def _nearest(self, tag: str) -> _Element | None:
        """The innermost element with the tag around the one that was opened last."""
        return next((one for one in reversed(self._around[:-1]) if one.tag == tag), None)

    def _read_inline(self, builder: ItemBuilder, event: _Event, raw: str, at: int) -> None:
        if event.kind == "text":
            self._read_text(builder, event.name, raw)
        elif event.kind == "start":
            self._closing.append(event.name in _INLINE)
            if event.name in _INLINE:
                target = event.attributes.get("xlink:href") if event.name == "text:a" else None
                style = self._styles.text.get(event.attributes.get("text:style-name", ""))
                builder.open(raw, "link" if target else style, target)
            elif event.name == "text:s":
                count = min(_whole(event.attributes.get("text:c"), 1), _MAX_REPEATED)
                for _ in range(count):
                    builder.text("<text:s/>", " ")
            elif event.name == "text:tab":
                builder.text(raw or "<text:tab/>", "\t")
            elif event.name == "text:line-break":
                builder.line_break(raw or "<text:line-break/>")
            else:
                builder.other(raw)
        elif event.kind == "end" and not self._closing:
            self._end_paragraph(builder, at)
        elif event.kind == "end":
            opened = self._closing.pop()
            if opened:
                builder.close(raw)
            elif event.name not in ("text:s", "text:tab", "text:line-break"):
                builder.other(raw)
        else:
            builder.other(raw)

    def _read_text(self, builder: ItemBuilder, text: str, raw: str) -> None:
        if raw != text:  # an entity, or a line break in another form
            builder.space(raw) if _SPACE.fullmatch(text) else builder.text(raw, text)
            return
        at = 0
        for space in _SPACE.finditer(text):
            builder.text(text[at : space.start()], text[at : space.start()])
            builder.space(space.group())
            at = space.end()
        builder.text(text[at:], text[at:])

    def _end_paragraph(self, builder: ItemBuilder, at: int) -> None:
        tag, level, start = self._paragraph
        self._builder = None
        items, text, formatting = builder.finish()
        if not text.strip():
            return
        lists = [one for one in self._around if one.tag == "text:list"]
        list_place = place = None
        if lists and any(one.tag == "text:list-item" for one in self._around):
            ordered = self._styles.ordered.get((lists[-1].style, len(lists)), False)
            list_place = ListPlace(ordered, max(lists[-1].number, 1))
        tables = [one for one in self._around if one.tag == "table:table"]
        cells = [one for one in self._around if one.tag == "table:table-cell"]
        if tables and cells:
            place = TablePlace(max(tables[-1].number - 1, 0), cells[-1].number, tables[-1].index)
        block = Block("paragraph", text, 0, formatting, list_place, place)
        if place is not None:
            block = Block("table cell", text, 0, formatting, list_place, place)
        elif tag == "text:h":
            block = Block("heading", text, min(max(level, 1), 9), formatting)
        elif list_place is not None:
            block = Block("list item", text, min(len(lists), 9), formatting, list_place)
        self.blocks.append(SourceBlock(block, start, at, items))


def _events(data: bytes) -> list[_Event]:
    found: list[_Event] = []
    parser = expat.ParserCreate()
    parser.buffer_text = False  # each event is one stretch of the source

    def add(kind: str, name: str = "", attributes: dict[str, str] | None = None) -> None:
        found.append(_Event(kind, parser.CurrentByteIndex, name, attributes or {}))

    parser.StartElementHandler = lambda tag, attributes: add("start", tag, attributes)
    parser.EndElementHandler = lambda tag: add("end", tag)
    parser.CharacterDataHandler = lambda text: add("text", text)
    parser.CommentHandler = lambda _: add("other")
    parser.ProcessingInstructionHandler = lambda *_: add("other")
    parser.StartCdataSectionHandler = parser.EndCdataSectionHandler = lambda: add("other")
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise damaged(error) from None
    return [*([_Event("other", 0, "", {})] if found and found[0].at else []), *found]


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 7 else otherwise


def new_odt(blocks: Sequence[Block], title: str | None, date: datetime) -> bytes:
    body = "".join(_new_body(blocks))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        # First and not compressed, so that programs can recognise the file.
        archive.writestr("mimetype", MIME_TYPE, zipfile.ZIP_STORED)
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr("meta.xml", META.format(title=escape(title or ""), date=date.strftime("%Y-%m-%dT%H:%M:%S")))
        archive.writestr("styles.xml", STYLES)
        archive.writestr(CONTENT, content_xml(body))
    return file.getvalue()


def _new_body(blocks: Sequence[Block]) -> Iterator[str]:
    for group in tables_and_blocks(blocks):
        if not isinstance(group, Block):
            rows = table_of(group)
            yield f'<table:table><table:table-column table:number-columns-repeated="{len(rows[0])}"/>'
            for row in rows:
                cells = ("".join(_paragraph(block) for block in cell) or "<text:p/>" for cell in row)
                written = (f'<table:table-cell table:style-name="Cell">{cell}</table:table-cell>' for cell in cells)
                yield f"<table:table-row>{''.join(written)}</table:table-row>"
            yield "</table:table>"
        elif group.kind == "list item" and group.list_place is not None:
            # Each item is a list of its own that states its number: nesting needs no list around it.
            level, style = min(max(group.level, 1), 9), "Numbers" if group.list_place.ordered else "Bullets"
            number = f' text:start-value="{max(group.list_place.number, 1)}"' if group.list_place.ordered else ""
            yield f'<text:list text:style-name="{style}">' + "<text:list-item><text:list>" * (level - 1)
            yield f"<text:list-item{number}>{_paragraph(group)}</text:list-item>"
            yield "</text:list></text:list-item>" * (level - 1) + "</text:list>"
        else:
            yield _paragraph(group)


def _paragraph(block: Block) -> str:
    parts = []
    names = {"bold": "Bold", "italic": "Italic", "underline": "Underline", "code": "Code"}
    at = 0
    for text, formatting in formatted_stretches(block):
        padded = f"\n{block.text}\n"
        written = written_text(text, padded[at], padded[at + len(text) + 1])
        at += len(text)
        for one in formatting:
            if one.style in names:
                written = f'<text:span text:style-name="{names[one.style]}">{written}</text:span>'
        if target := link_target(formatting):
            written = f'<text:a xlink:type="simple" xlink:href={quoteattr(target)}>{written}</text:a>'
        parts.append(written)
    if block.kind == "heading":
        level = min(max(block.level, 1), 9)
        style = f"Heading_20_{level}"
        return f'<text:h text:style-name="{style}" text:outline-level="{level}">{"".join(parts)}</text:h>'
    return f"<text:p>{''.join(parts)}</text:p>"
