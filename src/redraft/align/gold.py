"""Alignments made by people: MultiMWA's tables and the JSON of Edinburgh++ and MSR RTE."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from redraft.align.links import Links, parse_links, reversed_links
from redraft.errors import CorpusError

_SOURCE, _TARGET, _SURE, _POSSIBLE = 1, 3, 7, 8  # columns of MultiMWA


@dataclass(frozen=True)
class GoldPair:
    """Two sentences in words and the links that people drew between them."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Links
    possible: Links = frozenset()  # beyond the sure ones

    @property
    def links(self) -> Links:
        """Sure and possible ones together, as published figures count them."""
        return self.sure | self.possible

    def reversed(self) -> GoldPair:
        return GoldPair(self.target, self.source, reversed_links(self.sure), reversed_links(self.possible))


def read_gold(path: str | Path) -> list[GoldPair]:
    """The pairs of a file, .tsv (MultiMWA) or .json."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CorpusError(f"{path} does not exist.", "Name a file of gold alignments, .tsv or .json.") from None
    rows = _json_rows(text) if path.suffix == ".json" else _table_rows(text)
    pairs = []
    for number, (source, target, sure, possible) in enumerate(rows, 1):
        try:
            pair = GoldPair(tuple(source.split()), tuple(target.split()), parse_links(sure), parse_links(possible))
            _check(pair)
        except CorpusError as error:
            raise CorpusError(f"{path}, pair {number}: {error.problem}", error.hint) from None
        pairs.append(pair)
    return pairs


def _table_rows(text: str) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    for line in text.split("\n"):
        if line.strip():
            cells = [*line.split("\t"), "", ""]
            rows.append(
                [cells[column] if column < len(cells) else "" for column in (_SOURCE, _TARGET, _SURE, _POSSIBLE)]
            )
    return rows


def _json_rows(text: str) -> list[Sequence[str]]:
    keys = ("source", "target", "sureAlign", "possibleAlign")
    return [[item[key] for key in keys] for item in json.loads(text)]


def _check(pair: GoldPair) -> None:
    for left, right in pair.links:
        if left >= len(pair.source) or right >= len(pair.target):
            raise CorpusError(f"the link {left}-{right} is about words that are not there.",
                              "Links count words from 0.")  # fmt: skip
