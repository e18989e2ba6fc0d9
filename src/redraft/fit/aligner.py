"""Trains the word aligner: on gold alignments and, where plain pairs are given, on made-up ones and what teachers link.

With pairs, a few teachers are trained first, each from its own seed, on gold and on pairs made up from single
sentences. The mean of what they say of the plain pairs is then learned by the aligner that is kept, beside the gold.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from redraft.align.batches import PairReader
from redraft.align.encoders import chosen_device, load_encoder
from redraft.align.gold import GoldPair, read_gold
from redraft.align.links import Links
from redraft.align.network import Aligner, HeadConfig
from redraft.align.trained import TrainedAligner, links_above
from redraft.align.words import split_words
from redraft.errors import ConfigError, CorpusError
from redraft.evaluate.alignment import score_different, score_links
from redraft.files import digest
from redraft.fit.checkpoints import chance, restore_chance, save_whole
from redraft.fit.made_pairs import Synonyms, make_pairs, read_synonyms
from redraft.fit.schedules import rate_share
from redraft.fit.tagged_pairs import normal, read_tagged

Say = Callable[[str], object]
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


@dataclass(frozen=True)
class GoldSets:
    """Pairs to train on, to choose the threshold by, and those they were kept apart from."""

    main: list[GoldPair]
    other: list[GoldPair]
    held: list[GoldPair]
    left_out: int  # pairs of the other corpora that share a sentence with an evaluation set, or came twice


MAIN = ("wiki-train.tsv", "mtref-train.tsv")
OTHER = ("msr.edinburgh.train.json", "gold.train.sure+poss.json", "RTE2_dev_M.align.sure+poss.json")
EVALUATION = ("wiki-dev.tsv", "wiki-test.tsv", "mtref-dev.tsv")


def read_sets(folder: str | Path, settings: AlignerTraining) -> GoldSets:
    """The gold alignments of a folder. Of the other corpora no sentence of an evaluation set is kept."""
    folder = Path(folder)
    missing = [name for name in (*MAIN, *OTHER, *EVALUATION) if not (folder / name).is_file()]
    if missing:
        raise CorpusError(f"{folder} lacks {', '.join(missing)}.",
                          "Get MultiMWA, Edinburgh++ and MSR RTE: github.com/chaojiang06/neural-Jacana")  # fmt: skip
    rng = random.Random(0)  # whatever the seed: what is held is held from the teachers too
    main: list[GoldPair] = []
    held: list[GoldPair] = []
    for name in MAIN:
        pairs = read_gold(folder / name)
        rng.shuffle(pairs)
        held += pairs[: settings.held]
        main += pairs[settings.held :]
    apart = set(_evaluated(folder))
    seen: set[tuple[str, str]] = set()
    other, left_out = [], 0
    for pair in (pair for name in OTHER for pair in read_gold(folder / name)):
        key = _text(pair.source), _text(pair.target)
        if key in seen or not apart.isdisjoint(key):
            left_out += 1
            continue
        seen.add(key)
        other.append(pair)
    return GoldSets(main, other, held, left_out)


@dataclass(frozen=True)
class SoftPair:
    """Two sentences and how sure the teachers are of each link, from 0 to 255."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    table: Tensor  # (source words, target words)

    def reversed(self) -> SoftPair:
        return SoftPair(self.target, self.source, self.table.T)


Labelled = GoldPair | SoftPair


@dataclass(frozen=True)
class PlainPairs:
    """Pairs without links: what teachers link, and what made-up pairs are made of."""

    pairs: list[tuple[tuple[str, ...], tuple[str, ...]]]
    synonyms: Synonyms

    @classmethod
    def read(
        cls, path: str | Path, synonyms: str | Path | None, gold: str | Path, leave_out: Sequence[str] = ()
    ) -> PlainPairs:
        """Tagged pairs of a file but those that share a sentence with an evaluation file of the gold alignments."""
        apart = {normal(text) for text in _evaluated(Path(gold))}
        pairs = []
        for pair in read_tagged(path, leave_out):
            if normal(pair.source) not in apart and normal(pair.target) not in apart:
                source, target = (split_words(side.lower()) for side in (pair.source, pair.target))
                if min(len(source), len(target)) >= 3 and len(source) + len(target) <= 120:
                    pairs.append((tuple(word.text for word in source), tuple(word.text for word in target)))
        return cls(pairs, read_synonyms(synonyms) if synonyms else {})

    def made(self, settings: AlignerTraining) -> list[Labelled]:
        sides = [side for pair in self.pairs for side in pair if len(side) <= 50]
        rng = random.Random(settings.seed)
        return [*make_pairs(sides, self.synonyms, settings.made, rng)] if sides else []

    def drawn(self, settings: AlignerTraining) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        return random.Random(settings.seed).sample(self.pairs, min(settings.plain, len(self.pairs)))


def train_aligner(
    encoder: str, folder: str | Path, out: str | Path, settings: AlignerTraining | None = None, *,
    plain: PlainPairs | None = None, device: str | None = None, say: Say = print,
) -> Path:  # fmt: skip
    """Train on the gold alignments of a folder and write an aligner to `out`; a run that was killed goes on."""
    settings, out = settings or AlignerTraining(), Path(out)
    extra: list[Labelled] = []
    if plain is not None:
        teachers = [
            train_teacher(number, encoder, folder, out, settings, plain=plain, device=device, say=say)
            for number in range(settings.teachers)
        ]
        extra = plain.made(settings) + linked_by(teachers, plain.drawn(settings), device=device, say=say)
    return _train(encoder, folder, out, settings, extra, device, say)


def train_teacher(
    number: int, encoder: str, folder: str | Path, out: str | Path, settings: AlignerTraining, *, plain: PlainPairs,
    device: str | None = None, say: Say = print,
) -> Path:  # fmt: skip
    """One teacher, in a folder of `out`; the one that is there if it is finished."""
    place = Path(out) / f"teacher-{number}"
    own = replace(settings, seed=settings.seed + 1 + number)
    if (place / "training.json").exists():
        if json.loads((place / "training.json").read_text(encoding="utf-8"))["settings"] != asdict(own):
            raise ConfigError(f"{place} was trained with other settings.", "Delete it or choose another folder.")
        return place
    say(f"teacher {number + 1} of {settings.teachers}")
    return _train(encoder, folder, place, own, plain.made(own), device, say)


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


def _train(
    encoder: str, folder: str | Path, out: Path, settings: AlignerTraining, extra: list[Labelled], device: str | None,
    say: Say,
) -> Path:  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    sets = read_sets(folder, settings)
    counts = f"{len(sets.main):,} pairs of MultiMWA, {len(sets.other):,} others ({sets.left_out} left out)"
    say(f"{counts}, {len(extra):,} without gold, {len(sets.held)} held")
    place = chosen_device(device)
    run = _Run(encoder, sets, extra, settings, place, out, say)
    run.train()
    threshold, figures = run.choose_threshold()
    TrainedAligner(run.averaged, run.reader, threshold=threshold).save(out)
    stored = TrainedAligner.load(out, device=str(place))
    small = _figures(list(stored.align((pair.source, pair.target) for pair in sets.held)), sets.held)
    say(f"as stored, in 8 bits: {_shown(small)}")
    about = {
        "settings": asdict(settings), "encoder": Path(encoder).name, "threshold": threshold,
        "held": figures, "held_eight_bit": small,
        "pairs": {"main": len(sets.main), "other": len(sets.other), "extra": len(extra), "held": len(sets.held)},
        "data": {name: digest((Path(folder) / name).read_bytes()) for name in (*MAIN, *OTHER)},
        "torch": torch.__version__, "device": run.device_name,
    }  # fmt: skip
    (out / "training.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    (out / "checkpoint.pt").unlink(missing_ok=True)
    return out


class _Run:
    """One training, from its last checkpoint on."""

    def __init__(
        self, encoder: str, sets: GoldSets, extra: list[Labelled], settings: AlignerTraining, device: torch.device,
        out: Path, say: Say,
    ) -> None:  # fmt: skip
        torch.manual_seed(settings.seed)
        self.sets, self.extra, self.settings, self.device, self.out, self.say = sets, extra, settings, device, out, say
        body, tokenizer = load_encoder(encoder)
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
            optimizer, lambda step: rate_share("linear", step, len(batches), warm)
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
        found = {level: _figures([links_above(table, level) for table in tables], held) for level in levels}
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
        keep = min(self.settings.average, (step + 1) / (step + 10))  # young averages forget their start quickly
        for mean, weight in zip(self.averaged.parameters(), self.model.parameters(), strict=True):
            mean.lerp_(weight, 1 - keep)

    def _checkpoint(self, step: int, optimizer: torch.optim.Optimizer, schedule: Any) -> None:
        state = {"step": step, "settings": asdict(self.settings), "model": self.model.state_dict(),
                 "averaged": self.averaged.state_dict(), "optimizer": optimizer.state_dict(),
                 "schedule": schedule.state_dict(), **chance(self.device)}  # fmt: skip
        save_whole(self.out / "checkpoint.pt", state)

    def _resume(self, optimizer: torch.optim.Optimizer, schedule: Any) -> int:
        path = self.out / "checkpoint.pt"
        if not path.exists():
            return 0
        saved = torch.load(path, map_location=self.device, weights_only=True)
        if saved["settings"] != asdict(self.settings):
            raise ConfigError(
                f"{path} belongs to a training with other settings.", "Delete it or choose another folder."
            )
        self.model.load_state_dict(saved["model"])
        self.averaged.load_state_dict(saved["averaged"])
        optimizer.load_state_dict(saved["optimizer"])
        schedule.load_state_dict(saved["schedule"])
        restore_chance(saved, self.device)
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


def _evaluated(folder: Path) -> Iterator[str]:
    """The sentences of the evaluation files."""
    for name in EVALUATION:
        for pair in read_gold(folder / name):
            yield _text(pair.source)
            yield _text(pair.target)


def _figures(links: Sequence[Links], gold: Sequence[GoldPair]) -> dict[str, float]:
    scores, different = score_links(links, gold), score_different(links, gold)
    figures = {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1, "different_f1": different.f1}
    return {name: round(value, 2) for name, value in figures.items()}


def _shown(figures: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.1f}" for name, value in figures.items())


def _text(words: Sequence[str]) -> str:
    return " ".join(words).lower()
