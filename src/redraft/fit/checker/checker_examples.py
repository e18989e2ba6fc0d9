"""Training examples of the meaning check: judged rewritings, trusted pairs, corrupted pairs and NLI pairs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Literal

from redraft.check.word_facts import WordFacts
from redraft.errors import CorpusError
from redraft.fit.checker.corruptions import Corruptor
from redraft.fit.checker.omissions import LOSSES
from redraft.fit.tagged_pairs import TaggedPair
from redraft.plan.apply_edits import apply_edits
from redraft.plan.common_names import CommonNames
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.reviewed_targets import ReviewedTargets
from redraft.reading import numbered_lines, typed_member
from redraft.text.function_words import is_content
from redraft.text.names import invented_names, missing_names, missing_negations
from redraft.text.words import normalise, split_words

_KEPT = ("entailment", "paraphrase")
_BOTH_WAYS = ("paraphrase", "not_paraphrase")
_LABELS = (*_KEPT, "neutral", "contradiction", "not_paraphrase")
# Words are labelled only if the judgement is clear: up to the first value none is to blame, from the second on some.
_FINE, _BAD = 0.2, 0.6
# Corruptions after which the source may still entail the output.
_MAY_FOLLOW = frozenset({"condition lost", "quantifier", "modality", *LOSSES})
_NEW = 0.4  # a pair with a larger share of new content words in the target is not trusted
_SHORTER = 0.5  # nor one with fewer target words for each source word
_STEM = 4  # letters by which words are compared
_SAFE_EDITS = 3  # at most
_DISTILLED = "distilled"
_LOST = 0.05  # largest share of source content words lost without an explanation in a trusted pair
_MUCH_LOST = 0.3  # smallest such share in a shortened pair
_SHORTENED = 0.08  # share of samples that are shortened pairs
_LEFT_OUT = 0.25  # share of the corruptions that omit something
_SWAPPED = 0.85  # above this random number, source and target are swapped if the source says more
_ADDED = 4  # content words that the source has more than the target, for that


@dataclass(frozen=True)
class CheckExample:
    """The words of two texts and their labels; None: unknown."""

    kind: str
    source: tuple[str, ...]
    output: tuple[str, ...]
    altered: float | None  # probability that a careful reader finds the meaning altered
    unsupported: float | None = None  # probability that the source does not entail the output
    lost: frozenset[int] | None = None  # indices of source words
    wrong: frozenset[int] | None = None  # indices of output words


def read_inference(path: str | Path) -> Iterator[CheckExample]:
    """Natural language inference: dataset ⇥ label ⇥ premise ⇥ hypothesis.

    An entailed hypothesis is supported, but may say less than the premise, so only (non-)paraphrases are labelled as
    altered or not. Entailed hypotheses that are much shorter are skipped.
    """
    for number, line in numbered_lines(path):
        cells = line.split("\t")
        if len(cells) != 4 or cells[1] not in _LABELS:
            raise CorpusError(
                f"{path}, line {number}: is not a labelled pair.", "Write dataset ⇥ label ⇥ premise ⇥ hypothesis."
            )
        other, one, two = float(cells[1] not in _KEPT), words_of(cells[2]), words_of(cells[3])
        if one and two and (other or len(two) >= _SHORTER * len(one)):
            yield CheckExample(cells[0], one, two, other if cells[1] in _BOTH_WAYS else None, other)


def read_judged(path: str | Path) -> Iterator[CheckExample]:
    """Rewritings judged by a reader, one JSON object per line.

    The first word of `by` is their origin. `altered` and `unsupported` are probabilities (`unsupported` may be null:
    unknown). `lost` and `wrong` list the words to blame in the source and in the output.
    """
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
            one, two = (words_of(typed_member(row, side, str)) for side in ("source", "output"))
            altered, unsupported = (
                typed_member(row, "altered", int, float),
                typed_member(row, "unsupported", int, float, NoneType),
            )
            if not 0 <= altered <= 1 or not 0 <= (unsupported or 0) <= 1:
                raise ValueError
            lost, wrong = (list(map(str, typed_member(row, name, list))) for name in ("lost", "wrong"))
            kind = typed_member(row, "by", str).split()[0]
        except (ValueError, IndexError, RecursionError):
            raise CorpusError(f"{path}, line {number}: is not a judged rewriting.",
                              "Write by, source, output, altered, unsupported, lost, wrong.") from None  # fmt: skip
        blamed: list[frozenset[int] | None] = [None, None]
        if altered <= _FINE:
            blamed = [frozenset(), frozenset()]
        elif altered >= _BAD:
            blamed = [frozenset(_places(words, phrases)) for words, phrases in ((one, lost), (two, wrong))]
        if one and two:
            yield CheckExample(kind, one, two, altered, unsupported, *blamed)


def _places(words: Sequence[str], phrases: Iterable[str]) -> Iterator[int]:
    """The indices of words that belong to one of the phrases."""
    plain = [normalise(word) for word in words]
    for phrase in phrases:
        parts = [normalise(word) for word in words_of(phrase)]
        for at in range(len(plain) - len(parts) + 1):
            if parts and plain[at : at + len(parts)] == parts:
                yield from range(at, at + len(parts))


def words_of(text: str) -> tuple[str, ...]:
    return tuple(word.text for word in split_words(text))


def is_faithful(pair: TaggedPair) -> bool:
    """Whether a pair of a corpus probably keeps the meaning, judged by names, negations and new words."""
    if invented_names(pair.source, pair.target) or missing_negations(pair.source, pair.target):
        return False
    if missing_negations(pair.target, pair.source) or missing_names(pair.source, pair.target):
        return False
    source, target = ([normalise(word) for word in words_of(text)] for text in (pair.source, pair.target))
    stems = {word[:_STEM] for word in source}
    content = [word for word in target if is_content(word)]
    new = sum(word[:_STEM] not in stems for word in content)
    return bool(content) and new <= _NEW * len(content) and len(target) >= _SHORTER * len(source)


def faithfulness(pair: TaggedPair, facts: WordFacts) -> Literal["trusted", "shortened"] | None:
    """Whether a pair is trusted to keep the meaning, or shortened so much that it cannot; None: unclear.

    Trusted: it is faithful, and hardly any word is lost without an explanation. In distilled pairs, which a model
    wrote, the tables must also explain every new word; people use words that no table has.
    """
    lost, new = facts.shares(words_of(pair.source), words_of(pair.target))
    if lost >= _MUCH_LOST and not new and not invented_names(pair.source, pair.target):
        return "shortened"
    is_sure = lost <= _LOST and not (new and pair.tag.startswith(_DISTILLED))
    return "trusted" if is_sure and is_faithful(pair) else None


class SafeEdits:
    """Replaces words by targets that a reader has judged safe: small changes that keep the meaning."""

    def __init__(self, reviewed: ReviewedTargets, names: CommonNames) -> None:
        self._reviewed, self._names = reviewed, names

    def make(self, text: str, rng: random.Random) -> str | None:
        """The text with up to three such changes; None if there is no such word."""
        words = split_words(text)
        plain = [normalise(word.text) for word in words]
        found = [(place, entry.targets) for place, entry in self._names.found_in(plain)]
        found += [(place, entry.safe) for place, entry in self._reviewed.found_in(plain) if entry.safe]
        rng.shuffle(found)
        edits: list[Edit] = []
        taken: set[int] = set()
        for place, targets in found:
            if taken.isdisjoint(place) and len(edits) < _SAFE_EDITS:
                taken.update(place)
                span = words[place[0]].start, words[place[-1]].end
                edits.append(Edit.substitute(text[slice(*span)], rng.choice(targets), span=span))
        if not edits:
            return None
        return apply_edits(EditPlan(text, tuple(sorted(edits, key=lambda edit: edit.span or (0, 0)))))


class ExampleMaker:
    """Makes random examples from pairs: unchanged, with safe edits, and corrupted."""

    def __init__(
        self, pairs: Sequence[TaggedPair], shortened: Sequence[TaggedPair], corruptor: Corruptor, safe: SafeEdits
    ) -> None:
        self._pairs, self._shortened, self._corruptor, self._safe = pairs, shortened, corruptor, safe

    def faithful(self, rng: random.Random, count: int) -> list[CheckExample]:
        """A sample of unchanged pairs, without replacement."""
        pairs = rng.sample(self._pairs, min(count, len(self._pairs)))
        return [CheckExample(pair.tag, words_of(pair.source), words_of(pair.target), 0.0, 0.0) for pair in pairs]

    def make(self, rng: random.Random) -> Iterator[CheckExample]:
        """One pair, unchanged or with safe edits, and a wrong version of it."""
        if self._shortened and rng.random() < _SHORTENED:
            pair = rng.choice(self._shortened)
            yield CheckExample("shortened", words_of(pair.source), words_of(pair.target), 1.0, None, None, frozenset())
        pair = rng.choice(self._pairs)
        source, output, kind = pair.source, pair.target, pair.tag
        uniform = rng.random()
        if uniform < 0.35:
            made = self._safe.make(output if uniform < 0.1 else source, rng)
            output, kind = (made, "safe edits") if made else (output, kind)
        elif uniform < 0.5:
            output, kind = source, "copy"
        one, two = words_of(source), words_of(output)
        yield CheckExample(kind, one, two, 0.0, 0.0, frozenset(), frozenset())
        if uniform > _SWAPPED and (swapped := with_additions(one, two)):
            yield swapped
        elif wrong := corrupted(self._corruptor, one, two, rng):
            yield wrong


def with_additions(source: tuple[str, ...], output: tuple[str, ...]) -> CheckExample | None:
    """A pair with source and output swapped, so that the output adds content; None if it would add too little."""
    known = {normalise(word) for word in output}
    more = frozenset(at for at, word in enumerate(source) if is_content(word) and normalise(word) not in known)
    fewer = sum(map(is_content, source)) - sum(map(is_content, output))
    return CheckExample("added", output, source, 1.0, 1.0, frozenset(), more) if fewer >= _ADDED else None


def corrupted(
    corruptor: Corruptor, source: tuple[str, ...], output: tuple[str, ...], rng: random.Random, kind: str | None = None
) -> CheckExample | None:
    """A pair with a corrupted output; the source words to blame are those that the corruption removed."""
    if kind is None and rng.random() < _LEFT_OUT:
        kind = rng.choice(sorted(LOSSES))
    if kind in LOSSES:
        made = LOSSES[kind](output, rng)
    else:
        made = corruptor.make(kind, output, rng) if kind else corruptor.any(output, rng)
    if made is None:
        return None
    unsupported = None if made.kind in _MAY_FOLLOW else 1.0
    if source == output:
        return CheckExample(made.kind, source, made.words, 1.0, unsupported, made.lost, made.wrong)
    plain = [normalise(word) for word in source]
    before = [normalise(output[at]) for at in sorted(made.lost)]
    lost = {at for word in set(before) for at, one in enumerate(plain) if one == word} if len(before) < 4 else None
    if lost is not None and not all(plain.count(word) == 1 for word in before):
        lost = None  # unknown which of several, or none
    blamed = None if lost is None else frozenset(lost)
    return CheckExample(made.kind, source, made.words, 1.0, unsupported, blamed, made.wrong)
