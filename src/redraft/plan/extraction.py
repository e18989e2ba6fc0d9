"""Extracts oracle plans: two aligned sentences → the plan that turns the first into the second."""

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
from redraft.plan.edits import Edit, EditPlan, fold_phrase
from redraft.plan.verdicts import is_split
from redraft.text.function_words import is_content
from redraft.text.sentences import sentence_starts
from redraft.text.words import Word, normalise

# Words with which a clause may start, punctuation after which it may start, and how many words before its first linked
# word it may start.
_CLAUSE_OPENERS = frozenset({
    "and", "or", "but", "so", "yet", "nor", "while", "whereas", "although", "though", "because", "since",
    "which", "who", "whom", "whose", "that", "where", "when",
})  # fmt: skip
_CLAUSE_PUNCTUATION = frozenset({",", ";", ":", "(", "-", "--"})
_MAX_WORDS_BEFORE = 3

Selection = Literal["all", "content", "thin"]


@dataclass
class Extracted:
    """A plan, and counts of ambiguous cases."""

    plan: EditPlan
    kept_elsewhere: int = 0  # deletions and substitutions of a word that the plan keeps at another span
    noncontiguous: int = 0  # links ignored because their words are not contiguous

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

    def normalised(self, run: Sequence[int]) -> str:
        return " ".join(normalise(self.words[number].text) for number in run)

    def is_selected(self, run: Sequence[int], selection: Selection) -> bool:
        return selection == "all" or any(is_content(self.words[number].text) for number in run)


@dataclass
class _Collected:
    edits: list[tuple[int, Edit]] = field(default_factory=list)  # with the index of the first source word
    noncontiguous: int = 0

    def add(self, at: int, edit: Edit) -> None:
        self.edits.append((at, edit))


def extract(
    source: str, reference: str, source_words: Sequence[Word], reference_words: Sequence[Word], links: Links,
    *, selection: Selection = "content", ratios: ComplexityRatios | None = None, splits: bool = False,
) -> Extracted:  # fmt: skip
    """Delete words without a link, keep words linked to the same word, and substitute the others.

    Links that share a word form one group: "a lot of" linked to "many" three times is one substitution. With
    `selection="content"`, only edits with at least one content word are included; with "thin", of these only those that
    `is_thin` accepts, by `ratios` or the bundled log-ratios. With `splits`, a split is added for each sentence that the
    reference has more than the source.
    """
    before, after = _Side(source, source_words), _Side(reference, reference_words)
    found = _Collected()
    linked: set[int] = set()
    for group in _groups(links):
        linked |= {left for left, _ in group}
        _add_group(found, before, after, group, selection)
    _add_deletions(found, before, [number for number in range(len(source_words)) if number not in linked], selection)
    if selection == "thin":
        found.edits = [item for item in found.edits if is_thin(item[1], ratios or bundled_complexity_ratios())]
    split_edits = _splits(before, after, links) if splits else []
    edits = tuple(edit for _, edit in sorted([*split_edits, *found.edits], key=lambda item: item[0]))
    return Extracted(EditPlan(source, edits), _count_kept_elsewhere(edits), found.noncontiguous)


def extract_all(
    aligner: WordAligner, pairs: Iterable[SentencePair], *, selection: Selection = "content", splits: bool = False
) -> Iterator[tuple[SentencePair, Links, Extracted]]:
    """Extract a plan from each pair, with the links found by an aligner."""
    pairs, to_align = tee(pairs)
    for links, pair in zip(aligner.align(pair.words for pair in to_align), pairs, strict=False):
        words = pair.source_words, pair.target_words
        yield pair, links, extract(pair.source, pair.target, *words, links, selection=selection, splits=splits)


def is_thin(edit: Edit, ratios: ComplexityRatios) -> bool:
    """Whether an edit belongs to a thin plan: it removes a word of complex text or keeps a word of simple text."""
    log_ratios = [ratios.log_ratio(word) for word in edit.phrase.split() if is_content(word)]
    return any(ratio < 0 if edit.kind == "insert" else ratio > 0 for ratio in log_ratios)


def _groups(links: Links) -> list[list[Link]]:
    """Connected components of the links: links in a group share words of either side. Each group is sorted."""
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


def _add_group(found: _Collected, before: _Side, after: _Side, group: Sequence[Link], selection: Selection) -> None:
    """Add the edits of one group: keep equal words, replace the rest, or delete it if no target words are left."""
    same = [link for link in group if before.normalised([link[0]]) == after.normalised([link[1]])]
    for left, right in same:
        if before.is_selected([left], selection):
            found.add(left, Edit.insert(after.phrase([right]), span=before.span([left])))
    lefts = sorted({left for left, _ in group} - {left for left, _ in same})
    rights = sorted({right for _, right in group} - {right for _, right in same})
    free, linked = _runs(rights), set(group)
    for run in sorted(_runs(lefts), key=len, reverse=True):
        if not before.is_selected(run, selection):
            continue
        partners = [other for other in free if any((left, right) in linked for left in run for right in other)]
        found.noncontiguous += max(len(partners) - 1, 0)
        if partners:
            best = max(partners, key=len)
            free.remove(best)
            phrase, target, span = before.phrase(run), after.phrase(best), before.span(run)
            # "'s" may be one word on one side and two on the other, depending on the previous character.
            is_same = fold_phrase(phrase) == fold_phrase(target)
            found.add(run[0], Edit.insert(target, span=span) if is_same else Edit.substitute(phrase, target, span=span))
        else:
            found.noncontiguous += bool(rights)
            _add_deletions(found, before, run, selection)


def _add_deletions(found: _Collected, before: _Side, run: Sequence[int], selection: Selection) -> None:
    for number in run:
        if before.is_selected([number], selection):
            found.add(number, Edit.delete(before.phrase([number]), span=before.span([number])))


def _splits(before: _Side, after: _Side, links: Links) -> list[tuple[int, Edit]]:
    """A split for each additional sentence of the reference, with the source word at which it starts, or anywhere."""
    starts = sentence_starts(after.text)
    more = len(starts) - len(sentence_starts(before.text))
    found: dict[int, Edit] = {}
    for sentence in range(2, len(starts) + 1):
        inside = [number for number, word in enumerate(after.words) if bisect(starts, word.start) == sentence]
        at = _split_at(before, after, [link for number in inside for link in sorted(links) if link[1] == number])
        if at is not None and len(found) < more:
            found[at] = Edit.split(before.phrase([at]), span=before.span([at]))
    anywhere = [(len(before.words), Edit.split())] * max(more - len(found), 0)
    return [*found.items(), *anywhere]


def _split_at(before: _Side, after: _Side, links: Sequence[Link]) -> int | None:
    """The word at which the clause of the first linked content word starts, if the reference splits there."""
    source_starts = sentence_starts(before.text)
    for left, right in links:
        at = _clause_start(before, left)
        start = before.words[at].start
        inside = is_content(after.words[right].text) and start not in source_starts
        if inside and is_split(before.text, after.text, start):
            return at
    return None


def _clause_start(side: _Side, number: int) -> int:
    """The nearest clause opener shortly before a word, or the word after punctuation there, or the word itself."""
    for at in range(number - 1, max(number - 1 - _MAX_WORDS_BEFORE, -1), -1):
        word = side.normalised([at])
        if word in _CLAUSE_OPENERS:
            return at
        if word in _CLAUSE_PUNCTUATION:
            return at + 1
    return number


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Consecutive numbers grouped into runs."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _count_kept_elsewhere(edits: Sequence[Edit]) -> int:
    kept = {edit.phrase.casefold() for edit in edits if edit.kind == "insert"}
    dropped = [edit for edit in edits if edit.kind not in ("insert", "split")]
    return sum(edit.phrase.casefold() in kept for edit in dropped)
