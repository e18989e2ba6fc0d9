"""Trains the word aligner on gold alignments; with unlabelled pairs, also on synthetic and teacher-labelled pairs.

With unlabelled pairs, several teachers are trained first, each with its own random seed, on gold and synthetic pairs.
The aligner is then trained on gold pairs, synthetic pairs, and the mean of the teachers' link probabilities for the
unlabelled pairs (soft labels).
"""

from __future__ import annotations

import json
import math
import random
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
from redraft.evaluate.alignment_scores import score_links, score_non_identical
from redraft.files import digest
from redraft.fit.aligner.gold_splits import GoldSets, check_files, read_sets, training_files
from redraft.fit.aligner.unlabelled_pairs import LabelledPair, SoftPair, UnlabelledPairs, WordPair
from redraft.fit.checkpoints import CheckpointFile, check_same_run
from redraft.fit.training_loop import Figures, LoopSettings, TrainingLoop, linear_schedule
from redraft.progress_bar import Say
from redraft.reading import read_json, typed_member
from redraft.trust import loading

_SAVE_EVERY = 200  # steps between checkpoints
_REPORT_EVERY = 50  # steps between rows of the log


@dataclass(frozen=True)
class AlignerTraining:
    """Everything that the trained weights depend on, apart from the data and the machine."""

    epochs: int = 10
    batch: int = 64  # sentence pairs
    encoder_learning_rate: float = 2e-4  # peak
    head_learning_rate: float = 1.5e-3  # peak
    warm_up: float = 0.06  # share of the steps
    weight_decay: float = 0.01
    other_share: float = 0.7  # share of the epochs, from the first on, that also read the other corpora
    ema_decay: float = 0.995  # of the moving average of the weights, which becomes the aligner
    masked_words: float = 0.05  # share of the words that are masked for the encoder
    held_out: int = 200  # pairs of each training file that are used only to choose the threshold
    teachers: int = 3  # if unlabelled pairs are given
    synthetic: int = 30_000  # synthetic pairs for each teacher, and for the aligner
    unlabelled: int = 60_000  # unlabelled pairs that the teachers label, at most
    max_tokens: int = 256  # longer pairs are not trained on
    seed: int = 0
    head: HeadConfig = field(default_factory=HeadConfig)


def train_aligner(
    encoder: str, folder: str | Path, out: str | Path, settings: AlignerTraining | None = None, *,
    leave_out: Sequence[str] = (), unlabelled: UnlabelledPairs | None = None, device: str | None = None,
    say: Say = print,
) -> Path:  # fmt: skip
    """Train on the gold alignments of a folder and write an aligner to `out`; resumes from the last checkpoint.

    `leave_out`: prefixes of the names of files that are not trained on.
    """
    settings, out = settings or AlignerTraining(), Path(out)
    run = _run_of(encoder, folder, settings, unlabelled, leave_out)
    if _is_finished(out, run):
        say(f"{out}: this training is already finished; nothing to do.")
        return out
    extra: list[LabelledPair] = []
    if unlabelled is not None:
        teachers = [
            train_teacher(
                number, encoder, folder, out, settings, leave_out=leave_out, unlabelled=unlabelled, device=device,
                say=say,
            )
            for number in range(settings.teachers)
        ]  # fmt: skip
        sample = unlabelled.sample(settings.unlabelled, settings.seed)
        extra = unlabelled.synthetic(settings.synthetic, settings.seed)
        extra += label_by_teachers(teachers, sample, device=device, say=say)
    return _train(run, folder, leave_out, out, settings, extra, device, say)


def train_teacher(
    number: int, encoder: str, folder: str | Path, out: str | Path, settings: AlignerTraining, *,
    leave_out: Sequence[str] = (), unlabelled: UnlabelledPairs, device: str | None = None, say: Say = print,
) -> Path:  # fmt: skip
    """Train one teacher into a subfolder of `out`, unless it is already there."""
    place = Path(out) / f"teacher-{number}"
    own = replace(settings, seed=settings.seed + 1 + number)
    run = _run_of(encoder, folder, own, unlabelled, leave_out)
    if _is_finished(place, run):
        return place
    say(f"teacher {number + 1} of {settings.teachers}")
    return _train(run, folder, leave_out, place, own, unlabelled.synthetic(own.synthetic, own.seed), device, say)


def label_by_teachers(
    teachers: Sequence[Path], pairs: Sequence[WordPair], *, device: str | None, say: Say
) -> list[LabelledPair]:
    """The pairs with the mean of the teachers' link probabilities."""
    means: list[Tensor] = [torch.zeros(len(source), len(target)) for source, target in pairs]
    for folder in teachers:
        say(f"{folder.name} labels {len(pairs):,} pairs")
        for mean, table in zip(means, TrainedAligner.load(folder, device=device).probabilities(pairs), strict=True):
            mean += table / len(teachers)
    return [SoftPair(*pair, (mean * 255).round().byte()) for pair, mean in zip(pairs, means, strict=True)]


def _run_of(
    encoder: str, folder: str | Path, settings: AlignerTraining, unlabelled: UnlabelledPairs | None,
    leave_out: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    """What identifies a training: its encoder, settings and data, as JSON values."""
    check_files(folder, leave_out)
    gold = {name: digest((Path(folder) / name).read_bytes()) for name in training_files(leave_out)}
    about = unlabelled and dict(unlabelled.about)
    facts = {"encoder": encoder, "settings": asdict(settings), "unlabelled": about, "gold": gold}
    return json.loads(json.dumps(facts))  # type: ignore[no-any-return]


def _is_finished(out: Path, run: dict[str, Any]) -> bool:
    path = out / "training.json"
    if not path.exists():
        return False
    with loading("the report", path, ConfigError, "Choose another --out, or delete the folder."):
        check_same_run(path, typed_member(read_json(path), "run", dict), run)
    return True


def _train(
    run: dict[str, Any], folder: str | Path, leave_out: Sequence[str], out: Path, settings: AlignerTraining,
    extra: list[LabelledPair], device: str | None, say: Say,
) -> Path:  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    sets = read_sets(folder, settings.held_out, leave_out)
    others = f"{len(sets.other):,} of other corpora ({sets.left_out} left out)"
    say(f"{len(sets.main):,} pairs of MultiMWA, {others}, {len(extra):,} without gold links, "
        f"{len(sets.held_out)} held out")  # fmt: skip
    checkpoint = CheckpointFile(out / "checkpoint.pt", run)
    loop = _AlignerLoop(run["encoder"], sets, extra, settings, chosen_device(device), checkpoint, say)
    loop.run()
    trained = TrainedAligner(loop.averaged, loop.reader)
    threshold, figures = choose_threshold(trained, sets.held_out)
    say(f"threshold {threshold}: {_shown(figures)}")
    TrainedAligner(loop.averaged, loop.reader, threshold=threshold).save(out)
    stored = TrainedAligner.load(out, device=str(loop.device))
    eight_bit = _figures(list(stored.align((pair.source, pair.target) for pair in sets.held_out)), sets.held_out)
    say(f"after rounding the weights to 8 bits: {_shown(eight_bit)}")
    counts = {"main": len(sets.main), "other": len(sets.other), "extra": len(extra), "held": len(sets.held_out)}
    about = {
        "run": run, "threshold": threshold, "held": figures, "held_eight_bit": eight_bit, "pairs": counts,
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if loop.device.type == "cuda" else "cpu",
    }  # fmt: skip
    (out / "training.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    checkpoint.delete()
    return out


class _AlignerLoop(TrainingLoop):
    """Binary cross-entropy over the table of word pairs."""

    averaged: Aligner

    def __init__(
        self, encoder: str, sets: GoldSets, extra: list[LabelledPair], settings: AlignerTraining, device: torch.device,
        checkpoint: CheckpointFile, say: Say,
    ) -> None:  # fmt: skip
        torch.manual_seed(settings.seed)
        self.sets, self.extra, self.settings = sets, extra, settings
        body, tokenizer = load_encoder(encoder)
        self.reader = PairReader(tokenizer)
        if getattr(body, "pooler", None) is not None:
            body.pooler = None  # its output is not used
        shape = HeadConfig(**{**asdict(settings.head), "hidden": body.config.hidden_size,
                              "layers": body.config.num_hidden_layers + 1})  # fmt: skip
        model = Aligner(body, shape).to(device)
        self.batches = [batch for epoch in range(settings.epochs) for batch in self._epoch(epoch)]
        groups = [
            {"params": model.encoder.parameters(), "lr": settings.encoder_learning_rate},
            {"params": model.head.parameters(), "lr": settings.head_learning_rate},
        ]
        steps = len(self.batches)
        loop = LoopSettings(
            steps=steps, learning_rate=linear_schedule(steps, settings.warm_up), report_every=_REPORT_EVERY,
            save_every=_SAVE_EVERY, ema_decay=settings.ema_decay,
        )  # fmt: skip
        optimizer = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
        super().__init__(model, optimizer, loop, checkpoint, say, averaged=deepcopy(model).eval())

    def compute_loss(self, step: int) -> tuple[Tensor, Figures]:
        self.network.train()
        pairs = self.batches[step]
        batch = self.reader.batch([(pair.source, pair.target) for pair in pairs])
        batch = self.reader.mask_words(batch, self.settings.masked_words)
        labels = _labels(pairs, batch.width, batch.word_ids.shape[1] - batch.width).to(self.device)
        words = batch.lengths.sum()
        batch = batch.to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16):
            logits = self.network(batch)
        cells = nn.functional.binary_cross_entropy_with_logits(logits.float(), labels, reduction="none")
        loss = 2 * (cells * batch.pair_mask[:, 0]).sum() / words
        return loss, {"loss": loss.detach()}

    def _epoch(self, epoch: int) -> Iterator[list[LabelledPair]]:
        """Batches of pairs of similar length, half of them with source and target swapped; the same in every run.

        Pairs without gold links are split over the first epochs, so that each is read once.
        """
        settings = self.settings
        rng = random.Random(settings.seed * 1000 + epoch)
        epochs_with_others = math.ceil(settings.other_share * settings.epochs)
        pairs: list[LabelledPair] = [*self.sets.main]
        if epoch < epochs_with_others:
            pairs += [*self.sets.other, *self.extra[epoch::epochs_with_others]]
        pairs = [pair.reversed() if rng.random() < 0.5 else pair for pair in pairs]
        sizes = self.reader.lengths([(pair.source, pair.target) for pair in pairs])
        noisy = [size + 10 * rng.random() for size in sizes]  # so that batches differ between epochs
        order = sorted((at for at in range(len(pairs)) if sizes[at] <= settings.max_tokens), key=noisy.__getitem__)
        batches = [order[at : at + settings.batch] for at in range(0, len(order), settings.batch)]
        rng.shuffle(batches)
        for batch in batches:
            yield [pairs[at] for at in batch]


def choose_threshold(aligner: TrainedAligner, held_out: Sequence[GoldPair]) -> tuple[float, dict[str, float]]:
    """The threshold with the best F1 on held-out pairs, and the scores with it."""
    tables = list(aligner.probabilities((pair.source, pair.target) for pair in held_out))
    thresholds = [percent / 100 for percent in range(20, 70, 5)]
    found = {level: _figures([links_above(table[None], level)[0] for table in tables], held_out)
             for level in thresholds}  # fmt: skip
    best = max(thresholds, key=lambda level: found[level]["f1"])
    return best, found[best]


def _labels(pairs: Sequence[LabelledPair], n: int, m: int) -> Tensor:
    """(batch, n, m): the probability that each word pair is linked."""
    labels = torch.zeros(len(pairs), n, m)
    for table, pair in zip(labels, pairs, strict=True):
        if isinstance(pair, SoftPair):
            table[: len(pair.source), : len(pair.target)] = pair.table / 255
        elif pair.links:
            left, right = zip(*pair.links, strict=True)
            table[list(left), list(right)] = 1
    return labels


def _figures(links: Sequence[Links], gold: Sequence[GoldPair]) -> dict[str, float]:
    scores, different = score_links(links, gold), score_non_identical(links, gold)
    figures = {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1, "different_f1": different.f1}
    return {name: round(value, 2) for name, value in figures.items()}


def _shown(figures: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.1f}" for name, value in figures.items())
