"""What a user wants whatever is predicted: words to keep, and a glossary of words to write for others."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import regex

from redraft.errors import ConfigError, shown
from redraft.files import decoded
from redraft.plan.edits import Edit, EditPlan, folded
from redraft.reading import BOM, read_given
from redraft.text.protected_spans import Span
from redraft.text.words import Word, normal, split_words

_LONGEST = 1_000  # characters of an expression
_SECONDS = 1.0  # of the processor, for one expression in one sentence


@dataclass(frozen=True)
class Pattern:
    """A regular expression, and where it was written."""

    expression: regex.Pattern[str]
    place: str = ""

    @classmethod
    def of(cls, inside: str, place: str = "") -> Pattern:
        """An expression of Python's, or an error that says what is wrong with it."""
        written = shown(f"/{inside}/")
        if len(inside) > _LONGEST:
            raise ConfigError(f"{place}{written} has more than {_LONGEST:,} characters.", "Part it into several.")
        try:
            with warnings.catch_warnings(action="ignore"):  # of what may mean something else some day
                re.compile(inside)  # what `regex` knows beyond Python's is not offered: recursion, for one
                return cls(regex.compile(inside), place)
        except (re.error, regex.error, OverflowError, RecursionError) as error:
            raise ConfigError(
                f"{place}{written} is no regular expression: {error}.",
                "Between the slashes stands one of Python's; leave them out to find the words as they are.",
            ) from None

    def spans(self, source: str) -> Iterator[Span]:
        """Where it is found; an error where that takes too long, as with (a|aa)+b in a long row of a's."""
        try:
            found = self.expression.finditer(source, timeout=_SECONDS)
            yield from (match.span() for match in found if match.group())
        except (TimeoutError, MemoryError):
            raise ConfigError(
                f"{self.place}/{self.expression.pattern}/ takes more than {_SECONDS:g} s, or all memory, "
                f"in {shown(source)}.",
                "Write it without repetitions inside repetitions, such as (a|aa)+, or name the words themselves.",
            ) from None


KEPT, WANTED = "from the keep list", "from the glossary"  # notes of the edits that user constraints make
# Many times the weight of a predicted edit, yet below δ: one met early does not prune texts that meet it later.
_WEIGHT = 1.5


@dataclass(frozen=True)
class UserConstraint:
    """Words or a pattern of the source; `target` is what to write for them, or None to keep them."""

    words: tuple[str, ...]  # as they are compared
    pattern: Pattern | None = None
    target: str | None = None

    @classmethod
    def of(cls, text: str, target: str | None = None, place: str = "") -> UserConstraint:
        """/…/ is a regular expression; anything else is found as words, in any case."""
        if len(text) < 3 or not text[0] == text[-1] == "/":
            return cls(tuple(normal(word.text) for word in split_words(text)), None, target)
        return cls((), Pattern.of(text[1:-1], place), target)

    def edits(self, source: str) -> Iterator[Edit]:
        return (self.edit(source, span) for span in self.spans(source, split_words(source)))

    def edit(self, source: str, span: Span) -> Edit:
        """The user constraint for one place of the source."""
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
    """Constraints on words, branching word by word: however many there are, a text is read once."""

    def __init__(self, user_constraints: Iterable[UserConstraint]) -> None:
        self._root = _Node()
        for user_constraint in user_constraints:
            node = self._root
            for word in user_constraint.words:
                node = node.after.setdefault(word, _Node())
            if user_constraint.words:
                node.user_constraint = (
                    node.user_constraint or user_constraint
                )  # of two for the same words the first wins everywhere

    def found(self, words: Sequence[Word]) -> Iterator[tuple[UserConstraint, Span]]:
        keys = [normal(word.text) for word in words]
        for first in range(len(words)):
            node: _Node | None = self._root
            for last in range(first, len(words)):
                node = node.after.get(keys[last]) if node else None
                if node is None:
                    break
                if node.user_constraint:
                    yield node.user_constraint, (words[first].start, words[last].end)


@dataclass(slots=True)
class _Node:
    after: dict[str, _Node] = field(default_factory=dict)
    user_constraint: UserConstraint | None = None  # for the words up to here


@dataclass(frozen=True)
class UserConstraints:
    """User constraints in order of precedence where two overlap: glossary, then kept words, longer ones first."""

    user_constraints: tuple[UserConstraint, ...]

    @classmethod
    def of(cls, keep: Iterable[str] = (), glossary: Mapping[str, str] | None = None) -> UserConstraints:
        """From words, phrases or /patterns/ to keep, and what to write for what."""
        if isinstance(keep, str) or not isinstance(keep, Iterable):
            raise ConfigError(f"keep is {shown(keep)}.", 'Give a list of words or phrases: keep=["physician"].')
        glossary = {} if glossary is None else glossary
        if not isinstance(glossary, Mapping):
            raise ConfigError(f"glossary is {shown(glossary)}.", 'Give a dict: glossary={"physician": "doctor"}.')
        pairs = [*glossary.items(), *((text, None) for text in keep)]
        for text in (text for pair in pairs for text in pair if text is not None):
            if not isinstance(text, str) or not text.strip():
                raise ConfigError(f"{shown(text)} in keep or glossary is no phrase.", "Give texts with words in them.")
        return cls(tuple(UserConstraint.of(text, target) for text, target in pairs))

    @classmethod
    def read(cls, keep: str | Path | None = None, glossary: str | Path | None = None) -> UserConstraints:
        """`keep` has a word, phrase or /pattern/ on each line; `glossary` source ⇥ target, or source = target.

        # starts a comment.
        """
        user_constraints = []
        for place, line in _lines(glossary):
            sign = "\t" if "\t" in line else "="
            cells = [cell.strip() for cell in line.split(sign)]
            if len(cells) != 2 or not all(cells):
                what = "tabs" if sign == "\t" else "equals signs"
                problem = f"has {len(cells) - 1} {what}." if len(cells) != 2 else "has an empty side."
                raise ConfigError(place + problem, "Write the source, one tab (or =) and the target.")
            user_constraints.append(UserConstraint.of(cells[0], cells[1], place))
        return cls((*user_constraints, *(UserConstraint.of(line.strip(), None, place) for place, line in _lines(keep))))

    def edits(self, source: str) -> list[Edit]:
        """What the source calls for: of user constraints that meet, the one that wins."""
        words = split_words(source)
        places = list(self._tree.found(words))
        places += (
            (user_constraint, span)
            for user_constraint in self.user_constraints
            if user_constraint.pattern
            for span in user_constraint.spans(source, words)
        )
        rank = {id(user_constraint): number for number, user_constraint in enumerate(self.user_constraints)}

        def order(place: tuple[UserConstraint, Span]) -> tuple[int, int, int, int]:
            user_constraint, (start, end) = place
            return (
                int(user_constraint.target is None),
                0 if user_constraint.target else start - end,
                rank[id(user_constraint)],
                start,
            )

        taken, asked = _Taken(source), []
        for user_constraint, span in sorted(places, key=order):
            if taken.is_free(span):
                taken.add(span)
                asked.append(user_constraint.edit(source, span))
        return asked

    @cached_property
    def _tree(self) -> _Tree:
        plain = [user_constraint for user_constraint in self.user_constraints if not user_constraint.pattern]
        return _Tree(sorted(plain, key=lambda user_constraint: user_constraint.target is None))

    def apply_to(self, plan: EditPlan) -> EditPlan:
        """The plan with all constraints that apply to its source, without the edits that conflict with them."""
        asked = self.edits(plan.source)
        taken = _Taken(plan.source)
        for user_constraint in asked:
            taken.add(user_constraint.span)
        named = {folded(user_constraint.phrase) for user_constraint in asked}
        written = {
            folded(text) for user_constraint in asked for text in user_constraint.targets or (user_constraint.phrase,)
        }

        def is_free(edit: Edit) -> bool:
            """Neither on the place of a constraint nor against what one writes elsewhere. A split forbids nothing."""
            if edit.kind == "split":
                return True
            clashes = not taken.is_free(edit.span) if edit.span else folded(edit.phrase) in named
            return not clashes and (edit.kind == "insert" or folded(edit.phrase) not in written)

        left = [edit for edit in plan.edits if is_free(edit)]
        edits = sorted([*left, *asked, *_replaced(asked)], key=lambda edit: edit.span or (0, 0))
        return replace(plan, edits=tuple(edits))


class _Taken:
    """Characters of a source that user constraints are about."""

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
