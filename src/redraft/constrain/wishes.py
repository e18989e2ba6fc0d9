"""What a user wants whatever is predicted: words to keep, and a glossary of words to write for others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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
        for start, end in self._spans(source):
            phrase, span = source[start:end], (start, end)
            note = KEPT if self.target is None else WANTED
            if self.target is None or folded(self.target) == folded(phrase):
                yield Edit.insert(self.target or phrase, weight=_WEIGHT, span=span, note=note)
            else:
                yield Edit.substitute(phrase, self.target, weight=_WEIGHT, span=span, note=note)

    def _spans(self, source: str) -> Iterator[tuple[int, int]]:
        """Of whole words: what a pattern finds inside one is widened to it."""
        words = split_words(source)
        if self.pattern is None:
            keys, size = [normal(word.text) for word in words], len(self.words)
            for at in range(len(words) - size + 1 if size else 0):
                if tuple(keys[at : at + size]) == self.words:
                    yield words[at].start, words[at + size - 1].end
            return
        for span in self.pattern.spans(source):
            if inside := _touched(words, *span):
                yield inside[0].start, inside[-1].end


def _touched(words: Sequence[Word], start: int, end: int) -> list[Word]:
    return [word for word in words if word.start < end and start < word.end]


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

    def granted(self, plan: EditPlan) -> EditPlan:
        """The plan with all wishes that its source calls for, and without the edits that stand in their way."""
        asked: list[Edit] = []
        wanted = [edit for wish in self.wishes if wish.target is not None for edit in wish.edits(plan.source)]
        kept = [edit for wish in self.wishes if wish.target is None for edit in wish.edits(plan.source)]
        for edit in (*wanted, *sorted(kept, key=lambda edit: -len(edit.phrase))):
            if not any(_meet(edit, other) for other in asked):
                asked.append(edit)
        left = [edit for edit in plan.edits if not any(_stands_against(edit, other) for other in asked)]
        edits = sorted([*left, *asked, *_replaced(asked)], key=lambda edit: edit.span or (0, 0))
        return replace(plan, edits=tuple(edits))


def _replaced(asked: Sequence[Edit]) -> Iterator[Edit]:
    """Deletions of what a glossary replaces: a substitution alone does not mind its source where no target offers."""
    for edit in asked:
        if edit.kind == "substitute" and f" {folded(edit.phrase)} " not in f" {folded(edit.targets[0])} ":
            yield Edit.delete(edit.phrase, weight=edit.weight, span=edit.span, note=edit.note)


def _meet(one: Edit, other: Edit) -> bool:
    if one.span is None or other.span is None:
        return folded(one.phrase) == folded(other.phrase)
    return one.span[0] < other.span[1] and other.span[0] < one.span[1]


def _stands_against(edit: Edit, wish: Edit) -> bool:
    """An edit of the same place; or one that would forbid elsewhere what the wish writes. A split forbids nothing."""
    if edit.kind == "split":
        return False
    if _meet(edit, wish):
        return True
    written = {folded(text) for text in wish.targets or (wish.phrase,)}
    return edit.kind != "insert" and folded(edit.phrase) in written


def _lines(path: str | Path | None) -> Sequence[tuple[str, str]]:
    """Lines that say something, each behind its place."""
    if path is None:
        return []
    raw = read_given(path).removeprefix(BOM)
    lines = [(number, decoded(line, str(path), number)) for number, line in enumerate(raw.split(b"\n"), 1)]
    return [(f"{path}, line {number}: ", line) for number, line in lines if line.strip() and line.lstrip()[0] != "#"]
