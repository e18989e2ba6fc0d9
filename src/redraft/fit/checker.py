"""Trains the meaning check on pairs that say the same, on the same pairs made wrong, and on labelled inference."""

from __future__ import annotations

import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from redraft.align.batches import PairBatch
from redraft.check.exact import findings
from redraft.check.meaning_check import MeaningCheck, Weights
from redraft.check.trained import CheckReader, TrainedCheck, new_network
from redraft.check.word_facts import WordFacts
from redraft.constrain.planner import Planner
from redraft.errors import ConfigError
from redraft.files import digest
from redraft.fit.calibration import calibration_error, fit_logistic
from redraft.fit.checker_data import CheckExample, Examples, SafeEdits, corrupted, sort_of, words_of
from redraft.fit.checkpoints import chance, reading_checkpoint, restore_chance, save_whole
from redraft.fit.corruptions import Corruptor
from redraft.fit.losses import LOSSES
from redraft.fit.progress_bar import Say
from redraft.fit.schedules import average_share, decay_groups, rate_share
from redraft.fit.tagged_pairs import TaggedPair, normal

_EVERY = 100  # steps between two checkpoints
_ROUND = 16  # batches drawn at once, of which each has examples of like length
_LEAST = 100  # labelled pairs
_SEEN = 20  # held-out examples with a fact, from which it gets a weight of its own
_FALSE_ALARMS = 0.05
_RULE, _MOST = 1.0, 4.0  # what a finding of a rule counts, at least and at most
_FACTS = frozenset({"trained", "lost", "left out", "new", "added"})  # what is no finding of a rule
_HELD = 25  # one source in so many is held out
_OTHERS = 20_000  # sentences from which names, clauses and words are taken
_CAPTIONS = "SNLI"


@dataclass(frozen=True)
class CheckerTraining:
    """Everything the outcome depends on but the data and the machine."""

    steps: int = 6000
    batch: int = 32
    rate: float = 1e-4
    head_rate: float = 1e-3
    warm_up: float = 0.05
    weight_decay: float = 0.01
    inference: float = 0.45  # share of the examples that are labelled inference
    word_weight: float = 0.5  # of the words' loss beside the pair's
    wrong_words: float = 4.0  # of a word to blame beside one that is not
    average: float = 0.998
    captions: float = 0.4  # share of the captions of SNLI that are read
    longest: int = 160  # tokens
    held: int = 2000  # examples that calibrate
    seed: int = 0


def train_checker(
    pairs: Sequence[TaggedPair], inference: Sequence[CheckExample], out: str | Path,
    settings: CheckerTraining | None = None, *, planner: Planner, say: Say = print,
) -> MeaningCheck:  # fmt: skip
    """Train above the embeddings of a planner's encoder, weigh on held-out pairs, and write the check to `out`."""
    settings, out = settings or CheckerTraining(), Path(out)
    learned, held, shortened = _dealt(pairs, settings, planner, say)
    if len(inference) < _LEAST or len(learned) < _LEAST or len(held) < _LEAST // 10:
        sizes = f"{len(inference)} labelled pairs and {len(learned) + len(held)} trusted ones"
        raise ConfigError(f"{sizes} are too few to learn from.", "Give thousands of each.")
    out.mkdir(parents=True, exist_ok=True)
    corruptor = _corruptor(planner, [words_of(pair.source) for pair in learned[:_OTHERS]])
    safe = SafeEdits(planner.reviewed, planner.common)
    examples = Examples(learned, shortened, corruptor, safe)
    run = _Training(planner, examples, _thinned(inference, settings), settings, out, say)
    log = run.go()
    trained = TrainedCheck(run.averaged, run.reader, planner.predictor.above)
    check = MeaningCheck(trained, Weights({}, 0.0, 1.0), planner)
    rest = Examples(held, [], corruptor, safe)
    rows = list(_drawn(rest, [], replace(settings, inference=0.0), random.Random(settings.seed - 1), settings.held))
    check.weights = fit_weights(check, rows, rest.faithful(random.Random(settings.seed), settings.held))
    figures = measure(check, rest, corruptor, settings.seed)
    say("held out: " + json.dumps(figures))
    weighed = {"weights": check.weights.facts, "bias": check.weights.bias, "level": check.weights.level}
    trained.save(out, {**weighed, "settings": asdict(settings), "pairs": len(learned), "held": figures, "log": log})
    (out / "checkpoint.pt").unlink(missing_ok=True)
    return check


def _dealt(
    pairs: Sequence[TaggedPair], settings: CheckerTraining, planner: Planner, say: Say
) -> tuple[list[TaggedPair], list[TaggedPair], list[TaggedPair]]:
    """Trusted pairs to learn from and to hold out, all rewritings of a source on one side; pairs that lose much."""
    facts = WordFacts.of_planner(planner)
    cased = [pair for pair in pairs if not pair.lower]
    random.Random(settings.seed).shuffle(cased)
    sorts = [sort_of(pair, facts) for pair in cased]
    trusted = [pair for pair, sort in zip(cased, sorts, strict=True) if sort == "trusted"]
    shortened = [pair for pair, sort in zip(cased, sorts, strict=True) if sort == "shortened"]
    say(f"{len(trusted):,} of {len(pairs):,} pairs are trusted to say the same; {len(shortened):,} lose much")

    def is_held(pair: TaggedPair) -> bool:
        return int(digest(normal(pair.source).encode()), 16) % _HELD == 0

    learned = [pair for pair in trusted if not is_held(pair)]
    return learned, [pair for pair in trusted if is_held(pair)], [pair for pair in shortened if not is_held(pair)]


def _corruptor(planner: Planner, others: Sequence[Sequence[str]]) -> Corruptor:
    tables = planner.predictor.tables
    vocabulary = {word for words in others for word in words if word.islower()}
    return Corruptor(planner.guard, tables.commonness, tables.lexicon, planner.reviewed, vocabulary, others)


def _thinned(inference: Sequence[CheckExample], settings: CheckerTraining) -> list[CheckExample]:
    """Without most captions of pictures, which are easy and many."""
    rng = random.Random(settings.seed)
    return [row for row in inference if row.kind != _CAPTIONS or rng.random() < settings.captions]


def _drawn(
    examples: Examples, inference: Sequence[CheckExample], settings: CheckerTraining, rng: random.Random, most: int
) -> Iterator[CheckExample]:
    count = 0
    while count < most:
        some = [rng.choice(inference)] if rng.random() < settings.inference else list(examples.draw(rng))
        yield from some
        count += len(some)


def fit_weights(check: MeaningCheck, rows: Sequence[CheckExample], right: Sequence[CheckExample]) -> Weights:
    """The weights with which the risk is a probability, and the level above which 1 in 20 of the right pairs lies."""
    found = [_facts_of(check, row) for row in rows]
    counts = Counter(name for facts in found for name in facts)
    names = [name for name, count in counts.items() if count >= _SEEN]
    table = np.array([[facts.get(name, 0.0) for name in names] for facts in found])
    *values, bias = fit_logistic(table, np.array([row.altered for row in rows]))
    weights = {name: _bounded(name, value) for name, value in zip(names, values, strict=True)}
    risks = [Weights(weights, bias, 1.0).risk(_facts_of(check, row)) for row in right]
    return Weights(weights, bias, round(float(np.quantile(risks, 1 - _FALSE_ALARMS)), 4))


def _bounded(name: str, value: float) -> float:
    """A finding counts something, and none decides alone: some are so rare that any weight would fit."""
    return max(0.0, value) if name in _FACTS else min(max(_RULE, value), _MOST)


def _facts_of(check: MeaningCheck, row: CheckExample) -> dict[str, float]:
    (judged,) = check.trained.judge([(row.source, row.output)])
    source, output = (" ".join(words) for words in (row.source, row.output))
    return check.facts(source, output, findings(source, output), judged)


def measure(check: MeaningCheck, held: Examples, corruptor: Corruptor, seed: int, most: int = 200) -> dict[str, Any]:
    """Share found of each kind of corruption at the level of alarm, on held-out pairs; false alarms; calibration."""
    rng = random.Random(seed + 7)
    right = held.faithful(rng, 4 * most)

    def risks_of(rows: Sequence[CheckExample]) -> list[float]:
        return [check.weights.risk(_facts_of(check, row)) for row in rows]

    level = check.weights.level
    risks = risks_of(right[: 2 * most])
    found: dict[str, float] = {}
    everything, wrong = [*risks], [False] * len(risks)
    for kind in (*corruptor.kinds, *LOSSES):
        rows = [one for row in right if (one := corrupted(corruptor, row.source, row.output, rng, kind))][:most]
        made = risks_of(rows)
        found[kind] = round(100 * float(np.mean(np.array(made) >= level)), 1) if made else 0.0
        everything += made
        wrong += [True] * len(made)
    alarms = round(100 * float(np.mean(np.array(risks) >= level)), 1)
    error = calibration_error(np.array(everything), np.array(wrong))
    return {
        "level": level,
        "found_percent": found,
        "false_alarms_percent": alarms,
        "calibration_error": round(error, 4),
    }


class _Training:
    """The steps of a training, from its last checkpoint on where there is one."""

    def __init__(
        self, planner: Planner, examples: Examples, inference: Sequence[CheckExample], settings: CheckerTraining,
        out: Path, say: Say,
    ) -> None:  # fmt: skip
        self.examples, self.inference, self.settings, self.say = examples, inference, settings, say
        self.device = planner.predictor.device
        self.path = out / "checkpoint.pt"
        self.reader = CheckReader(planner.predictor.reader, WordFacts.of_planner(planner))
        torch.manual_seed(settings.seed)
        self.network = new_network(planner.predictor.encoder).to(self.device)
        self.network.encoder.embeddings.requires_grad_(False)
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
        while self.step < settings.steps:
            for batch in self._round(self.step // _ROUND)[self.step % _ROUND :]:
                share = rate_share("linear", self.step, settings.steps, warm)
                for group in self.optimizer.param_groups:
                    group["lr"] = group["full"] * share
                sums = self._one(batch, sums)
                self.step += 1
                if self.step % _EVERY == 0 or self.step == settings.steps:
                    sums = self._report(sums, (self.step - first) / (time.monotonic() - began))
                if self.step == settings.steps:
                    break
        return self.log

    def _report(self, sums: Mapping[str, float], pace: float) -> Mapping[str, float]:
        row = {
            "step": float(self.step),
            **{name: round(value / sums["steps"], 4) for name, value in sums.items() if name != "steps"},
        }
        self.log.append(row)
        save_whole(self.path, {"step": self.step, "log": self.log, "settings": asdict(self.settings),
                               "network": self.network.state_dict(), "averaged": self.averaged.state_dict(),
                               "optimizer": self.optimizer.state_dict(), **chance(self.device)})  # fmt: skip
        left = (self.settings.steps - self.step) / pace / 60
        self.say(f"step {self.step:,} of {self.settings.steps:,}  {row}  {pace:.2f} steps/s  {left:.0f} min left")
        return defaultdict(float)

    def _resume(self) -> None:
        if not self.path.exists():
            return
        with reading_checkpoint(self.path):
            saved = torch.load(self.path, map_location=self.device, weights_only=True)
            if {**saved["settings"], "steps": 0} != {**asdict(self.settings), "steps": 0}:
                raise ConfigError(f"{self.path} is of a run with other settings.", "Name another folder, or delete it.")
            self.network.load_state_dict(saved["network"])
            self.averaged.load_state_dict(saved["averaged"])
            self.optimizer.load_state_dict(saved["optimizer"])
            self.step, self.log = saved["step"], saved["log"]
            restore_chance(saved, self.device)
        self.say(f"going on from step {self.step:,}")

    def _round(self, number: int) -> list[list[CheckExample]]:
        """Batches of examples of like length, in random order; the same in every run."""
        settings, rng = self.settings, random.Random(f"{self.settings.seed} {number}")
        rows = list(_drawn(self.examples, self.inference, settings, rng, settings.batch * _ROUND))
        sizes = self.reader.pairs.lengths([(row.source, row.output) for row in rows])
        order = sorted(range(len(rows)), key=lambda at: sizes[at])
        order = [at for at in order if sizes[at] <= settings.longest]
        parts = [[rows[at] for at in part] for part in np.array_split(np.array(order), _ROUND)]
        rng.shuffle(parts)
        return parts

    def _one(self, rows: Sequence[CheckExample], sums: Mapping[str, float]) -> Mapping[str, float]:
        self.network.train()
        device = self.device
        batch, known = self.reader.batch([(row.source, row.output) for row in rows])
        batch, known = batch.to(device), known.to(device)
        altered = torch.tensor([float(row.altered) for row in rows], device=device)
        with torch.autocast(device.type, torch.bfloat16):
            words, pair = self.network(batch, known)
        of_pairs = nn.functional.binary_cross_entropy_with_logits(pair.float(), altered)
        of_words = _word_loss(words.float(), rows, batch, self.settings.wrong_words)
        loss = of_pairs + self.settings.word_weight * of_words
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self._average()
        right = ((pair > 0) == (altered > 0.5)).float().mean()
        now = {"loss": float(of_pairs.detach()), "words": float(of_words.detach()), "right": float(right), "steps": 1.0}
        return defaultdict(float, {name: sums[name] + value for name, value in now.items()})

    @torch.no_grad()
    def _average(self) -> None:
        keep = average_share(self.settings.average, self.step)
        for mean, weight in zip(self.averaged.parameters(), self.network.parameters(), strict=True):
            mean.lerp_(weight, 1 - keep)


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
