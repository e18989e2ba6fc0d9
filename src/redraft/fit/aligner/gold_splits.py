"""Gold alignments, split: to train on, to choose the threshold by, and to evaluate with."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from redraft.align.gold_alignments import GoldPair, read_gold
from redraft.errors import ConfigError, CorpusError


@dataclass(frozen=True)
class GoldSets:
    """Pairs to train on, to choose the threshold by, and those they were kept apart from."""

    main: list[GoldPair]
    other: list[GoldPair]
    held: list[GoldPair]
    left_out: int  # pairs of the other corpora that share a sentence with an evaluation set, or came twice


MAIN = ("wiki-train.tsv", "mtref-train.tsv")
OTHER = ("msr.edinburgh.train.json", "gold.train.sure+poss.json", "RTE2_dev_M.align.sure+poss.json")
EVALUATION = ("wiki-dev.tsv", "wiki-test.tsv", "mtref-dev.tsv")


def training_files(leave_out: Sequence[str] = ()) -> tuple[str, ...]:
    """The files to train on, without those whose name begins with one of `leave_out`."""
    return tuple(name for name in (*MAIN, *OTHER) if not name.startswith(tuple(leave_out)))


def read_sets(folder: str | Path, held_size: int, leave_out: Sequence[str] = ()) -> GoldSets:
    """The gold alignments of a folder. Of the other corpora no sentence of an evaluation set is kept."""
    check_files(folder, leave_out)
    folder, names = Path(folder), training_files(leave_out)
    rng = random.Random(0)  # whatever the seed: what is held is held from the teachers too
    main: list[GoldPair] = []
    held: list[GoldPair] = []
    for name in (name for name in MAIN if name in names):
        pairs = read_gold(folder / name)
        rng.shuffle(pairs)
        held += pairs[:held_size]
        main += pairs[held_size:]
    apart = set(evaluated(folder))
    seen: set[tuple[str, str]] = set()
    other, left_out = [], 0
    for pair in (pair for name in OTHER if name in names for pair in read_gold(folder / name)):
        key = _text(pair.source), _text(pair.target)
        if key in seen or not apart.isdisjoint(key):
            left_out += 1
            continue
        seen.add(key)
        other.append(pair)
    return GoldSets(main, other, held, left_out)


def check_files(folder: str | Path, leave_out: Sequence[str] = ()) -> None:
    names = training_files(leave_out)
    if not any(name in names for name in MAIN):
        raise ConfigError("--leave-out leaves no gold alignments to train on.", f"Keep one of {' and '.join(MAIN)}.")
    missing = [name for name in (*names, *EVALUATION) if not (Path(folder) / name).is_file()]
    if missing:
        raise CorpusError(f"{folder} lacks {', '.join(missing)}.",
                          "Get MultiMWA, Edinburgh++ and MSR RTE: github.com/chaojiang06/neural-Jacana")  # fmt: skip


def evaluated(folder: Path) -> Iterator[str]:
    """The sentences of the evaluation files."""
    for name in EVALUATION:
        for pair in read_gold(folder / name):
            yield _text(pair.source)
            yield _text(pair.target)


def _text(words: Sequence[str]) -> str:
    return " ".join(words).lower()
