"""Links between the words of two sentences, as data and as text."""

from __future__ import annotations

from collections.abc import Iterable

from redraft.errors import CorpusError, shown

Link = tuple[int, int]  # source word, target word; both counted from 0
Links = frozenset[Link]

_MAX_LENGTH = 20  # characters of a link


def parse_links(text: str) -> Links:
    """Links from the notation of files: "0-0 2-1"."""
    found = set()
    for part in text.split():
        left, dash, right = part.partition("-")
        if not (dash and left.isdecimal() and right.isdecimal() and len(part) < _MAX_LENGTH):
            raise CorpusError(f"{shown(part)} is not a link.", "Write source-target, counted from 0, for example 2-1.")
        found.add((int(left), int(right)))
    return frozenset(found)


def format_links(links: Iterable[Link]) -> str:
    return " ".join(f"{left}-{right}" for left, right in sorted(links))


def reverse_links(links: Iterable[Link]) -> Links:
    return frozenset((right, left) for left, right in links)
