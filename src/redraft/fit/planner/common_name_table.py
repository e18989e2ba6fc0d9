"""Builds the table of common names: technical terms that Wikipedia explains, and official words with plain equivalents.

    python -m redraft.fit.planner.common_name_table --text DIR --plain FILE --out common_names.tsv.xz

The patterns also match names that cannot replace a term ("axiom", "set"), so a person has reviewed all matches. The
first cell of each line of `common_names_review.tsv` is one of

    mined     an accepted pair, used if the patterns find it in the text
    ours      terms added by hand: medicine, law, administration
    plain     better targets for an entry of the list of plain words
    skip      entries of that list that depend too much on their context
    form      inflected forms that do: "attempts" is a noun as often as a verb
"""

from __future__ import annotations

import argparse
import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from redraft.errors import CorpusError
from redraft.fit.word_forms import forms
from redraft.plan.lexicon import lookup_key
from redraft.reading import numbered_lines
from redraft.table_files import write_rows
from redraft.text.function_words import is_content
from redraft.text.word_frequency import WordFrequency

Pair = tuple[str, str]  # a term and its common name
Rows = dict[str, tuple[tuple[str, ...], str]]  # phrase → targets, source

_CUES = re.compile(r"known|called|referred to|, or | \(")
_WORD = r"[A-Za-z][a-z]+(?:-[a-z]+)?"
_BEFORE = rf"(?P<one>(?:{_WORD} ){{0,3}}{_WORD})"
_BEHIND = rf"[\"“'‘]?(?:an? |the )?(?P<two>(?:{_WORD} ){{0,3}}{_WORD})"
_END = r"(?=[\"”'’]?(?:[,.;:)]| (?:or|and|is|are|was|were|in|which|by|when|because|has|have|of|that|to)\b))"
_OFTEN = """
also|commonly|popularly|colloquially|informally|more commonly|most commonly|usually|often|generally|better|sometimes|
simply|more simply|otherwise|frequently|medically|technically|scientifically|formally|clinically|properly
""".replace("\n", "")
_KNOWN_AS = rf"(?:(?:{_OFTEN}) )+(?:known|called|referred to|termed|named)(?: simply)?(?: as)?"
_PATTERNS = tuple(re.compile(pattern) for pattern in (
    rf"{_BEFORE} ?[,(] ?(?:(?:or|which is|which are) )?{_KNOWN_AS} {_BEHIND}{_END}",
    rf"{_BEFORE} (?:is|are) {_KNOWN_AS} {_BEHIND}{_END}",
    rf"{_BEFORE}, or (?:more commonly |more simply |simply )?{_BEHIND}, ",
    rf"{_BEFORE} \((?:or |also )?{_BEHIND}\)",
))  # fmt: skip
_MAX_WORDS = 3  # of a term or a name
_MIN_ZIPF_GAIN = 0.4  # a name is more frequent than its term by at least this
_MIN_ZIPF = 1.5  # of inflected forms
_MAX_HARDER = 0.5  # a name may be rated harder than its term by this: ratings are noisy
_TERMS = ("wikipedia", "ours")  # sources of nouns and adjectives
_TAGS = {"VERB": ("VBZ", "VBD", "VBN", "VBG"), "NOUN": ("NNS",)}
_BASE = {"VERB": "VB", "NOUN": "NN"}


@dataclass(frozen=True)
class Review:
    """The decisions of the reviewer."""

    mined: frozenset[Pair]
    ours: Mapping[str, tuple[str, ...]]
    plain: Mapping[str, tuple[str, ...]]
    skip: frozenset[str]
    form: frozenset[str] = frozenset()

    @classmethod
    def read(cls, path: str | Path | None = None) -> Review:
        path = path or Path(str(files("redraft.fit").joinpath("common_names_review.tsv")))
        found: dict[str, dict[str, tuple[str, ...]]] = {kind: {} for kind in ("mined", "ours", "plain", "skip", "form")}
        for number, line in numbered_lines(path):
            kind, *cells = line.split("\t")
            if kind not in found or len(cells) != 2 - (kind in ("skip", "form")):
                raise CorpusError(f"{path}, line {number}: {line!r} is not an entry.", "Write kind ⇥ phrase ⇥ targets.")
            found[kind][cells[0]] = tuple("".join(cells[1:]).split("; "))
        mined = frozenset((term, name) for term, names in found["mined"].items() for name in names)
        return cls(mined, found["ours"], found["plain"], frozenset(found["skip"]), frozenset(found["form"]))


def mined_pairs(lines: Iterable[str], word_frequency: WordFrequency) -> Counter[Pair]:
    """Terms with more frequent and no harder names, and how often the text states them; proper names are left out."""
    found: Counter[Pair] = Counter()
    for line in lines:
        if _CUES.search(line):
            for pattern in _PATTERNS:
                for match in pattern.finditer(line):
                    found.update(set(_pairs(match, word_frequency)))
    return found


def _pairs(match: re.Match[str], word_frequency: WordFrequency) -> Iterator[Pair]:
    """The words before the cue may start anywhere: "the disease tularemia"."""
    before, behind = match["one"].split(), match["two"].split()
    if match.start("one") == 0:
        before[0] = before[0].lower()
    name = _leading(behind)
    term = _leading(before[::-1])[::-1]
    for size in range(1, min(_MAX_WORDS, len(term)) + 1):
        one, other = " ".join(term[-size:]), " ".join(name)
        for pair in ((one, other), (other, one)):
            if name and len(name) <= _MAX_WORDS and (one + other).islower() and is_easier(*pair, word_frequency):
                yield pair


def _leading(words: Sequence[str]) -> list[str]:
    """Content words up to the first other word."""
    end = next((at for at, word in enumerate(words) if not is_content(word)), len(words))
    return list(words[:end])


def is_easier(term: str, name: str, word_frequency: WordFrequency) -> bool:
    hard, easy = word_frequency.difficulty(term), word_frequency.difficulty(name)
    if hard is not None and easy is not None and easy > hard + _MAX_HARDER:
        return False
    return word_frequency.zipf(name) >= word_frequency.zipf(term) + _MIN_ZIPF_GAIN


def read_plain(path: str | Path, review: Review) -> Rows:
    """word ⇥ targets, with "; " between them ⇥ origin, on each line."""
    found: Rows = {}
    for number, line in numbered_lines(path):
        cells = line.split("\t")
        if len(cells) != 3:
            raise CorpusError(f"{path}, line {number}: has {len(cells)} cells.", "Write word ⇥ targets ⇥ origin.")
        phrase, targets, origin = cells
        if phrase not in review.skip:
            found[phrase] = review.plain.get(phrase) or tuple(targets.split("; ")), origin
    return found


def with_forms(rows: Rows, word_frequency: WordFrequency, leave_out: Set[str] = frozenset()) -> Rows:
    """Entries with the other inflected forms of their verbs (the first word) and nouns (the last word).

    Rare forms, and forms of both a verb and a noun ("purchases"), are left out. Existing entries are not replaced.
    """
    made: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))  # form → kind → targets
    sources = {}
    for phrase, (targets, source) in rows.items():
        for kind, tags in _TAGS.items():
            if kind == "VERB" and source in _TERMS:
                continue
            for tag in tags:
                text = _inflected(phrase, kind, tag)
                fitting = [form for form in (_inflected(target, kind, tag) for target in targets) if form]
                if text and text != phrase and fitting:
                    made[text][kind] += fitting
                    sources[text] = source
    clear = {
        text: (tuple(dict.fromkeys(form for forms in kinds.values() for form in forms)), sources[text])
        for text, kinds in made.items() if len(kinds) == 1 and word_frequency.zipf(text) >= _MIN_ZIPF
    }  # fmt: skip
    return {text: row for text, row in {**clear, **rows}.items() if text not in leave_out}


def _inflected(phrase: str, kind: str, tag: str) -> str | None:
    """A phrase with its verb or noun inflected; None if it has none, or no such form."""
    from lemminflect import getInflection

    words = phrase.split(" ")
    place = 0 if kind == "VERB" else len(words) - 1
    if len(words) > 1 and kind == "NOUN" and not all(map(is_content, words)):
        return None  # as in "shortness of breath", "in the event of"
    if not any((form.part_of_speech, form.tag) == (kind, _BASE[kind]) for form in forms(words[place])):
        return None
    found = getInflection(words[place], tag, inflect_oov=False)
    if not found:
        return None
    form = next((one for one in found if one != words[place]), found[0])  # the singular of a noun may come first
    return " ".join([*words[:place], form, *words[place + 1 :]])


def common_names(mined: Iterable[Pair], plain: Rows, review: Review, word_frequency: WordFrequency) -> Rows:
    """All accepted entries with their source; hand-made terms go before plain words, these before mined pairs."""
    rows: Rows = {}
    for term, name in sorted(set(mined) & review.mined):
        rows[term] = (name,), "wikipedia"
    rows |= plain
    rows |= {term: (names, "ours") for term, names in review.ours.items()}
    return with_forms(rows, word_frequency, review.form)


def text_lines(folder: str | Path) -> Iterator[str]:
    """The lines of all .txt.xz and .txt files of a folder."""
    paths = sorted(path for path in Path(folder).iterdir() if path.name.endswith((".txt", ".txt.xz")))
    if not paths:
        raise CorpusError(f"{folder} contains no text files.", "Give a folder with files *.txt or *.txt.xz.")
    for path in paths:
        with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as file:
            yield from file


def write_common_names(rows: Rows, out: str | Path) -> None:
    """phrase ⇥ targets, with "; " between them ⇥ source."""
    write_rows(out, ((lookup_key(phrase), "; ".join(targets), source) for phrase, (targets, source) in rows.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    from redraft.models import bundled

    parser = argparse.ArgumentParser(description="Build the table of common names.")
    parser.add_argument("--text", type=Path, required=True, help="folder of text files, one sentence per line")
    parser.add_argument("--plain", type=Path, required=True, help="word ⇥ targets ⇥ origin on each line")
    parser.add_argument("--out", type=Path, required=True, help="output file, .tsv.xz")
    parser.add_argument("--found", type=Path, help="also write all matched pairs to this file, for review")
    asked = parser.parse_args(arguments)
    review = Review.read()
    word_frequency = WordFrequency.load(bundled("planner") / "word_frequency.tsv.xz")
    mined = mined_pairs(text_lines(asked.text), word_frequency)
    if asked.found:
        lines = (f"{times}\t{term}\t{name}\n" for (term, name), times in mined.most_common())
        asked.found.write_text("".join(lines), encoding="utf-8")
    rows = common_names(mined, read_plain(asked.plain, review), review, word_frequency)
    write_common_names(rows, asked.out)
    print(f"{asked.out}: {len(rows):,} entries, {asked.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
