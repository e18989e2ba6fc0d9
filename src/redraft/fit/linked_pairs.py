"""Tagged pairs with the links of an aligner: aligned once, kept in a file, read by all that learns from links."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from pathlib import Path

from redraft.align.aligners import WordAligner
from redraft.align.links import Links, parse_links, shown_links
from redraft.align.sentence_pairs import SentencePair
from redraft.errors import ConfigError
from redraft.files import whole_lines, writing
from redraft.fit.tagged_pairs import TaggedPair
from redraft.plan.edits import EditPlan
from redraft.plan.extraction import extract
from redraft.progress_bar import Say

_PART = 2000  # pairs between whole lines on disk


Row = tuple[str, bool, str, str, str]  # tag, lower-cased, source, target, links: a line of the file


@dataclass(frozen=True)
class LinkedPair:
    """A pair, its words, and the links between them."""

    tag: str
    pair: SentencePair
    links: Links

    @classmethod
    def of(cls, row: Row) -> LinkedPair:
        tag, _, source, target, links = row
        return cls(tag, SentencePair.of(source, target), parse_links(links))

    def plan(self) -> EditPlan:
        """What became of every word of the source."""
        pair = self.pair
        return extract(pair.source, pair.target, pair.source_words, pair.target_words, self.links, which="all").plan


def link_pairs(pairs: Sequence[TaggedPair], aligner: WordAligner, path: Path, say: Say = print) -> None:
    """Align the pairs and write them; a file that stops in the middle is gone on with."""
    done = whole_lines(path).count(b"\n")
    _check_same(path, pairs, done)
    began = time.monotonic()
    with writing(path), open(path, "a", encoding="utf-8") as file:
        left = iter(pairs[done:])
        while part := list(islice(left, _PART)):
            split = [SentencePair.of(pair.source, pair.target) for pair in part]
            rows = [
                [tagged.tag, tagged.lower, tagged.source, tagged.target, shown_links(links)]
                for tagged, links in zip(part, aligner.align(pair.words for pair in split), strict=True)
            ]
            # A part at once, so that a run that was killed aligns the same pairs together as one that was not.
            file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
            file.flush()
            done += len(part)
            say(f"{done:,} of {len(pairs):,} pairs linked, {time.monotonic() - began:.0f} s")


def link_parts(pairs: Sequence[TaggedPair], folder: Path, count: int) -> list[tuple[Sequence[TaggedPair], Path]]:
    """The pairs in as many parts as there are processes to link them, each with the file for its links."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(pairs) // count)
    return [(pairs[at * size : (at + 1) * size], folder / f"links-{at}.jsonl") for at in range(count)]


def read_linked(path: Path) -> Iterator[LinkedPair]:
    return map(LinkedPair.of, read_rows(path))


def read_rows(path: Path) -> Iterator[Row]:
    """The lines of a file as plain values, which take a tenth of the room."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            tag, lower, source, target, links = json.loads(line)
            yield tag, lower, source, target, links


def _check_same(path: Path, pairs: Sequence[TaggedPair], done: int) -> None:
    """A file that is gone on with holds the first of the same pairs."""
    for number, row in enumerate(read_rows(path) if done else (), 1):
        if number > len(pairs) or row[:4] != astuple(pairs[number - 1]):
            raise ConfigError(f"{path}, line {number}: is of other pairs.", "Delete it, or choose another --out.")
