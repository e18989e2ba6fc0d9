"""Reads sentence pairs from files, one at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import zip_longest
from typing import IO

from redraft.errors import CorpusError
from redraft.files import decode_utf8
from redraft.reading import BOM, bounded_lines, failure_reason, open_binary
from redraft.text.words import Word, split_words


@dataclass(frozen=True)
class SentencePair:
    """A source and a target with their words."""

    source: str
    target: str
    source_words: list[Word]
    target_words: list[Word]

    @classmethod
    def of(cls, source: str, target: str, *, tokenized: bool = False) -> SentencePair:
        split = split_at_spaces if tokenized else split_words
        return cls(source, target, split(source), split(target))

    @property
    def words(self) -> tuple[list[str], list[str]]:
        return [word.text for word in self.source_words], [word.text for word in self.target_words]


def split_at_spaces(text: str) -> list[Word]:
    """Words separated by spaces, without further tokenisation."""
    words, start = [], 0
    for part in text.split(" "):
        if part:
            words.append(Word(part, start, start + len(part)))
        start += len(part) + 1
    return words


def read_table(path: str, *, tokenized: bool = False) -> Iterator[SentencePair]:
    """Pairs from lines of source ⇥ target ("-" is standard input)."""
    with ExitStack() as files:
        for number, raw in enumerate(bounded_lines(_open(path, files), path), 1):
            cells = _text(raw, path, number).split("\t")
            if len(cells) != 2:
                raise CorpusError(f"{path}, line {number}: has {len(cells) - 1} tabs instead of 1.",
                                  "Write the source, one tab, and the target on each line.")  # fmt: skip
            yield SentencePair.of(*cells, tokenized=tokenized)


def read_aligned(source: str, target: str, *, tokenized: bool = False) -> Iterator[SentencePair]:
    """Pairs of line n of one file and line n of the other; raises CorpusError at the end if one file is longer."""
    if source == target == "-":
        raise CorpusError("source and target are both standard input.", "Read one of them from a file.")
    with ExitStack() as files:
        left, right = (bounded_lines(_open(path, files), path) for path in (source, target))
        for number, (one, other) in enumerate(zip_longest(left, right), 1):
            if one is None or other is None:
                short, long = (source, target) if one is None else (target, source)
                raise CorpusError(f"{short} ends after line {number - 1:,}, but {long} has more lines.",
                                  "The files are paired line by line: give them the same number of lines.")  # fmt: skip
            texts = (_text(raw, path, number) for raw, path in ((one, source), (other, target)))
            yield SentencePair.of(*texts, tokenized=tokenized)


def _open(path: str, files: ExitStack) -> IO[bytes]:
    if path == "-":
        return sys.stdin.buffer
    try:
        return files.enter_context(open_binary(path))
    except FileNotFoundError:
        raise CorpusError(f"{path} does not exist.", "Check the path.") from None
    except (OSError, ValueError) as error:  # a name with NUL is a ValueError
        raise CorpusError(f"{path} cannot be read: {failure_reason(error)}.", "Check the path.") from None


def _text(raw: bytes, path: str, number: int) -> str:
    return decode_utf8(raw.removeprefix(BOM) if number == 1 else raw, path, number).rstrip("\r\n")
