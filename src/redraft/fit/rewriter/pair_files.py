"""Reads sentence pairs for training and validation; every line is checked before a model is loaded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from redraft.errors import CorpusError
from redraft.files import decode_utf8, digest
from redraft.plan.plan_files import OnError
from redraft.reading import BOM, read_file

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class PairSet:
    """Sources, each with one target or several references, and their line numbers."""

    names: list[str]  # of the files, as given
    digests: list[str]
    sources: list[str]
    references: list[list[str]]  # (reference, sentence); training pairs have one
    lines: list[int]
    skipped: list[CorpusError] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def targets(self) -> list[str]:
        return self.references[0]

    def place(self, row: int, column: int = 0) -> str:
        """File and line of the source (column 0) or a reference of a pair, for messages."""
        return _place(self.names, self.lines[row], column)

    def only(self, kept: Sequence[int]) -> PairSet:
        """The pairs with these indices."""
        return PairSet(
            self.names,
            self.digests,
            [self.sources[at] for at in kept],
            [[reference[at] for at in kept] for reference in self.references],
            [self.lines[at] for at in kept],
            self.skipped,
        )


def read_pairs(paths: Paths, *, more_references: bool = False, on_error: OnError = "raise") -> PairSet:
    """Read one file (source ⇥ target on each line) or parallel files (sources, targets); .xz files are unpacked.

    With `more_references`, further columns or files are further references. With on_error="skip", invalid lines are
    left out, and their errors are in `skipped`.
    """
    names = [str(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    tables = [_rows(name) for name in names]
    _check_files(names, [rows for rows, _ in tables], more_references)
    kept: list[tuple[int, list[str]]] = []
    skipped: list[CorpusError] = []
    columns = None if more_references else 2  # the first valid line decides the number of references
    for number, cells in enumerate(zip(*(rows for rows, _ in tables), strict=True), 1):
        try:
            texts = _texts(names, cells, number, columns)
        except CorpusError as error:
            if on_error == "raise":
                raise
            skipped.append(error)
            continue
        columns = len(texts)
        kept.append((number, texts))
    if not kept:
        raise CorpusError(f"{names[0]}: every line is invalid.", str(skipped[0]))
    sources, *references = map(list, zip(*(texts for _, texts in kept), strict=True))
    digests = [found for _, found in tables]
    return PairSet(names, digests, sources, references, [number for number, _ in kept], skipped)


def _rows(name: str) -> tuple[list[bytes], str]:
    """The lines of a file without line ends, and the digest of the file."""
    data = read_file(name)
    rows = data.removeprefix(BOM).removesuffix(b"\n")
    return [row.removesuffix(b"\r") for row in rows.split(b"\n")] if rows else [], digest(data)


def _check_files(names: Sequence[str], tables: Sequence[Sequence[bytes]], more_references: bool) -> None:
    if not names or (len(names) > 2 and not more_references):
        raise CorpusError(
            f"{len(names)} files were given for training.",
            "Give one with source, tab, target on each line, or one of sources and one of targets.",
        )
    for name, rows in zip(names, tables, strict=True):
        if not rows:
            raise CorpusError(f"{name} is empty.", "Give a file with one pair, or one sentence, on each line.")
        if len(rows) != len(tables[0]):
            raise CorpusError(
                f"{name} has {len(rows):,} lines, {names[0]} has {len(tables[0]):,}.",
                "Parallel files need the same number of lines.",
            )


def _texts(names: Sequence[str], cells: Sequence[bytes], number: int, columns: int | None) -> list[str]:
    """The source and references of one line."""
    texts = [decode_utf8(cell, name, number) for name, cell in zip(names, cells, strict=True)]
    if len(texts) == 1:
        texts = texts[0].split("\t")
        if len(texts) < 2 or len(texts) != (columns or len(texts)):
            count = "1 column" if len(texts) == 1 else f"{len(texts)} columns"
            raise CorpusError(
                f"{_place(names, number)}: has {count}, {columns or 2} are needed.",
                "Write source, tab, target on each line. Only --valid may have further references, the same number "
                "everywhere.",
            )
    for at, text in enumerate(texts):
        if not text.strip():
            what = "source" if at == 0 else "target" if len(texts) == 2 else f"reference {at}"
            raise CorpusError(
                f"{_place(names, number, at)}: the {what} is empty.",
                "Fill it, delete the line, or skip such lines with --on-error skip.",
            )
    return [text.strip() for text in texts]


def _place(names: Sequence[str], line: int, column: int = 0) -> str:
    return f"{names[0] if len(names) == 1 else names[column]}, line {line}"
