"""The corpora of the field, read from a folder that the user names; no corpus is part of this package."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from redraft.errors import ConfigError, CorpusError, shown
from redraft.evaluate.text_files import TextFile, check_aligned, read_text

DATA = "REDRAFT_DATA"  # the variable that names the folder
References = Literal["first", "all"] | int


@dataclass(frozen=True)
class Corpus:
    """Sources and their references; sentence n of each belongs together."""

    name: str
    split: str
    sources: Sequence[str]
    references: Sequence[Sequence[str]]  # (reference, sentence)
    notices: tuple[str, ...] = ()
    numbers: str = "all"  # which references these are: all, first, or the number of one

    def __post_init__(self) -> None:
        for number, reference in enumerate(self.references):
            if len(reference) != len(self.sources):
                raise CorpusError(
                    f"reference {number} of {self.name} has {len(reference):,} sentences, the sources {len(self):,}.",
                    "Sentence n of each belongs to source n.",
                )

    def __len__(self) -> int:
        return len(self.sources)

    @property
    def signature(self) -> str:
        which = "" if self.numbers == "all" else f" ({self.numbers})"
        return f"{self.name}/{self.split}|refs:{len(self.references)}{which}"

    def with_references(self, which: References) -> Corpus:
        """The same corpus with all references, the first, or the one of a number, from 0 as in file names."""
        if which == "all":
            return self
        number = 0 if which == "first" else int(which)
        if not 0 <= number < len(self.references):
            raise ConfigError(
                f"there is no reference {number} in {self.name}.",
                f"Choose first, all, or the number of one: {', '.join(map(str, range(len(self.references))))}.",
            )
        return replace(self, references=[self.references[number]], numbers=str(which))


@dataclass(frozen=True)
class Published:
    """A corpus as it is published: its files, their sizes, and where they are."""

    title: str
    source: str  # file name, with {split}
    reference: str  # with {split}, and {number} where there are several
    splits: Mapping[str, tuple[str, int | None]]  # our name of a split → theirs, and its sentences where known
    where: str
    licence: str
    references: int = 1
    folders: tuple[str, ...] = ()  # other names of its folder

    def files(self, split: str) -> list[str]:
        theirs = self.splits[split][0]
        numbers = range(self.references)
        return [
            self.source.format(split=theirs),
            *(self.reference.format(split=theirs, number=number) for number in numbers),
        ]


CORPORA: dict[str, Published] = {
    "turk": Published(
        title="TurkCorpus, truecased",
        source="{split}.truecase.detok.orig",
        reference="{split}.truecase.detok.simp.{number}",
        references=8,
        splits={"test": ("test", 359), "valid": ("tune", 2000)},
        where="https://github.com/feralvam/easse (easse/resources/data/test_sets/turkcorpus)",
        licence="GPL-3.0 (repository)",
        folders=("turkcorpus", "truecase"),
    ),
    "turk_legacy": Published(
        title="TurkCorpus, tokenised and lower-cased",
        source="{split}.8turkers.tok.norm",
        reference="{split}.8turkers.tok.turk.{number}",
        references=8,
        splits={"test": ("test", 359), "valid": ("tune", 2000)},
        where="https://github.com/cocoxu/simplification (data/turkcorpus)",
        licence="GPL-3.0 (repository)",
        folders=("turkcorpus", "legacy"),
    ),
    "asset": Published(
        title="ASSET",
        source="asset.{split}.orig",
        reference="asset.{split}.simp.{number}",
        references=10,
        splits={"test": ("test", 359), "valid": ("valid", 2000)},
        where="https://github.com/facebookresearch/asset (dataset)",
        licence="CC BY-NC 4.0",
        folders=("dataset",),
    ),
    "automets": Published(
        title="AutoMeTS, medical",
        source="{split}.orig",
        reference="{split}.simp",
        splits={"test": ("test", 418), "valid": ("valid", 411), "train": ("train", 1967)},
        where="https://github.com/vanh17/MedTextSimplifier",
        licence="MIT",
    ),
    "wiki_auto": Published(
        title="Wiki-Auto",
        source="{split}.src",
        reference="{split}.dst",
        splits={"train": ("train", None), "valid": ("valid", None), "test": ("test", None)},
        where="https://github.com/chaojiang06/wiki-auto (wiki-auto/ACL2020 or wiki-auto/GEM2021/full_no_split)",
        licence="see the repository; text of Wikipedia, CC BY-SA 3.0",
        folders=("wiki-auto", "ACL2020", "full_no_split"),
    ),
    "wikilarge": Published(
        title="WikiLarge",
        source="wiki.full.aner.ori.{split}.src",
        reference="wiki.full.aner.ori.{split}.dst",
        splits={"train": ("train", 296_402), "valid": ("valid", 992), "test": ("test", 359)},
        where="https://github.com/XingxingZhang/dress (data-simplification.tar.bz2, folder wikilarge)",
        licence="none stated; text of Wikipedia, CC BY-SA 3.0",
    ),
}


def load_corpus(name: str, split: str = "test", *, data: str | os.PathLike[str] | None = None) -> Corpus:
    """A published corpus from the folder `data`, or from the one that REDRAFT_DATA names."""
    if name not in CORPORA:
        raise ConfigError(f"the corpus {shown(name)} is not known.", f"Use one of {', '.join(CORPORA)}.")
    published = CORPORA[name]
    if split not in published.splits:
        raise ConfigError(f"{name} has no split {shown(split)}.", f"Use one of {', '.join(published.splits)}.")
    files = [read_text(path) for path in _found(name, published, split, data)]
    check_aligned(files, published.splits[split][1], of=f"{published.title}, {split}")
    return _corpus(name, split, files)


def read_corpus(
    source: str | os.PathLike[str], references: Sequence[str | os.PathLike[str]], *, name: str = "files"
) -> Corpus:
    """Any other set: a file of sources and one or more aligned files of references."""
    files = [read_text(path) for path in (source, *references)]
    check_aligned(files)
    if not files[0].lines:
        raise CorpusError(f"{files[0].path} is empty.", "Give a file with one sentence on each line.")
    return _corpus(name, Path(source).name, files)


def _corpus(name: str, split: str, files: Sequence[TextFile]) -> Corpus:
    notices = tuple(notice for file in files for notice in file.notices)
    return Corpus(name, split, files[0].lines, [file.lines for file in files[1:]], notices)


def _found(name: str, published: Published, split: str, data: str | os.PathLike[str] | None) -> list[Path]:
    """The files of a split, all in one folder."""
    named = os.environ.get(DATA) if data is None else data
    about = f"{published.title} is published at {published.where}; licence: {published.licence}."
    if not named:
        raise CorpusError(f"no folder with corpora is named, and {name} has to be read from one.",
                          f"Add --data FOLDER or set {DATA}. {about}")  # fmt: skip
    root = Path(named)
    if not root.is_dir():
        raise CorpusError(f"{root} is not a folder.", f"Name the folder that holds {name}/. {about}")
    wanted = published.files(split)
    best: tuple[Path, list[str]] | None = None
    for folder in _folders(root, name, published):
        missing = [file for file in wanted if not (folder / file).is_file()]
        if not missing:
            return [folder / file for file in wanted]
        if len(missing) < len(wanted) and best is None:
            best = folder, missing
    if best:
        raise CorpusError(f"{best[0]} lacks {', '.join(best[1])}.", about)
    raise CorpusError(f"{root} holds no {wanted[0]}: looked there, in {name}/ and one folder deeper.", about)


def _folders(root: Path, name: str, published: Published) -> Iterator[Path]:
    names = (name, *published.folders)
    yield from (root / folder for folder in names)
    yield root
    for inner in sorted(path for path in root.iterdir() if path.is_dir()):
        yield from (inner / folder for folder in names)
