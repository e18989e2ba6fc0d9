"""What the meaning check learns from: judged rewritings, trusted pairs, the same made wrong, and labelled inference."""

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
from redraft.reading import member, numbered_lines
from redraft.text.function_words import is_content
from redraft.text.names import made_up, missing, missing_negations
from redraft.text.words import normal, split_words

_KEPT = ("entailment", "paraphrase")
_BOTH_WAYS = ("paraphrase", "not_paraphrase")
_LABELS = (*_KEPT, "neutral", "contradiction", "not_paraphrase")
_FINE, _BAD = 0.2, 0.6  # risks up to which no word is to blame, and from which the words named are
# Corruptions after which the source may still entail what is left.
_MAY_FOLLOW = frozenset({"condition lost", "quantifier", "modality", *LOSSES})
_NEW = 0.4  # share of the target's content words that the source lacks, beyond which a pair is not trusted
_SHORTER = 0.5  # words of the target for each of the source, below which too much is gone
_STEM = 4
_SAFE_EDITS = 3
_DISTILLED = "distilled"
_LOST = 0.05  # share of the source's content words that may be lost without a reason
_MUCH_LOST = 0.3
_SHORTENED = 0.08  # share of the draws that are pairs which lose much
_LEFT_OUT = 0.25  # share of the corruptions that leave something out
_TURNED = 0.85  # from here on a drawn pair is turned round where that makes it wrong
_ADDED = 4  # content words more than the source has: an output that says more


@dataclass(frozen=True)
class CheckExample:
    """Two texts in words, how likely the second says something else, and where. None: not known."""

    kind: str
    source: tuple[str, ...]
    output: tuple[str, ...]
    altered: float | None  # how likely a careful reader finds the meaning altered
    unsupported: float | None = None  # how likely the source does not entail the output
    lost: frozenset[int] | None = None  # places in the source
    wrong: frozenset[int] | None = None  # places in the output


def read_inference(path: str | Path) -> Iterator[CheckExample]:
    """dataset ⇥ label ⇥ premise ⇥ hypothesis: unsupported where the premise does not entail the hypothesis.

    Only a paraphrase says the same: what follows may say much less. Hypotheses that are much shorter are passed over.
    """
    for number, line in numbered_lines(path):
        cells = line.split("\t")
        if len(cells) != 4 or cells[1] not in _LABELS:
            raise CorpusError(f"{path}, line {number}: no labelled pair.", "Write set ⇥ label ⇥ premise ⇥ hypothesis.")
        other, one, two = float(cells[1] not in _KEPT), words_of(cells[2]), words_of(cells[3])
        if one and two and (other or len(two) >= _SHORTER * len(one)):
            yield CheckExample(cells[0], one, two, other if cells[1] in _BOTH_WAYS else None, other)


def read_judged(path: str | Path) -> Iterator[CheckExample]:
    """Rewritings that a reader has judged, one JSON object a line.

    `by` names their origin in its first word, `altered` and `unsupported` are from 0 to 1 (`unsupported` may be null:
    not known), `lost` and `wrong` list the words concerned in the source and in the output.
    """
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
            one, two = (words_of(member(row, side, str)) for side in ("source", "output"))
            altered, unsupported = member(row, "altered", int, float), member(row, "unsupported", int, float, NoneType)
            if not 0 <= altered <= 1 or not 0 <= (unsupported or 0) <= 1:
                raise ValueError
            lost, wrong = (list(map(str, member(row, name, list))) for name in ("lost", "wrong"))
            kind = member(row, "by", str).split()[0]
        except (ValueError, IndexError, RecursionError):
            raise CorpusError(f"{path}, line {number}: no judged rewriting.",
                              "Write by, source, output, altered, unsupported, lost, wrong.") from None  # fmt: skip
        blamed: list[frozenset[int] | None] = [None, None]
        if altered <= _FINE:
            blamed = [frozenset(), frozenset()]
        elif altered >= _BAD:
            blamed = [frozenset(_places(words, phrases)) for words, phrases in ((one, lost), (two, wrong))]
        if one and two:
            yield CheckExample(kind, one, two, altered, unsupported, *blamed)


def _places(words: Sequence[str], phrases: Iterable[str]) -> Iterator[int]:
    """The places of words that belong to one of the phrases."""
    plain = [normal(word) for word in words]
    for phrase in phrases:
        parts = [normal(word) for word in words_of(phrase)]
        for at in range(len(plain) - len(parts) + 1):
            if parts and plain[at : at + len(parts)] == parts:
                yield from range(at, at + len(parts))


def words_of(text: str) -> tuple[str, ...]:
    return tuple(word.text for word in split_words(text))


def is_faithful(pair: TaggedPair) -> bool:
    """Whether a pair of a corpus may be trusted to say the same, as far as words tell."""
    if made_up(pair.source, pair.target) or missing_negations(pair.source, pair.target):
        return False
    if missing_negations(pair.target, pair.source) or missing(pair.source, pair.target):
        return False
    source, target = ([normal(word) for word in words_of(text)] for text in (pair.source, pair.target))
    stems = {word[:_STEM] for word in source}
    content = [word for word in target if is_content(word)]
    new = sum(word[:_STEM] not in stems for word in content)
    return bool(content) and new <= _NEW * len(content) and len(target) >= _SHORTER * len(source)


def sort_of(pair: TaggedPair, facts: WordFacts) -> Literal["trusted", "shortened"] | None:
    """Whether a pair may be taken to say the same, or loses so much that it cannot; None where neither is sure.

    Trusted: it is faithful, and next to nothing is lost without a reason. Of the distilled pairs, which a model wrote,
    each new word must be explained by an old one too. People wrote the others: they find words that no table knows.
    """
    lost, new = facts.shares(words_of(pair.source), words_of(pair.target))
    if lost >= _MUCH_LOST and not new and not made_up(pair.source, pair.target):
        return "shortened"
    is_sure = lost <= _LOST and not (new and pair.tag.startswith(_DISTILLED))
    return "trusted" if is_sure and is_faithful(pair) else None


class SafeEdits:
    """Words replaced by what a reader has judged safe for them: small changes that keep the meaning."""

    def __init__(self, reviewed: ReviewedTargets, names: CommonNames) -> None:
        self._reviewed, self._names = reviewed, names

    def make(self, text: str, rng: random.Random) -> str | None:
        """The text with up to three such changes; None where none can be made."""
        words = split_words(text)
        plain = [normal(word.text) for word in words]
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


class Examples:
    """Examples drawn anew in each epoch from pairs, safe edits and corruptions of both."""

    def __init__(
        self, pairs: Sequence[TaggedPair], shortened: Sequence[TaggedPair], corruptor: Corruptor, safe: SafeEdits
    ) -> None:
        self._pairs, self._shortened, self._corruptor, self._safe = pairs, shortened, corruptor, safe

    def faithful(self, rng: random.Random, most: int) -> list[CheckExample]:
        """So many pairs as they are, all of them different."""
        pairs = rng.sample(self._pairs, min(most, len(self._pairs)))
        return [CheckExample(pair.tag, words_of(pair.source), words_of(pair.target), 0.0, 0.0) for pair in pairs]

    def draw(self, rng: random.Random) -> Iterator[CheckExample]:
        """One pair as it is or a small safe change, and the same made wrong."""
        if self._shortened and rng.random() < _SHORTENED:
            pair = rng.choice(self._shortened)
            yield CheckExample("shortened", words_of(pair.source), words_of(pair.target), 1.0, None, None, frozenset())
        pair = rng.choice(self._pairs)
        source, output, kind = pair.source, pair.target, pair.tag
        drawn = rng.random()
        if drawn < 0.35:
            made = self._safe.make(output if drawn < 0.1 else source, rng)
            output, kind = (made, "safe edits") if made else (output, kind)
        elif drawn < 0.5:
            output, kind = source, "copy"
        one, two = words_of(source), words_of(output)
        yield CheckExample(kind, one, two, 0.0, 0.0, frozenset(), frozenset())
        if drawn > _TURNED and (more := added(one, two)):
            yield more
        elif wrong := corrupted(self._corruptor, one, two, rng):
            yield wrong


def added(source: tuple[str, ...], output: tuple[str, ...]) -> CheckExample | None:
    """A pair turned round where the source says more: what the output then adds comes from nowhere."""
    known = {normal(word) for word in output}
    more = frozenset(at for at, word in enumerate(source) if is_content(word) and normal(word) not in known)
    fewer = sum(map(is_content, source)) - sum(map(is_content, output))
    return CheckExample("added", output, source, 1.0, 1.0, frozenset(), more) if fewer >= _ADDED else None


def corrupted(
    corruptor: Corruptor, source: tuple[str, ...], output: tuple[str, ...], rng: random.Random, kind: str | None = None
) -> CheckExample | None:
    """A pair with its output made wrong; the words of the source to blame are those that the output had before."""
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
    plain = [normal(word) for word in source]
    before = [normal(output[at]) for at in sorted(made.lost)]
    lost = {at for word in set(before) for at, one in enumerate(plain) if one == word} if len(before) < 4 else None
    if lost is not None and not all(plain.count(word) == 1 for word in before):
        lost = None  # which of several, or none: not known
    blamed = None if lost is None else frozenset(lost)
    return CheckExample(made.kind, source, made.words, 1.0, unsupported, blamed, made.wrong)
