"""What people write for a word: counted over linked pairs, the lexical table of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from redraft.table_files import count, read_rows, write_rows
from redraft.text.words import normal, split_words

Value = TypeVar("Value")

_UNIT = 1000  # in which shares are stored


@dataclass(frozen=True, slots=True)
class Entry:
    """How often a phrase was seen, left out and replaced, and what is written for it, likeliest first."""

    seen: int
    deleted: int
    replaced: int
    targets: tuple[tuple[str, float], ...] = ()  # each with its share of the replacements

    def likely(self, most: int) -> float:
        """How likely one of the first targets is what a person would write."""
        return sum(share for _, share in self.targets[:most])


class PhraseTable(Generic[Value]):
    """Phrases and their entries. Looking one up takes about a microsecond."""

    def __init__(self, entries: Mapping[str, Value]) -> None:
        self._entries = entries
        self.longest = max((phrase.count(" ") + 1 for phrase in entries), default=0)  # words of a phrase

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def entry(self, phrase: str) -> Value | None:
        return self._entries.get(key_of(phrase))

    def entry_of(self, words: Sequence[str]) -> Value | None:
        """Of words that are split and `normal` already."""
        return self._entries.get(" ".join(words))

    def found_in(self, words: Sequence[str]) -> Iterator[tuple[range, Value]]:
        """The place and the entry of each phrase in such words, longer phrases first."""
        for size in range(self.longest, 0, -1):
            for start in range(len(words) - size + 1):
                entry = self.entry_of(words[start : start + size])
                if entry is not None:
                    yield range(start, start + size), entry


class Lexicon(PhraseTable[Entry]):
    """What people write for words and phrases."""

    def save(self, path: str | Path) -> None:
        """phrase ⇥ seen ⇥ deleted ⇥ replaced ⇥ target ⇥ its share in thousandths …"""
        write_rows(path, (
            (phrase, entry.seen, entry.deleted, entry.replaced,
             *(cell for text, share in entry.targets for cell in (text, round(_UNIT * share))))
            for phrase, entry in self._entries.items()
        ))  # fmt: skip

    @classmethod
    def load(cls, path: str | Path) -> Lexicon:
        return cls(dict(read_rows(path, _parsed)))


def _parsed(cells: list[str]) -> tuple[str, Entry]:
    phrase, seen, deleted, replaced, *rest = cells
    targets = ((text, count(share) / _UNIT) for text, share in zip(rest[::2], rest[1::2], strict=True))
    return phrase, Entry(count(seen), count(deleted), count(replaced), tuple(targets))


def key_of(phrase: str) -> str:
    """The form in which a phrase is looked up: its words, lower-cased, with plain signs."""
    if phrase.isalpha():
        return phrase.lower()
    return " ".join(normal(word.text) for word in split_words(phrase))
