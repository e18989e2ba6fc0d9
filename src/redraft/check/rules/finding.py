"""What a rule finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A difference that may matter: its kind, the words on both sides, and the reason in a few words."""

    kind: str
    source: tuple[str, ...]
    output: tuple[str, ...]
    why: str


def difference(kind: str, lost: Iterable[str], new: Iterable[str], *, by_side: bool = False) -> Iterator[Finding]:
    """One finding of words exchanged, lost or added; with `by_side` the kind tells which ("name lost")."""
    gone, more = tuple(dict.fromkeys(lost)), tuple(dict.fromkeys(new))
    if gone and more:
        yield Finding(kind, gone, more, f"“{', '.join(gone)}” became “{', '.join(more)}”")
    elif gone:
        yield Finding(f"{kind} lost" if by_side else kind, gone, (), f"the output lacks “{', '.join(gone)}”")
    elif more:
        yield Finding(f"{kind} added" if by_side else kind, (), more, f"the output adds “{', '.join(more)}”")
