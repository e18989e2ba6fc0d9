"""Splits gold alignments into pairs for training, for choosing the threshold, and for evaluation."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from redraft.align.gold_alignments import GoldPair, read_gold
from redraft.errors import ConfigError, CorpusError


@dataclass(frozen=True)
class GoldSets:
    """Gold alignments for training and for choosing the threshold."""

    main: list[GoldPair]  # MultiMWA
    other: list[GoldPair]  # further corpora
    held_out: list[GoldPair]  # used only to choose the threshold
    left_out: int  # pairs of the further corpora that share a sentence with an evaluation set or are duplicates


MAIN = ("wiki-train.tsv", "mtref-train.tsv")
OTHER = ("msr.edinburgh.train.json", "gold.train.sure+poss.json", "RTE2_dev_M.align.sure+poss.json")
EVALUATION = ("wiki-dev.tsv", "wiki-test.tsv", "mtref-dev.tsv")


def training_files(leave_out: Sequence[str] = ()) -> tuple[str, ...]:
    """The names of the training files, without those that start with a prefix in `leave_out`."""
    return tuple(name for name in (*MAIN, *OTHER) if not name.startswith(tuple(leave_out)))


def read_sets(folder: str | Path, held_out_size: int, leave_out: Sequence[str] = ()) -> GoldSets:
    """Read the gold alignments of a folder; of the further corpora, no pair with a sentence of an evaluation set."""
    check_files(folder, leave_out)
    folder, names = Path(folder), training_files(leave_out)
    rng = random.Random(0)  # not the training seed: the same pairs are held out from all teachers
    main: list[GoldPair] = []
    held_out: list[GoldPair] = []
    for name in (name for name in MAIN if name in names):
        pairs = read_gold(folder / name)
        rng.shuffle(pairs)
        held_out += pairs[:held_out_size]
        main += pairs[held_out_size:]
    evaluation = set(evaluation_sentences(folder))
    seen: set[tuple[str, str]] = set()
    other, left_out = [], 0
    for pair in (pair for name in OTHER if name in names for pair in read_gold(folder / name)):
        key = _text(pair.source), _text(pair.target)
        if key in seen or not evaluation.isdisjoint(key):
            left_out += 1
            continue
        seen.add(key)
        other.append(pair)
    return GoldSets(main, other, held_out, left_out)


def check_files(folder: str | Path, leave_out: Sequence[str] = ()) -> None:
    names = training_files(leave_out)
    if not any(name in names for name in MAIN):
        raise ConfigError("--leave-out removes all of MultiMWA.", f"Keep {' or '.join(MAIN)}.")
    missing = [name for name in (*names, *EVALUATION) if not (Path(folder) / name).is_file()]
    if missing:
        raise CorpusError(f"{folder}: missing {', '.join(missing)}.",
                          "Get MultiMWA, Edinburgh++, MSR RTE from github.com/chaojiang06/neural-Jacana.")  # fmt: skip


def evaluation_sentences(folder: Path) -> Iterator[str]:
    """The sentences of the evaluation files, lower-cased."""
    for name in EVALUATION:
        for pair in read_gold(folder / name):
            yield _text(pair.source)
            yield _text(pair.target)


def _text(words: Sequence[str]) -> str:
    return " ".join(words).lower()
