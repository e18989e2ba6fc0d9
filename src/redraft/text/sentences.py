"""Splits a document into sentences and the text between them, so that it can be reassembled exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass

_GAP = re.compile(r"\s+")
_NEWLINE = re.compile(r"[\n\r\v\f\x85\u2028\u2029]")
_END = re.compile(r"([.!?…]+)[\"'”’»)\]}]*$")
_OPENING = "\"'“‘«([{"
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]|[A-Z]")  # U.S, e.g, J
_HOURS = ("a.m", "p.m")  # look like initials, but a sentence may end with them
# Markers of list items, headings and quotations. Numbers have at most three digits, since a year may start a sentence.
_MARKER = re.compile(r"[-–—*•◦▪·‣+>]|#{1,6}|\(?\d{1,3}[.)]|\(?[a-z]\)")
_TITLES = frozenset({
    "mr", "mrs", "ms", "mx", "dr", "prof", "st", "gen", "col", "lt", "sgt", "capt", "rev", "hon", "gov", "sen", "rep",
    "pres", "vs", "cf", "al", "ph.d",
})  # fmt: skip
_BEFORE_NUMBER = frozenset({  # abbreviations only if a number follows
    "no", "nos", "fig", "figs", "vol", "p", "pp", "eq", "sec", "ch",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the text before it: white space, a list marker, the colon of the previous line.

    `text` of the last one is empty if the document ends with such text.
    """

    space: str
    text: str


def split_document(text: str) -> list[Sentence]:
    """Split after . ! ? or … if the next character can start a sentence, and at every newline.

    Joining `space + text` of all sentences gives the document.
    """
    found: list[Sentence] = []
    space, start, word = "", 0, 0  # `start` of the sentence, `word`: start of the current word
    at_line_start = True
    for gap in _GAP.finditer(text):
        newline = _NEWLINE.search(gap.group()) is not None
        is_first, token = word == start, text[word : gap.start()]
        if gap.start() == start:  # only at the start of the document
            space, start = gap.group(), gap.end()
        elif at_line_start and is_first and not newline and _MARKER.fullmatch(token):
            space, start = space + text[start : gap.end()], gap.end()
        elif newline or _ends_sentence(token, text[gap.end() : gap.end() + 1]):
            line = text[start : gap.start()]
            sentence, mark = _split_mark(line) if newline else (line, "")
            found.append(Sentence(space, sentence))
            space, start, at_line_start = mark + gap.group(), gap.end(), newline
        word = gap.end()
    rest = text[start:]
    bare, mark = _split_mark(rest.rstrip())
    if space or bare:
        found.append(Sentence(space, bare))
    if bare != rest:
        found.append(Sentence(mark + rest[len(bare) + len(mark) :], ""))
    return found


def sentence_starts(text: str) -> list[int]:
    """The character offsets at which the sentences of a text start."""
    starts, at = [], 0
    for sentence in split_document(text):
        at += len(sentence.space)
        if sentence.text:
            starts.append(at)
        at += len(sentence.text)
    return starts


def _split_mark(line: str) -> tuple[str, str]:
    """A line and its final : ; or , apart: the mark belongs to a list, and the model was trained on sentences."""
    bare = line[:-1].rstrip()
    return (bare, line[len(bare) :]) if bare and line[-1] in ":;," else (line, "")


def _ends_sentence(word: str, following: str) -> bool:
    """Whether a sentence ends with this word, judged by the word and the first character of the next one."""
    end = _END.search(word)
    if end is None or not (following.isupper() or following.isdigit() or (following and following in _OPENING)):
        return False
    if end.group(1) != ".":
        return True
    stem = word[: end.start()].lstrip(_OPENING)
    short = stem.casefold()
    if short in _TITLES or (short in _BEFORE_NUMBER and following.isdigit()):
        return False
    return short in _HOURS or not _INITIALS.fullmatch(stem)
