"""Targets that fit their sentence: the alternatives of a plan, ranked and filtered by what keeps the meaning there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import torch

from redraft.cancellation import yield_point
from redraft.check.meaning_check import MeaningCheck
from redraft.decode.redrafter import Redrafter
from redraft.decode.step_model import StepModel
from redraft.decode.transformers_steps import position_limit
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.lexicon import key_of
from redraft.plan.planner import Planner
from redraft.simplify.likelihood import BATCH, BATCH_GPU, input_sizes, log_probs
from redraft.text.words import split_words

NO_REPLACEMENT = "no safe replacement here"  # the note of a word that stays because all its targets were dropped

_AHEAD = 64  # plans read at once
_LAYER = 3  # of the encoder: vectors there tell senses apart best
_SHARE = 0.003  # added to a target's share in the lexicon before its logarithm is taken
_ENDINGS = ("ing", "ed", "ly", "s")
_RAREST, _UNKNOWN_ZIPF, _UNKNOWN_SENSES = 3.5, 5.0, 1.8  # Zipf frequencies below the first count as it


@dataclass(frozen=True)
class SenseWeights:
    """Log-odds that a target keeps the meaning of its word in its sentence: a logistic of seven facts.

    Fitted on 200 predicted substitutions (766 targets; Wikipedia and MultiNLI, medium strength) that one reader judged:
    the right sense in a usable form, or not. AUC 0.81 by cross-validation, and 0.81 on BenchLS, NNSeval and lex.mturk,
    which are for measuring only. On 100 others, `least` keeps half of the good substitutions, and wrong senses fall
    from 29 to 10 % of first targets; with what `possible` adds (1.0), two thirds and 14 %. `likely` depends on the
    rewriter: a new one needs a new fit.
    """

    likely: float
    similar: float  # cosine of the word's vector and the target's in its place
    share: float  # log share in the lexicon
    related: float  # they share a synset or one directly above
    zipf: float  # of the target: very common words are vague
    senses: float  # log(1 + senses of the word)
    ending: float  # both end in -ing, -ed, -ly, -s, or neither does
    possible: float  # a reader finds the target possible for its word; not fitted
    constant: float
    least: float  # a target with less is dropped
    likely_from: float = -20.0  # log-likelihood ratios are cut off at these
    likely_to: float = 3.0


JUDGED = SenseWeights(
    likely=0.119, similar=4.13, share=0.357, related=0.264, zipf=-0.65, senses=-0.579, ending=0.551, possible=0.4,
    constant=2.645, least=1.4,
)  # fmt: skip


def rank_targets(
    redrafter: Redrafter, plans: Iterable[EditPlan], *, keep: int = 3, gap: float = 1.0,
    planner: Planner | None = None, check: MeaningCheck | None = None,
) -> Iterator[EditPlan]:  # fmt: skip
    """Plans whose substitutions have their best targets first, at most `keep`, none further than `gap` behind.

    A target is judged by the log-probability of the source with it in its place. With the `planner` that predicted the
    plans, predicted targets are judged by how well they keep the meaning (`SenseWeights`): unsafe ones are dropped, and
    a word without any left stays, as an insertion. With a `check`, so are targets that give the source another meaning.
    Common names pass, but for what the guard refuses. Edits without a span are left unchanged, and so are all where the
    model is not of transformers or the text too long for it.
    """
    waiting = iter(plans)
    while ahead := list(islice(waiting, _AHEAD)):
        if isinstance(redrafter.model, StepModel):
            yield from ahead
        else:
            checked = ahead if planner is None else _checked(redrafter, planner, check, ahead, keep, gap)
            yield from _fitted(redrafter, checked, planner is not None, keep, gap)


def _fitted(
    redrafter: Redrafter, plans: Sequence[EditPlan], checked: bool, keep: int, gap: float
) -> Iterator[EditPlan]:
    """By likelihood alone; what has been checked keeps its order."""
    asked = [
        (plan.source, _with(plan.source, edit.span, target))
        for plan in plans for edit in plan.edits if _is_open(edit, checked) and edit.span
        for target in edit.targets
    ]  # fmt: skip
    scores = iter(log_probs(redrafter, asked))
    for plan in plans:
        edits = []
        for edit in plan.edits:
            if _is_open(edit, checked):
                edit = _best(edit, list(islice(scores, len(edit.targets))), keep, gap) or edit
            edits.append(edit)
        yield replace(plan, edits=tuple(edits))


def _is_open(edit: Edit, checked: bool) -> bool:
    return len(edit.targets) > 1 and edit.span is not None and not (checked and edit.probability is not None)


def _with(source: str, span: tuple[int, int], target: str) -> str:
    return source[: span[0]] + target + source[span[1] :]


def _best(edit: Edit, scores: Sequence[float], keep: int, gap: float, least: float = -math.inf) -> Edit | None:
    """The edit with its best targets, best first; None where none reaches `least`."""
    found = sorted(zip(scores, edit.targets, strict=True), key=lambda scored: -scored[0])
    best = [target for score, target in found if score >= max(least, found[0][0] - gap)]
    return replace(edit, targets=tuple(best[:keep])) if best else None


@dataclass
class _Candidate:
    """A target under judgement."""

    source: str
    span: tuple[int, int]
    target: str
    score: float  # log-odds that it keeps the meaning, as far as facts are known


def _checked(
    redrafter: Redrafter, planner: Planner, check: MeaningCheck | None, plans: Sequence[EditPlan], keep: int, gap: float
) -> list[EditPlan]:
    """Each fact is only asked for where the facts that are still unknown could save the target."""
    candidates: dict[tuple[int, int], list[_Candidate]] = {}
    for row, plan in enumerate(plans):
        for place, edit in enumerate(plan.edits):
            yield_point()
            if edit.span and _is_guess(planner, edit) and _fits(redrafter, planner, plan, edit):
                facts = [_known(planner, edit.phrase, target) for target in edit.targets]
                candidates[row, place] = [
                    _Candidate(plan.source, edit.span, target, score)
                    for target, score in zip(edit.targets, facts, strict=True)
                ]
    everyone = [one for some in candidates.values() for one in some]
    most_likely = JUDGED.likely * JUDGED.likely_to
    left = [one for one in everyone if one.score + JUDGED.similar + most_likely >= JUDGED.least]
    for one, cosine in zip(left, _similarities(planner, left), strict=True):
        one.score += JUDGED.similar * cosine
    left = [one for one in left if one.score + most_likely >= JUDGED.least]
    for one, ratio in zip(left, _likelihoods(redrafter, left), strict=True):
        one.score += JUDGED.likely * min(max(ratio, JUDGED.likely_from), JUDGED.likely_to)
    left = [one for one in left if one.score >= JUDGED.least]
    if check is not None:
        found = check.check((one.source, _with(one.source, one.span, one.target)) for one in left)
        left = [one for one, meaning in zip(left, found, strict=True) if not meaning.alarm]
    safe = {id(one) for one in left}
    done = []
    for row, plan in enumerate(plans):
        edits = []
        for place, edit in enumerate(plan.edits):
            if (row, place) in candidates:
                scores = [one.score if id(one) in safe else -math.inf for one in candidates[row, place]]
                edit = _best(edit, scores, keep, gap, JUDGED.least) or _kept(edit)
            elif edit.kind == "substitute" and edit.probability is not None:
                edit = _allowed(planner, edit)
            edits.append(edit)
        done.append(replace(plan, edits=tuple(edits)))
    return done


def _is_guess(planner: Planner, edit: Edit) -> bool:
    """Predicted from counts: neither asked for by a person, nor a common name, nor known to be safe everywhere."""
    if edit.kind != "substitute" or edit.probability is None:
        return False
    if all(planner.reviewed.is_safe(edit.phrase, target) for target in edit.targets):
        return False
    name = planner.common.entry(edit.phrase)
    return name is None or name.note != edit.note


def _fits(redrafter: Redrafter, planner: Planner, plan: EditPlan, edit: Edit) -> bool:
    """Whether both models can read the sentence with any of the targets."""
    longest = max((_with(plan.source, edit.span or (0, 0), target) for target in edit.targets), key=len)
    room = position_limit(redrafter.model)
    words = [word.text for word in split_words(longest)]
    (size,) = input_sizes(redrafter, [(plan.source, longest)])
    return (room is None or size <= room) and len(planner.classifier.reader.cut(words)) == len(words)


def _allowed(planner: Planner, edit: Edit) -> Edit:
    targets = tuple(
        target for target in edit.targets
        if planner.reviewed.is_safe(edit.phrase, target) or planner.guard.refused(edit.phrase, target) is None
    )  # fmt: skip
    return replace(edit, targets=targets) if targets else _kept(edit)


def _kept(edit: Edit) -> Edit:
    """The word stays; as likely as a person is not to write one of the targets."""
    chance = None if edit.probability is None else round(1 - edit.probability, 3)
    return Edit.insert(edit.phrase, weight=edit.weight, span=edit.span, probability=chance, note=NO_REPLACEMENT)


def _known(planner: Planner, phrase: str, target: str) -> float:
    """The score by what the tables say of the two, whatever the sentence."""
    tables, senses = planner.classifier.tables, planner.guard.senses(phrase)
    entry = tables.lexicon.entry(phrase)
    share = dict(entry.targets).get(key_of(target), 0.0) if entry else 0.0
    zipf = tables.word_frequency.zipf(target)
    return (
        JUDGED.constant
        + JUDGED.share * math.log(share + _SHARE)
        + JUDGED.related * planner.guard.have_close_senses(phrase, target)
        + JUDGED.zipf * (max(zipf, _RAREST) if zipf else _UNKNOWN_ZIPF)
        + JUDGED.senses * (math.log1p(len(senses)) if senses else _UNKNOWN_SENSES)
        + JUDGED.ending * (_ending(phrase) == _ending(target))
        + JUDGED.possible * planner.reviewed.is_possible(phrase, target)
    )


def _ending(phrase: str) -> str:
    first = phrase.lower().split()[0]
    return next((ending for ending in _ENDINGS if first.endswith(ending)), "")


@torch.inference_mode()
def _similarities(planner: Planner, candidates: Sequence[_Candidate]) -> list[float]:
    """Cosine of the word's vector and of the target's in its place, each the mean of its words'."""
    classifier = planner.classifier
    texts = [(one.source, one.span) for one in candidates]
    texts += [(_with(one.source, one.span, one.target), _ends(one)) for one in candidates]
    unique = list(dict.fromkeys(texts))
    split = [split_words(text) for text, _ in unique]
    vectors: dict[tuple[str, tuple[int, int]], torch.Tensor] = {}
    order = sorted(range(len(unique)), key=lambda at: len(split[at]))
    size = BATCH if classifier.device.type == "cpu" else BATCH_GPU
    for start in range(0, len(order), size):
        yield_point()
        group = order[start : start + size]
        batch = classifier.reader.batch([([word.text for word in split[at]], ()) for at in group]).to(classifier.device)
        read = classifier.encoder(input_ids=batch.tokens, attention_mask=batch.mask, output_hidden_states=True)
        states = read.hidden_states[min(_LAYER, len(read.hidden_states) - 1)]
        words = (batch.source_words.to(states.dtype) @ states).float()
        for row, at in enumerate(group):
            first, last = unique[at][1]
            inside = [place for place, word in enumerate(split[at]) if word.start < last and first < word.end]
            vectors[unique[at]] = words[row, inside].mean(0)
    count = len(candidates)
    return [
        float(torch.nn.functional.cosine_similarity(vectors[one], vectors[other], dim=0))
        for one, other in zip(texts[:count], texts[count:], strict=True)
    ]


def _ends(one: _Candidate) -> tuple[int, int]:
    return one.span[0], one.span[0] + len(one.target)


def _likelihoods(redrafter: Redrafter, candidates: Sequence[_Candidate]) -> list[float]:
    """log p(source with the target | source) − log p(source | source)."""
    sources = list(dict.fromkeys(one.source for one in candidates))
    pairs = [(one.source, _with(one.source, one.span, one.target)) for one in candidates]
    scores = log_probs(redrafter, [*pairs, *((source, source) for source in sources)])
    copied = dict(zip(sources, scores[len(pairs) :], strict=True))
    return [score - copied[one.source] for one, score in zip(candidates, scores[: len(pairs)], strict=True)]
