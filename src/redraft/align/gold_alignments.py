"""Reads gold alignments: the tables of MultiMWA and the JSON files of Edinburgh++ and MSR RTE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from redraft.align.links import Links, parse_links, reverse_links
from redraft.errors import CorpusError, shown
from redraft.reading import numbered_lines, read_json

Row = Sequence[str]  # source, target, sure and possible links

_SOURCE, _TARGET, _SURE, _POSSIBLE = 1, 3, 7, 8  # columns of MultiMWA
_KEYS = ("source", "target", "sureAlign", "possibleAlign")
_EXPECTED = "Give a file of gold alignments: a .tsv of MultiMWA, or a .json as in Edinburgh++."
_WITHOUT_GOLD = "To align pairs without gold alignments, use --input."


@dataclass(frozen=True)
class GoldPair:
    """The words of two sentences and the links annotated between them."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Links
    possible: Links = frozenset()  # in addition to the sure ones

    @property
    def links(self) -> Links:
        """Sure and possible links together, as in published figures."""
        return self.sure | self.possible

    def reversed(self) -> GoldPair:
        return GoldPair(self.target, self.source, reverse_links(self.sure), reverse_links(self.possible))


def read_gold(path: str | Path) -> list[GoldPair]:
    """The pairs of a .tsv (MultiMWA) or .json file."""
    path = Path(path)
    rows = _json_rows(path) if path.suffix == ".json" else _table_rows(path)
    pairs = []
    for number, (source, target, sure, possible) in enumerate(rows, 1):
        try:
            pair = GoldPair(tuple(source.split()), tuple(target.split()), parse_links(sure), parse_links(possible))
            _check(pair)
        except CorpusError as error:
            raise CorpusError(f"{path}, pair {number}: {error.problem}", error.hint) from None
        pairs.append(pair)
    if not any(pair.links for pair in pairs):
        what = "has no links" if pairs else "is empty"
        raise CorpusError(f"{path} {what}.", f"{_EXPECTED} {_WITHOUT_GOLD}" if pairs else _EXPECTED)
    return pairs


def _table_rows(path: Path) -> Iterator[Row]:
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) <= _SURE:
            columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
            raise CorpusError(f"{path}, line {number}: has {columns}; gold alignments have at least {_SURE + 1}.",
                              f"{_EXPECTED} {_WITHOUT_GOLD}")  # fmt: skip
        yield [cells[_SOURCE], cells[_TARGET], cells[_SURE], "".join(cells[_POSSIBLE : _POSSIBLE + 1])]


def _json_rows(path: Path) -> Iterator[Row]:
    try:
        items = read_json(path)
    except FileNotFoundError:
        raise CorpusError(f"{path} does not exist.", _EXPECTED) from None
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror}.", _EXPECTED) from None
    except ValueError as error:
        raise CorpusError(f"{path} is not JSON: {error}.", _EXPECTED) from None
    if not isinstance(items, list):
        raise CorpusError(f"{path} is not a list of pairs.", _EXPECTED)
    for number, item in enumerate(items, 1):
        place = f"{path}, pair {number}"
        if not isinstance(item, dict):
            raise CorpusError(f"{place} is not an object.", _EXPECTED)
        missing = [key for key in _KEYS if not isinstance(item.get(key), str)]
        if missing:
            raise CorpusError(f"{place}: {missing[0]} is {shown(item.get(missing[0]))}, not a string.", _EXPECTED)
        yield [item[key] for key in _KEYS]


def _check(pair: GoldPair) -> None:
    for left, right in pair.links:
        if left >= len(pair.source) or right >= len(pair.target):
            raise CorpusError(f"the link {left}-{right} refers to words outside the sentences.",
                              "Links count words from 0.")  # fmt: skip
