"""Sentence pairs of many origins in one file: tag ⇥ casing ⇥ source ⇥ target, .xz or plain."""

from __future__ import annotations

import lzma
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from redraft.errors import CorpusError
from redraft.files import decoded

_NOT_NORMAL = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True)
class TaggedPair:
    """A source and a target, and the corpus they come from."""

    tag: str
    lower: bool  # the corpus has no capitals
    source: str
    target: str


def read_tagged(path: str | Path, leave_out: Sequence[str] = ()) -> Iterator[TaggedPair]:
    """The pairs of a file, in order, without those whose tag begins with one of `leave_out`."""
    path = Path(path)
    opened = lzma.open if path.suffix == ".xz" else open
    try:
        file = opened(path, "rb")
    except FileNotFoundError:
        raise CorpusError(f"{path} does not exist.", "Name a file of tag ⇥ casing ⇥ source ⇥ target.") from None
    with file:
        for number, raw in enumerate(file, 1):
            cells = decoded(raw, str(path), number).rstrip("\r\n").split("\t")
            if len(cells) != 4 or cells[1] not in ("cased", "lower"):
                raise CorpusError(f"{path}, line {number}: has {len(cells)} columns.",
                                  "Write tag ⇥ cased or lower ⇥ source ⇥ target.")  # fmt: skip
            if not cells[0].startswith(tuple(leave_out)):
                yield TaggedPair(cells[0], cells[1] == "lower", cells[2], cells[3])


def normal(text: str) -> str:
    """Letters and digits alone, lower-cased: how sentences are compared that must not meet."""
    return _NOT_NORMAL.sub("", unicodedata.normalize("NFKC", text).lower())
