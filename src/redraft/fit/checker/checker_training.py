"""Trains the meaning check on judged rewritings, trusted pairs, the same made wrong, and labelled inference."""

from __future__ import annotations

import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from redraft.check.exact_checks import findings
from redraft.check.meaning_check import GRADED, MeaningCheck, Weights, trained_facts
from redraft.check.trained_checker import CheckReader, TrainedCheck, new_network
from redraft.check.word_facts import Floats, WordFacts
from redraft.errors import ConfigError
from redraft.files import digest
from redraft.fit.calibration import auc, calibration_error, fit_logistic
from redraft.fit.checker.checker_examples import CheckExample, Examples, SafeEdits, corrupted, sort_of, words_of
from redraft.fit.checker.corruptions import Corruptor
from redraft.fit.checker.omissions import LOSSES
from redraft.fit.checkpoints import open_checkpoint, restore_rng_state, rng_state, save_checkpoint
from redraft.fit.schedules import decay_groups, ema_decay, learning_rate_factor
from redraft.fit.tagged_pairs import TaggedPair, normal
from redraft.fit.worker_pool import cores, processes_beside, split_work
from redraft.plan.planner import Planner
from redraft.progress_bar import Say

_EVERY = 250  # steps between two checkpoints
_ROUND = 16  # batches drawn at once, of which each has examples of like length
_LEAST = 100  # examples of each origin
_PART = 500  # pairs that a process sorts at once
_SEEN = 20  # held-out examples with a fact, from which it gets a weight of its own
_FALSE_ALARMS = 0.1  # share of the right held-out examples that lie above the level of an alarm
_STRICT = 0.05  # the same, where kinds of corruptions are counted
_RULE, _MOST = 1.0, 4.0  # what a finding of a rule counts, at least and at most
_HELD = 10  # one source in so many is held out
_WRONG = 0.5  # the risk above which a judged rewriting counts as wrong
_RIGHT = 0.2  # the risk up to which a judged rewriting is taken as right
_OTHERS = 20_000  # sentences from which names, clauses and words are taken
_CAPTIONS = "SNLI"
# Share of the trusted pairs that goes: a reader found 10 % of 200 wrong, and 6 % of those left without the worst 0.3.
_SUSPECTED = 0.4

Row = tuple[CheckExample, tuple[Floats, Floats]]  # with what tables know of its words
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class CheckerTraining:
    """Everything the outcome depends on but the data and the machine."""

    steps: int = 6000
    batch: int = 32
    rate: float = 1e-4
    head_rate: float = 1e-3
    warm_up: float = 0.05
    weight_decay: float = 0.01
    inference: float = 0.15  # share of the examples that are labelled inference
    judged: float = 0.5  # share of the examples that are judged rewritings
    word_weight: float = 0.5  # of the words' loss beside the pair's
    wrong_words: float = 4.0  # of a word to blame beside one that is not
    average: float = 0.998
    captions: float = 0.4  # share of the captions of SNLI that are read
    longest: int = 160  # tokens
    held: int = 2000  # examples that calibrate
    seed: int = 0


def train_checker(
    pairs: Sequence[TaggedPair], inference: Sequence[CheckExample], judged: Sequence[CheckExample], out: str | Path,
    settings: CheckerTraining | None = None, *, planner: Planner, start: TrainedCheck | None = None,
    processes: int | None = None, say: Say = print,
) -> MeaningCheck:  # fmt: skip
    """Train above the embeddings of a planner's encoder, weigh on held-out examples, and write the check to `out`.

    With `start`, a check trained before: its weights go on learning, and pairs that it suspects are not trusted.
    Examples are made by so many processes beside the network.
    """
    settings, out = settings or CheckerTraining(), Path(out)
    processes = processes_beside(planner.classifier.device) if processes is None else processes
    trusted, shortened = _sorted(pairs, settings, planner, say)
    if start:
        trusted = _unsuspected(trusted, start)
        say(f"{len(trusted):,} of them are left without those that the earlier check suspects most")
    fine = [row for row in judged if _is_right(row)]
    trusted += [TaggedPair("judged", False, " ".join(row.source), " ".join(row.output)) for row in fine]
    if min(len(inference), len(judged), len(trusted)) < _LEAST:
        sizes = f"{len(inference)} labelled pairs, {len(judged)} judged ones and {len(trusted)} trusted ones"
        raise ConfigError(f"{sizes} are too few to learn from.", "Give thousands of each.")
    out.mkdir(parents=True, exist_ok=True)
    learned, rest = _split(trusted, lambda pair: pair.source)
    read, held = _split(judged, lambda row: " ".join(row.source))
    corruptor = _corruptor(planner, [words_of(pair.source) for pair in learned[:_OTHERS]])
    safe = SafeEdits(planner.reviewed, planner.common)
    examples = Examples(learned, _split(shortened, lambda pair: pair.source)[0], corruptor, safe)
    drawn = Drawn(examples, _thinned(inference, settings), read, settings)
    run = _Training(planner, start, drawn, settings, out, processes, say)
    log = run.go()
    trained = TrainedCheck(run.averaged, run.reader, planner.classifier.above)
    check = MeaningCheck(trained, Weights({}, 0.0, 1.0), planner)
    others, rng = Examples(rest, [], corruptor, safe), random.Random(settings.seed - 1)
    made = Drawn(others, [], [], replace(settings, inference=0.0, judged=0.0)).some(rng, settings.held)
    right = [*others.faithful(rng, settings.held), *(row for row in held if _is_right(row))]
    check.weights = fit_weights(check, [*made, *held], right, processes)
    figures = measure(check, others, held, corruptor, settings.seed, processes)
    say("held out: " + json.dumps(figures))
    weighed = {"weights": check.weights.facts, "bias": check.weights.bias, "level": check.weights.level}
    counts = {"pairs": len(learned), "judged": len(read), "inference": len(inference)}
    trained.save(out, {**weighed, "settings": asdict(settings), "examples": counts, "held": figures, "log": log})
    (out / "checkpoint.pt").unlink(missing_ok=True)
    return check


def _sorted(
    pairs: Sequence[TaggedPair], settings: CheckerTraining, planner: Planner, say: Say
) -> tuple[list[TaggedPair], list[TaggedPair]]:
    """Pairs trusted to say the same, and pairs that lose much."""
    facts = WordFacts.of_planner(planner)
    cased = [pair for pair in pairs if not pair.lower]
    random.Random(settings.seed).shuffle(cased)
    parts = [cased[start : start + _PART] for start in range(0, len(cased), _PART)]
    some = split_work(lambda part: [sort_of(pair, facts) for pair in part], parts, cores())
    sorts = [sort for part in some for sort in part]
    trusted = [pair for pair, sort in zip(cased, sorts, strict=True) if sort == "trusted"]
    shortened = [pair for pair, sort in zip(cased, sorts, strict=True) if sort == "shortened"]
    say(f"{len(trusted):,} of {len(pairs):,} pairs are trusted to say the same; {len(shortened):,} lose much")
    return trusted, shortened


def _unsuspected(pairs: Sequence[TaggedPair], check: TrainedCheck) -> list[TaggedPair]:
    """The pairs without the share that a check finds most likely altered."""
    found = check.judge((words_of(pair.source), words_of(pair.target)) for pair in pairs)
    logits = np.array([one.altered if one else np.inf for one in found])
    return [pair for pair, fine in zip(pairs, logits <= np.quantile(logits, 1 - _SUSPECTED), strict=True) if fine]


def _is_right(row: CheckExample) -> bool:
    return row.altered is not None and row.altered <= _RIGHT


def _split(rows: Sequence[Kind], source: Callable[[Kind], str]) -> tuple[list[Kind], list[Kind]]:
    """What is learned, and what is held out: all that has the same source is on one side."""
    sides: tuple[list[Kind], list[Kind]] = [], []
    for row in rows:
        sides[int(digest(normal(source(row)).encode()), 16) % _HELD == 0].append(row)
    return sides


def _corruptor(planner: Planner, others: Sequence[Sequence[str]]) -> Corruptor:
    tables = planner.classifier.tables
    vocabulary = {word for words in others for word in words if word.islower()}
    return Corruptor(planner.guard, tables.word_frequency, tables.lexicon, planner.reviewed, vocabulary, others)


def _thinned(inference: Sequence[CheckExample], settings: CheckerTraining) -> list[CheckExample]:
    """Without most captions of pictures, which are easy and many."""
    rng = random.Random(settings.seed)
    return [row for row in inference if row.kind != _CAPTIONS or rng.random() < settings.captions]


class Drawn:
    """Examples of all origins in the shares of the settings; of judged ones, each origin as often as another."""

    def __init__(
        self, examples: Examples, inference: Sequence[CheckExample], judged: Sequence[CheckExample],
        settings: CheckerTraining,
    ) -> None:  # fmt: skip
        self._examples, self._inference, self._settings = examples, inference, settings
        origins: dict[str, list[CheckExample]] = defaultdict(list)
        for row in judged:
            origins[row.kind].append(row)
        self._judged = list(origins.values())

    def some(self, rng: random.Random, most: int) -> list[CheckExample]:
        rows: list[CheckExample] = []
        while len(rows) < most:
            drawn = rng.random()
            if drawn < self._settings.inference:
                rows.append(rng.choice(self._inference))
            elif drawn < self._settings.inference + self._settings.judged:
                rows.append(rng.choice(rng.choice(self._judged)))
            else:
                rows += self._examples.draw(rng)
        return rows


def fit_weights(
    check: MeaningCheck, rows: Sequence[CheckExample], right: Sequence[CheckExample], processes: int = 0
) -> Weights:
    """The weights with which the risk is a probability, and the level above which 1 in 10 of the right ones lies."""
    found = facts_of(check, rows, processes)
    counts = Counter(name for facts in found for name in facts)
    names = [name for name, count in counts.items() if count >= _SEEN]
    table = np.array([[facts.get(name, 0.0) for name in names] for facts in found])
    altered = np.array([float(row.altered or 0) for row in rows])
    bounded = np.array([_bounded(*one) for one in zip(names, fit_logistic(table, altered), strict=False)])
    scale, bias = fit_logistic((table @ bounded)[:, None], altered)  # what the bounds have changed
    weights = dict(zip(names, (scale * bounded).tolist(), strict=True))
    risks = [Weights(weights, bias, 1.0).risk(facts) for facts in facts_of(check, right, processes)]
    return Weights(weights, bias, round(float(np.quantile(risks, 1 - _FALSE_ALARMS)), 4))


def _bounded(name: str, value: float) -> float:
    """A finding counts something, and none decides alone: some are so rare that any weight would fit."""
    return max(0.0, value) if name in GRADED else min(max(_RULE, value), _MOST)


def facts_of(check: MeaningCheck, rows: Sequence[CheckExample], processes: int) -> list[dict[str, float]]:
    """What the risk of each is made of."""
    texts = [(" ".join(row.source), " ".join(row.output)) for row in rows]
    plain = split_work(lambda pair: check.plain_facts(*pair, findings(*pair)), texts, processes)
    judged = check.trained.judge((row.source, row.output) for row in rows)
    return [{**known, **trained_facts(one)} for known, one in zip(plain, judged, strict=True)]


def measure(
    check: MeaningCheck,
    held: Examples,
    judged: Sequence[CheckExample],
    corruptor: Corruptor,
    seed: int,
    processes: int = 0,
    most: int = 200,
) -> dict[str, Any]:
    """Of held-out pairs: the share of each kind of corruption that has an alarm, or more risk than 95 % of the right
    ones; calibration.

    Of judged rewritings, for each origin: how well the risk orders them, and how many of the wrong and the right ones
    have an alarm.
    """
    rng = random.Random(seed + 7)
    right = held.faithful(rng, 4 * most)

    def of(rows: Sequence[CheckExample]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The risk of each, and whether it has an alarm."""
        some = facts_of(check, rows, processes)
        return np.array([*map(check.weights.risk, some)]), np.array([*map(check.weights.is_alarm, some)], bool)

    risks, false_alarms = of(right[: 2 * most])
    strict = float(np.quantile(risks, 1 - _STRICT))
    found: dict[str, float] = {}
    alarmed: dict[str, float] = {}
    everything, wrong = [risks], [np.zeros(len(risks))]
    for kind in (*corruptor.kinds, *LOSSES):
        rows = [one for row in right if (one := corrupted(corruptor, row.source, row.output, rng, kind))][:most]
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
        "judged": _of_judged(judged, *of(judged)),
    }


def _of_judged(
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


class _Training:
    """The steps of a training, from its last checkpoint on where there is one."""

    def __init__(
        self, planner: Planner, start: TrainedCheck | None, drawn: Drawn, settings: CheckerTraining, out: Path,
        processes: int, say: Say,
    ) -> None:  # fmt: skip
        self.drawn, self.settings, self.processes, self.say = drawn, settings, processes, say
        self.device = planner.classifier.device
        self.path = out / "checkpoint.pt"
        self.reader = CheckReader(planner.classifier.reader, WordFacts.of_planner(planner))
        torch.manual_seed(settings.seed)
        network = deepcopy(start.network).float() if start else new_network(planner.classifier.encoder)
        self.network = network.to(self.device)
        self.network.encoder.embeddings.requires_grad_(False)
        for layer in self.network.encoder.encoder.layer:
            layer.attention.self.dropout.p = 0.0  # it takes a fifth of a step on a CPU
        self.averaged = deepcopy(self.network).eval()
        body, head = decay_groups(self.network.encoder, settings.weight_decay), [
            {"params": [weight for name, weight in self.network.named_parameters() if not name.startswith("encoder")]}
        ]  # fmt: skip
        groups = [
            *({**group, "full": settings.rate} for group in body),
            *({**group, "full": settings.head_rate} for group in head),
        ]
        self.optimizer = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
        self.log: list[dict[str, float]] = []
        self.step = 0

    def go(self) -> list[dict[str, float]]:
        settings = self.settings
        self._resume()
        warm, began, first = max(1, int(settings.warm_up * settings.steps)), time.monotonic(), self.step
        sums: Mapping[str, float] = defaultdict(float)
        for batch in self._batches():
            share = learning_rate_factor("linear", self.step, settings.steps, warm)
            for group in self.optimizer.param_groups:
                group["lr"] = group["full"] * share
            sums = self._one(batch, sums)
            self.step += 1
            if self.step % _EVERY == 0 or self.step == settings.steps:
                sums = self._report(sums, (self.step - first) / (time.monotonic() - began))
        return self.log

    def _report(self, sums: Mapping[str, float], pace: float) -> Mapping[str, float]:
        row = {
            "step": float(self.step),
            **{name: round(value / sums["steps"], 4) for name, value in sums.items() if name != "steps"},
        }
        self.log.append(row)
        save_checkpoint(self.path, {"step": self.step, "log": self.log, "settings": asdict(self.settings),
                               "network": self.network.state_dict(), "averaged": self.averaged.state_dict(),
                               "optimizer": self.optimizer.state_dict(), **rng_state(self.device)})  # fmt: skip
        left = (self.settings.steps - self.step) / pace / 60
        self.say(f"step {self.step:,} of {self.settings.steps:,}  {row}  {pace:.2f} steps/s  {left:.0f} min left")
        return defaultdict(float)

    def _resume(self) -> None:
        if not self.path.exists():
            return
        with open_checkpoint(self.path):
            saved = torch.load(self.path, map_location=self.device, weights_only=True)
            if {**saved["settings"], "steps": 0} != {**asdict(self.settings), "steps": 0}:
                raise ConfigError(f"{self.path} is of a run with other settings.", "Name another folder, or delete it.")
            self.network.load_state_dict(saved["network"])
            self.averaged.load_state_dict(saved["averaged"])
            self.optimizer.load_state_dict(saved["optimizer"])
            self.step, self.log = saved["step"], saved["log"]
            restore_rng_state(saved, self.device)
        self.say(f"going on from step {self.step:,}")

    def _batches(self) -> Iterator[list[Row]]:
        """Those of the steps that are left."""
        first, last = self.step // _ROUND, (self.settings.steps - 1) // _ROUND
        rounds = split_work(self._round, range(first, last + 1), self.processes)
        batches = (batch for some in rounds for batch in some)
        return islice(batches, self.step - first * _ROUND, self.settings.steps - first * _ROUND)

    def _round(self, number: int) -> list[list[Row]]:
        """Batches of examples of like length, in random order; the same in every run."""
        settings, rng = self.settings, random.Random(f"{self.settings.seed} {number}")
        rows = self.drawn.some(rng, settings.batch * _ROUND)
        sizes = self.reader.pairs.lengths([(row.source, row.output) for row in rows])
        order = sorted(range(len(rows)), key=lambda at: sizes[at])
        order = [at for at in order if sizes[at] <= settings.longest]
        parts = [[rows[at] for at in part] for part in np.array_split(np.array(order), _ROUND)]
        rng.shuffle(parts)
        return [[(row, self.reader.facts.of(row.source, row.output)) for row in part] for part in parts]

    def _one(self, some: Sequence[Row], sums: Mapping[str, float]) -> Mapping[str, float]:
        self.network.train()
        device, rows = self.device, [row for row, _ in some]
        batch, known = self.reader.batch([(row.source, row.output) for row in rows], [facts for _, facts in some])
        batch, known = batch.to(device), known.to(device)
        wanted = torch.tensor([[_known(row.altered), _known(row.unsupported)] for row in rows], device=device)
        with torch.autocast(device.type, torch.bfloat16):
            words, pair = self.network(batch, known)
        told, pair = ~wanted.isnan(), pair.float()
        of_pairs = nn.functional.binary_cross_entropy_with_logits(pair[told], wanted[told])
        of_words = _word_loss(words.float(), rows, batch, self.settings.wrong_words)
        loss = of_pairs + self.settings.word_weight * of_words
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._average()
        right = ((pair > 0) == (wanted > 0.5))[told].float().mean()
        now = {"loss": float(of_pairs.detach()), "words": float(of_words.detach()), "right": float(right), "steps": 1.0}
        return defaultdict(float, {name: sums[name] + value for name, value in now.items()})

    @torch.no_grad()
    def _average(self) -> None:
        keep = ema_decay(self.settings.average, self.step)
        torch._foreach_lerp_([*self.averaged.parameters()], [*self.network.parameters()], 1 - keep)


def _known(chance: float | None) -> float:
    return float("nan") if chance is None else chance


def _word_loss(logits: Tensor, rows: Sequence[CheckExample], batch: PairBatch, weight: float) -> Tensor:
    """Of the words whose part in the alteration is known."""
    wanted, known = torch.zeros_like(logits), torch.zeros_like(logits)
    for at, row in enumerate(rows):
        sides = ((0, row.source, row.lost), (batch.width, row.output, row.wrong))
        for start, words, blamed in sides:
            if blamed is not None:
                known[at, start : start + len(words)] = 1
                wanted[at, [start + place for place in blamed]] = 1
    known = known * (1 + (weight - 1) * wanted)
    losses = nn.functional.binary_cross_entropy_with_logits(logits.clamp(min=-30), wanted, reduction="none")
    total: Tensor = (losses * known).sum() / known.sum().clamp(min=1)
    return total
