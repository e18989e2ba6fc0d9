"""The text of one Markdown paragraph, heading or cell, mapped to its source.

markdown-it says which marks a text has, but not where they are: here its tokens are found again in the source, from the
first to the last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.token import Token

from redraft.documents.blocks import Formatting, FormattingStyle
from redraft.documents.source_items import Item, ItemBuilder

_SOFT_BREAK, _HARD_BREAK = re.compile(r"[ \t]*\n[ \t]*"), re.compile(r"(?:[ \t]*|\\)\n[ \t]*")
_SPACES = re.compile(r"[ \t\n]*")
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_STYLES: dict[str, FormattingStyle] = {"strong": "bold", "em": "italic"}  # s: none


class Character(NamedTuple):
    """A character of the content, and its source: "\\n" with the marks of the next line, or "|" with a backslash."""

    text: str
    raw: str


@dataclass(frozen=True, slots=True)
class _NotFound(Exception):
    """A token that is not where it should be."""


def read_inline(
    token: Token, characters: Sequence[Character]
) -> tuple[tuple[Item, ...], str, tuple[Formatting, ...]] | None:
    """The items, the text and its formatting; None if the tokens cannot be found again in the source."""
    reader = _InlineReader("".join(one.text for one in characters), [one.raw for one in characters])
    try:
        for child in token.children or ():
            reader.read(child)
    except _NotFound:
        return None
    reader.rest()
    return reader.builder.finish()


class _InlineReader:
    def __init__(self, content: str, raws: Sequence[str]) -> None:
        self._content, self._raws, self._at = content, raws, 0
        self._is_autolink = False
        self.builder = ItemBuilder(collapses=False)

    def read(self, token: Token) -> None:
        match token.type:
            case "text" if self._is_autolink:  # as a whole: its text is its address
                self.builder.text(self._take(f"<{token.content}>"), token.content)
            case "text":
                self._text(token.content)
            case "text_special":
                self.builder.text(self._take(token.markup), token.content)
            case "softbreak":
                self.builder.text(self._match(_SOFT_BREAK), " ")
            case "hardbreak":
                self.builder.text(self._match(_HARD_BREAK), "\n")
            case "code_inline":
                self._code(token)
            case "strong_open" | "em_open" | "s_open":
                self.builder.open(self._take(token.markup), _STYLES.get(token.tag))
            case "strong_close" | "em_close" | "s_close":
                self.builder.close(self._take(token.markup))
            case "link_open":
                self._is_autolink = token.markup == "autolink"
                self.builder.open(
                    "" if self._is_autolink else self._take("["), "link", str(token.attrs.get("href", ""))
                )
            case "link_close":
                self.builder.close("" if self._is_autolink else self._link_end())
                self._is_autolink = False
            case "image":
                self.builder.other(self._take("![") + self._take(token.content) + self._link_end())
            case "html_inline" if _BREAK_TAG.fullmatch(token.content):
                self.builder.text(self._take(token.content), "\n")
            case "html_inline":
                self.builder.other(self._take(token.content))
            case _:
                raise _NotFound

    def rest(self) -> None:
        self.builder.other(self._raw_to(len(self._content)))

    def _text(self, text: str) -> None:
        """White space at the end and start of lines is not part of a text."""
        if not text:
            return
        if not self._content.startswith(text, self._at):
            self.builder.other(self._match(_SPACES))
        for start in range(len(text)):  # one by one: a line break in the source may have a longer raw text
            self.builder.text(self._take(text[start]), text[start])

    def _code(self, token: Token) -> None:
        mark = token.markup
        self.builder.open(self._take(mark), "code")
        end = re.compile(rf"(?<!`){re.escape(mark)}(?!`)").search(self._content, self._at)
        if end is None:
            raise _NotFound
        inside = self._content[self._at : end.start()]
        padded = len(inside) == len(token.content) + 2
        if padded:
            self.builder.other(self._raw_to(self._at + 1))
        for character in token.content:
            self.builder.text(self._raw_to(self._at + 1), character)
        self.builder.other(self._raw_to(end.start()))
        self.builder.close(self._take(mark))

    def _link_end(self) -> str:
        """From the closing bracket to the end of the address or reference, as markdown-it looks for them."""
        if self._content[self._at : self._at + 1] != "]":
            raise _NotFound
        at, content = self._at + 1, self._content
        end = _inline_target_end(content, at) if content[at : at + 1] == "(" else None
        if end is None and content[at : at + 1] == "[":
            closing = content.find("]", at)
            end = closing + 1 if closing >= 0 else None
        return self._raw_to(at if end is None else end)

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._content, self._at)
        if found is None:
            raise _NotFound
        return self._raw_to(found.end())

    def _take(self, text: str) -> str:
        if not self._content.startswith(text, self._at):
            raise _NotFound
        return self._raw_to(self._at + len(text))

    def _raw_to(self, end: int) -> str:
        raw = "".join(self._raws[self._at : end])
        self._at = end
        return raw


def _inline_target_end(content: str, at: int) -> int | None:
    """The end of "(address "title")"; None if this is no address."""
    length = len(content)
    at = _after_space(content, at + 1)
    destination = parseLinkDestination(content, at, length)
    if destination.ok:
        at = destination.pos
    after = _after_space(content, at)
    if after > at or not destination.ok:
        title = parseLinkTitle(content, after, length)
        if title.ok:
            after = _after_space(content, title.pos)
    return after + 1 if content[after : after + 1] == ")" else None


def _after_space(content: str, at: int) -> int:
    found = _SPACES.match(content, at)
    assert found is not None  # it matches nothing too
    return found.end()
