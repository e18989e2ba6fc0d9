"""Markdown files: their text in blocks, changes in place, and new files made from blocks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from markdown_it import MarkdownIt
from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

from redraft.documents.block_groups import formatted_stretches, link_target, table_of, tables_and_blocks
from redraft.documents.blocks import Block, DocumentError, ListPlace, TablePlace
from redraft.documents.markdown_inline import Character, read_inline
from redraft.documents.revisions import Revision
from redraft.documents.source_items import Item, RevisedSource, SourceBlock, revised_source
from redraft.documents.text_encoding import decoded_text

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_UNDERLINE = re.compile(r"[ \t]*(?:\r\n|\r|\n)[> \t]*(?:=+|-+)[ \t]*(?=[\r\n]|\Z)")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_LEFT_OUT = {"fence": "code blocks", "code_block": "code blocks", "html_block": "HTML blocks"}
# Characters with a meaning inside a line, and what starts a heading, list, quotation or rule at its beginning.
_SPECIAL = re.compile(r"[\\`*_\[\]<>~|]|&(?=#?\w+;)|!(?=\[)")
_ANY_SIGN = re.compile(r"[!-/:-@\[-`{-~]")
_AT_START = re.compile(r"(?:[#>=+-]|\d{1,9}(?=[.)]))")
# How a block is written: the signs that are escaped, and whether formatting, links and pictures stay.
_WRITING_STYLES = ((_SPECIAL, True), (_ANY_SIGN, True), (_ANY_SIGN, False))
_MAX_NESTING = 20  # of lists and quotations; deeper ones are text for markdown-it


@dataclass(frozen=True, slots=True)
class MarkdownText:
    source: str
    encoding: str
    blocks: tuple[SourceBlock, ...]
    notes: tuple[str, ...]


def read_markdown(data: bytes) -> MarkdownText:
    source, encoding = decoded_text(data)
    blocks, left_out = _read(source)
    notes = [f"not changed: {what} ({count})" for what, count in sorted(left_out.items())]
    return MarkdownText(source, encoding, tuple(blocks), tuple(notes))


def revised_markdown(data: bytes, revisions: Sequence[Revision]) -> bytes:
    """Each block with as few escapes as give its new text when it is read again; without marks if these prevent it."""
    text = read_markdown(data)
    styles = [0] * len(revisions)
    while True:
        new = revised_source(text.source, text.blocks, revisions, partial(_syntax, text.blocks, styles))
        wrong = _wrong_blocks(new, revisions)
        if not wrong:
            return new.text.encode(text.encoding)
        if any(styles[number] == len(_WRITING_STYLES) - 1 for number in wrong):
            raise DocumentError(
                f"the new text of blocks[{wrong[0]}] cannot be written as Markdown.",
                "Leave out its special characters, or export another format.",
            )
        for number in wrong:
            styles[number] += 1


def _syntax(blocks: Sequence[SourceBlock], styles: Sequence[int], number: int) -> _MarkdownSyntax:
    return _MarkdownSyntax(blocks[number].block, *_WRITING_STYLES[styles[number]])


def _wrong_blocks(new: RevisedSource, revisions: Sequence[Revision]) -> list[int]:
    """The blocks that are not read again with their new text, and with nothing else."""
    found = sorted((one.start, _words(one.block.text)) for one in _read(new.text)[0])
    starts = [start for start, _ in found]
    wrong = []
    for number, ((start, end), revision) in enumerate(zip(new.places, revisions, strict=True)):
        inside = [text for _, text in found[bisect_left(starts, start) : bisect_right(starts, end)]]
        if inside != [text for text in [_words(revision.text)] if text]:
            wrong.append(number)
    return wrong


def _words(text: str) -> str:
    return " ".join(text.split())


def _parser() -> MarkdownIt:
    # text_join would hide which characters were escaped.
    parser = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    return parser.enable(["table", "strikethrough"]).disable("text_join")


def _read(source: str) -> tuple[list[SourceBlock], Counter[str]]:
    reader = _Reader(source)
    front = _FRONT_MATTER.match(source)
    body = source
    if front:  # as empty lines, so that lines keep their numbers
        body = "\n" * (front.group().count("\n")) + source[front.end() :]
    reader.read(_parser().parse(body))
    return reader.blocks, reader.left_out


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int


class _Reader:
    def __init__(self, source: str) -> None:
        self.source, self.blocks = source, list[SourceBlock]()
        self.left_out: Counter[str] = Counter()
        self._lines = [match.span() for match in _LINE.finditer(source)]
        self._lists: list[_List] = []
        self._heading = 0
        self._table = self._row = self._column = -1
        self._row_line = 0
        self._cells: list[tuple[str, int]] = []  # of the current row, each with its offset

    def read(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            if token.type in ("ordered_list_open", "bullet_list_open"):
                start = token.attrs.get("start", 1)
                self._lists.append(_List(token.type.startswith("ordered"), int(start) - 1))
            elif token.type in ("ordered_list_close", "bullet_list_close"):
                self._lists.pop()
            elif token.type == "list_item_open":
                self._lists[-1].number += 1
            elif token.type in ("heading_open", "heading_close"):
                self._heading = int(token.tag[1]) if token.nesting == 1 else 0
            elif token.type == "table_open":
                self._table, self._row = self._table + 1, -1
            elif token.type == "tr_open":
                self._row, self._column = self._row + 1, -1
                self._row_line = token.map[0] if token.map else self._row_line + 1
                self._read_row()
            elif token.type in ("th_open", "td_open"):
                self._column += 1
            elif token.type == "table_close":
                self._row = -1
            elif token.type == "inline":
                self._read_block(token)
            elif token.type in _LEFT_OUT:
                self.left_out[_LEFT_OUT[token.type]] += 1

    def _read_block(self, token: Token) -> None:
        place = None
        if self._row >= 0:
            place = TablePlace(self._row, self._column, self._table)
            start, characters = self._cell(token.content)
        else:
            start, characters = self._paragraph(token)
        items = read_inline(token, characters) if characters is not None else None
        if items is None:
            self.left_out["paragraphs in an unusual notation"] += bool(token.content)
            return
        inline, text, formatting = items
        if not text.strip():
            return
        inline += self._underline(start + sum(len(item.raw) for item in inline))
        list_place = ListPlace(self._lists[-1].ordered, self._lists[-1].number) if self._lists else None
        block = Block("paragraph", text, 0, formatting, list_place, place)
        if place is not None:
            block = Block("table cell", text, 0, formatting, None, place)
        elif self._heading:
            block = Block("heading", text, self._heading, formatting)
        elif list_place is not None:
            block = Block("list item", text, min(len(self._lists), 9), formatting, list_place)
        end = start + sum(len(item.raw) for item in inline)
        if "".join(item.raw for item in inline) != self.source[start:end]:
            self.left_out["paragraphs in an unusual notation"] += 1
            return
        self.blocks.append(SourceBlock(block, start, end, inline))

    def _underline(self, at: int) -> tuple[Item, ...]:
        """Of a heading that has one: without its text, it would be a paragraph."""
        underline = _UNDERLINE.match(self.source, at) if self._heading else None
        return (Item("other", underline.group()),) if underline else ()

    def _paragraph(self, token: Token) -> tuple[int, list[Character] | None]:
        """Each line of the content is the end of a line of the source, without white space and closing marks."""
        if token.map is None:
            return 0, None
        start, before = 0, 0
        characters: list[Character] = []
        for offset, line in enumerate(token.content.split("\n")):
            line_start, line_end = self._lines[token.map[0] + offset]
            source = self.source[line_start:line_end].rstrip()
            if self._heading and not source.endswith(line.rstrip()):
                source = _CLOSING_MARKS.sub("", source).rstrip()
            at = line_start + len(source) - len(line.rstrip())
            if not source.endswith(line.rstrip()) or at < line_start:
                return 0, None
            if offset:
                characters.append(Character("\n", self.source[before:at]))
            else:
                start = at
            characters += [Character(one, one) for one in self.source[at : at + len(line)]]
            if self.source[at : at + len(line)] != line:
                return 0, None
            before = at + len(line)
        return start, characters

    def _read_row(self) -> None:
        """The cells of the current row, each with its offset in the source."""
        line_start, line_end = self._lines[self._row_line]
        line = self.source[line_start:line_end].rstrip()
        cells = escapedSplit(line.strip())
        ends = [match.end() for match in re.finditer(r"(?<!\\)\|", line)]
        if line.lstrip().startswith("|"):
            cells = cells[1:]
        else:
            ends = [0, *ends]
        self._cells = [(cell, line_start + end) for cell, end in zip(cells, ends, strict=False)]

    def _cell(self, content: str) -> tuple[int, list[Character] | None]:
        if not 0 <= self._column < len(self._cells) or self._cells[self._column][0].strip() != content:
            return 0, None
        at = self._cells[self._column][1]
        while self.source[at : at + 1] in (" ", "\t"):
            at += 1
        start = at
        characters = []
        for character in content:
            raw = "\\|" if character == "|" and self.source.startswith("\\|", at) else character
            characters.append(Character(character, raw))
            at += len(raw)
        return start, characters


@dataclass(frozen=True, slots=True)
class _MarkdownSyntax:
    block: Block
    escapes: re.Pattern[str]
    with_marks: bool

    def write(self, items: Sequence[Item]) -> str:
        if not self.with_marks:
            return self._escaped("".join(item.text for item in items), is_first=True).strip()
        parts: list[str] = []
        code_span: int | None = None  # in which nothing is escaped
        for item in _with_space_outside(items):
            if item.kind == "open" and item.raw.startswith("`"):
                code_span = item.span
            elif item.kind == "close" and item.span == code_span:
                code_span = None
            if item.change != "added":
                parts.append(item.raw)
            elif code_span is not None:
                parts.append(item.text)
            else:
                parts.append(self._escaped(item.text, is_first=not "".join(parts).strip()))
        return "".join(parts)

    def _escaped(self, text: str, *, is_first: bool) -> str:
        written = self.escapes.sub(lambda sign: f"\\{sign.group()}", text)
        if is_first and self.block.kind != "table cell" and self.escapes is _SPECIAL:
            written = escaped_start(written)
        return written.replace("\n", "<br>")


def escaped_start(text: str) -> str:
    """The start of a line, escaped if it would start a list, heading, quotation or rule."""
    mark = _AT_START.match(text)
    if mark is None:
        return text
    at = mark.end() if mark.group().isdecimal() else 0
    return f"{text[:at]}\\{text[at:]}"


def _with_space_outside(items: Sequence[Item]) -> list[Item]:
    """Marks must touch a word: white space moves from their inner to their outer side."""
    found = list(items)
    for _ in range(len(found)):
        moved = False
        for at in range(len(found) - 1):
            first, second = found[at], found[at + 1]
            opens = first.kind == "open" and not first.is_link and _is_space(second)
            closes = second.kind == "close" and not second.is_link and _is_space(first)
            if opens or closes:
                found[at], found[at + 1] = second, first
                moved = True
        if not moved:
            break
    return found


def _is_space(item: Item) -> bool:
    return item.kind == "text" and item.text.isspace()


def new_markdown(blocks: Sequence[Block]) -> bytes:
    parts: list[str] = []
    before: Block | None = None
    for group in tables_and_blocks(blocks):
        block = group if isinstance(group, Block) else None
        together = block is not None and before is not None and block.kind == before.kind == "list item"
        if parts and not together:
            parts.append("\n")
        if block is None:
            assert isinstance(group, list)
            parts += _new_table(group)
        else:
            parts.append(_new_block(block))
        before = block
    return "".join(parts).encode("utf-8")


def _new_block(block: Block) -> str:
    text = _formatted(block)
    if block.kind == "heading":
        return f"{'#' * min(max(block.level, 1), 6)} {text}\n"
    if block.kind == "list item" and block.list_place is not None:
        mark = f"{max(block.list_place.number, 0)}." if block.list_place.ordered else "-"
        return f"{'    ' * (min(max(block.level, 1), 9) - 1)}{mark} {escaped_start(text)}\n"
    return f"{escaped_start(text)}\n"


def _new_table(blocks: Sequence[Block]) -> Iterator[str]:
    for number, row in enumerate(table_of(blocks)):
        yield "| " + " | ".join("<br>".join(map(_formatted, cell)) for cell in row) + " |\n"
        if number == 0:
            yield "|" + " --- |" * len(row) + "\n"


def _formatted(block: Block) -> str:
    parts = []
    marks = {"bold": "**", "italic": "*"}
    for text, formatting in formatted_stretches(block):
        styles = {one.style for one in formatting}
        bare = text.strip()
        before, after = (text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]) if bare else (text, "")
        written = bare
        if "code" in styles and "`" not in bare and bare:
            written = f"`{bare}`"
        elif bare:
            written = _SPECIAL.sub(lambda sign: f"\\{sign.group()}", bare).replace("\n", "<br>")
        for style, mark in marks.items():
            if style in styles and bare:
                written = f"{mark}{written}{mark}"
        if (target := link_target(formatting)) and bare:
            written = f"[{written}](<{target.replace('<', '%3C').replace('>', '%3E')}>)"
        parts.append(before + written + after)
    return "".join(parts).replace("\n", "<br>").replace("\t", " ").strip()
