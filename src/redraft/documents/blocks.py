"""The text of a document in blocks (paragraphs, headings, list items, table cells), and the changes of each block."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from redraft.errors import RedraftError
from redraft.plan.edits import Edit

BlockKind = Literal["heading", "paragraph", "list item", "table cell"]
FormattingStyle = Literal["bold", "italic", "underline", "code", "link"]
Format = Literal["docx", "odt", "html", "md", "txt", "pdf"]
ExportFormat = Literal["docx", "odt", "html", "md", "txt"]
Author = Literal["redraft", "editor"]


class DocumentError(RedraftError, ValueError):
    """A document that cannot be read or written, or that exceeds a limit."""


@dataclass(frozen=True, slots=True)
class Formatting:
    """A span of a block's text with a style. `target`: the address of a link."""

    start: int
    end: int
    style: FormattingStyle
    target: str | None = None


@dataclass(frozen=True, slots=True)
class ListPlace:
    ordered: bool
    number: int  # from 1


@dataclass(frozen=True, slots=True)
class TablePlace:
    """All three count from 0; a cell may have several blocks."""

    row: int
    column: int
    table: int


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of any kind. Line breaks inside it are "\\n", tabs "\\t"."""

    kind: BlockKind
    text: str
    level: int = 0  # of a heading or a list item, from 1
    formatting: tuple[Formatting, ...] = ()
    list_place: ListPlace | None = None
    table_place: TablePlace | None = None


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A document that was read. `data` is the file itself; None: there is no file, only blocks."""

    name: str
    format: Format
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()  # what was left out or is kept as it is, in words
    data: bytes | None = None

    @property
    def text(self) -> str:
        return "\n\n".join(block.text for block in self.blocks)


@dataclass(frozen=True, slots=True)
class JudgedEdit:
    """An edit and what became of it: the status of its verdict, or None if it was not judged."""

    edit: Edit
    status: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SentenceChange:
    """A sentence with the white space before it, and its new text."""

    space: str
    source: str
    text: str
    edits: tuple[JudgedEdit, ...] = ()
    reviewed: bool = False
    by: Author = "redraft"  # who wrote `text`
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockChange:
    """The sentences of a block. Joining `space + source` of all, and `tail`, gives the text of the block."""

    sentences: tuple[SentenceChange, ...] = ()
    tail: str = ""

    @property
    def source(self) -> str:
        return "".join(one.space + one.source for one in self.sentences) + self.tail

    @property
    def text(self) -> str:
        return "".join(one.space + one.text for one in self.sentences) + self.tail


def block_to_json(block: Block) -> dict[str, Any]:
    """The block as the service and its clients write it."""
    obj: dict[str, Any] = {"kind": block.kind, "level": block.level, "text": block.text}
    obj["formatting"] = [
        {"start": one.start, "end": one.end, "style": one.style, **({"target": one.target} if one.target else {})}
        for one in block.formatting
    ]
    if block.table_place is not None:
        obj["table"] = asdict(block.table_place)
    if block.list_place is not None:
        obj["list"] = asdict(block.list_place)
    return obj
