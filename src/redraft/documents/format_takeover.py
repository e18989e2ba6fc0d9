"""Where added words go, so that they take over the formatting of the words they replace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from redraft.documents.revisions import Piece


@dataclass(frozen=True, slots=True)
class Place:
    """Directly before or after a character of the old text, with its formatting."""

    character: int
    after: bool
    outside_link: bool = False  # beside the link of this character, not inside it


def places_of_added(
    pieces: Sequence[Piece], formats: Sequence[Hashable], links: Sequence[Hashable | None]
) -> dict[int, Place]:
    """The place of each added piece, by its index. `formats` and `links`: of each character of the old text.

    Words that replace others go behind the last character that has the commonest formatting of the deleted ones. Other
    words go behind the previous character, but never into a link that ends there.
    """
    places = {}
    for number, piece in enumerate(pieces):
        if piece.kind != "added":
            continue
        before = pieces[number - 1] if number else None
        if before is not None and before.kind == "deleted":
            places[number] = _place_of_replacement(before, formats)
        else:
            places[number] = _place_of_insertion(piece.start, links)
    return places


def _place_of_replacement(deleted: Piece, formats: Sequence[Hashable]) -> Place:
    ((commonest, _),) = Counter(formats[deleted.start : deleted.end]).most_common(1)
    last = max(at for at in range(deleted.start, deleted.end) if formats[at] == commonest)
    return Place(last, after=True)


def _place_of_insertion(at: int, links: Sequence[Hashable | None]) -> Place:
    before = links[at - 1] if at else None
    after = links[at] if at < len(links) else None
    if at and (before is None or before == after):
        return Place(at - 1, after=True)
    if at < len(links) and after is None:
        return Place(at, after=False)
    return Place(at - 1, after=True, outside_link=True) if at else Place(0, after=False, outside_link=True)
