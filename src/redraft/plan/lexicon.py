"""The lexical table: what people write for a word, counted on aligned sentence pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from redraft.table_files import parse_count, read_table, write_rows
from redraft.text.words import normalise, split_words

Value = TypeVar("Value")

_SHARE_SCALE = 1000  # shares are stored in thousandths


@dataclass(frozen=True, slots=True)
class Entry:
    """How often a phrase was seen, deleted and replaced, and its targets, most frequent first."""

    seen: int
    deleted: int
    replaced: int
    targets: tuple[tuple[str, float], ...] = ()  # with their shares of all replacements

    def target_probability(self, count: int) -> float:
        """The probability that one of the first `count` targets is the replacement, given that it is replaced."""
        return sum(share for _, share in self.targets[:count])


class PhraseTable(Generic[Value]):
    """Phrases and their entries. A lookup takes about a microsecond."""

    def __init__(self, entries: Mapping[str, Value]) -> None:
        self._entries = entries
        # First word → words of the longest phrase that starts with it, if there is one of several words.
        self._longest_from: dict[str, int] = {}
        for phrase in entries:
            if " " in phrase:
                first, size = phrase.split(" ", 1)[0], phrase.count(" ") + 1
                self._longest_from[first] = max(size, self._longest_from.get(first, 0))
        self.longest = max(self._longest_from.values(), default=min(1, len(entries)))  # in words

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def entry(self, phrase: str) -> Value | None:
        return self._entries.get(lookup_key(phrase))

    def entry_of(self, words: Sequence[str]) -> Value | None:
        """The entry of words that are already split and normalised."""
        return self._entries.get(" ".join(words))

    def found_in(self, words: Sequence[str]) -> Iterator[tuple[range, Value]]:
        """The position and the entry of each phrase among normalised words, longer phrases first."""
        limits = [min(self._longest_from.get(word, 1), len(words) - at) for at, word in enumerate(words)]
        for size in range(max(limits, default=0), 0, -1):
            for start, limit in enumerate(limits):
                entry = self.entry_of(words[start : start + size]) if size <= limit else None
                if entry is not None:
                    yield range(start, start + size), entry


class Lexicon(PhraseTable[Entry]):
    """Counts of deletions and replacements for words and phrases."""

    def save(self, path: str | Path) -> None:
        """Write rows of phrase ⇥ seen ⇥ deleted ⇥ replaced, then target ⇥ share in thousandths for each target."""
        write_rows(path, (
            (phrase, entry.seen, entry.deleted, entry.replaced,
             *(cell for text, share in entry.targets for cell in (text, round(_SHARE_SCALE * share))))
            for phrase, entry in self._entries.items()
        ))  # fmt: skip

    @classmethod
    def load(cls, path: str | Path) -> Lexicon:
        return cls(read_table(path, _parsed))


def _parsed(cells: list[str]) -> tuple[str, Entry]:
    phrase, seen, deleted, replaced, *rest = cells
    targets = ((text, parse_count(share) / _SHARE_SCALE) for text, share in zip(rest[::2], rest[1::2], strict=True))
    return phrase, Entry(parse_count(seen), parse_count(deleted), parse_count(replaced), tuple(targets))


def lookup_key(phrase: str) -> str:
    """The key of a phrase in a table: its normalised words."""
    if phrase.isalpha():
        return phrase.lower()
    return " ".join(normalise(word.text) for word in split_words(phrase))
