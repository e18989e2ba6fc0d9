"""Pairs to train on and to validate with, from files; what is wrong with a line is said before a model is loaded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from redraft.errors import CorpusError
from redraft.files import decoded, digest
from redraft.plan.plan_files import OnError
from redraft.reading import BOM, read_file

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class PairSet:
    """Sources with one target each, or with several references, and the lines they stand in."""

    names: list[str]  # of the files, as they were given
    digests: list[str]
    sources: list[str]
    references: list[list[str]]  # (reference, sentence); pairs to train on have one
    lines: list[int]
    skipped: list[CorpusError] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def targets(self) -> list[str]:
        return self.references[0]

    def place(self, row: int, column: int = 0) -> str:
        """Where a message sends its reader for the source (column 0) or a reference of a pair."""
        return _place(self.names, self.lines[row], column)

    def only(self, kept: Sequence[int]) -> PairSet:
        """The pairs of these places."""
        return PairSet(
            self.names,
            self.digests,
            [self.sources[at] for at in kept],
            [[reference[at] for at in kept] for reference in self.references],
            [self.lines[at] for at in kept],
            self.skipped,
        )


def read_pairs(paths: Paths, *, more_references: bool = False, on_error: OnError = "raise") -> PairSet:
    """The pairs of one file (source ⇥ target on each line) or of parallel files (sources, targets); .xz is unpacked.

    With `more_references`, further columns or files are further references. With on_error="skip" bad lines are left
    out and kept as errors in `skipped`.
    """
    names = [str(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    tables = [_rows(name) for name in names]
    _check_files(names, [rows for rows, _ in tables], more_references)
    kept: list[tuple[int, list[str]]] = []
    skipped: list[CorpusError] = []
    columns = None if more_references else 2  # the first good line decides how many references there are
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
        raise CorpusError(f"{names[0]}: every line is bad.", str(skipped[0]))
    sources, *references = map(list, zip(*(texts for _, texts in kept), strict=True))
    digests = [found for _, found in tables]
    return PairSet(names, digests, sources, references, [number for number, _ in kept], skipped)


def _rows(name: str) -> tuple[list[bytes], str]:
    """The lines of a file without their ends, and what tells the file from others."""
    data = read_file(name)
    rows = data.removeprefix(BOM).removesuffix(b"\n")
    return [row.removesuffix(b"\r") for row in rows.split(b"\n")] if rows else [], digest(data)


def _check_files(names: Sequence[str], tables: Sequence[Sequence[bytes]], more_references: bool) -> None:
    if not names or (len(names) > 2 and not more_references):
        raise CorpusError(
            f"{len(names)} files are given to train on.",
            "Give one with source, tab, target on each line, or one of sources and one of targets.",
        )
    for name, rows in zip(names, tables, strict=True):
        if not rows:
            raise CorpusError(f"{name} is empty.", "Give a file with one pair, or one sentence, on each line.")
        if len(rows) != len(tables[0]):
            raise CorpusError(
                f"{name} has {len(rows):,} lines, {names[0]} has {len(tables[0]):,}.",
                "Line n of every file belongs together: give them the same number of lines.",
            )


def _texts(names: Sequence[str], cells: Sequence[bytes], number: int, columns: int | None) -> list[str]:
    """The source and references of one line."""
    texts = [decoded(cell, name, number) for name, cell in zip(names, cells, strict=True)]
    if len(texts) == 1:
        texts = texts[0].split("\t")
        if len(texts) < 2 or len(texts) != (columns or len(texts)):
            count = "1 column" if len(texts) == 1 else f"{len(texts)} columns"
            raise CorpusError(
                f"{_place(names, number)}: has {count}, and {columns or 2} are needed.",
                "Write the source, one tab, and the target on each line; only --valid takes further references, "
                "the same number on every line.",
            )
    for at, text in enumerate(texts):
        if not text.strip():
            what = "source" if at == 0 else "target" if len(texts) == 2 else f"reference {at}"
            raise CorpusError(
                f"{_place(names, number, at)}: the {what} is empty.",
                "Fill it, delete the line, or leave such lines out with --on-error skip.",
            )
    return [text.strip() for text in texts]


def _place(names: Sequence[str], line: int, column: int = 0) -> str:
    return f"{names[0] if len(names) == 1 else names[column]}, line {line}"
