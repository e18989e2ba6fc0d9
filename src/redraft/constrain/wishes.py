"""What a user wants whatever is predicted: words to keep, and a glossary of words to write for others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from redraft.align.protected import Span
from redraft.align.words import Word, normal, split_words
from redraft.constrain.edits import Edit, EditPlan, folded
from redraft.constrain.patterns import Pattern
from redraft.errors import ConfigError
from redraft.files import decoded
from redraft.reading import BOM, read_given

KEPT, WANTED = "from the keep list", "from the glossary"  # notes of the edits that wishes make
_WEIGHT = 1.5  # many times that of a guess, yet below δ: a wish met early does not end the texts that meet it later


@dataclass(frozen=True)
class Wish:
    """Words or a pattern of the source; `target` is what to write for them, or None to keep them."""

    words: tuple[str, ...]  # as they are compared
    pattern: Pattern | None = None
    target: str | None = None

    @classmethod
    def of(cls, text: str, target: str | None = None, place: str = "") -> Wish:
        """/…/ is a regular expression; anything else is found as words, in any case."""
        if len(text) < 3 or not text[0] == text[-1] == "/":
            return cls(tuple(normal(word.text) for word in split_words(text)), None, target)
        return cls((), Pattern.of(text[1:-1], place), target)

    def edits(self, source: str) -> Iterator[Edit]:
        return (self.edit(source, span) for span in self.spans(source, split_words(source)))

    def edit(self, source: str, span: Span) -> Edit:
        """The wish for one place of the source."""
        phrase, note = source[slice(*span)], KEPT if self.target is None else WANTED
        if self.target is None or folded(self.target) == folded(phrase):
            return Edit.insert(self.target or phrase, weight=_WEIGHT, span=span, note=note)
        return Edit.substitute(phrase, self.target, weight=_WEIGHT, span=span, note=note)

    def spans(self, source: str, words: Sequence[Word]) -> Iterator[Span]:
        """Of whole words: what a pattern finds inside one is widened to it."""
        if self.pattern is None:
            yield from (span for _, span in _Tree([self]).found(words))
            return
        starts, ends = [word.start for word in words], [word.end for word in words]
        for start, end in self.pattern.spans(source):
            first, last = bisect_right(ends, start), bisect_left(starts, end) - 1
            if first <= last:
                yield starts[first], ends[last]


class _Tree:
    """Wishes for words, branching word by word: however many there are, a text is read once."""

    def __init__(self, wishes: Iterable[Wish]) -> None:
        self._root = _Node()
        for wish in wishes:
            node = self._root
            for word in wish.words:
                node = node.after.setdefault(word, _Node())
            if wish.words:
                node.wish = node.wish or wish  # of two for the same words the first wins everywhere

    def found(self, words: Sequence[Word]) -> Iterator[tuple[Wish, Span]]:
        keys = [normal(word.text) for word in words]
        for first in range(len(words)):
            node: _Node | None = self._root
            for last in range(first, len(words)):
                node = node.after.get(keys[last]) if node else None
                if node is None:
                    break
                if node.wish:
                    yield node.wish, (words[first].start, words[last].end)


@dataclass(slots=True)
class _Node:
    after: dict[str, _Node] = field(default_factory=dict)
    wish: Wish | None = None  # for the words up to here


@dataclass(frozen=True)
class Wishes:
    """Wishes in the order in which they win where two meet: the glossary, then words to keep, longer ones first."""

    wishes: tuple[Wish, ...]

    @classmethod
    def read(cls, keep: str | Path | None = None, glossary: str | Path | None = None) -> Wishes:
        """`keep` has a word, phrase or /pattern/ on each line, `glossary` source ⇥ target; # begins a remark."""
        wishes = []
        for place, line in _lines(glossary):
            cells = [cell.strip() for cell in line.split("\t")]
            if len(cells) != 2 or not all(cells):
                problem = f"has {len(cells) - 1} tabs." if len(cells) != 2 else "has an empty side."
                raise ConfigError(place + problem, "Write the source, one tab and the target.")
            wishes.append(Wish.of(cells[0], cells[1], place))
        return cls((*wishes, *(Wish.of(line.strip(), None, place) for place, line in _lines(keep))))

    def edits(self, source: str) -> list[Edit]:
        """What the source calls for: of wishes that meet, the one that wins."""
        words = split_words(source)
        places = list(self._tree.found(words))
        places += ((wish, span) for wish in self.wishes if wish.pattern for span in wish.spans(source, words))
        rank = {id(wish): number for number, wish in enumerate(self.wishes)}

        def order(place: tuple[Wish, Span]) -> tuple[int, int, int, int]:
            wish, (start, end) = place
            return int(wish.target is None), 0 if wish.target else start - end, rank[id(wish)], start

        taken, asked = _Taken(source), []
        for wish, span in sorted(places, key=order):
            if taken.is_free(span):
                taken.add(span)
                asked.append(wish.edit(source, span))
        return asked

    @cached_property
    def _tree(self) -> _Tree:
        plain = [wish for wish in self.wishes if not wish.pattern]
        return _Tree(sorted(plain, key=lambda wish: wish.target is None))

    def granted(self, plan: EditPlan) -> EditPlan:
        """The plan with all wishes that its source calls for, and without the edits that stand in their way."""
        asked = self.edits(plan.source)
        taken = _Taken(plan.source)
        for wish in asked:
            taken.add(wish.span)
        named = {folded(wish.phrase) for wish in asked}
        written = {folded(text) for wish in asked for text in wish.targets or (wish.phrase,)}

        def is_free(edit: Edit) -> bool:
            """Not about a place of a wish, nor forbidding elsewhere what one writes. A split forbids nothing."""
            if edit.kind == "split":
                return True
            clashes = not taken.is_free(edit.span) if edit.span else folded(edit.phrase) in named
            return not clashes and (edit.kind == "insert" or folded(edit.phrase) not in written)

        left = [edit for edit in plan.edits if is_free(edit)]
        edits = sorted([*left, *asked, *_replaced(asked)], key=lambda edit: edit.span or (0, 0))
        return replace(plan, edits=tuple(edits))


class _Taken:
    """Characters of a source that wishes are about."""

    def __init__(self, source: str) -> None:
        self._marks = bytearray(len(source))

    def add(self, span: Span | None) -> None:
        if span is not None:
            self._marks[slice(*span)] = b"\1" * (span[1] - span[0])

    def is_free(self, span: Span) -> bool:
        return self._marks.find(1, *span) < 0


def _replaced(asked: Sequence[Edit]) -> Iterator[Edit]:
    """Deletions of what a glossary replaces: a substitution alone does not mind its source where no target offers."""
    for edit in asked:
        if edit.kind == "substitute" and f" {folded(edit.phrase)} " not in f" {folded(edit.targets[0])} ":
            yield Edit.delete(edit.phrase, weight=edit.weight, span=edit.span, note=edit.note)


def _lines(path: str | Path | None) -> Sequence[tuple[str, str]]:
    """Lines that say something, each behind its place."""
    if path is None:
        return []
    raw = read_given(path).removeprefix(BOM)
    lines = [(number, decoded(line, str(path), number)) for number, line in enumerate(raw.split(b"\n"), 1)]
    return [(f"{path}, line {number}: ", line) for number, line in lines if line.strip() and line.lstrip()[0] != "#"]
