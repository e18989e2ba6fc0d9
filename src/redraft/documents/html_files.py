"""HTML files: their text in blocks, changes in place (with ins and del), and new files made from blocks."""

from __future__ import annotations

import codecs
import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser

from redraft.documents.block_groups import formatted_stretches, link_target, table_of, tables_and_blocks
from redraft.documents.blocks import Block, DocumentError, FormattingStyle, ListPlace, TablePlace
from redraft.documents.revisions import Revision
from redraft.documents.source_items import Item, ItemBuilder, SourceBlock, revised_source, without_revealed_space
from redraft.documents.text_encoding import decoded_text

MAX_DEPTH = 200  # of elements
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_STYLES: dict[str, FormattingStyle] = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "code": "code", "kbd": "code",
    "samp": "code", "tt": "code", "a": "link",
}  # fmt: skip
_INLINE = {
    *_STYLES, "abbr", "acronym", "bdi", "bdo", "big", "cite", "data", "dfn", "font", "ins", "label", "mark", "nobr",
    "q", "s", "small", "span", "strike", "sub", "sup", "time", "var",
}  # fmt: skip
# Elements whose content is no text of the document, or that only a browser can show.
_SKIPPED = {
    "head": "", "script": "scripts", "style": "", "template": "", "noscript": "", "title": "",
    "svg": "pictures", "math": "formulas", "iframe": "embedded pages", "object": "embedded objects", "video": "videos",
    "audio": "sounds", "canvas": "pictures", "select": "form fields", "textarea": "form fields",
    "button": "form fields", "pre": "preformatted texts", "del": "deleted texts", "ruby": "texts with reading aids",
}  # fmt: skip
_VOID = {"area", "base", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_VOID_BLOCKS = {"hr"}
_CLOSED_BY = {  # elements whose end tag may be missing: the elements that end them, up to the ones that contain them
    "p": (("p",), ()),
    "li": (("p", "li"), ("ul", "ol", "menu")),
    "dt": (("p", "dt", "dd"), ("dl",)),
    "dd": (("p", "dt", "dd"), ("dl",)),
    "td": (("p", "td", "th"), ("table",)),
    "th": (("p", "td", "th"), ("table",)),
    "tr": (("p", "td", "th", "tr"), ("table",)),
}
_COUNTED_BY = {"tr": "table", "td": "tr", "th": "tr"}
_SPACE = re.compile(r"[ \t\n\r\f]+")
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE)
_ITALIC = re.compile(r"font-style\s*:\s*italic", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The source of a page, and its blocks. `encoding`: of the file."""

    source: str
    encoding: str
    blocks: tuple[SourceBlock, ...]
    notes: tuple[str, ...]


def read_html(data: bytes) -> HtmlText:
    source, encoding = _decoded(data)
    reader = _Reader(source)
    reader.read()
    notes = [f"not changed: {what} ({count})" for what, count in sorted(reader.skipped.items()) if what]
    return HtmlText(source, encoding, tuple(reader.blocks), tuple(notes))


def revised_html(data: bytes, revisions: Sequence[Revision], *, tracked: bool) -> bytes:
    page = read_html(data)
    text = revised_source(page.source, page.blocks, revisions, lambda _: _HtmlSyntax(tracked), tracked=tracked).text
    return text.encode(page.encoding, "xmlcharrefreplace")


def _decoded(data: bytes) -> tuple[str, str]:
    """The encoding is that of a byte order mark, else the declared one, else UTF-8."""
    declared = _CHARSET.search(data[:4096])
    if declared is None or data.startswith(codecs.BOM_UTF8):
        return decoded_text(data)
    name = declared[1].decode("ascii", "replace")
    try:
        encoding = codecs.lookup(name)
        if not encoding._is_text_encoding:
            raise LookupError
        return data.decode(encoding.name), encoding.name
    except (LookupError, UnicodeError, ValueError):
        raise DocumentError(
            f"the page declares the encoding {name!r}, and its bytes do not fit it.", "Save it as UTF-8."
        ) from None


@dataclass(slots=True)
class _Element:
    tag: str
    number: int = 0  # ol, ul: of the last item; table: of its rows; tr: of its columns
    table: int = -1


class _Reader(HTMLParser):
    """Collects blocks: text and inline elements between the boundaries of other elements."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=False)
        self.source, self.blocks = source, list[SourceBlock]()
        self.skipped: Counter[str] = Counter()
        self._line_starts = [0, *(at + 1 for at, character in enumerate(source) if character == "\n")]
        self._around: list[_Element] = []  # elements that are not inline
        self._inline: list[str] = []  # tags of the open spans of the current block
        self._builder = ItemBuilder(collapses=True)
        self._start = 0  # of the current block
        self._skip: list[str] = []  # the element that is skipped, and elements of the same name in it
        self._skip_start = 0
        self._tables = 0

    def read(self) -> None:
        try:
            self.feed(self.source)
            self.close()
        except AssertionError as error:  # of the standard library, about damaged declarations
            raise DocumentError(f"the page is damaged: {error}.", "Save it again in a browser or editor.") from None
        if self._skip:
            self._end_of_skipped(len(self.source))
        self._boundary(len(self.source), len(self.source))

    # What the parser of the standard library calls.

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        at, raw = self._position(), self.get_starttag_text() or ""
        if self._skip:
            if tag == self._skip[0]:
                self._skip.append(tag)
        elif tag in _SKIPPED:
            self._skip, self._skip_start = [tag], at
        elif tag == "br":
            self._builder.line_break(raw)
        elif tag in _INLINE or ":" in tag or "-" in tag:
            self._open_inline(tag, dict(attrs), raw)
        elif tag in _VOID and tag not in _VOID_BLOCKS:
            self._builder.other(raw)
        else:
            self._boundary(at, at + len(raw))
            if tag not in _VOID_BLOCKS:
                self._open_element(tag, dict(attrs))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag in _SKIPPED or tag in self._inline[-1:] or ":" in tag:
            self._close(tag, "", self._position() + len(self.get_starttag_text() or ""))

    def handle_endtag(self, tag: str) -> None:
        at = self._position()
        end = self.source.find(">", at) + 1 or len(self.source)
        self._close(tag, self.source[at:end], end)

    def handle_data(self, data: str) -> None:
        if self._skip:
            return
        at = 0
        for space in _SPACE.finditer(data):
            self._builder.text(data[at : space.start()], data[at : space.start()])
            self._builder.space(space.group())
            at = space.end()
        self._builder.text(data[at:], data[at:])

    def handle_entityref(self, name: str) -> None:
        self._reference(f"&{name}")

    def handle_charref(self, name: str) -> None:
        self._reference(f"&#{name}")

    def handle_comment(self, data: str) -> None:
        self._other()

    def handle_decl(self, decl: str) -> None:
        self._other()

    def handle_pi(self, data: str) -> None:
        self._other()

    def unknown_decl(self, data: str) -> None:
        self._other()

    # What they do.

    def _reference(self, name: str) -> None:
        if self._skip:
            return
        end = self._position() + len(name)
        raw = name + (";" if self.source[end : end + 1] == ";" else "")
        text = html.unescape(raw)
        if _SPACE.fullmatch(text):
            self._builder.space(raw)
        else:
            self._builder.text(raw, text)

    def _other(self) -> None:
        """A comment or declaration."""
        at = self._position()
        if self._skip:
            return
        for start, end in (("<!--", "-->"), ("<![", "]>"), ("<!", ">"), ("<?", ">"), ("</", ">")):
            if self.source.startswith(start, at):
                found = self.source.find(end, at + 2)
                self._builder.other(self.source[at : found + len(end)] if found >= 0 else self.source[at:])
                return

    def _close(self, tag: str, raw: str, end: int) -> None:
        at = end - len(raw)
        if self._skip:
            if tag == self._skip[0]:
                self._skip.pop()
                if not self._skip:
                    self._skip = [tag]
                    self._end_of_skipped(end)
        elif tag in self._inline:
            while self._inline.pop() != tag:
                self._builder.close("")
            self._builder.close(raw)
        elif any(one.tag == tag for one in self._around):
            self._boundary(at, end)
            while self._around.pop().tag != tag:
                pass
        else:
            self._builder.other(raw)

    def _end_of_skipped(self, end: int) -> None:
        (tag, *_), raw = self._skip, self.source[self._skip_start : end]
        self._skip = []
        self.skipped[_SKIPPED[tag]] += 1
        if tag == "pre":
            self._boundary(self._skip_start, end)
        else:
            self._builder.other(raw)

    def _open_inline(self, tag: str, attributes: dict[str, str | None], raw: str) -> None:
        self._check_depth()
        style, look = _STYLES.get(tag), attributes.get("style") or ""
        target = attributes.get("href") if tag == "a" else None
        if tag == "a" and not target:
            style = None
        if style is None:
            style = "bold" if _BOLD.search(look) else "italic" if _ITALIC.search(look) else None
        self._builder.open(raw, style, target)
        self._inline.append(tag)

    def _open_element(self, tag: str, attributes: dict[str, str | None]) -> None:
        ended, inside = _CLOSED_BY.get(tag, (("p",), ()))
        for number in range(len(self._around) - 1, -1, -1):
            if self._around[number].tag in inside:
                break
            if self._around[number].tag in ended:
                del self._around[number:]
        self._check_depth()
        self._around.append(_Element(tag))
        if tag == "table":
            self._around[-1].table, self._tables = self._tables, self._tables + 1
        elif tag == "ol":
            self._around[-1].number = _number(attributes.get("start"), 1) - 1
        elif tag == "li" and (around := self._nearest("ol", "ul", "menu")):
            around.number = _number(attributes.get("value"), around.number + 1)
        elif tag in _COUNTED_BY and (around := self._nearest(_COUNTED_BY[tag])):
            around.number += 1

    def _check_depth(self) -> None:
        if len(self._around) + len(self._inline) > MAX_DEPTH:
            raise DocumentError(f"the page is nested deeper than {MAX_DEPTH} elements.", "Simplify its structure.")

    def _nearest(self, *tags: str) -> _Element | None:
        return next((one for one in reversed(self._around) if one.tag in tags), None)

    def _boundary(self, at: int, end: int) -> None:
        """The current block ends at `at`, and the next one starts at `end`."""
        items, text, formatting = self._builder.finish()
        if text.strip() and "".join(item.raw for item in items) != self.source[self._start : at]:
            self.skipped["damaged parts"] += 1  # the parser has repaired it, so changes would have no exact place
        elif text.strip():
            kind = self._kind(text)
            block = Block(kind.kind, text, kind.level, formatting, kind.list_place, kind.table_place)
            self.blocks.append(SourceBlock(block, self._start, at, items))
        self._builder, self._inline, self._start = ItemBuilder(collapses=True), [], end

    def _kind(self, text: str) -> Block:
        """An unformatted block of the kind that the elements around it make it."""
        level = sum(one.tag in ("ul", "ol", "menu") for one in self._around)
        tags = [one.tag for one in self._around]
        list_place = None
        if "li" in tags and (around := self._nearest("ol", "ul", "menu")):
            list_place = ListPlace(around.tag == "ol", max(around.number, 1))
        if self._nearest("td", "th") and (table := self._nearest("table")) and (row := self._nearest("tr")):
            place = TablePlace(max(table.number - 1, 0), max(row.number - 1, 0), table.table)
            return Block("table cell", text, 0, (), list_place, place)
        heading = next((_HEADINGS[tag] for tag in reversed(tags) if tag in _HEADINGS), 0)
        if heading:
            return Block("heading", text, heading)
        return Block("list item", text, min(level, 9), (), list_place) if list_place else Block("paragraph", text)

    def _position(self) -> int:
        line, column = self.getpos()
        return self._line_starts[line - 1] + column


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,6}", text.strip()) else otherwise


@dataclass(frozen=True, slots=True)
class _HtmlSyntax:
    tracked: bool

    def write(self, items: Sequence[Item]) -> str:
        parts: list[str] = []
        before = "kept"
        tags = {"deleted": "del", "added": "ins"} if self.tracked else {}
        for item in without_revealed_space(items):
            change = item.change if item.kind == "text" else "kept"
            if change != before:
                parts += [f"</{tags[before]}>" if before in tags else "", f"<{tags[change]}>" if change in tags else ""]
                before = change
            parts.append(_escaped(item.text) if change == "added" else item.raw)
        return "".join([*parts, f"</{tags[before]}>" if before in tags else ""])


def _escaped(text: str) -> str:
    return html.escape(text, quote=False).replace("\n", "<br>")


def new_html(blocks: Sequence[Block], title: str | None) -> bytes:
    """A page with the blocks, and no scripts, styles or links to other files."""
    name = html.escape(title or "Document")
    head = f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{name}</title>\n</head>\n<body>\n'
    return (head + "".join(_new_body(blocks)) + "</body>\n</html>\n").encode("utf-8")


def _new_body(blocks: Sequence[Block]) -> Iterator[str]:
    lists: list[str] = []  # tags of the open lists
    for group in tables_and_blocks(blocks):
        block = group if isinstance(group, Block) else None
        item = block.list_place if block is not None and block.kind == "list item" else None
        depth = min(max(block.level, 1), 9) if block is not None and item is not None else 0
        tag = "ol" if item is not None and item.ordered else "ul"
        restarts = item is not None and item.ordered and item.number == 1 and len(lists) == depth
        while len(lists) > depth or (lists and len(lists) == depth and (lists[-1] != tag or restarts)):
            yield f"</{lists.pop()}>\n"
            restarts = False
        while len(lists) < depth:
            start = f' start="{item.number}"' if item is not None and item.ordered and item.number != 1 else ""
            lists.append(tag)
            yield f"<{tag}{start if len(lists) == depth else ''}>\n"
        if block is None:
            assert isinstance(group, list)
            rows = table_of(group)
            cells = ("".join(f"<td>{_paragraphs(cell)}</td>" for cell in row) for row in rows)
            yield "<table>\n" + "".join(f"<tr>{row}</tr>\n" for row in cells) + "</table>\n"
        else:
            level = min(max(block.level, 1), 6)
            wrap = f"h{level}" if block.kind == "heading" else "p"
            # Without an end tag, the next list can be inside the item.
            yield f"<li>{_formatted(block)}\n" if item is not None else f"<{wrap}>{_formatted(block)}</{wrap}>\n"
    yield from (f"</{tag}>\n" for tag in reversed(lists))


def _paragraphs(blocks: Sequence[Block]) -> str:
    texts = [_formatted(block) for block in blocks]
    return texts[0] if len(texts) == 1 else "".join(f"<p>{text}</p>" for text in texts)


def _with_visible_spaces(text: str) -> str:
    """With a no-break space for each white space that a browser would not show."""
    padded = f"\n{text}\n"
    return "".join(
        "\u00a0" if one in " \t" and (before in " \t\n" or after == "\n") else " " if one == "\t" else one
        for before, one, after in zip(padded, text, padded[2:], strict=False)
    )


def _formatted(block: Block) -> str:
    tags = {"bold": "b", "italic": "i", "underline": "u", "code": "code"}
    parts = []
    for text, formatting in formatted_stretches(replace(block, text=_with_visible_spaces(block.text))):
        written = _escaped(text)
        for one in formatting:
            if one.style in tags:
                written = f"<{tags[one.style]}>{written}</{tags[one.style]}>"
        target = link_target(formatting)
        parts.append(written if target is None else f'<a href="{html.escape(target)}">{written}</a>')
    return "".join(parts)
