"""Two sentences and the links between their words → the plan that turns the one into the other."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import tee
from typing import Literal

from redraft.align.aligners import WordAligner
from redraft.align.links import Link, Links
from redraft.align.sentence_pairs import SentencePair
from redraft.plan.complexity_ratio import ComplexityRatios, bundled_complexity_ratios
from redraft.plan.edits import Edit, EditPlan, folded
from redraft.plan.verdicts import is_split
from redraft.text.function_words import is_content
from redraft.text.sentences import sentence_starts
from redraft.text.words import Word, normal

# Words and signs that clauses begin with or behind, and how many words a clause may begin before its first link.
_OPENERS = frozenset({
    "and", "or", "but", "so", "yet", "nor", "while", "whereas", "although", "though", "because", "since",
    "which", "who", "whom", "whose", "that", "where", "when",
})  # fmt: skip
_SIGNS = frozenset({",", ";", ":", "(", "-", "--"})
_BEFORE = 3

Which = Literal["all", "content", "thin"]


@dataclass
class Extracted:
    """A plan, and what had to be decided on the way."""

    plan: EditPlan
    shared: int = 0  # words that the plan keeps in one place and drops or replaces in another; spans tell them apart
    parted: int = 0  # links left out because their words do not stand together

    @property
    def kinds(self) -> Counter[str]:
        return Counter(edit.kind for edit in self.plan.edits)


@dataclass(frozen=True)
class _Side:
    text: str
    words: Sequence[Word]

    def span(self, run: Sequence[int]) -> tuple[int, int]:
        return self.words[run[0]].start, self.words[run[-1]].end

    def phrase(self, run: Sequence[int]) -> str:
        return self.text[slice(*self.span(run))]

    def normal(self, run: Sequence[int]) -> str:
        return " ".join(normal(self.words[number].text) for number in run)

    def counts(self, run: Sequence[int], which: Which) -> bool:
        return which == "all" or any(is_content(self.words[number].text) for number in run)


@dataclass
class _Found:
    edits: list[tuple[int, Edit]] = field(default_factory=list)  # by the source word they begin at
    parted: int = 0

    def add(self, at: int, edit: Edit) -> None:
        self.edits.append((at, edit))


def extract(
    source: str, reference: str, source_words: Sequence[Word], reference_words: Sequence[Word], links: Links,
    *, which: Which = "content", sides: ComplexityRatios | None = None, splits: bool = False,
) -> Extracted:  # fmt: skip
    """Words without a link are deleted, words linked to the same word kept, others substituted.

    Links that share a word belong together: "a lot of" linked to "many" three times is one substitution. With
    `which="content"` only edits about at least one content word are named; with "thin" of these only those that the
    paper names, by `sides` or those that come with the package. `splits`: where the reference has more sentences than
    the source, splits are named too.
    """
    before, after = _Side(source, source_words), _Side(reference, reference_words)
    found = _Found()
    linked: set[int] = set()
    for group in _groups(links):
        linked |= {left for left, _ in group}
        _name(found, before, after, group, which)
    _delete(found, before, [number for number in range(len(source_words)) if number not in linked], which)
    if which == "thin":
        found.edits = [item for item in found.edits if is_thin(item[1], sides or bundled_complexity_ratios())]
    parts = _splits(before, after, links) if splits else []
    edits = tuple(edit for _, edit in sorted([*parts, *found.edits], key=lambda item: item[0]))
    return Extracted(EditPlan(source, edits), _shared(edits), found.parted)


def extract_all(
    aligner: WordAligner, pairs: Iterable[SentencePair], *, which: Which = "content", splits: bool = False
) -> Iterator[tuple[SentencePair, Links, Extracted]]:
    """Pair by pair, with the links that an aligner finds."""
    kept, aligned = tee(pairs)
    for links, pair in zip(aligner.align(pair.words for pair in aligned), kept, strict=False):
        yield (
            pair,
            links,
            extract(pair.source, pair.target, pair.source_words, pair.target_words, links, which=which, splits=splits),
        )


def is_thin(edit: Edit, sides: ComplexityRatios) -> bool:
    """Words that are commoner on the complex side are deleted and replaced, those commoner on the simple side kept."""
    leanings = [sides.log_ratio(word) for word in edit.phrase.split() if is_content(word)]
    return any(log_ratio < 0 for log_ratio in leanings) if edit.kind == "insert" else any(one > 0 for one in leanings)


def _groups(links: Links) -> list[list[Link]]:
    """Links that hang together by a word of either side, each group in order."""
    by_left: dict[int, list[Link]] = {}
    by_right: dict[int, list[Link]] = {}
    for link in sorted(links):
        by_left.setdefault(link[0], []).append(link)
        by_right.setdefault(link[1], []).append(link)
    groups, seen = [], set()
    for start in sorted(links):
        if start in seen:
            continue
        group, open_links = [], [start]
        seen.add(start)
        while open_links:
            link = open_links.pop()
            group.append(link)
            for other in (*by_left[link[0]], *by_right[link[1]]):
                if other not in seen:
                    seen.add(other)
                    open_links.append(other)
        groups.append(sorted(group))
    return groups


def _name(found: _Found, before: _Side, after: _Side, group: Sequence[Link], which: Which) -> None:
    """The edits of one group: the same word on both sides is kept, the rest replaced, or deleted if nothing is left."""
    same = [link for link in group if before.normal([link[0]]) == after.normal([link[1]])]
    for left, right in same:
        if before.counts([left], which):
            found.add(left, Edit.insert(after.phrase([right]), span=before.span([left])))
    lefts = sorted({left for left, _ in group} - {left for left, _ in same})
    rights = sorted({right for _, right in group} - {right for _, right in same})
    free, together = _runs(rights), set(group)
    for run in sorted(_runs(lefts), key=len, reverse=True):
        if not before.counts(run, which):
            continue
        partners = [other for other in free if any((left, right) in together for left in run for right in other)]
        found.parted += max(len(partners) - 1, 0)
        if partners:
            best = max(partners, key=len)
            free.remove(best)
            phrase, target, span = before.phrase(run), after.phrase(best), before.span(run)
            # "'s" may be one word on one side and two on the other, by what stands before it.
            kept = folded(phrase) == folded(target)
            found.add(run[0], Edit.insert(target, span=span) if kept else Edit.substitute(phrase, target, span=span))
        else:
            found.parted += bool(rights)
            _delete(found, before, run, which)


def _delete(found: _Found, before: _Side, run: Sequence[int], which: Which) -> None:
    for number in run:
        if before.counts([number], which):
            found.add(number, Edit.delete(before.phrase([number]), span=before.span([number])))


def _splits(before: _Side, after: _Side, links: Links) -> list[tuple[int, Edit]]:
    """A split for each sentence that the reference has more, by the source word it begins at; else anywhere."""
    starts = sentence_starts(after.text)
    more = len(starts) - len(sentence_starts(before.text))
    found: dict[int, Edit] = {}
    for sentence in range(2, len(starts) + 1):
        inside = [number for number, word in enumerate(after.words) if bisect(starts, word.start) == sentence]
        at = _split_at(before, after, [link for number in inside for link in sorted(links) if link[1] == number])
        if at is not None and len(found) < more:
            found[at] = Edit.split(before.phrase([at]), span=before.span([at]))
    left = [(len(before.words), Edit.split())] * max(more - len(found), 0)
    return [*found.items(), *left]


def _split_at(before: _Side, after: _Side, links: Sequence[Link]) -> int | None:
    """The word at which the clause of the first linked content word begins, if that is where the reference splits."""
    firsts = sentence_starts(before.text)
    for left, right in links:
        at = _clause_start(before, left)
        start = before.words[at].start
        inside = is_content(after.words[right].text) and start not in firsts
        if inside and is_split(before.text, after.text, start):
            return at
    return None


def _clause_start(side: _Side, number: int) -> int:
    """The conjunction or relative pronoun at most a few words before a word, or the word after a comma there."""
    for at in range(number - 1, max(number - 1 - _BEFORE, -1), -1):
        word = side.normal([at])
        if word in _OPENERS:
            return at
        if word in _SIGNS:
            return at + 1
    return number


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Numbers that follow one another, together."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _shared(edits: Sequence[Edit]) -> int:
    kept = {edit.phrase.casefold() for edit in edits if edit.kind == "insert"}
    dropped = [edit for edit in edits if edit.kind not in ("insert", "split")]
    return sum(edit.phrase.casefold() in kept for edit in dropped)
