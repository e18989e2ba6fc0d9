"""Tables of words and phrases, and their lookup in texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Run(NamedTuple):
    """A run of words in a text, and its group in a table."""

    start: int
    end: int
    group: str


NOTHING = "nothing"


class Phrases:
    """Phrases of one or more words, each in a group. Of several in one place, the longest is found."""

    def __init__(self, groups: Mapping[str, str]) -> None:
        """groups: group → its phrases, separated by commas. Phrases in "nothing" only hide shorter ones."""
        self._group = {
            tuple(phrase.split()): group for group, phrases in groups.items() for phrase in phrases.split(",")
        }
        self.words = frozenset(word for phrase in self._group for word in phrase)
        self._sizes = range(max(map(len, self._group)), 0, -1)
        self._firsts, self._lasts = ({phrase[at] for phrase in self._group} for at in (0, -1))

    def starting_at(self, words: Sequence[str], at: int) -> Run | None:
        if at >= len(words) or words[at] not in self._firsts:
            return None
        return self._longest(words, ((at, at + size) for size in self._sizes if at + size <= len(words)))

    def ending_at(self, words: Sequence[str], end: int) -> Run | None:
        if end == 0 or words[end - 1] not in self._lasts:
            return None
        return self._longest(words, ((end - size, end) for size in self._sizes if size <= end))

    def _longest(self, words: Sequence[str], places: Iterable[tuple[int, int]]) -> Run | None:
        runs = (Run(start, end, self._group.get(tuple(words[start:end]), "")) for start, end in places)
        return next((run for run in runs if run.group), None)

    def found_in(self, words: Sequence[str]) -> Iterator[Run]:
        """Runs in order, without overlaps."""
        at = 0
        while at < len(words):
            run = self.starting_at(words, at)
            if run and run.group != NOTHING:
                yield run
            at = run.end if run else at + 1
