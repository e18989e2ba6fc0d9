"""Makes the table of common names: terms that Wikipedia explains, and official words with plain ones.

    python -m redraft.fit.planner.common_name_table --text DIR --plain FILE --out common_names.tsv.xz

Patterns find far more than what may stand in a term's place ("axiom", "set"), so a person has read what they found:
`common_names_review.tsv` lists, by the first cell of its lines,

    mined     what may be used if the text has it
    ours      terms of our own: medicine, law, offices
    plain     better targets for an entry of the list of plain words
    skip      entries of that list that depend too much on the sentence
    form      forms of entries that do: "attempts", a noun as often as a verb
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
from redraft.plan.lexicon import key_of
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
_LONGEST = 3  # words of a term or a name
_COMMONER = 0.4  # steps of the Zipf scale, by which a name is commoner than its term
_USED = 1.5  # Zipf frequency of forms that are written
_HARDER = 0.5  # a name may be harder than its term by so much: people differ
_TERMS = ("wikipedia", "ours")  # sources of nouns and adjectives
_TAGS = {"VERB": ("VBZ", "VBD", "VBN", "VBG"), "NOUN": ("NNS",)}
_BASE = {"VERB": "VB", "NOUN": "NN"}


@dataclass(frozen=True)
class Review:
    """What a person has decided."""

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
                raise CorpusError(f"{path}, line {number}: {line!r} is no entry.", "Write kind ⇥ phrase ⇥ targets.")
            found[kind][cells[0]] = tuple("".join(cells[1:]).split("; "))
        mined = frozenset((term, name) for term, names in found["mined"].items() for name in names)
        return cls(mined, found["ours"], found["plain"], frozenset(found["skip"]), frozenset(found["form"]))


def mined_pairs(lines: Iterable[str], word_frequency: WordFrequency) -> Counter[Pair]:
    """Terms with names that are commoner and no harder, and how often the text says so; proper names are left out."""
    found: Counter[Pair] = Counter()
    for line in lines:
        if _CUES.search(line):
            for pattern in _PATTERNS:
                for match in pattern.finditer(line):
                    found.update(set(_pairs(match, word_frequency)))
    return found


def _pairs(match: re.Match[str], word_frequency: WordFrequency) -> Iterator[Pair]:
    """What stands before may begin anywhere: "the disease tularemia"."""
    before, behind = match["one"].split(), match["two"].split()
    if match.start("one") == 0:
        before[0] = before[0].lower()
    name = _leading(behind)
    term = _leading(before[::-1])[::-1]
    for size in range(1, min(_LONGEST, len(term)) + 1):
        one, other = " ".join(term[-size:]), " ".join(name)
        for pair in ((one, other), (other, one)):
            if name and len(name) <= _LONGEST and (one + other).islower() and is_easier(*pair, word_frequency):
                yield pair


def _leading(words: Sequence[str]) -> list[str]:
    """Content words up to the first other word."""
    end = next((at for at, word in enumerate(words) if not is_content(word)), len(words))
    return list(words[:end])


def is_easier(term: str, name: str, word_frequency: WordFrequency) -> bool:
    hard, easy = word_frequency.difficulty(term), word_frequency.difficulty(name)
    if hard is not None and easy is not None and easy > hard + _HARDER:
        return False
    return word_frequency.zipf(name) >= word_frequency.zipf(term) + _COMMONER


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
    """Entries with the other forms of their verbs (the first word) and nouns (the last one), as far as people use them.

    A form that is a verb's and a noun's ("purchases") is left out; one that has an entry of its own keeps it.
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
        for text, kinds in made.items() if len(kinds) == 1 and word_frequency.zipf(text) >= _USED
    }  # fmt: skip
    return {text: row for text, row in {**clear, **rows}.items() if text not in leave_out}


def _inflected(phrase: str, kind: str, tag: str) -> str | None:
    """A phrase with its verb or noun in another form; None where it has none."""
    from lemminflect import getInflection

    words = phrase.split(" ")
    place = 0 if kind == "VERB" else len(words) - 1
    if len(words) > 1 and kind == "NOUN" and not all(map(is_content, words)):
        return None  # shortness of breath, in the event of
    if not any((form.kind, form.tag) == (kind, _BASE[kind]) for form in forms(words[place])):
        return None
    found = getInflection(words[place], tag, inflect_oov=False)
    if not found:
        return None
    form = next((one for one in found if one != words[place]), found[0])  # of a noun it may have the singular first
    return " ".join([*words[:place], form, *words[place + 1 :]])


def common_names(mined: Iterable[Pair], plain: Rows, review: Review, word_frequency: WordFrequency) -> Rows:
    """All that may be used, with its source; plain words go before what was mined, terms of our own before both."""
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
        raise CorpusError(f"{folder} has no text.", "Name a folder with files *.txt or *.txt.xz.")
    for path in paths:
        with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as file:
            yield from file


def write_common_names(rows: Rows, out: str | Path) -> None:
    """phrase ⇥ targets, with "; " between them ⇥ source."""
    write_rows(out, ((key_of(phrase), "; ".join(targets), source) for phrase, (targets, source) in rows.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    from redraft.models import bundled

    parser = argparse.ArgumentParser(description="Write the table of common names for terms and official words.")
    parser.add_argument("--text", type=Path, required=True, help="folder of text, one sentence a line")
    parser.add_argument("--plain", type=Path, required=True, help="word, targets and origin between tabs")
    parser.add_argument("--out", type=Path, required=True, help="the table, .tsv.xz")
    parser.add_argument("--found", type=Path, help="write all pairs that were found here as well, to be read")
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
