"""The data folder: plain text, sentence pairs, and held-out sentences for model selection."""

from __future__ import annotations

import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from redraft.evaluate.corpora import load_corpus

LICENCE_FORBIDS = ("asset",)  # CC BY-NC: tags not allowed in the training of bundled weights


def text_files(data: Path) -> list[Path]:
    return sorted((data / "text").glob("*.txt.xz"))


def articles(data: Path) -> Iterator[list[str]]:
    """Articles as lists of sentences."""
    for path in text_files(data):
        yield from articles_of(path)


def articles_of(path: Path) -> Iterator[list[str]]:
    article: list[str] = []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            sentence = line.strip()
            if sentence:
                article.append(sentence)
            elif article:
                yield article
                article = []
    if article:
        yield article


def premises(data: Path, parts: Sequence[str]) -> Iterator[str]:
    """The distinct premises of some parts of the inference corpora; none if the file is missing."""
    path, seen = data / "nli" / "nli.tsv.xz", set[str]()
    if not path.exists():
        return
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            part, _, premise, _ = line.rstrip("\n").split("\t")
            if part in parts and premise and premise not in seen:
                seen.add(premise)
                yield premise


@dataclass(frozen=True)
class HeldOut:
    """Validation sentences of Turk and ASSET that no training pair contains."""

    sources: list[str]
    references: dict[str, list[list[str]]]  # corpus → (reference, sentence)


def read_held_out(data: Path) -> HeldOut:
    rows = [int(row) for row in (data / "eval" / "turk_asset_valid_heldout400.ids").read_text().split()]
    references, sources = {}, []
    for name in ("turk", "asset"):
        corpus = load_corpus(name, "valid", data=data / "eval")
        sources = [corpus.sources[row] for row in rows]
        references[name] = [[reference[row] for row in rows] for reference in corpus.references]
    return HeldOut(sources, references)
