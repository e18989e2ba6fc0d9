"""Trains the meaning check on judged rewritings, trusted pairs, corrupted pairs and natural language inference."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from redraft.align.word_batches import PairBatch
from redraft.check.checker_network import CheckNetwork
from redraft.check.exact_checks import findings
from redraft.check.meaning_check import GRADED, MeaningCheck, Weights, trained_facts
from redraft.check.trained_checker import CheckReader, TrainedCheck, new_network
from redraft.check.word_facts import Floats, WordFacts
from redraft.errors import ConfigError
from redraft.files import digest
from redraft.fit.calibration import auc, calibration_error, fit_logistic
from redraft.fit.checker.checker_examples import (
    CheckExample,
    ExampleMaker,
    SafeEdits,
    corrupted,
    faithfulness,
    words_of,
)
from redraft.fit.checker.corruptions import Corruptor
from redraft.fit.checker.omissions import LOSSES
from redraft.fit.checkpoints import CheckpointFile
from redraft.fit.tagged_pairs import TaggedPair, comparison_key
from redraft.fit.training_loop import (
    Figures,
    LoopSettings,
    TrainingLoop,
    linear_schedule,
    weight_decay_groups,
)
from redraft.fit.worker_pool import available_cores, data_processes, parallel_map
from redraft.plan.planner import Planner
from redraft.progress_bar import Say

_SAVE_EVERY = 250  # steps between checkpoints
_BATCHES_AT_ONCE = 16  # batches sampled together, so that each can have examples of similar length
_MIN_EXAMPLES = 100  # of each kind
_CHUNK = 500  # pairs that a process classifies at once
_MIN_COUNT = 20  # held-out examples that have a feature, for the feature to get a weight
_FALSE_ALARMS = 0.1  # share of the correct held-out examples above the alarm level
_STRICT = 0.05  # the same in the table of corruption kinds
_MIN_RULE_WEIGHT, _MAX_RULE_WEIGHT = 1.0, 4.0
_HELD_OUT = 10  # one source in 10 is held out
_WRONG = 0.5  # a judged rewriting with a higher risk counts as wrong
_RIGHT = 0.2  # a judged rewriting with a lower risk counts as correct
_OTHER_SENTENCES = 20_000  # from which names, clauses and words are taken
_CAPTIONS = "SNLI"
# Share of the trusted pairs that is dropped: a reader found 10 % of 200 wrong, and 6 % after dropping the worst 0.3.
_SUSPECTED = 0.4

ExampleWithFeatures = tuple[CheckExample, tuple[Floats, Floats]]  # with the table features of its words
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class CheckerTraining:
    """Everything that the trained weights depend on, apart from the data and the machine."""

    steps: int = 6000
    batch: int = 32  # examples
    learning_rate: float = 1e-4  # peak, of the encoder
    head_learning_rate: float = 1e-3  # peak
    warm_up: float = 0.05  # share of the steps
    weight_decay: float = 0.01
    inference: float = 0.15  # share of natural language inference among the examples
    judged: float = 0.5  # share of judged rewritings among the examples
    word_loss_weight: float = 0.5  # relative to the loss of the pair
    blamed_word_weight: float = 4.0  # of a word to blame, relative to one that is not
    ema_decay: float = 0.998  # of the moving average of the weights, which becomes the check
    captions: float = 0.4  # share of the captions of SNLI that is used
    max_tokens: int = 160  # longer examples are not used
    held_out: int = 2000  # examples for calibration
    seed: int = 0


def train_checker(
    pairs: Sequence[TaggedPair], inference: Sequence[CheckExample], judged: Sequence[CheckExample], out: str | Path,
    settings: CheckerTraining | None = None, *, planner: Planner, start: TrainedCheck | None = None,
    processes: int | None = None, say: Say = print,
) -> MeaningCheck:  # fmt: skip
    """Train a network that starts as the planner's encoder, calibrate it on held-out examples, and write it to `out`.

    `start`: an earlier check to start from instead; pairs that it suspects are not trusted.
    `processes`: how many make examples; the default is all cores beside a GPU and none on a CPU.
    """
    settings, out = settings or CheckerTraining(), Path(out)
    processes = data_processes(planner.classifier.device) if processes is None else processes
    trusted, shortened = _classify(pairs, settings, planner, say)
    if start:
        trusted = _unsuspected(trusted, start)
        say(f"{len(trusted):,} of them remain without those that the earlier check suspects most")
    correct = [row for row in judged if _is_right(row)]
    trusted += [TaggedPair("judged", False, " ".join(row.source), " ".join(row.output)) for row in correct]
    if min(len(inference), len(judged), len(trusted)) < _MIN_EXAMPLES:
        sizes = f"{len(inference)} inference pairs, {len(judged)} judged rewritings and {len(trusted)} trusted pairs"
        raise ConfigError(f"{sizes} are too few to train on.", "Give thousands of each.")
    out.mkdir(parents=True, exist_ok=True)
    pairs_used, pairs_held_out = _split(trusted, lambda pair: pair.source)
    judged_used, judged_held_out = _split(judged, lambda row: " ".join(row.source))
    corruptor = _corruptor(planner, [words_of(pair.source) for pair in pairs_used[:_OTHER_SENTENCES]])
    safe = SafeEdits(planner.reviewed, planner.common)
    maker = ExampleMaker(pairs_used, _split(shortened, lambda pair: pair.source)[0], corruptor, safe)
    sampler = ExampleSampler(maker, _without_most_captions(inference, settings), judged_used, settings)
    loop = _CheckerLoop(planner, start, sampler, settings, out, processes, say)
    loop.run()
    trained = TrainedCheck(loop.averaged, loop.reader, planner.classifier.encoder_digest)
    check = MeaningCheck(trained, Weights({}, 0.0, 1.0), planner)
    held_out, rng = ExampleMaker(pairs_held_out, [], corruptor, safe), random.Random(settings.seed - 1)
    only_made = replace(settings, inference=0.0, judged=0.0)
    made = ExampleSampler(held_out, [], [], only_made).sample(rng, settings.held_out)
    right = [*held_out.faithful(rng, settings.held_out), *(row for row in judged_held_out if _is_right(row))]
    check.weights = fit_weights(check, [*made, *judged_held_out], right, processes)
    figures = evaluate(check, held_out, judged_held_out, corruptor, settings.seed, processes)
    say("on held-out examples: " + json.dumps(figures))
    weights = {"weights": check.weights.facts, "bias": check.weights.bias, "level": check.weights.level}
    counts = {"pairs": len(pairs_used), "judged": len(judged_used), "inference": len(inference)}
    about = {"settings": asdict(settings), "examples": counts, "held": figures, "log": loop.progress.log}
    trained.save(out, {**weights, **about})
    loop.checkpoint.delete()
    return check


def _classify(
    pairs: Sequence[TaggedPair], settings: CheckerTraining, planner: Planner, say: Say
) -> tuple[list[TaggedPair], list[TaggedPair]]:
    """Pairs that are trusted to keep the meaning, and pairs that lose much of it."""
    facts = WordFacts.of_planner(planner)
    cased = [pair for pair in pairs if not pair.lower]
    random.Random(settings.seed).shuffle(cased)
    chunks = [cased[start : start + _CHUNK] for start in range(0, len(cased), _CHUNK)]
    found = parallel_map(lambda chunk: [faithfulness(pair, facts) for pair in chunk], chunks, available_cores())
    classes = [one for chunk in found for one in chunk]
    trusted = [pair for pair, one in zip(cased, classes, strict=True) if one == "trusted"]
    shortened = [pair for pair, one in zip(cased, classes, strict=True) if one == "shortened"]
    say(f"{len(trusted):,} of {len(pairs):,} pairs are trusted to keep the meaning; {len(shortened):,} lose much of it")
    return trusted, shortened


def _unsuspected(pairs: Sequence[TaggedPair], check: TrainedCheck) -> list[TaggedPair]:
    """The pairs without the share that a check considers most likely altered."""
    found = check.judge((words_of(pair.source), words_of(pair.target)) for pair in pairs)
    logits = np.array([one.altered if one else np.inf for one in found])
    return [pair for pair, fine in zip(pairs, logits <= np.quantile(logits, 1 - _SUSPECTED), strict=True) if fine]


def _is_right(row: CheckExample) -> bool:
    return row.altered is not None and row.altered <= _RIGHT


def _split(rows: Sequence[Kind], source: Callable[[Kind], str]) -> tuple[list[Kind], list[Kind]]:
    """Rows for training and held-out rows; all rows with the same source are on the same side."""
    sides: tuple[list[Kind], list[Kind]] = [], []
    for row in rows:
        sides[int(digest(comparison_key(source(row)).encode()), 16) % _HELD_OUT == 0].append(row)
    return sides


def _corruptor(planner: Planner, others: Sequence[Sequence[str]]) -> Corruptor:
    tables = planner.classifier.tables
    vocabulary = {word for words in others for word in words if word.islower()}
    return Corruptor(planner.guard, tables.word_frequency, tables.lexicon, planner.reviewed, vocabulary, others)


def _without_most_captions(inference: Sequence[CheckExample], settings: CheckerTraining) -> list[CheckExample]:
    """Drop most image captions, which are numerous and easy."""
    rng = random.Random(settings.seed)
    return [row for row in inference if row.kind != _CAPTIONS or rng.random() < settings.captions]


class ExampleSampler:
    """Samples examples of all kinds in the shares of the settings; of judged rewritings, each origin equally often."""

    def __init__(
        self, maker: ExampleMaker, inference: Sequence[CheckExample], judged: Sequence[CheckExample],
        settings: CheckerTraining,
    ) -> None:  # fmt: skip
        self._maker, self._inference, self._settings = maker, inference, settings
        origins: dict[str, list[CheckExample]] = defaultdict(list)
        for row in judged:
            origins[row.kind].append(row)
        self._judged = list(origins.values())

    def sample(self, rng: random.Random, count: int) -> list[CheckExample]:
        """At least `count` examples."""
        rows: list[CheckExample] = []
        while len(rows) < count:
            uniform = rng.random()
            if uniform < self._settings.inference:
                rows.append(rng.choice(self._inference))
            elif uniform < self._settings.inference + self._settings.judged:
                rows.append(rng.choice(rng.choice(self._judged)))
            else:
                rows += self._maker.make(rng)
        return rows


def fit_weights(
    check: MeaningCheck, rows: Sequence[CheckExample], right: Sequence[CheckExample], processes: int = 0
) -> Weights:
    """Fit the feature weights, so that the risk is a probability, and the alarm level: 10 % of `right` are above."""
    found = features_of(check, rows, processes)
    counts = Counter(name for features in found for name in features)
    names = [name for name, count in counts.items() if count >= _MIN_COUNT]
    table = np.array([[features.get(name, 0.0) for name in names] for features in found])
    altered = np.array([float(row.altered or 0) for row in rows])
    bounded = np.array([_bounded(*one) for one in zip(names, fit_logistic(table, altered), strict=False)])
    scale, bias = fit_logistic((table @ bounded)[:, None], altered)  # the bounds have changed the scale
    weights = dict(zip(names, (scale * bounded).tolist(), strict=True))
    risks = [Weights(weights, bias, 1.0).risk(features) for features in features_of(check, right, processes)]
    return Weights(weights, bias, round(float(np.quantile(risks, 1 - _FALSE_ALARMS)), 4))


def _bounded(name: str, value: float) -> float:
    """Bounds for the weight of a rule, since some rules match so rarely that any weight would fit."""
    return max(0.0, value) if name in GRADED else min(max(_MIN_RULE_WEIGHT, value), _MAX_RULE_WEIGHT)


def features_of(check: MeaningCheck, rows: Sequence[CheckExample], processes: int) -> list[dict[str, float]]:
    """The features of each example, from which its risk is computed."""
    texts = [(" ".join(row.source), " ".join(row.output)) for row in rows]
    plain = parallel_map(lambda pair: check.plain_facts(*pair, findings(*pair)), texts, processes)
    judged = check.trained.judge((row.source, row.output) for row in rows)
    return [{**known, **trained_facts(one)} for known, one in zip(plain, judged, strict=True)]


def evaluate(
    check: MeaningCheck,
    held_out: ExampleMaker,
    judged: Sequence[CheckExample],
    corruptor: Corruptor,
    seed: int,
    processes: int = 0,
    count: int = 200,
) -> dict[str, Any]:
    """Evaluate a check on held-out pairs and held-out judged rewritings.

    On pairs: the share of each kind of corruption with an alarm, and with a higher risk than 95 % of the correct pairs;
    the calibration error. On judged rewritings, for each origin: AUC of the risk, and alarms among the wrong and the
    correct ones.
    """
    rng = random.Random(seed + 7)
    right = held_out.faithful(rng, 4 * count)

    def of(rows: Sequence[CheckExample]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The risk of each, and whether it has an alarm."""
        features = features_of(check, rows, processes)
        return np.array([*map(check.weights.risk, features)]), np.array([*map(check.weights.is_alarm, features)], bool)

    risks, false_alarms = of(right[: 2 * count])
    strict = float(np.quantile(risks, 1 - _STRICT))
    found: dict[str, float] = {}
    alarmed: dict[str, float] = {}
    everything, wrong = [risks], [np.zeros(len(risks))]
    for kind in (*corruptor.kinds, *LOSSES):
        rows = [one for row in right if (one := corrupted(corruptor, row.source, row.output, rng, kind))][:count]
        made, alarms = of(rows)
        found[kind], alarmed[kind] = _percent(made >= strict), _percent(alarms)
        everything.append(made)
        wrong.append(np.ones(len(made)))
    error = calibration_error(np.concatenate(everything), np.concatenate(wrong) > 0)
    return {
        "level": check.weights.level,
        "found_percent": alarmed,
        "false_alarms_percent": _percent(false_alarms),
        "found_percent_at_5_percent_false_alarms": found,
        "calibration_error": round(error, 4),
        "judged": _evaluate_judged(judged, *of(judged)),
    }


def _evaluate_judged(
    rows: Sequence[CheckExample], risks: NDArray[np.float64], alarms: NDArray[np.bool_]
) -> dict[str, dict[str, float]]:
    wrong = np.array([(row.altered or 0) > _WRONG for row in rows])
    kinds = np.array([row.kind for row in rows])
    figures = {}
    for kind in ("all", *sorted(set(kinds))):
        some = np.ones(len(rows), bool) if kind == "all" else kinds == kind
        bad, fine = some & wrong, some & ~wrong
        if bad.any() and fine.any():
            figures[kind] = {
                "auc": round(auc(risks[some], wrong[some]), 4),
                "found_percent": _percent(alarms[bad]),
                "false_alarms_percent": _percent(alarms[fine]),
            }
    return figures


def _percent(found: NDArray[np.bool_]) -> float:
    return round(100 * float(np.mean(found)), 1) if len(found) else 0.0


class _CheckerLoop(TrainingLoop):
    """Cross-entropy of the two labels of a pair, and of whether each word is to blame."""

    averaged: CheckNetwork

    def __init__(
        self, planner: Planner, start: TrainedCheck | None, sampler: ExampleSampler, settings: CheckerTraining,
        out: Path, processes: int, say: Say,
    ) -> None:  # fmt: skip
        self.sampler, self.settings, self.processes = sampler, settings, processes
        self.reader = CheckReader(planner.classifier.reader, WordFacts.of_planner(planner))
        torch.manual_seed(settings.seed)
        network = deepcopy(start.network).float() if start else new_network(planner.classifier.encoder)
        network = network.to(planner.classifier.device)
        network.encoder.embeddings.requires_grad_(False)
        for layer in network.encoder.encoder.layer:
            layer.attention.self.dropout.p = 0.0  # it takes a fifth of a step on a CPU
        head = [weight for name, weight in network.named_parameters() if not name.startswith("encoder")]
        groups = [
            *({**group, "lr": settings.learning_rate}
              for group in weight_decay_groups(network.encoder, settings.weight_decay)),
            {"params": head, "lr": settings.head_learning_rate},
        ]  # fmt: skip
        loop = LoopSettings(
            steps=settings.steps, learning_rate=linear_schedule(settings.steps, settings.warm_up),
            report_every=_SAVE_EVERY, save_every=_SAVE_EVERY, ema_decay=settings.ema_decay,
        )  # fmt: skip
        run = {"settings": {name: value for name, value in asdict(settings).items() if name != "steps"}}
        super().__init__(
            network, torch.optim.AdamW(groups, weight_decay=settings.weight_decay), loop,
            CheckpointFile(out / "checkpoint.pt", run), say, averaged=deepcopy(network).eval(),
        )  # fmt: skip

    def on_start(self) -> None:
        self._batches = self._batches_from(self.progress.step)

    def compute_loss(self, step: int) -> tuple[Tensor, Figures]:
        self.network.train()
        examples = next(self._batches)
        device, rows = self.device, [row for row, _ in examples]
        batch, features = self.reader.batch(
            [(row.source, row.output) for row in rows], [found for _, found in examples]
        )  # fmt: skip
        batch, features = batch.to(device), features.to(device)
        labels = torch.tensor([[_or_nan(row.altered), _or_nan(row.unsupported)] for row in rows], device=device)
        with torch.autocast(device.type, torch.bfloat16):
            words, pair = self.network(batch, features)
        known, pair = ~labels.isnan(), pair.float()
        pair_loss = nn.functional.binary_cross_entropy_with_logits(pair[known], labels[known])
        word_loss = _word_loss(words.float(), rows, batch, self.settings.blamed_word_weight)
        loss = pair_loss + self.settings.word_loss_weight * word_loss
        right = ((pair > 0) == (labels > 0.5))[known].float().mean()
        return loss, {"loss": pair_loss.detach(), "words": word_loss.detach(), "right": right}

    def _batches_from(self, step: int) -> Iterator[list[ExampleWithFeatures]]:
        """The batches of the remaining steps, made by other processes if there are any."""
        first, last = step // _BATCHES_AT_ONCE, (self.settings.steps - 1) // _BATCHES_AT_ONCE
        made = parallel_map(self._make_batches, range(first, last + 1), self.processes)
        return islice((batch for batches in made for batch in batches), step - first * _BATCHES_AT_ONCE, None)

    def _make_batches(self, number: int) -> list[list[ExampleWithFeatures]]:
        """Batches of examples of similar length, in random order; the same in every run."""
        settings, rng = self.settings, random.Random(f"{self.settings.seed} {number}")
        rows = self.sampler.sample(rng, settings.batch * _BATCHES_AT_ONCE)
        sizes = self.reader.pairs.lengths([(row.source, row.output) for row in rows])
        order = sorted(range(len(rows)), key=lambda at: sizes[at])
        order = [at for at in order if sizes[at] <= settings.max_tokens]
        parts = [[rows[at] for at in part] for part in np.array_split(np.array(order), _BATCHES_AT_ONCE)]
        rng.shuffle(parts)
        return [[(row, self.reader.facts.of(row.source, row.output)) for row in part] for part in parts]


def _or_nan(probability: float | None) -> float:
    return float("nan") if probability is None else probability


def _word_loss(logits: Tensor, rows: Sequence[CheckExample], batch: PairBatch, weight: float) -> Tensor:
    """Binary cross-entropy over the words of which it is known whether they are to blame."""
    labels, known = torch.zeros_like(logits), torch.zeros_like(logits)
    for at, row in enumerate(rows):
        sides = ((0, row.source, row.lost), (batch.width, row.output, row.wrong))
        for start, words, blamed in sides:
            if blamed is not None:
                known[at, start : start + len(words)] = 1
                labels[at, [start + place for place in blamed]] = 1
    known = known * (1 + (weight - 1) * labels)
    losses = nn.functional.binary_cross_entropy_with_logits(logits.clamp(min=-30), labels, reduction="none")
    total: Tensor = (losses * known).sum() / known.sum().clamp(min=1)
    return total
