"""Tagged pairs with the links of an aligner, computed once and stored in a file."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from pathlib import Path

from redraft.align.aligners import WordAligner
from redraft.align.links import Links, format_links, parse_links
from redraft.align.sentence_pairs import SentencePair
from redraft.errors import ConfigError
from redraft.files import disk_full_errors, truncate_to_whole_lines
from redraft.fit.tagged_pairs import TaggedPair
from redraft.plan.edits import EditPlan
from redraft.plan.extraction import extract
from redraft.progress_bar import Say

_CHUNK = 2000  # pairs aligned and written together


Row = tuple[str, bool, str, str, str]  # tag, lower-cased, source, target, links: a line of the file


@dataclass(frozen=True)
class LinkedPair:
    """A pair and the links between its words."""

    tag: str
    pair: SentencePair
    links: Links

    @classmethod
    def of(cls, row: Row) -> LinkedPair:
        tag, _, source, target, links = row
        return cls(tag, SentencePair.of(source, target), parse_links(links))

    def plan(self) -> EditPlan:
        """The oracle plan of all source words."""
        pair = self.pair
        return extract(pair.source, pair.target, pair.source_words, pair.target_words, self.links, selection="all").plan


def link_pairs(pairs: Sequence[TaggedPair], aligner: WordAligner, path: Path, say: Say = print) -> None:
    """Align the pairs and write them to a file; an incomplete file is resumed."""
    done = truncate_to_whole_lines(path).count(b"\n")
    _check_same(path, pairs, done)
    began = time.monotonic()
    with disk_full_errors(path), open(path, "a", encoding="utf-8") as file:
        left = iter(pairs[done:])
        while part := list(islice(left, _CHUNK)):
            split = [SentencePair.of(pair.source, pair.target) for pair in part]
            rows = [
                [tagged.tag, tagged.lower, tagged.source, tagged.target, format_links(links)]
                for tagged, links in zip(part, aligner.align(pair.words for pair in split), strict=True)
            ]
            # One write for each chunk: a resumed run forms the same batches as an uninterrupted one.
            file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
            file.flush()
            done += len(part)
            say(f"{done:,} of {len(pairs):,} pairs aligned, {time.monotonic() - began:.0f} s")


def split_for_processes(
    pairs: Sequence[TaggedPair], folder: Path, count: int
) -> list[tuple[Sequence[TaggedPair], Path]]:
    """Split the pairs into `count` parts, one for each process, each with the file for its links."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(pairs) // count)
    return [(pairs[at * size : (at + 1) * size], folder / f"links-{at}.jsonl") for at in range(count)]


def read_linked(path: Path) -> Iterator[LinkedPair]:
    return map(LinkedPair.of, read_rows(path))


def read_rows(path: Path) -> Iterator[Row]:
    """The lines of a file as tuples, which take a tenth of the memory of `LinkedPair`."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            tag, lower, source, target, links = json.loads(line)
            yield tag, lower, source, target, links


def _check_same(path: Path, pairs: Sequence[TaggedPair], done: int) -> None:
    """An incomplete file must hold the first of the same pairs."""
    for number, row in enumerate(read_rows(path) if done else (), 1):
        if number > len(pairs) or row[:4] != astuple(pairs[number - 1]):
            raise ConfigError(
                f"{path}, line {number}: not the pair of this training.", "Delete the file, or choose another --out."
            )
