"""Blocks of a text format (HTML, Markdown, OpenDocument XML, plain text) as stretches of its source.

A change rewrites only the stretches it is about: all other bytes of the file stay as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from redraft.documents.blocks import Block, Formatting, FormattingStyle
from redraft.documents.format_takeover import Place, places_of_added
from redraft.documents.revisions import Piece, Revision


@dataclass(frozen=True, slots=True)
class Item:
    """A stretch of the source: text, the start or end of a formatted span, or something else, which stays.

    `raw` is the source of the item, `text` the text it stands for.
    """

    kind: Literal["text", "open", "close", "other"]
    raw: str
    text: str = ""
    span: int = -1  # number of the formatted span that is opened or closed
    is_link: bool = False
    change: Literal["kept", "deleted", "added"] = "kept"


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """A block, and its items: joined, their `raw` is the source from `start` to `end`."""

    block: Block
    start: int
    end: int
    items: tuple[Item, ...]


class Syntax(Protocol):
    """How a format writes text."""

    def write(self, items: Sequence[Item]) -> str:
        """The source of these items. Added items have a text and no source yet."""


@dataclass(slots=True)
class ItemBuilder:
    """Collects the items of a block. With `collapses`, any white space counts as one space, as in HTML."""

    collapses: bool
    items: list[Item] = field(default_factory=list)
    formatting: list[Formatting] = field(default_factory=list)
    _open: list[tuple[int, FormattingStyle | None, str | None, int]] = field(default_factory=list)
    _spans: int = 0
    _length: int = 0
    _last_text: int | None = None  # index of the last item with text

    def text(self, raw: str, text: str) -> None:
        if text:
            self._last_text = len(self.items)
            self.items.append(Item("text", raw, text))
            self._length += len(text)
        else:
            self.other(raw)

    def space(self, raw: str) -> None:
        """White space that a reader shows as one space, or not at all after other white space."""
        if self._last_text is None or self.items[self._last_text].text[-1:] in ("", " ", "\n"):
            self.other(raw)
        else:
            self.text(raw, " ")

    def line_break(self, raw: str) -> None:
        self.drop_space()
        self.text(raw, "\n")

    def drop_space(self) -> None:
        """Before a line break and at the end of a block, collapsed white space is not shown."""
        if not self.collapses or self._last_text is None:
            return
        last = self.items[self._last_text]
        if last.text == " " and last.raw.isspace():
            self.items[self._last_text] = replace(last, kind="other", text="")
            self._length -= 1

    def other(self, raw: str) -> None:
        if raw:
            self.items.append(Item("other", raw))

    def open(self, raw: str, style: FormattingStyle | None = None, target: str | None = None) -> None:
        self._open.append((self._spans, style, target, self._length))
        self.items.append(Item("open", raw, span=self._spans, is_link=style == "link"))
        self._spans += 1

    def close(self, raw: str) -> None:
        """The end of the span that was opened last."""
        span, style, target, start = self._open.pop()
        self.items.append(Item("close", raw, span=span, is_link=style == "link"))
        self._format(start, style, target)

    @property
    def depth(self) -> int:
        return len(self._open)

    def finish(self) -> tuple[tuple[Item, ...], str, tuple[Formatting, ...]]:
        """The items, their text and its formatting. White space at the end is no text; spans still open end here."""
        while self._open:
            _, style, target, start = self._open.pop()
            self._format(start, style, target)
        self.drop_space()
        text = "".join(item.text for item in self.items)
        formatting = [replace(one, end=min(one.end, len(text))) for one in self.formatting if one.start < len(text)]
        return tuple(self.items), text, tuple(sorted(formatting, key=lambda one: (one.start, one.end, one.style)))

    def _format(self, start: int, style: FormattingStyle | None, target: str | None) -> None:
        if style is not None and start < self._length:
            self.formatting.append(Formatting(start, self._length, style, target))


@dataclass(frozen=True, slots=True)
class RevisedSource:
    """A new source, and where each block now starts and ends in it."""

    text: str
    places: tuple[tuple[int, int], ...]


def revised_source(
    source: str, blocks: Sequence[SourceBlock], revisions: Sequence[Revision], syntax_of: Callable[[int], Syntax], *,
    tracked: bool = False,
) -> RevisedSource:  # fmt: skip
    """The source with the new texts. `tracked`: deleted items stay, marked as such, for `write`.

    `syntax_of`: how to write a block, by its index.
    """
    parts: list[str] = []
    places = []
    at = length = 0
    for number, (block, revision) in enumerate(zip(blocks, revisions, strict=True)):
        new = source[block.start : block.end]
        if any(piece.kind != "kept" for piece in revision.pieces):
            items = _revised_items(block.items, revision.pieces)
            if not tracked:
                items = _without_emptied_spans([item for item in items if item.change != "deleted"], block.items)
            new = syntax_of(number).write(items)
        before = source[at : block.start]
        parts += [before, new]
        places.append((length + len(before), length + len(before) + len(new)))
        at, length = block.end, places[-1][1]
    return RevisedSource("".join([*parts, source[at:]]), tuple(places))


def without_revealed_space(items: Sequence[Item]) -> list[Item]:
    """Without white space that was not shown because of the white space before it, where that is deleted now."""
    found = []
    before = "\n"  # the last character that stays
    last = max((at for at, item in enumerate(items) if item.kind == "text" and item.change != "deleted"), default=-1)
    for at, item in enumerate(items):
        if at < last and item.kind == "other" and item.raw.isspace() and before not in " \n":
            continue
        if item.change != "deleted":
            before = item.text[-1:] or before
        found.append(item)
    return found


def _revised_items(items: Sequence[Item], pieces: Sequence[Piece]) -> list[Item]:
    """Single characters, each kept or deleted, with the added pieces at their places between them."""
    characters = [one for item in items for one in _characters(item)]
    formats, links = _formats(characters)
    kinds = [piece.kind for piece in pieces for _ in range(piece.start, piece.end)]
    added: defaultdict[Place, list[Item]] = defaultdict(list)
    for number, place in places_of_added(pieces, formats, links).items():
        added[place].append(Item("text", "", pieces[number].text, change="added"))
    found: list[Item] = []
    link_start, character = 0, -1
    after_link: list[Item] = []
    for item in characters:
        if item.kind == "open" and item.is_link:
            link_start = len(found)
        if item.kind != "text":
            found.append(item)
            if item.kind == "close" and item.is_link:
                found += after_link
                after_link = []
            continue
        is_whole = len(set(kinds[character + 1 : character + 1 + len(item.text)])) == 1
        for offset in range(len(item.text)):
            character += 1
            found[link_start:link_start] = added.pop(Place(character, after=False, outside_link=True), ())
            found += added.pop(Place(character, after=False), ())
            if is_whole and offset == 0:
                found.append(replace(item, change=kinds[character]))
            elif not is_whole and kinds[character] == "kept":
                found.append(Item("text", "", item.text[offset], change="added"))
            found += added.pop(Place(character, after=True), ())
            after_link += added.pop(Place(character, after=True, outside_link=True), ())
    return found + after_link


def _characters(item: Item) -> Iterator[Item]:
    """A text that is written as it is read can be divided; of others, such as entities, a part is written anew."""
    if item.kind == "text" and item.raw == item.text:
        yield from (replace(item, raw=character, text=character) for character in item.text)
    else:
        yield item


def _formats(items: Sequence[Item]) -> tuple[list[tuple[int, ...]], list[int | None]]:
    """The formatted spans around each character, and the link among them."""
    open_spans: tuple[tuple[int, bool], ...] = ()
    formats, links = [], []
    for item in items:
        if item.kind == "open":
            open_spans += ((item.span, item.is_link),)
        elif item.kind == "close":
            open_spans = tuple(one for one in open_spans if one[0] != item.span)
        for _ in item.text:
            formats.append(tuple(span for span, _ in open_spans))
            links.append(next((span for span, is_link in open_spans if is_link), None))
    return formats, links


def _without_emptied_spans(items: list[Item], before: Sequence[Item]) -> list[Item]:
    """Without the spans that had text and have lost all of it; in Markdown, empty marks would become text."""
    emptied = _filled_spans(before) - _filled_spans(items)
    return [item for item in items if item.span not in emptied]


def _filled_spans(items: Sequence[Item]) -> set[int]:
    """The spans with text or anything else in them."""
    filled: set[int] = set()
    open_spans: list[int] = []
    for item in items:
        if item.kind == "open":
            open_spans.append(item.span)
        elif item.kind == "close" and item.span in open_spans:
            open_spans.remove(item.span)
        elif item.kind in ("text", "other"):
            filled.update(open_spans)
    return filled
