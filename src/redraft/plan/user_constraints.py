"""User constraints that override predictions: a list of words to keep, and a glossary of targets."""

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
from redraft.files import decode_utf8
from redraft.plan.edits import Edit, EditPlan, fold_phrase
from redraft.reading import BOM, read_option_file
from redraft.text.protected_spans import Span
from redraft.text.words import Word, normalise, split_words

_MAX_LENGTH = 1_000  # characters of a pattern
_TIMEOUT = 1.0  # seconds of CPU time for one pattern in one sentence
KEEP_NOTE, GLOSSARY_NOTE = "from the keep list", "from the glossary"  # notes of the resulting edits
# Many times the weight of a predicted edit, but below δ, so that satisfying it early does not prune hypotheses that
# satisfy it later.
_WEIGHT = 1.5


@dataclass(frozen=True)
class Pattern:
    """A regular expression, and the place where it was given."""

    expression: regex.Pattern[str]
    place: str = ""

    @classmethod
    def of(cls, inside: str, place: str = "") -> Pattern:
        """Compile an expression in Python's syntax; raises ConfigError if it is invalid."""
        written = shown(f"/{inside}/")
        if len(inside) > _MAX_LENGTH:
            raise ConfigError(
                f"{place}{written} has more than {_MAX_LENGTH:,} characters.", "Split it into several patterns."
            )
        try:
            with warnings.catch_warnings(action="ignore"):  # FutureWarning about syntax that may change
                re.compile(inside)  # refuses the extensions of `regex`, such as recursion
                return cls(regex.compile(inside), place)
        except (re.error, regex.error, OverflowError, RecursionError) as error:
            raise ConfigError(
                f"{place}{written} is not a regular expression: {error}.",
                "Write a Python regular expression between the slashes, or remove them to match the text literally.",
            ) from None

    def spans(self, source: str) -> Iterator[Span]:
        """The matches; raises ConfigError if matching takes too long, as with (a|aa)+b in a long run of a's."""
        try:
            found = self.expression.finditer(source, timeout=_TIMEOUT)
            yield from (match.span() for match in found if match.group())
        except (TimeoutError, MemoryError):
            raise ConfigError(
                f"{self.place}/{self.expression.pattern}/ takes more than {_TIMEOUT:g} s, or too much memory, "
                f"in {shown(source)}.",
                "Avoid nested repetitions such as (a|aa)+, or list the words themselves.",
            ) from None


@dataclass(frozen=True)
class UserConstraint:
    """Words or a pattern of the source, and their target; None: keep them."""

    words: tuple[str, ...]  # normalised
    pattern: Pattern | None = None
    target: str | None = None

    @classmethod
    def of(cls, text: str, target: str | None = None, place: str = "") -> UserConstraint:
        """/…/ is a regular expression; any other text is matched as words, ignoring case."""
        if len(text) < 3 or not text[0] == text[-1] == "/":
            return cls(tuple(normalise(word.text) for word in split_words(text)), None, target)
        return cls((), Pattern.of(text[1:-1], place), target)

    def edits(self, source: str) -> Iterator[Edit]:
        return (self.edit(source, span) for span in self.spans(source, split_words(source)))

    def edit(self, source: str, span: Span) -> Edit:
        """The edit for one occurrence in the source."""
        phrase, note = source[slice(*span)], KEEP_NOTE if self.target is None else GLOSSARY_NOTE
        if self.target is None or fold_phrase(self.target) == fold_phrase(phrase):
            return Edit.insert(self.target or phrase, weight=_WEIGHT, span=span, note=note)
        return Edit.substitute(phrase, self.target, weight=_WEIGHT, span=span, note=note)

    def spans(self, source: str, words: Sequence[Word]) -> Iterator[Span]:
        """The occurrences in the source; matches of a pattern are extended to whole words."""
        if self.pattern is None:
            yield from (span for _, span in _WordTrie([self]).find(words))
            return
        starts, ends = [word.start for word in words], [word.end for word in words]
        for start, end in self.pattern.spans(source):
            first, last = bisect_right(ends, start), bisect_left(starts, end) - 1
            if first <= last:
                yield starts[first], ends[last]


@dataclass(frozen=True)
class UserConstraints:
    """User constraints; where they overlap, the glossary precedes kept words, and longer kept phrases shorter ones."""

    constraints: tuple[UserConstraint, ...]

    @classmethod
    def of(cls, keep: Iterable[str] = (), glossary: Mapping[str, str] | None = None) -> UserConstraints:
        """From a list of words, phrases or /patterns/ to keep, and a mapping from such texts to their targets."""
        if isinstance(keep, str) or not isinstance(keep, Iterable):
            raise ConfigError(f"keep is {shown(keep)}.", 'Give a list of words or phrases: keep=["physician"].')
        if glossary is not None and not isinstance(glossary, Mapping):
            raise ConfigError(f"glossary is {shown(glossary)}.", 'Give a dict: glossary={"physician": "doctor"}.')
        constraints = []
        for text, target in (glossary or {}).items():
            source = _checked_phrase(text, "a key of glossary")
            place = f"glossary[{shown(text)}]"
            constraints.append(UserConstraint.of(source, _checked_phrase(target, place), f"{place}: "))
        for number, text in enumerate(keep):
            constraints.append(UserConstraint.of(_checked_phrase(text, f"keep[{number}]"), None, f"keep[{number}]: "))
        return cls(tuple(constraints))

    @classmethod
    def read(cls, keep: str | Path | None = None, glossary: str | Path | None = None) -> UserConstraints:
        """From files with one entry on each line; # starts a comment.

        `keep` has words, phrases or /patterns/; `glossary` has source ⇥ target or source = target.
        """
        constraints = []
        for place, line in _content_lines(glossary):
            source, target = _glossary_entry(line, place)
            constraints.append(UserConstraint.of(source, target, place))
        for place, line in _content_lines(keep):
            constraints.append(UserConstraint.of(line.strip(), None, place))
        return cls(tuple(constraints))

    def edits(self, source: str) -> list[Edit]:
        """The edits for all constraints that apply to the source; of overlapping ones, that with precedence."""
        words = split_words(source)
        found = list(self._trie.find(words))
        patterns = (constraint for constraint in self.constraints if constraint.pattern)
        found += ((constraint, span) for constraint in patterns for span in constraint.spans(source, words))
        rank = {id(constraint): number for number, constraint in enumerate(self.constraints)}

        def precedence(occurrence: tuple[UserConstraint, Span]) -> tuple[bool, int, int, int]:
            constraint, (start, end) = occurrence
            return constraint.target is None, 0 if constraint.target else start - end, rank[id(constraint)], start

        covered, edits = _CoveredCharacters(source), []
        for constraint, span in sorted(found, key=precedence):
            if covered.is_free(span):
                covered.add(span)
                edits.append(constraint.edit(source, span))
        return edits

    @cached_property
    def _trie(self) -> _WordTrie:
        plain = [constraint for constraint in self.constraints if not constraint.pattern]
        return _WordTrie(sorted(plain, key=lambda constraint: constraint.target is None))

    def apply_to(self, plan: EditPlan) -> EditPlan:
        """The plan with the edits of all constraints that apply to its source, without conflicting edits."""
        required = self.edits(plan.source)
        covered = _CoveredCharacters(plan.source)
        for edit in required:
            covered.add(edit.span)
        phrases = {fold_phrase(edit.phrase) for edit in required}
        written = {fold_phrase(text) for edit in required for text in edit.targets or (edit.phrase,)}

        def is_compatible(edit: Edit) -> bool:
            """Neither at the position of a constraint nor removing what one writes. Splits never conflict."""
            if edit.kind == "split":
                return True
            overlapping = not covered.is_free(edit.span) if edit.span else fold_phrase(edit.phrase) in phrases
            return not overlapping and (edit.kind == "insert" or fold_phrase(edit.phrase) not in written)

        kept = [edit for edit in plan.edits if is_compatible(edit)]
        edits = sorted([*kept, *required, *_deletions(required)], key=lambda edit: edit.span or (0, 0))
        return replace(plan, edits=tuple(edits))


class _WordTrie:
    """Constraints on words as a trie, so that a text is scanned once regardless of their number."""

    def __init__(self, constraints: Iterable[UserConstraint]) -> None:
        self._root = _TrieNode()
        for constraint in constraints:
            node = self._root
            for word in constraint.words:
                node = node.children.setdefault(word, _TrieNode())
            if constraint.words:
                node.constraint = node.constraint or constraint  # the first of several for the same words

    def find(self, words: Sequence[Word]) -> Iterator[tuple[UserConstraint, Span]]:
        keys = [normalise(word.text) for word in words]
        for first in range(len(words)):
            node: _TrieNode | None = self._root
            for last in range(first, len(words)):
                node = node.children.get(keys[last]) if node else None
                if node is None:
                    break
                if node.constraint:
                    yield node.constraint, (words[first].start, words[last].end)


@dataclass(slots=True)
class _TrieNode:
    children: dict[str, _TrieNode] = field(default_factory=dict)
    constraint: UserConstraint | None = None  # for the words from the root to this node


class _CoveredCharacters:
    """The characters of a source that are covered by spans."""

    def __init__(self, source: str) -> None:
        self._covered = bytearray(len(source))

    def add(self, span: Span | None) -> None:
        if span is not None:
            self._covered[slice(*span)] = b"\1" * (span[1] - span[0])

    def is_free(self, span: Span) -> bool:
        return self._covered.find(1, *span) < 0


def _deletions(required: Sequence[Edit]) -> Iterator[Edit]:
    """Deletions of the sources of a glossary: a substitution alone is no penalty where its target is not available."""
    for edit in required:
        if edit.kind == "substitute" and f" {fold_phrase(edit.phrase)} " not in f" {fold_phrase(edit.targets[0])} ":
            yield Edit.delete(edit.phrase, weight=edit.weight, span=edit.span, note=edit.note)


def _checked_phrase(value: object, place: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{place} is {shown(value)}.", "Give a string with at least one word.")
    return value


def _glossary_entry(line: str, place: str) -> tuple[str, str]:
    """Source and target of a line, separated by a tab or, in a line without tabs, by =."""
    separator, name = ("\t", "tabs") if "\t" in line else ("=", "equals signs")
    cells = [cell.strip() for cell in line.split(separator)]
    hint = "Write the source, one tab (or =) and the target."
    if len(cells) == 1:
        raise ConfigError(f"{place}has no tab and no equals sign.", hint)
    if len(cells) > 2:
        raise ConfigError(f"{place}has {len(cells) - 1} {name}.", hint)
    source, target = cells
    if not source or not target:
        raise ConfigError(f"{place}has an empty {'target' if source else 'source'}.", hint)
    return source, target


def _content_lines(path: str | Path | None) -> list[tuple[str, str]]:
    """The lines that are neither blank nor comments, each with its place for messages."""
    if path is None:
        return []
    raw = read_option_file(path).removeprefix(BOM)
    lines = [(number, decode_utf8(line, str(path), number)) for number, line in enumerate(raw.split(b"\n"), 1)]
    return [(f"{path}, line {number}: ", line) for number, line in lines if line.strip() and line.lstrip()[0] != "#"]
