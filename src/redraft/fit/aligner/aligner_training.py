"""Trains the word aligner: on gold alignments and, where plain pairs are given, on made-up ones and what teachers link.

With pairs, a few teachers are trained first, each from its own seed, on gold and on pairs made up from single
sentences. The mean of what they say of the plain pairs is then learned by the aligner that is kept, beside the gold.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from redraft.align.aligner_network import Aligner, HeadConfig
from redraft.align.encoders import chosen_device, load_encoder
from redraft.align.gold_alignments import GoldPair
from redraft.align.links import Links
from redraft.align.trained_aligner import TrainedAligner, links_above
from redraft.align.word_batches import PairReader
from redraft.errors import ConfigError
from redraft.evaluate.alignment_scores import score_different, score_links
from redraft.files import digest
from redraft.fit.aligner.gold_splits import GoldSets, check_files, read_sets, training_files
from redraft.fit.aligner.unlabelled_pairs import Labelled, PlainPairs, SoftPair
from redraft.fit.checkpoints import open_checkpoint, restore_rng_state, rng_state, save_checkpoint
from redraft.fit.schedules import ema_decay, learning_rate_factor
from redraft.progress_bar import Say
from redraft.reading import member, read_json
from redraft.trust import loading

_EVERY = 200  # steps between checkpoints


@dataclass(frozen=True)
class AlignerTraining:
    """Everything the outcome depends on but the data and the machine."""

    epochs: int = 10
    batch: int = 64
    encoder_rate: float = 2e-4
    head_rate: float = 1.5e-3
    warm_up: float = 0.06  # share of the steps
    weight_decay: float = 0.01
    other_share: float = 0.7  # of the epochs, the first ones, in which the other corpora are read too
    average: float = 0.995  # of the moving average of the weights, which is what is kept
    hidden_words: float = 0.05  # share of the words that the encoder does not get to see
    held: int = 200  # pairs of each training file that only choose the threshold
    teachers: int = 3  # where plain pairs are given
    made: int = 30_000  # made-up pairs, for a teacher and for the aligner alike
    plain: int = 60_000  # pairs that the teachers link, at most
    longest: int = 256  # tokens; longer pairs are not trained on
    seed: int = 0
    head: HeadConfig = field(default_factory=HeadConfig)


def train_aligner(
    encoder: str, folder: str | Path, out: str | Path, settings: AlignerTraining | None = None, *,
    leave_out: Sequence[str] = (), plain: PlainPairs | None = None, device: str | None = None, say: Say = print,
) -> Path:  # fmt: skip
    """Train on the gold alignments of a folder and write an aligner to `out`; a run that was killed goes on.

    `leave_out`: beginnings of the names of files that are not trained on.
    """
    settings, out = settings or AlignerTraining(), Path(out)
    identity = _identity_of(encoder, folder, settings, plain, leave_out)
    if _is_finished(out, identity):
        say(f"{out}: this training is finished, and nothing was done.")
        return out
    extra: list[Labelled] = []
    if plain is not None:
        teachers = [
            train_teacher(
                number, encoder, folder, out, settings, leave_out=leave_out, plain=plain, device=device, say=say
            )
            for number in range(settings.teachers)
        ]
        drawn = plain.drawn(settings.plain, settings.seed)
        extra = plain.made(settings.made, settings.seed) + linked_by(teachers, drawn, device=device, say=say)
    return _train(identity, folder, leave_out, out, settings, extra, device, say)


def train_teacher(
    number: int, encoder: str, folder: str | Path, out: str | Path, settings: AlignerTraining, *,
    leave_out: Sequence[str] = (), plain: PlainPairs, device: str | None = None, say: Say = print,
) -> Path:  # fmt: skip
    """One teacher, in a folder of `out`; the one that is there if it is finished."""
    place = Path(out) / f"teacher-{number}"
    own = replace(settings, seed=settings.seed + 1 + number)
    identity = _identity_of(encoder, folder, own, plain, leave_out)
    if _is_finished(place, identity):
        return place
    say(f"teacher {number + 1} of {settings.teachers}")
    return _train(identity, folder, leave_out, place, own, plain.made(own.made, own.seed), device, say)


def linked_by(
    teachers: Sequence[Path], pairs: Sequence[tuple[tuple[str, ...], tuple[str, ...]]], *, device: str | None, say: Say
) -> list[Labelled]:
    """Pairs with the mean of the teachers' probabilities."""
    means: list[Tensor] = [torch.zeros(len(source), len(target)) for source, target in pairs]
    for folder in teachers:
        say(f"{folder.name} links {len(pairs):,} pairs")
        for mean, table in zip(means, TrainedAligner.load(folder, device=device).probabilities(pairs), strict=True):
            mean += table / len(teachers)
    return [SoftPair(*pair, (mean * 255).round().byte()) for pair, mean in zip(pairs, means, strict=True)]


def _identity_of(
    encoder: str, folder: str | Path, settings: AlignerTraining, plain: PlainPairs | None, leave_out: Sequence[str]
) -> dict[str, Any]:
    """What makes a training this one and no other, as JSON gives it back."""
    check_files(folder, leave_out)
    gold = {name: digest((Path(folder) / name).read_bytes()) for name in training_files(leave_out)}
    facts = {"encoder": encoder, "settings": asdict(settings), "plain": plain and dict(plain.about), "gold": gold}
    return json.loads(json.dumps(facts))  # type: ignore[no-any-return]


def _is_finished(out: Path, identity: dict[str, Any]) -> bool:
    path = out / "training.json"
    if not path.exists():
        return False
    with loading("the report", path, ConfigError, "Choose another --out, or delete the folder."):
        _check_same(path, member(read_json(path), "run", dict), identity)
    return True


def _check_same(path: Path, there: dict[str, Any], here: dict[str, Any]) -> None:
    different = [name for name in here if there.get(name) != here[name]]
    if different:
        raise ConfigError(f"{path} belongs to a training with another {' and '.join(different)}.",
                          "Delete its folder, or choose another one with --out.")  # fmt: skip


def _train(
    identity: dict[str, Any], folder: str | Path, leave_out: Sequence[str], out: Path, settings: AlignerTraining,
    extra: list[Labelled], device: str | None, say: Say,
) -> Path:  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    sets = read_sets(folder, settings.held, leave_out)
    counts = f"{len(sets.main):,} pairs of MultiMWA, {len(sets.other):,} others ({sets.left_out} left out)"
    say(f"{counts}, {len(extra):,} without gold, {len(sets.held)} held")
    place = chosen_device(device)
    run = _Run(identity, sets, extra, settings, place, out, say)
    run.train()
    threshold, figures = run.choose_threshold()
    TrainedAligner(run.averaged, run.reader, threshold=threshold).save(out)
    stored = TrainedAligner.load(out, device=str(place))
    small = _figures(list(stored.align((pair.source, pair.target) for pair in sets.held)), sets.held)
    say(f"as stored, in 8 bits: {_shown(small)}")
    about = {
        "run": identity, "threshold": threshold, "held": figures, "held_eight_bit": small,
        "pairs": {"main": len(sets.main), "other": len(sets.other), "extra": len(extra), "held": len(sets.held)},
        "torch": torch.__version__, "device": run.device_name,
    }  # fmt: skip
    (out / "training.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    (out / "checkpoint.pt").unlink(missing_ok=True)
    return out


class _Run:
    """One training, from its last checkpoint on."""

    def __init__(
        self, identity: dict[str, Any], sets: GoldSets, extra: list[Labelled], settings: AlignerTraining,
        device: torch.device, out: Path, say: Say,
    ) -> None:  # fmt: skip
        torch.manual_seed(settings.seed)
        self.identity, self.sets, self.extra, self.settings = identity, sets, extra, settings
        self.device, self.out, self.say = device, out, say
        body, tokenizer = load_encoder(identity["encoder"])
        self.reader = PairReader(tokenizer)
        if getattr(body, "pooler", None) is not None:
            body.pooler = None  # what it makes is not used
        shape = HeadConfig(**{**asdict(settings.head), "hidden": body.config.hidden_size,
                              "layers": body.config.num_hidden_layers + 1})  # fmt: skip
        self.model = Aligner(body, shape).to(device)
        self.averaged = deepcopy(self.model).eval()
        self.device_name = torch.cuda.get_device_name() if device.type == "cuda" else "cpu"

    def train(self) -> None:
        settings = self.settings
        batches = [batch for epoch in range(settings.epochs) for batch in self._epoch(epoch)]
        groups = [
            {"params": self.model.encoder.parameters(), "lr": settings.encoder_rate},
            {"params": self.model.head.parameters(), "lr": settings.head_rate},
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
        warm = max(1, int(settings.warm_up * len(batches)))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: learning_rate_factor("linear", step, len(batches), warm)
        )
        done = self._resume(optimizer, schedule)
        began, loss_sum = time.perf_counter(), 0.0
        for step in range(done, len(batches)):
            loss = self._step(batches[step], optimizer)
            schedule.step()
            self._average(step)
            loss_sum += loss
            if (step + 1) % 50 == 0:
                pace = (step + 1 - done) / (time.perf_counter() - began)
                left = (len(batches) - step - 1) / pace / 60
                self.say(
                    f"step {step + 1}/{len(batches)}  loss {loss_sum / 50:.3f}  {pace:.1f} steps/s  {left:.0f} min left"
                )
                loss_sum = 0.0
            if (step + 1) % _EVERY == 0:
                self._checkpoint(step + 1, optimizer, schedule)

    def choose_threshold(self) -> tuple[float, dict[str, float]]:
        """The threshold that is best on the held pairs, and the figures there."""
        held = self.sets.held
        aligner = TrainedAligner(self.averaged, self.reader)
        tables = list(aligner.probabilities((pair.source, pair.target) for pair in held))
        levels = [percent / 100 for percent in range(20, 70, 5)]
        found = {level: _figures([links_above(table[None], level)[0] for table in tables], held) for level in levels}
        best = max(levels, key=lambda level: found[level]["f1"])
        self.say(f"threshold {best}: {_shown(found[best])}")
        return best, found[best]

    def _epoch(self, epoch: int) -> Iterator[list[Labelled]]:
        """Batches of pairs of like length, each pair turned round half of the time; the same in every run.

        Pairs without gold are read once, a part in each of the first epochs.
        """
        settings = self.settings
        rng = random.Random(settings.seed * 1000 + epoch)
        first = math.ceil(settings.other_share * settings.epochs)
        pairs: list[Labelled] = [*self.sets.main]
        if epoch < first:
            pairs += [*self.sets.other, *self.extra[epoch::first]]
        pairs = [pair.reversed() if rng.random() < 0.5 else pair for pair in pairs]
        sizes = self.reader.lengths([(pair.source, pair.target) for pair in pairs])
        near = [size + 10 * rng.random() for size in sizes]
        order = sorted((at for at in range(len(pairs)) if sizes[at] <= settings.longest), key=near.__getitem__)
        batches = [order[at : at + settings.batch] for at in range(0, len(order), settings.batch)]
        rng.shuffle(batches)
        for batch in batches:
            yield [pairs[at] for at in batch]

    def _step(self, pairs: Sequence[Labelled], optimizer: torch.optim.Optimizer) -> float:
        self.model.train()
        batch = self.reader.batch([(pair.source, pair.target) for pair in pairs])
        batch = self.reader.hide(batch, self.settings.hidden_words)
        labels = _labels(pairs, batch.width, batch.forms.shape[1] - batch.width).to(self.device)
        words = batch.lengths.sum()
        batch = batch.to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16):
            logits = self.model(batch)
        cells = nn.functional.binary_cross_entropy_with_logits(logits.float(), labels, reduction="none")
        loss = 2 * (cells * batch.cells[:, 0]).sum() / words
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    @torch.no_grad()
    def _average(self, step: int) -> None:
        keep = ema_decay(self.settings.average, step)
        for mean, weight in zip(self.averaged.parameters(), self.model.parameters(), strict=True):
            mean.lerp_(weight, 1 - keep)

    def _checkpoint(self, step: int, optimizer: torch.optim.Optimizer, schedule: Any) -> None:
        state = {"step": step, "run": json.dumps(self.identity), "model": self.model.state_dict(),
                 "averaged": self.averaged.state_dict(), "optimizer": optimizer.state_dict(),
                 "schedule": schedule.state_dict(), **rng_state(self.device)}  # fmt: skip
        save_checkpoint(self.out / "checkpoint.pt", state)

    def _resume(self, optimizer: torch.optim.Optimizer, schedule: Any) -> int:
        path = self.out / "checkpoint.pt"
        if not path.exists():
            return 0
        with open_checkpoint(path):
            saved = torch.load(path, map_location=self.device, weights_only=True)
            _check_same(path, json.loads(saved["run"]), self.identity)
            self.model.load_state_dict(saved["model"])
            self.averaged.load_state_dict(saved["averaged"])
            optimizer.load_state_dict(saved["optimizer"])
            schedule.load_state_dict(saved["schedule"])
            restore_rng_state(saved, self.device)
        self.say(f"going on from step {saved['step']}")
        return int(saved["step"])


def _labels(pairs: Sequence[Labelled], n: int, m: int) -> Tensor:
    """(batch, n, m): how likely each word pair is a link."""
    labels = torch.zeros(len(pairs), n, m)
    for table, pair in zip(labels, pairs, strict=True):
        if isinstance(pair, SoftPair):
            table[: len(pair.source), : len(pair.target)] = pair.table / 255
        elif pair.links:
            left, right = zip(*pair.links, strict=True)
            table[list(left), list(right)] = 1
    return labels


def _figures(links: Sequence[Links], gold: Sequence[GoldPair]) -> dict[str, float]:
    scores, different = score_links(links, gold), score_different(links, gold)
    figures = {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1, "different_f1": different.f1}
    return {name: round(value, 2) for name, value in figures.items()}


def _shown(figures: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.1f}" for name, value in figures.items())
