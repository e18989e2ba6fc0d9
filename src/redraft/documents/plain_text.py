"""Plain text files: a block for each line, changes in place, and new files made from blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from redraft.documents.block_groups import table_of, tables_and_blocks
from redraft.documents.blocks import Block, ListPlace
from redraft.documents.revisions import Revision
from redraft.documents.source_items import Item, SourceBlock, revised_source
from redraft.documents.text_encoding import decoded_text

_LINE = re.compile(r"[^\r\n\v\f\x85\u2028\u2029]+")
_BULLET = re.compile(r"(\s*)(?:[-–—*•◦▪·‣+]|(\d{1,3})[.)])\s+(?=\S)")


def read_plain_text(data: bytes) -> tuple[str, str, list[SourceBlock]]:
    """The text, its encoding and its blocks."""
    source, encoding = decoded_text(data)
    return source, encoding, list(_blocks(source))


def revised_plain_text(data: bytes, revisions: Sequence[Revision]) -> bytes:
    source, encoding, blocks = read_plain_text(data)
    return revised_source(source, blocks, revisions, lambda _: _PlainSyntax()).text.encode(encoding)


def _blocks(source: str) -> Iterator[SourceBlock]:
    for line in _LINE.finditer(source):
        mark = _BULLET.match(line.group())
        start = line.start() + (mark.end() if mark else len(line.group()) - len(line.group().lstrip()))
        text = source[start : line.end()].rstrip()
        if not text:
            continue
        block = Block("paragraph", text)
        if mark:
            level = min(len(mark[1].expandtabs(4)) // 4 + 1, 9)
            block = Block("list item", text, level, list_place=ListPlace(mark[2] is not None, int(mark[2] or 1)))
        yield SourceBlock(block, start, start + len(text), (Item("text", text, text),))


class _PlainSyntax:
    def write(self, items: Sequence[Item]) -> str:
        return "".join(item.text if item.change == "added" else item.raw for item in items)


def new_plain_text(blocks: Sequence[Block]) -> bytes:
    """Paragraphs with an empty line between them; list items and rows of tables one below the other."""
    parts: list[str] = []
    before: Block | None = None
    for group in tables_and_blocks(blocks):
        block = group if isinstance(group, Block) else None
        together = block is not None and before is not None and block.kind == before.kind == "list item"
        if parts and not together:
            parts.append("\n")
        if block is not None:
            parts.append(f"{_mark(block)}{block.text}\n")
        else:
            assert isinstance(group, list)
            parts += ["\t".join("; ".join(one.text for one in cell) for cell in row) + "\n" for row in table_of(group)]
        before = block
    return "".join(parts).encode("utf-8")


def _mark(block: Block) -> str:
    if block.kind != "list item" or block.list_place is None:
        return ""
    mark = f"{block.list_place.number}." if block.list_place.ordered else "-"
    return f"{'    ' * (max(block.level, 1) - 1)}{mark} "
