"""A document to its sentences, with what stands between them, so that it can be put together again."""

from __future__ import annotations

import re
from dataclasses import dataclass

_GAP = re.compile(r"\s+")
_NEWLINE = re.compile(r"[\n\r\v\f\x85\u2028\u2029]")
_END = re.compile(r"([.!?…]+)[\"'”’»)\]}]*$")
_OPENING = "\"'“‘«([{"
_LETTERS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]|[A-Z]")  # U.S, e.g, J
_HOURS = ("a.m", "p.m")  # of letters and dots too, but sentences end with them
# Signs before an item of a list, a heading or a quotation. Numbers have three digits at most: years begin sentences.
_MARKER = re.compile(r"[-–—*•◦▪·‣+>]|#{1,6}|\(?\d{1,3}[.)]|\(?[a-z]\)")
_TITLES = frozenset({
    "mr", "mrs", "ms", "mx", "dr", "prof", "st", "gen", "col", "lt", "sgt", "capt", "rev", "hon", "gov", "sen", "rep",
    "pres", "vs", "cf", "al", "ph.d",
})  # fmt: skip
_COUNTED = frozenset({  # abbreviations only where a number follows
    "no", "nos", "fig", "figs", "vol", "p", "pp", "eq", "sec", "ch",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence behind what stands before it: white space, the sign of a list, the colon of the line above.

    The last one is empty where a document ends with such things.
    """

    space: str
    text: str


def split_document(text: str) -> list[Sentence]:
    """Sentences end at . ! ? or … before what may begin another, and at every newline.

    Joined again, each behind its space, they are the document.
    """
    found: list[Sentence] = []
    space, start, word = "", 0, 0  # of the sentence, and of the last word read
    begins_line = True
    for gap in _GAP.finditer(text):
        newline = _NEWLINE.search(gap.group()) is not None
        first, read = word == start, text[word : gap.start()]
        if gap.start() == start:  # only at the very beginning
            space, start = gap.group(), gap.end()
        elif begins_line and first and not newline and _MARKER.fullmatch(read):
            space, start = space + text[start : gap.end()], gap.end()
        elif newline or _ends(read, text[gap.end() : gap.end() + 1]):
            sentence, sign = _cut(text[start : gap.start()]) if newline else (text[start : gap.start()], "")
            found.append(Sentence(space, sentence))
            space, start, begins_line = sign + gap.group(), gap.end(), newline
        word = gap.end()
    rest = text[start:]
    bare, sign = _cut(rest.rstrip())
    if space or bare:
        found.append(Sentence(space, bare))
    if bare != rest:
        found.append(Sentence(sign + rest[len(bare) + len(sign) :], ""))
    return found


def sentence_starts(text: str) -> list[int]:
    """Where the sentences of a text begin, in characters."""
    starts, at = [], 0
    for sentence in split_document(text):
        at += len(sentence.space)
        if sentence.text:
            starts.append(at)
        at += len(sentence.text)
    return starts


def _cut(line: str) -> tuple[str, str]:
    """A line without the sign at its end that belongs to a list, and that sign: the model knows sentences."""
    bare = line[:-1].rstrip()
    return (bare, line[len(bare) :]) if bare and line[-1] in ":;," else (line, "")


def _ends(word: str, following: str) -> bool:
    """Does a sentence end with this word, as far as can be told from it and the character behind the space?"""
    end = _END.search(word)
    if end is None or not (following.isupper() or following.isdigit() or (following and following in _OPENING)):
        return False
    if end.group(1) != ".":
        return True
    stem = word[: end.start()].lstrip(_OPENING)
    short = stem.casefold()
    if short in _TITLES or (short in _COUNTED and following.isdigit()):
        return False
    return short in _HOURS or not _LETTERS.fullmatch(stem)
