"""Links between the words of two sentences."""

from __future__ import annotations

from collections.abc import Iterable

from redraft.errors import CorpusError, shown

Link = tuple[int, int]  # a word of the source, a word of the target, both from 0
Links = frozenset[Link]

_LONGEST = 20  # characters of a link: no sentence has a billion words


def parse_links(text: str) -> Links:
    """Links as they are written in files: "0-0 2-1"."""
    found = set()
    for part in text.split():
        left, dash, right = part.partition("-")
        if not (dash and left.isdecimal() and right.isdecimal() and len(part) < _LONGEST):
            raise CorpusError(f"{shown(part)} is no link.", "Write source-target, counted from 0, for example 2-1.")
        found.add((int(left), int(right)))
    return frozenset(found)


def shown_links(links: Iterable[Link]) -> str:
    return " ".join(f"{left}-{right}" for left, right in sorted(links))


def reversed_links(links: Iterable[Link]) -> Links:
    return frozenset((right, left) for left, right in links)
