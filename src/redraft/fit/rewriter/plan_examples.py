"""Samples training examples for reading plans: part of the plan of a linked pair, and a target that satisfies it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from redraft.align.links import Link
from redraft.align.sentence_pairs import SentencePair
from redraft.fit.linked_pairs import LinkedPair
from redraft.fit.word_forms import agreement
from redraft.models import bundled
from redraft.plan.complexity_ratio import ComplexityRatios, bundled_complexity_ratios
from redraft.plan.edits import KINDS, Edit, EditPlan, Strength, fold_phrase
from redraft.plan.extraction import extract, is_thin
from redraft.plan.lexicon import Lexicon
from redraft.plan.marked_source import PLACEHOLDERS
from redraft.plan.verdicts import judge
from redraft.text.function_words import is_content
from redraft.text.inflection import indefinite_article
from redraft.text.names import is_number
from redraft.text.sentences import split_document
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import Word, normalise, split_words

_RARE = 3.2  # Zipf frequency: one word in 600,000
# Shares of the examples, by how much of the plan they contain. Bare: no plan and no strength.
SHARES: Mapping[str, float] = {
    "bare": 0.55, "strength": 0.09, "rare": 0.06, "thin": 0.07, "content": 0.08, "all": 0.07, "random": 0.08
}  # fmt: skip
# Probabilities:
_STRENGTH = 0.4  # that a plan with edits has a strength
_SPLIT = 0.6  # that a split in the target is in the plan
_SYNONYMS = 0.4  # that words are replaced in plan and target alike
_ANY_WORD = 0.15  # of these, that the replacement has an unrelated meaning
_MORE_TARGETS = 0.3  # that a substitution has further targets, which are not in the target text
_ADDED = 0.5  # that words new in the target are in the plan
_PLACEHOLDERS = 0.12  # that words are replaced by placeholders


@dataclass(frozen=True)
class PlanExample:
    """A plan, and a text that satisfies it."""

    plan: EditPlan
    target: str


@dataclass
class PlanSampler:
    """Samples examples. They depend only on the pair and the random numbers; the target satisfies every edit."""

    lexicon: Lexicon
    word_frequency: WordFrequency
    sides: ComplexityRatios
    shares: Mapping[str, float] = field(default_factory=lambda: SHARES)
    bare_splits: bool = False  # targets with a split are allowed without a plan; else the plan states it

    def __post_init__(self) -> None:
        self._words = [word for word in self.lexicon if " " not in word]

    @classmethod
    def load(cls, *, bare_splits: bool = False) -> PlanSampler:
        """A sampler with the bundled tables."""
        return cls(*_bundled_tables(), bundled_complexity_ratios(), bare_splits=bare_splits)

    def example(self, linked: LinkedPair, rng: random.Random, *, without: Sequence[str] = ()) -> PlanExample:
        """`without`: keys of `SHARES` that are excluded; a noisy pair should be trained on only with a plan."""
        shares = {name: share for name, share in self.shares.items() if name not in without}
        (amount,) = rng.choices([*shares], [*shares.values()])
        if amount == "bare" and self.bare_splits:
            return PlanExample(EditPlan(linked.pair.source), linked.pair.target)
        if amount != "bare" and rng.random() < _PLACEHOLDERS:
            linked = _with_placeholders(linked, rng)
        if amount not in ("bare", "strength", "rare") and rng.random() < _SYNONYMS:
            reworded, starts = self._reworded(linked, rng)
            example = self._sample(reworded, amount, starts, rng)
            named = {edit.span[0] for edit in example.plan.edits if edit.span and edit.kind == "substitute"}
            if starts <= named:  # the plan must request every word that was inserted
                return example
        return self._sample(linked, amount, frozenset(), rng)

    def _sample(self, linked: LinkedPair, amount: str, starts: frozenset[int], rng: random.Random) -> PlanExample:
        """Part of the plan of a pair, including the edits that start at these characters of the source."""
        pair = linked.pair
        found = extract(
            pair.source, pair.target, pair.source_words, pair.target_words, linked.links, selection="all", splits=True
        )
        splits = [edit for edit in found.plan.edits if edit.kind == "split"]
        edits = self._named([edit for edit in found.plan.edits if edit.kind != "split"], amount, starts, rng)
        edits = [self._with_more_targets(edit, rng) for edit in edits]
        if amount in ("content", "all", "random") and rng.random() < _ADDED:
            edits += _added(linked, rng)
        strength: Strength | None = None
        if amount == "strength" or (amount != "bare" and rng.random() < _STRENGTH):
            strength = strength_of(pair.source, pair.target)
        if splits and (amount == "bare" or rng.random() < _SPLIT):
            edits += [Edit.split()] * len(splits) if rng.random() < 0.4 else splits
        elif splits:  # without a plan, the model should not split
            strength = "strong"
        plan = EditPlan(pair.source, (*edits, *_kept_elsewhere(edits, found.plan.edits)), strength)
        return PlanExample(_satisfied_part(plan, pair.target), pair.target)

    def _named(
        self, edits: Sequence[Edit], amount: str, starts: frozenset[int], rng: random.Random
    ) -> list[Edit]:  # fmt: skip
        """The edits of a plan that the example contains; placeholders are nearly always kept."""
        if amount == "random":
            share = {kind: rng.random() for kind in KINDS}
            share["insert"] = rng.choice([share["insert"], 0.0, 1.0])
            chosen = [rng.random() < share[edit.kind] and _is_named(edit, rng) for edit in edits]
        else:
            chosen = [self._is_part(edit, amount) for edit in edits]
        return [
            edit for edit, is_chosen in zip(edits, chosen, strict=True)
            if is_chosen or _starts_at(edit, starts) or (_is_placeholder(edit) and rng.random() < 0.8)
        ]  # fmt: skip

    def _is_part(self, edit: Edit, amount: str) -> bool:
        if amount == "all":
            return True
        if amount == "rare":
            return edit.kind == "insert" and self._is_rare(edit.phrase)
        if amount in ("content", "thin"):
            return _has_content(edit) and (amount == "content" or is_thin(edit, self.sides))
        return False

    def _is_rare(self, phrase: str) -> bool:
        return is_number(phrase) or (is_content(phrase) and self.word_frequency.zipf(phrase) < _RARE)

    def _with_more_targets(self, edit: Edit, rng: random.Random) -> Edit:
        entry = self.lexicon.entry(edit.phrase) if edit.kind == "substitute" else None
        if entry is None or rng.random() >= _MORE_TARGETS:
            return edit
        taken = {fold_phrase(text) for text in (edit.phrase, *edit.targets)}
        others = [text for text, _ in entry.targets[:6] if fold_phrase(text) not in taken]
        targets = [*edit.targets, *rng.sample(others, min(len(others), rng.choice([1, 1, 2])))]
        rng.shuffle(targets)
        return replace(edit, targets=tuple(targets))

    def _reworded(self, linked: LinkedPair, rng: random.Random) -> tuple[LinkedPair, frozenset[int]]:
        """The pair with one to three one-to-one linked target words replaced, and where their source words start.

        The new words are not what people wrote, so the model learns to follow the plan.
        """
        target_words = linked.pair.target_words
        single = [(left, right) for left, right in _one_to_one(linked) if is_content(target_words[right].text)]
        rng.shuffle(single)
        changes: dict[int, str] = {}
        starts: set[int] = set()
        for left, right in single[:8]:
            word = linked.pair.source_words[left]
            other = self._other_word(word.text, target_words[right].text, rng)
            if other is not None:
                changes[right] = other
                starts.add(word.start)
            if len(changes) == 3 or (changes and rng.random() < 0.4):
                break
        changed = _with_target_words(linked, changes)
        return changed, frozenset(starts) if changed is not linked else frozenset()

    def _other_word(self, word: str, written: str, rng: random.Random) -> str | None:
        if not word.isalpha() or not word[1:].islower():
            return None
        entry = self.lexicon.entry(rng.choice(self._words or [word]) if rng.random() < _ANY_WORD else word)
        taken = {fold_phrase(word), fold_phrase(written)}
        fit = [
            text for text, _ in (entry.targets if entry else ())
            if fold_phrase(text) not in taken and agreement(text.lower(), written.lower()) > 0
        ]  # fmt: skip
        if not fit:
            return None
        other = rng.choice(fit[:8])
        return other[:1].upper() + other[1:] if written[:1].isupper() else other


@cache
def _bundled_tables() -> tuple[Lexicon, WordFrequency]:
    folder = bundled("planner")
    return Lexicon.load(folder / "lexicon.tsv.xz"), WordFrequency.load(folder / "word_frequency.tsv.xz")


def strength_of(source: str, target: str) -> Strength:
    """The strength of a rewriting.

    light: replaces up to a fifth of the words; strong: shortens by an eighth or splits a sentence; medium: the rest.
    """
    before, after = source.lower().split(), target.lower().split()
    if sentences(target) > sentences(source) or len(after) < 0.88 * len(before):
        return "strong"
    same = len({*before} & {*after}) / max(1, len({*before}))
    return "light" if same >= 0.8 and len(after) >= 0.95 * len(before) else "medium"


def sentences(text: str) -> int:
    return sum(bool(sentence.text) for sentence in split_document(text))


def joined(first: PlanExample, second: PlanExample) -> PlanExample:
    """Two examples joined into one text, so that the model also sees long texts."""
    start = len(first.plan.source) + 1
    moved = [
        replace(edit, span=edit.span and (edit.span[0] + start, edit.span[1] + start)) for edit in second.plan.edits
    ]
    plan = EditPlan(
        f"{first.plan.source} {second.plan.source}", (*first.plan.edits, *moved),
        first.plan.strength if first.plan.strength == second.plan.strength else None,
    )  # fmt: skip
    return PlanExample(plan, f"{first.target} {second.target}")


def can_join(first: PlanExample, second: PlanExample) -> bool:
    """Edits without a span concern the whole text, and placeholders are numbered within it."""
    placed = all(edit.span for one in (first, second) for edit in one.plan.edits)
    return placed and not any(sign in one.plan.source for one in (first, second) for sign in PLACEHOLDERS)


def _is_named(edit: Edit, rng: random.Random) -> bool:
    """Closed-class words are named less often than others."""
    return _has_content(edit) or rng.random() < 0.3


def _starts_at(edit: Edit, starts: frozenset[int]) -> bool:
    return edit.span is not None and edit.span[0] in starts


def _is_placeholder(edit: Edit) -> bool:
    return edit.kind == "insert" and edit.phrase in PLACEHOLDERS


def _has_content(edit: Edit) -> bool:
    return any(map(is_content, edit.phrase.split()))


def _kept_elsewhere(named: Sequence[Edit], edits: Sequence[Edit]) -> list[Edit]:
    """Edits that keep a word which `named` deletes or replaces elsewhere; otherwise the plan would forbid it."""
    dropped = {fold_phrase(edit.phrase) for edit in named if edit.kind in ("delete", "substitute")}
    return [
        edit for edit in edits if edit.kind == "insert" and fold_phrase(edit.phrase) in dropped and edit not in named
    ]  # fmt: skip


def _satisfied_part(plan: EditPlan, target: str) -> EditPlan:
    """The plan without the edits that the target does not satisfy.

    Such are the deletion of a word that the target has without a link, or two source words merged into one. Edits may
    depend on removed ones, so the rest is judged again.
    """
    satisfied = tuple(verdict.edit for verdict in judge(plan, target) if verdict.status == "satisfied")
    return plan if len(satisfied) == len(plan.edits) else _satisfied_part(replace(plan, edits=satisfied), target)


def _added(linked: LinkedPair, rng: random.Random) -> list[Edit]:
    """Inserts for content words of the target that have no counterpart in the source."""
    linked_words = {right for _, right in linked.links}
    there = {normalise(word.text) for word in linked.pair.source_words}
    new = [
        word.text for at, word in enumerate(linked.pair.target_words)
        if at not in linked_words and is_content(word.text) and normalise(word.text) not in there
    ]  # fmt: skip
    new = list({fold_phrase(text): text for text in new}.values())
    return [Edit.insert(text) for text in rng.sample(new, min(len(new), 3))]


def _one_to_one(linked: LinkedPair) -> list[Link]:
    lefts, rights = ([link[side] for link in linked.links] for side in (0, 1))
    return sorted(link for link in linked.links if lefts.count(link[0]) == 1 and rights.count(link[1]) == 1)


def _with_target_words(linked: LinkedPair, changes: Mapping[int, str]) -> LinkedPair:
    """The pair with some target words replaced, and the indefinite article before them adjusted.

    All words of a new phrase get the links of the old word.
    """
    pair, text = linked.pair, linked.pair.target
    for at, word in sorted(changes.items(), reverse=True):
        span = pair.target_words[at]
        head = text[: span.start]
        article = pair.target_words[at - 1] if at else None
        if article is not None and article.text.lower() in ("a", "an"):
            new = indefinite_article(word)
            new = new.capitalize() if article.text[0].isupper() else new
            head = text[: article.start] + new + text[article.end : span.start]
        text = head + word + text[span.end :]
    changed = SentencePair.of(pair.source, text)
    sizes = [len(split_words(changes[at])) if at in changes else 1 for at in range(len(pair.target_words))]
    if sum(sizes) != len(changed.target_words):  # word splitting differs in the new text: leave the pair unchanged
        return linked
    starts = [sum(sizes[:at]) for at in range(len(sizes))]
    links = frozenset((left, starts[right] + more) for left, right in linked.links for more in range(sizes[right]))
    return replace(linked, pair=changed, links=links)


def _with_placeholders(linked: LinkedPair, rng: random.Random) -> LinkedPair:
    """The pair with one to three words, or runs of words common to both sides, replaced by placeholders."""
    pair = linked.pair
    words = [word.text for word in pair.source_words]
    same = {
        left: right for left, right in _one_to_one(linked)
        if words[left] == pair.target_words[right].text
        and (is_number(words[left]) or words[left][:1].isupper() or rng.random() < 0.1)
        and left > 0 and right > 0
    }  # fmt: skip
    order = sorted(same)
    rng.shuffle(order)
    wanted = rng.choice([1, 1, 2, 3])
    runs: dict[int, int] = {}  # index of the first word → number of words, one to three
    taken: set[int] = set()
    for left in order:
        size = 1
        while size < 3 and same.get(left + size) == same[left] + size:
            size += 1
        if len(runs) < wanted and taken.isdisjoint(range(left, left + size)):
            runs[left] = size
            taken |= set(range(left, left + size))
    if not runs:
        return linked
    signs = dict(zip(sorted(runs), PLACEHOLDERS, strict=False))
    source, lefts = _replace_runs(pair.source, pair.source_words, {left: (runs[left], signs[left]) for left in runs})
    target, rights = _replace_runs(
        pair.target, pair.target_words, {same[left]: (runs[left], signs[left]) for left in runs}
    )
    changed = SentencePair.of(source, target)
    sizes = len(changed.source_words), len(changed.target_words)
    if sizes != (max(lefts) + 1, max(rights) + 1):  # word splitting differs in the new text
        return linked
    return replace(linked, pair=changed, links=frozenset((lefts[one], rights[other]) for one, other in linked.links))


def _replace_runs(text: str, words: Sequence[Word], runs: Mapping[int, tuple[int, str]]) -> tuple[str, list[int]]:
    """A text with runs of its words replaced by signs, and for each old word the index of the new one."""
    out, at, numbers, number, skip = "", 0, list[int](), -1, 0
    for place, word in enumerate(words):
        if skip:
            skip -= 1
            numbers.append(number)
            continue
        number += 1
        numbers.append(number)
        if place in runs:
            size, sign = runs[place]
            out += text[at : word.start] + sign
            at, skip = words[place + size - 1].end, size - 1
    return out + text[at:], numbers
