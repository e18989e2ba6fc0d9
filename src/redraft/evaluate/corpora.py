"""Loaders for published simplification corpora and for user files. No corpus is part of this package."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from redraft.errors import ConfigError, CorpusError, shown
from redraft.evaluate.text_files import TextFile, check_aligned, read_text

DATA = "REDRAFT_DATA"  # environment variable: the data folder
References = Literal["first", "all"] | int


@dataclass(frozen=True)
class Corpus:
    """Sources and aligned references: sentence n of each reference belongs to source n."""

    name: str
    split: str
    sources: Sequence[str]
    references: Sequence[Sequence[str]]  # (reference, sentence)
    notices: tuple[str, ...] = ()
    reference_choice: str = "all"  # all, first, or the number of the one reference kept

    def __post_init__(self) -> None:
        for number, reference in enumerate(self.references):
            if len(reference) != len(self.sources):
                raise CorpusError(
                    f"reference {number} of {self.name} has {len(reference):,} sentences, the sources {len(self):,}.",
                    "Sentence n of every reference must belong to source n.",
                )

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def signature(self) -> str:
        which = "" if self.reference_choice == "all" else f" ({self.reference_choice})"
        return f"{self.name}/{self.split}|refs:{len(self.references)}{which}"

    def with_references(self, which: References) -> Corpus:
        """The same corpus with all references, the first, or reference number `which` (from 0, as in file names)."""
        if which == "all":
            return self
        number = 0 if which == "first" else int(which)
        if not 0 <= number < len(self.references):
            raise ConfigError(
                f"there is no reference {number} in {self.name}.",
                f"Use first, all, or one of these numbers: {', '.join(map(str, range(len(self.references))))}.",
            )
        return replace(self, references=[self.references[number]], reference_choice=str(which))


@dataclass(frozen=True)
class PublishedCorpus:
    """A published corpus: its files, their sizes, and where to download them."""

    title: str
    source: str  # file name template with {split}
    reference: str  # likewise, with {number} if there are several references
    splits: Mapping[str, tuple[str, int | None]]  # our split name → (their split name, number of sentences if known)
    url: str
    licence: str
    references: int = 1
    folders: tuple[str, ...] = ()  # alternative folder names

    def files(self, split: str) -> list[str]:
        their_split = self.splits[split][0]
        numbers = range(self.references)
        return [
            self.source.format(split=their_split),
            *(self.reference.format(split=their_split, number=number) for number in numbers),
        ]


CORPORA: dict[str, PublishedCorpus] = {
    "turk": PublishedCorpus(
        title="TurkCorpus, truecased",
        source="{split}.truecase.detok.orig",
        reference="{split}.truecase.detok.simp.{number}",
        references=8,
        splits={"test": ("test", 359), "valid": ("tune", 2000)},
        url="https://github.com/feralvam/easse (easse/resources/data/test_sets/turkcorpus)",
        licence="GPL-3.0 (repository)",
        folders=("turkcorpus", "truecase"),
    ),
    "turk_legacy": PublishedCorpus(
        title="TurkCorpus, tokenised and lower-cased",
        source="{split}.8turkers.tok.norm",
        reference="{split}.8turkers.tok.turk.{number}",
        references=8,
        splits={"test": ("test", 359), "valid": ("tune", 2000)},
        url="https://github.com/cocoxu/simplification (data/turkcorpus)",
        licence="GPL-3.0 (repository)",
        folders=("turkcorpus", "legacy"),
    ),
    "asset": PublishedCorpus(
        title="ASSET",
        source="asset.{split}.orig",
        reference="asset.{split}.simp.{number}",
        references=10,
        splits={"test": ("test", 359), "valid": ("valid", 2000)},
        url="https://github.com/facebookresearch/asset (dataset)",
        licence="CC BY-NC 4.0",
        folders=("dataset",),
    ),
    "automets": PublishedCorpus(
        title="AutoMeTS, medical",
        source="{split}.orig",
        reference="{split}.simp",
        splits={"test": ("test", 418), "valid": ("valid", 411), "train": ("train", 1967)},
        url="https://github.com/vanh17/MedTextSimplifier",
        licence="MIT",
    ),
    "wiki_auto": PublishedCorpus(
        title="Wiki-Auto",
        source="{split}.src",
        reference="{split}.dst",
        splits={"train": ("train", None), "valid": ("valid", None), "test": ("test", None)},
        url="https://github.com/chaojiang06/wiki-auto (wiki-auto/ACL2020 or wiki-auto/GEM2021/full_no_split)",
        licence="see the repository; text of Wikipedia, CC BY-SA 3.0",
        folders=("wiki-auto", "ACL2020", "full_no_split"),
    ),
    "wikilarge": PublishedCorpus(
        title="WikiLarge",
        source="wiki.full.aner.ori.{split}.src",
        reference="wiki.full.aner.ori.{split}.dst",
        splits={"train": ("train", 296_402), "valid": ("valid", 992), "test": ("test", 359)},
        url="https://github.com/XingxingZhang/dress (data-simplification.tar.bz2, folder wikilarge)",
        licence="none stated; text of Wikipedia, CC BY-SA 3.0",
    ),
}


def load_corpus(name: str, split: str = "test", *, data: str | os.PathLike[str] | None = None) -> Corpus:
    """Load a published corpus from the folder `data` (default: the environment variable REDRAFT_DATA)."""
    if name not in CORPORA:
        raise ConfigError(f"the corpus {shown(name)} is not known.", f"Use one of {', '.join(CORPORA)}.")
    published = CORPORA[name]
    if split not in published.splits:
        raise ConfigError(f"{name} has no split {shown(split)}.", f"Use one of {', '.join(published.splits)}.")
    files = [read_text(path) for path in _find_files(name, published, split, data)]
    check_aligned(files, published.splits[split][1], of=f"{published.title}, {split}")
    return _corpus(name, split, files)


def read_corpus(
    source: str | os.PathLike[str], references: Sequence[str | os.PathLike[str]], *, name: str = "files"
) -> Corpus:
    """Load a corpus from a file of sources and one or more aligned reference files."""
    files = [read_text(path) for path in (source, *references)]
    check_aligned(files)
    if not files[0].lines:
        raise CorpusError(f"{files[0].path} is empty.", "Give a file with one sentence per line.")
    return _corpus(name, Path(source).name, files)


def _corpus(name: str, split: str, files: Sequence[TextFile]) -> Corpus:
    notices = tuple(notice for file in files for notice in file.notices)
    return Corpus(name, split, files[0].lines, [file.lines for file in files[1:]], notices)


def _find_files(name: str, published: PublishedCorpus, split: str, data: str | os.PathLike[str] | None) -> list[Path]:
    """The files of a split. All must be in one folder."""
    root_name = os.environ.get(DATA) if data is None else data
    about = f"{published.title} is published at {published.url}; licence: {published.licence}."
    if not root_name:
        raise CorpusError(f"no data folder is given, so {name} cannot be loaded.",
                          f"Add --data FOLDER or set {DATA}. {about}")  # fmt: skip
    root = Path(root_name)
    if not root.is_dir():
        raise CorpusError(f"{root} is not a folder.", f"Give the folder that contains {name}/. {about}")
    file_names = published.files(split)
    partial: tuple[Path, list[str]] | None = None
    for folder in _candidate_folders(root, name, published):
        missing = [file for file in file_names if not (folder / file).is_file()]
        if not missing:
            return [folder / file for file in file_names]
        if len(missing) < len(file_names) and partial is None:
            partial = folder, missing
    if partial:
        raise CorpusError(f"{partial[0]} lacks {', '.join(partial[1])}.", about)
    raise CorpusError(f"{file_names[0]} not found in {root}, {root / name} or the folders one level below.", about)


def _candidate_folders(root: Path, name: str, published: PublishedCorpus) -> Iterator[Path]:
    names = (name, *published.folders)
    yield from (root / folder for folder in names)
    yield root
    for inner in sorted(path for path in root.iterdir() if path.is_dir()):
        yield from (inner / folder for folder in names)
