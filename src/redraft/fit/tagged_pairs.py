"""Sentence pairs of several corpora in one file: tag ⇥ casing ⇥ source ⇥ target, .xz or plain."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from redraft.errors import CorpusError, shown
from redraft.reading import numbered_lines

_NOT_NORMAL = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True)
class TaggedPair:
    """A source and a target, tagged with their corpus."""

    tag: str
    lower: bool  # the corpus is lower-cased
    source: str
    target: str


def read_tagged(path: str | Path, leave_out: Sequence[str] = ()) -> Iterator[TaggedPair]:
    """The pairs of a file, in order, without those whose tag starts with a prefix in `leave_out`."""
    for number, line in numbered_lines(path):
        cells = line.split("\t")
        problem = f"has {len(cells)} columns instead of 4." if len(cells) != 4 else None
        if not problem and cells[1] not in ("cased", "lower"):
            problem = f"the casing is {shown(cells[1])}."
        if problem:
            raise CorpusError(f"{path}, line {number}: {problem}", "Write tag ⇥ cased or lower ⇥ source ⇥ target.")
        if not cells[0].startswith(tuple(leave_out)):
            yield TaggedPair(cells[0], cells[1] == "lower", cells[2], cells[3])


def comparison_key(text: str) -> str:
    """Lower-cased letters and digits only: the form in which sentences of training and test sets are compared."""
    return _NOT_NORMAL.sub("", unicodedata.normalize("NFKC", text).lower())
