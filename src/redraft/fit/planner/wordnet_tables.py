"""Extracts word relations from the files of WordNet 3.0 into the table that `redraft.plan.target_guard` reads.

    python -m redraft.fit.planner.wordnet_tables --wordnet /usr/share/wordnet --out wordnet_relations.tsv.xz

Rows of the table, by their first cell:

    n v a r   depth ⇥ words: a synset. Its parent is the last row above with a depth of one less; the parent of an
              adjective is the head of its cluster. + after a word: this is one of its first senses.
    !         word ⇥ its antonyms
    =         words derived from one another
    ~         word ⇥ its irregular forms
    _         multi-word terms: last word ⇥ the words before it, separated by "; "
"""

from __future__ import annotations

import argparse
import heapq
import lzma
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from redraft.errors import CorpusError
from redraft.files import atomic_write
from redraft.table_files import read_rows
from redraft.text.function_words import is_content

_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_MAIN = 2  # senses of a word that are marked with +
_SENSES = 8  # senses of a word that are read
_VOCABULARY = 60_000  # words, by frequency
_MAX_TERM = 4  # words of a multi-word term
_ABOVE, _SIMILAR, _ANTONYM, _DERIVED, _PERTAINS = "@", "&", "!", "+", "\\"


@dataclass
class Synset:
    """A set of synonyms, and its pointers to other synsets."""

    words: tuple[str, ...]
    head: bool  # False: a satellite adjective, whose parent is the head of its cluster
    pointers: list[tuple[str, str, str, int, int]] = field(default_factory=list)  # symbol, file, key, from, to


def read_synsets(folder: Path, kind: str) -> dict[str, Synset]:
    """The synsets of one part of speech, by their offset in its file."""
    found = {}
    for line in _lines(folder / f"data.{_FILES[kind]}"):
        cells = line.partition(" | ")[0].split()
        size = int(cells[3], 16)
        words = tuple(_plain(word) for word in cells[4 : 4 + 2 * size : 2])
        rest = cells[5 + 2 * size :]
        pointers = [
            (symbol, file, key, int(ends[:2], 16), int(ends[2:], 16))
            for symbol, key, file, ends in zip(*(iter(rest[: 4 * int(cells[4 + 2 * size])]),) * 4, strict=True)
        ]
        found[cells[0]] = Synset(words, cells[2] != "s", pointers)
    return found


def read_ranks(folder: Path, kind: str) -> dict[tuple[str, str], int]:
    """(word, synset) → rank of this sense of the word; 1: the most frequent."""
    ranks = {}
    for line in _lines(folder / f"index.{_FILES[kind]}"):
        cells = line.split()
        for rank, key in enumerate(cells[-int(cells[2]) :], 1):
            ranks[_plain(cells[0]), key] = rank
    return ranks


def relations(folder: Path, vocabulary: Set[str]) -> Iterator[tuple[str, ...]]:
    """The rows of the table, for the words of a vocabulary."""
    synsets = {kind: read_synsets(folder, kind) for kind in _FILES}
    for kind, known in synsets.items():
        yield from _forest(kind, known, read_ranks(folder, kind), vocabulary)
    antonyms, derived = defaultdict(set), _Families()
    for known in synsets.values():
        for synset in known.values():
            for symbol, file, key, here, there in synset.pointers:
                if symbol not in (_ANTONYM, _DERIVED, _PERTAINS) or not here:
                    continue
                one, other = synset.words[here - 1], synsets[_file(file)][key].words[there - 1]
                if one == other or one not in vocabulary or other not in vocabulary:
                    continue
                if symbol == _ANTONYM:
                    antonyms[min(one, other)].add(max(one, other))
                else:
                    derived.join(one, other)
    yield from (("!", word, " ".join(sorted(others))) for word, others in sorted(antonyms.items()))
    yield from (("=", " ".join(family)) for family in derived.all())
    yield from (("~", word, " ".join(sorted(forms))) for word, forms in sorted(_irregular(folder, vocabulary).items()))
    yield from (("_", last, "; ".join(sorted(before))) for last, before in sorted(_terms(folder, vocabulary).items()))


def _terms(folder: Path, vocabulary: Set[str]) -> dict[str, set[str]]:
    """Multi-word nouns, without names: last word → the words before it.

    Phrasal verbs are left out: a verb can be replaced without its particle.
    """
    found = defaultdict(set)
    for line in _lines(folder / f"data.{_FILES['n']}"):
        cells = line.partition(" | ")[0].split()
        for term in cells[4 : 4 + 2 * int(cells[3], 16) : 2]:
            words = term.split("_")
            known = all(part in vocabulary for word in words for part in word.split("-"))  # names have capitals
            if known and 1 < len(words) <= _MAX_TERM and is_content(words[0]) and is_content(words[-1]):
                found[words[-1]].add(" ".join(words[:-1]))
    return found


def _forest(
    kind: str, synsets: Mapping[str, Synset], ranks: Mapping[tuple[str, str], int], vocabulary: Set[str]
) -> Iterator[tuple[str, ...]]:
    """The synsets, each after its parent. Synsets without a word of the vocabulary appear only as parents."""
    below = defaultdict(list)
    roots = []
    for key, synset in synsets.items():
        symbol = _SIMILAR if kind == "a" else _ABOVE
        above = [to for sign, file, to, *_ in synset.pointers if sign == symbol and _file(file) == kind]
        if (kind == "a" and synset.head) or not above:
            roots.append(key)
        else:
            for to in above:
                below[to].append(key)

    def shown(key: str) -> list[str]:
        found = []
        for word in synsets[key].words:
            rank = ranks.get((word, key), _SENSES + 1)
            if word in vocabulary and rank <= _SENSES:
                found.append(word + "+" * (rank <= _MAIN))
        return found

    done: set[str] = set()

    def rows(key: str, depth: int) -> list[tuple[str, ...]]:
        """A synset with several parents is repeated under each, but its descendants are listed only once."""
        again = key in done
        done.add(key)
        found = [] if again else [row for lower in below[key] for row in rows(lower, depth + 1)]
        words = shown(key)
        return [(kind, str(depth), " ".join(words)), *found] if words or found else []

    for root in roots:
        yield from rows(root, 0)


def _irregular(folder: Path, vocabulary: Set[str]) -> dict[str, set[str]]:
    found = defaultdict(set)
    for name in _FILES.values():
        for line in _lines(folder / f"{name}.exc"):
            form, *bases = map(_plain, line.split())
            for base in bases:
                if form != base and form in vocabulary and base in vocabulary:
                    found[base].add(form)
    return found


class _Families:
    """Disjoint sets of words: words that are connected, directly or not, are in the same set."""

    def __init__(self) -> None:
        self._of: dict[str, list[str]] = {}

    def join(self, one: str, other: str) -> None:
        first, second = (self._of.setdefault(word, [word]) for word in (one, other))
        if first is not second:
            first += second
            for word in second:
                self._of[word] = first

    def all(self) -> list[list[str]]:
        return sorted({id(family): sorted(family) for family in self._of.values()}.values())


def _file(letter: str) -> str:
    return "a" if letter == "s" else letter


def _plain(word: str) -> str:
    return word.partition("(")[0].replace("_", " ").lower()


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from (line for line in file if not line.startswith("  "))  # the licence
    except OSError as error:
        hint = "Install the package wordnet-base, or give the folder of WordNet 3.0."
        raise CorpusError(f"cannot read {path}: {error}", hint) from None


def most_frequent(path: str | Path, count: int) -> set[str]:
    """The most frequent words of a table of `redraft.text.word_frequency`."""
    rows = read_rows(path, lambda cells: (int(cells[1]), cells[0]))
    return {word for _, word in heapq.nlargest(count, rows) if word.isalpha()}


def write_relations(wordnet: str | Path, word_frequency: str | Path, out: str | Path, words: int = _VOCABULARY) -> int:
    """Write the table for the most frequent words; returns its size in bytes."""
    vocabulary = most_frequent(word_frequency, words)
    text = "".join("\t".join(row) + "\n" for row in relations(Path(wordnet), vocabulary))
    packed = lzma.compress(text.encode("utf-8"), preset=9 | lzma.PRESET_EXTREME)
    with atomic_write(Path(out)) as file:
        file.write(packed)
    return len(packed)


def main(arguments: Sequence[str] | None = None) -> None:
    from redraft.models import bundled

    parser = argparse.ArgumentParser(description="Extract the table of word relations from the files of WordNet.")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet 3.0 (data.noun, index.noun …)")
    parser.add_argument("--out", type=Path, required=True, help="output file, .tsv.xz")
    parser.add_argument("--word-frequency", type=Path, default=bundled("planner") / "word_frequency.tsv.xz",
                        help="table of word frequencies (default: the bundled one)")  # fmt: skip
    parser.add_argument("--words", type=int, default=_VOCABULARY, help="vocabulary size: the most frequent words")
    asked = parser.parse_args(arguments)
    size = write_relations(asked.wordnet, asked.word_frequency, asked.out, asked.words)
    print(f"{asked.out}: {size:,} bytes")


if __name__ == "__main__":
    main()
