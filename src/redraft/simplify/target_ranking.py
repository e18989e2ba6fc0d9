"""Ranks the targets of substitutions in their sentence, and drops those that do not keep its meaning."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import torch

from redraft.align.bert_encoder import states_after_layer
from redraft.check.meaning_check import MeaningCheck
from redraft.cooperative_scheduling import yield_point
from redraft.decode.redrafter import Redrafter
from redraft.decode.step_model import StepModel
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.lexicon import lookup_key
from redraft.plan.planner import Planner
from redraft.simplify.likelihood import BATCH, BATCH_GPU, input_lengths, log_probs
from redraft.text.words import split_words

NO_REPLACEMENT = "no safe replacement here"  # the note of a word to keep because all its targets were dropped

_BATCH, _GPU_BATCH = 64, 2048  # plans ranked together
_LAYER = 3  # of the encoder: its vectors separate word senses best
_SMOOTHING = 0.003  # added to a target's share in the lexicon before the logarithm
_ENDINGS = ("ing", "ed", "ly", "s")
_MIN_ZIPF, _UNKNOWN_ZIPF, _UNKNOWN_SENSES = 3.5, 5.0, 1.8  # lower Zipf frequencies count as the first


@dataclass(frozen=True)
class SenseWeights:
    """Weights of a logistic regression: log-odds that a target keeps the meaning of its word in its sentence.

    Fitted on 200 predicted substitutions (766 targets; Wikipedia and MultiNLI, medium strength), labelled by one
    reader: the right sense in a usable form, or not. AUC 0.81 by cross-validation, and 0.81 on BenchLS, NNSeval and
    lex.mturk, which are used for evaluation only. On 100 other substitutions, `least` keeps half of the good ones, and
    wrong senses fall from 29 to 10 % of first targets; with the contribution of `possible` (1.0), it keeps two thirds,
    and wrong senses fall to 14 %. `likely` depends on the rewriter: a new rewriter needs a new fit.
    """

    likely: float
    similar: float  # cosine of the word's vector and the target's in its place
    share: float  # log share in the lexicon
    related: float  # they share a synset or a direct hypernym
    zipf: float  # of the target: very common words are vague
    senses: float  # log(1 + senses of the word)
    ending: float  # both end in -ing, -ed, -ly, -s, or neither does
    possible: float  # a reader judged the target possible for its word; not fitted
    constant: float
    least: float  # threshold: targets below it are dropped
    likely_from: float = -20.0  # log-likelihood ratios are clipped to these
    likely_to: float = 3.0


JUDGED = SenseWeights(
    likely=0.119, similar=4.13, share=0.357, related=0.264, zipf=-0.65, senses=-0.579, ending=0.551, possible=0.4,
    constant=2.645, least=1.4,
)  # fmt: skip


def rank_targets(
    redrafter: Redrafter, plans: Iterable[EditPlan], *, keep: int = 3, gap: float = 1.0,
    planner: Planner | None = None, check: MeaningCheck | None = None, likelihood: bool = True,
) -> Iterator[EditPlan]:  # fmt: skip
    """Sort the targets of each substitution, best first: at most `keep`, none scored more than `gap` below the best.

    The score of a target is the log-probability of the source with the target in place of the phrase. With the
    `planner` that predicted the plans, predicted targets are scored by how well they keep the meaning (`SenseWeights`)
    and unsafe ones are dropped; a word without a safe target is kept, as an insertion. With a `check`, targets that
    change the meaning of the source are dropped too. Common names are exempt, except from the refusals of the guard.
    Without `likelihood`, predicted targets are scored by the other features alone, which needs no pass of the model.
    Edits without a span are left unchanged, and so are all edits if the model is not of transformers or the text is too
    long for it.
    """
    waiting = iter(plans)
    size = _GPU_BATCH if getattr(redrafter.model, "device", torch.device("cpu")).type == "cuda" else _BATCH
    while ahead := list(islice(waiting, size)):
        if isinstance(redrafter.model, StepModel):
            yield from ahead
        else:
            checked = ahead if planner is None else _checked(redrafter, planner, check, ahead, keep, gap, likelihood)
            yield from _ranked_by_likelihood(redrafter, checked, planner is not None, keep, gap)


def _ranked_by_likelihood(
    redrafter: Redrafter, plans: Sequence[EditPlan], checked: bool, keep: int, gap: float
) -> Iterator[EditPlan]:
    """Plans with targets ranked by likelihood alone; checked targets keep their order."""
    pairs = [
        (plan.source, _with(plan.source, edit.span, target))
        for plan in plans for edit in plan.edits if _is_open(edit, checked) and edit.span
        for target in edit.targets
    ]  # fmt: skip
    scores = iter(log_probs(redrafter, pairs))
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
    """The edit with its best targets, best first; None if none reaches `least`."""
    found = sorted(zip(scores, edit.targets, strict=True), key=lambda scored: -scored[0])
    best = [target for score, target in found if score >= max(least, found[0][0] - gap)]
    return replace(edit, targets=tuple(best[:keep])) if best else None


@dataclass
class _Candidate:
    """A target and its score so far."""

    source: str
    span: tuple[int, int]
    target: str
    score: float  # log-odds that it keeps the meaning, from the features computed so far


def _checked(
    redrafter: Redrafter, planner: Planner, check: MeaningCheck | None, plans: Sequence[EditPlan], keep: int,
    gap: float, likelihood: bool,
) -> list[EditPlan]:  # fmt: skip
    """Plans without unsafe predicted targets. A feature is computed only for targets that could still be safe."""
    candidates: dict[tuple[int, int], list[_Candidate]] = {}
    for row, plan in enumerate(plans):
        for place, edit in enumerate(plan.edits):
            yield_point()
            if edit.span and _is_uncertain(planner, edit) and _fits(redrafter, planner, plan, edit):
                scores = [_table_score(planner, edit.phrase, target) for target in edit.targets]
                candidates[row, place] = [
                    _Candidate(plan.source, edit.span, target, score)
                    for target, score in zip(edit.targets, scores, strict=True)
                ]
    everyone = [one for some in candidates.values() for one in some]
    most_likely = JUDGED.likely * JUDGED.likely_to
    left = [one for one in everyone if one.score + JUDGED.similar + most_likely >= JUDGED.least]
    for one, cosine in zip(left, _similarities(planner, left), strict=True):
        one.score += JUDGED.similar * cosine
    left = [one for one in left if one.score + most_likely >= JUDGED.least]
    ratios = _likelihoods(redrafter, left) if likelihood else [0.0] * len(left)
    for one, ratio in zip(left, ratios, strict=True):
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
                edit = _best(edit, scores, keep, gap, JUDGED.least) or _keep_word(edit)
            elif edit.kind == "substitute" and edit.probability is not None:
                edit = _without_refused_targets(planner, edit)
            edits.append(edit)
        done.append(replace(plan, edits=tuple(edits)))
    return done


def _is_uncertain(planner: Planner, edit: Edit) -> bool:
    """Whether a substitution was predicted from the lexicon: not requested, no common name, not known to be safe."""
    if edit.kind != "substitute" or edit.probability is None:
        return False
    if all(planner.reviewed.is_safe(edit.phrase, target) for target in edit.targets):
        return False
    name = planner.common.entry(edit.phrase)
    return name is None or name.note != edit.note


def _fits(redrafter: Redrafter, planner: Planner, plan: EditPlan, edit: Edit) -> bool:
    """Whether the sentence fits into both models with any of the targets."""
    longest = max((_with(plan.source, edit.span or (0, 0), target) for target in edit.targets), key=len)
    room = redrafter.room
    words = [word.text for word in split_words(longest)]
    (size,) = input_lengths(redrafter, [(plan.source, longest)])
    return (room is None or size <= room) and len(planner.classifier.reader.cut(words)) == len(words)


def _without_refused_targets(planner: Planner, edit: Edit) -> Edit:
    targets = tuple(
        target for target in edit.targets
        if planner.reviewed.is_safe(edit.phrase, target) or planner.guard.refusal_reason(edit.phrase, target) is None
    )  # fmt: skip
    return replace(edit, targets=targets) if targets else _keep_word(edit)


def _keep_word(edit: Edit) -> Edit:
    """An insertion that keeps the word; its probability is that of not writing any of the targets."""
    probability = None if edit.probability is None else round(1 - edit.probability, 3)
    return Edit.insert(edit.phrase, weight=edit.weight, span=edit.span, probability=probability, note=NO_REPLACEMENT)


def _table_score(planner: Planner, phrase: str, target: str) -> float:
    """The score from the features that depend on the two words only, not on the sentence."""
    tables, senses = planner.classifier.tables, planner.guard.synsets(phrase)
    entry = tables.lexicon.entry(phrase)
    share = dict(entry.targets).get(lookup_key(target), 0.0) if entry else 0.0
    zipf = tables.word_frequency.zipf(target)
    return (
        JUDGED.constant
        + JUDGED.share * math.log(share + _SMOOTHING)
        + JUDGED.related * planner.guard.have_close_senses(phrase, target)
        + JUDGED.zipf * (max(zipf, _MIN_ZIPF) if zipf else _UNKNOWN_ZIPF)
        + JUDGED.senses * (math.log1p(len(senses)) if senses else _UNKNOWN_SENSES)
        + JUDGED.ending * (_ending(phrase) == _ending(target))
        + JUDGED.possible * planner.reviewed.is_possible(phrase, target)
    )


def _ending(phrase: str) -> str:
    first = phrase.lower().split()[0]
    return next((ending for ending in _ENDINGS if first.endswith(ending)), "")


@torch.inference_mode()
def _similarities(planner: Planner, candidates: Sequence[_Candidate]) -> list[float]:
    """Cosine similarity of the vectors of the word and of the target in its place, each a mean over words."""
    classifier = planner.classifier
    texts = [(one.source, one.span) for one in candidates]
    texts += [(_with(one.source, one.span, one.target), _target_span(one)) for one in candidates]
    unique = list(dict.fromkeys(texts))
    split = [split_words(text) for text, _ in unique]
    vectors: dict[tuple[str, tuple[int, int]], torch.Tensor] = {}
    order = sorted(range(len(unique)), key=lambda at: len(split[at]))
    size = BATCH if classifier.device.type == "cpu" else BATCH_GPU
    for start in range(0, len(order), size):
        yield_point()
        group = order[start : start + size]
        batch = classifier.reader.batch([([word.text for word in split[at]], ()) for at in group]).to(classifier.device)
        states = states_after_layer(classifier.encoder, batch.tokens, batch.mask, _LAYER)
        words = (batch.source_words.to(states.dtype) @ states).float().cpu()
        for row, at in enumerate(group):
            first, last = unique[at][1]
            inside = [place for place, word in enumerate(split[at]) if word.start < last and first < word.end]
            vectors[unique[at]] = words[row, inside].mean(0)
    if not candidates:
        return []
    count = len(candidates)
    own, other = (torch.stack([vectors[text] for text in some]) for some in (texts[:count], texts[count:]))
    similarities: list[float] = torch.nn.functional.cosine_similarity(own, other).tolist()
    return similarities


def _target_span(one: _Candidate) -> tuple[int, int]:
    return one.span[0], one.span[0] + len(one.target)


def _likelihoods(redrafter: Redrafter, candidates: Sequence[_Candidate]) -> list[float]:
    """log p(source with the target | source) − log p(source | source)."""
    sources = list(dict.fromkeys(one.source for one in candidates))
    pairs = [(one.source, _with(one.source, one.span, one.target)) for one in candidates]
    scores = log_probs(redrafter, [*pairs, *((source, source) for source in sources)])
    copied = dict(zip(sources, scores[len(pairs) :], strict=True))
    return [score - copied[one.source] for one, score in zip(candidates, scores[: len(pairs)], strict=True)]
