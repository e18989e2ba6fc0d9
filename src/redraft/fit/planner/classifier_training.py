"""Trains the head that says which words to keep, delete or replace, on what people did with them."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from redraft.align.trained_aligner import TrainedAligner
from redraft.align.word_batches import PairReader
from redraft.errors import ConfigError, shown
from redraft.files import digest
from redraft.fit.calibration import calibrate, calibration_error, fit_logistic
from redraft.fit.checkpoints import open_checkpoint, restore_rng_state, rng_state, save_checkpoint
from redraft.fit.linked_pairs import LinkedPair
from redraft.fit.schedules import learning_rate_factor
from redraft.fit.tagged_pairs import normal
from redraft.plan.edit_classifier import ACTIONS, EditClassifier, EditHead, Floats, HeadShape, Tables, logits_of
from redraft.plan.lexicon import Entry, key_of
from redraft.plan.planner import ANY, Planner
from redraft.plan.prediction import ALTERNATIVES, Calibration
from redraft.progress_bar import Say

Ints = NDArray[np.int64]
IGNORED = -100
_EVERY = 200  # steps between two checkpoints


@dataclass(frozen=True)
class ClassifierTraining:
    """Everything the outcome depends on but the data and the machine."""

    epochs: int = 2
    batch: int = 64
    rate: float = 5e-4
    warm_up: float = 0.05
    weight_decay: float = 0.01
    any_style: float = 0.5  # share of the sentences whose style it is not told
    longest: int = 120  # words
    held: float = 0.04  # share of the sources, of which one half calibrates and the other measures
    usual: str = ANY  # the style of plans for which none is asked
    seed: int = 0


@dataclass(frozen=True)
class Labelled:
    """The words of a source, what became of each, and what was written for those that were replaced."""

    words: tuple[str, ...]
    actions: Ints
    written: Mapping[int, str]  # by the place of a word that was replaced alone
    style: int


def label(linked: LinkedPair, style: int) -> Labelled:
    """What a person did with each word: the oracle plan of all words, told word by word."""
    pair = linked.pair
    actions = np.full(len(pair.source_words), IGNORED)
    begins = {word.start: number for number, word in enumerate(pair.source_words)}
    action_of = {"insert": 0, "delete": 1, "substitute": 2}
    written = {}
    for edit in linked.plan().edits:
        start, end = edit.span or (0, 0)
        at = first = begins[start]
        while at < len(pair.source_words) and pair.source_words[at].start < end:
            actions[at] = action_of[edit.kind]
            at += 1
        if edit.kind == "substitute" and at == first + 1:
            written[first] = key_of(edit.targets[0])
    return Labelled(tuple(word.text for word in pair.source_words), actions, written, style)


def style_of(tag: str) -> str:
    """The name of a corpus: what its tag begins with."""
    return tag.partition("_")[0]


def train_classifier(
    pairs: Iterable[LinkedPair], tables: Tables, out: str | Path, settings: ClassifierTraining | None = None, *,
    aligner: str | None = None, device: str | None = None, say: Say = print,
) -> Planner:  # fmt: skip
    """Train above the encoder of an aligner, calibrate, and write the planner to `out`."""
    settings, out = settings or ClassifierTraining(), Path(out)
    trained = TrainedAligner.load(aligner, device=device)
    rows, half, other, styles = _dealt(pairs, settings, trained.reader)
    if len(rows) < settings.batch // 4 or not half or not other:
        total = len(rows) + len(half) + len(other)
        raise ConfigError(f"{total} pairs are too few to learn from.", "Give a file with thousands of pairs.")
    if settings.usual not in (ANY, *styles):
        raise ConfigError(f"no pair has the style {shown(settings.usual)}.", f"Use {ANY}, {', '.join(sorted(styles))}.")
    encoder = trained.model.encoder
    shape = HeadShape(encoder.config.hidden_size, encoder.config.num_hidden_layers + 1, styles=1 + len(styles))
    torch.manual_seed(settings.seed)
    head = EditHead(shape)
    classifier = EditClassifier(trained, head, tables)
    out.mkdir(parents=True, exist_ok=True)
    log = _Training(classifier, rows, settings, out, say).go()
    calibrate(head.leave, _logits(classifier, half), np.concatenate([row.actions for row in half]))
    calibration = _sureness(classifier, half)
    figures = _measure(classifier, calibration, other)
    say("held out: " + json.dumps(figures))
    planner = Planner(classifier, styles, calibration, usual=settings.usual, aligner=aligner)
    planner.save(out, {"settings": asdict(settings), "pairs": len(rows), "held": figures, "log": log})
    (out / "checkpoint.pt").unlink(missing_ok=True)
    return planner


def held_share(source: str, settings: ClassifierTraining) -> float:
    """From 0 to 1 where a source is held out, the same for all that people made of it; above 1 where it is not."""
    drawn = int(digest(f"{settings.seed} {normal(source)}".encode()), 16) / 16**16
    return drawn / settings.held if settings.held else 2.0


def _dealt(
    pairs: Iterable[LinkedPair], settings: ClassifierTraining, reader: PairReader
) -> tuple[list[Labelled], list[Labelled], list[Labelled], list[str]]:
    """Rows to learn from, to calibrate with and to measure by, and the names of the styles."""
    learned: list[Labelled] = []
    half: list[Labelled] = []
    other: list[Labelled] = []
    styles: list[str] = []
    for linked in pairs:
        words = [word.text for word in linked.pair.source_words]
        if 3 <= len(words) <= settings.longest and len(reader.cut(words)) == len(words):
            style = style_of(linked.tag)
            if style not in styles:
                styles.append(style)
            share = held_share(linked.pair.source, settings)
            rows = learned if share >= 1 else half if share < 0.5 else other
            rows.append(label(linked, 1 + styles.index(style)))
    return learned, half, other, styles


class _Training:
    """The steps of a training, from its last checkpoint on where there is one."""

    def __init__(
        self, classifier: EditClassifier, rows: Sequence[Labelled], settings: ClassifierTraining, out: Path, say: Say
    ) -> None:
        self.classifier, self.rows, self.settings, self.say = classifier, rows, settings, say
        self.path = out / "checkpoint.pt"
        self.optimizer = torch.optim.AdamW(
            classifier.head.parameters(), lr=settings.rate, weight_decay=settings.weight_decay
        )
        self.batches = [batch for epoch in range(settings.epochs) for batch in self._epoch(epoch)]
        self.log: list[dict[str, float]] = []
        self.step = 0

    def go(self) -> list[dict[str, float]]:
        head, settings, steps = self.classifier.head, self.settings, len(self.batches)
        self._resume()
        warm, began, first, total = max(1, int(settings.warm_up * steps)), time.monotonic(), self.step, 0.0
        while self.step < steps:
            for group in self.optimizer.param_groups:
                group["lr"] = settings.rate * learning_rate_factor("linear", self.step, steps, warm)
            head.train()
            loss = self._loss([self.rows[at] for at in self.batches[self.step]])
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            total += float(loss.detach())
            self.step += 1
            if self.step % _EVERY == 0 or self.step == steps:
                done = self.step - first
                self.log.append({"step": self.step, "loss": round(total / (done % _EVERY or _EVERY), 4)})
                total = 0.0
                self._save()
                pace = done / (time.monotonic() - began)
                self.say(f"step {self.step:,} of {steps:,}  loss {self.log[-1]['loss']:.4f}  {pace:.1f} steps/s")
        head.eval()
        return self.log

    def _epoch(self, epoch: int) -> Iterator[list[int]]:
        """Rows of about the same length together."""
        rng = random.Random(self.settings.seed * 1000 + epoch)
        order = sorted(range(len(self.rows)), key=lambda at: len(self.rows[at].words) + 6 * rng.random())
        batches = [order[at : at + self.settings.batch] for at in range(0, len(order), self.settings.batch)]
        rng.shuffle(batches)
        yield from batches

    def _loss(self, batch: Sequence[Labelled]) -> Tensor:
        classifier = self.classifier
        told = torch.rand(len(batch)) >= self.settings.any_style
        styles = [row.style * bool(tell) for row, tell in zip(batch, told, strict=True)]
        facts = []
        for row in batch:
            found = (classifier.tables.lexicon.entry(word) for word in row.words)
            entries = [without(entry, action) for entry, action in zip(found, row.actions, strict=True)]
            facts.append(classifier.tables.facts(row.words, entries))
        words = [row.words for row in batch]
        logits = logits_of(classifier.encoder, classifier.head, classifier.reader, words, facts, styles)
        labels = torch.full(logits.shape[:2], IGNORED)
        for table, row in zip(labels, batch, strict=True):
            table[: len(row.actions)] = torch.from_numpy(row.actions)
        return nn.functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten().to(logits.device), ignore_index=IGNORED
        )

    def _save(self) -> None:
        state = {"step": self.step, "log": self.log, "run": self._run(), "head": self.classifier.head.state_dict(),
                 "optimizer": self.optimizer.state_dict(), **rng_state(self.classifier.device)}  # fmt: skip
        save_checkpoint(self.path, state)

    def _resume(self) -> None:
        if not self.path.exists():
            return
        with open_checkpoint(self.path):
            saved = torch.load(self.path, map_location=self.classifier.device, weights_only=True)
            if saved["run"] != self._run():
                raise ConfigError(f"{self.path} belongs to another training.", "Delete it, or choose another --out.")
            self.classifier.head.load_state_dict(saved["head"])
            self.optimizer.load_state_dict(saved["optimizer"])
            self.step, self.log = saved["step"], saved["log"]
            restore_rng_state(saved, self.classifier.device)
        self.say(f"going on from step {self.step:,}")

    def _run(self) -> str:
        """What makes this training this one: its settings, its rows, the tables, the encoder."""
        lexicon = self.classifier.tables.lexicon
        tables = digest(repr([(phrase, lexicon.entry(phrase)) for phrase in sorted(lexicon)]).encode())
        return json.dumps([asdict(self.settings), len(self.rows), tables, self.classifier.above])


def without(entry: Entry | None, action: int) -> Entry | None:
    """What the table would know of a word had it not seen this very one."""
    if entry is None or not entry.seen or action == IGNORED:
        return entry
    deleted, replaced = entry.deleted - (action == 1), entry.replaced - (action == 2)
    return Entry(entry.seen - 1, max(0, deleted), max(0, replaced), entry.targets)


def _logits(classifier: EditClassifier, rows: Sequence[Labelled]) -> Floats:
    """(word, action) of all rows, one after the other, the style not told."""
    found = []
    for start in range(0, len(rows), 64):
        part = rows[start : start + 64]
        table = classifier.logits([row.words for row in part], [0] * len(part)).float().cpu().numpy()
        found += [one[: len(row.words)] for one, row in zip(table, part, strict=True)]
    return np.concatenate(found)


def _sureness(classifier: EditClassifier, rows: Sequence[Labelled]) -> Calibration:
    """How sure it is that a word is replaced by one of its targets."""
    chances, single, likely, right = _substituted(classifier, rows)
    if not right[single].any():
        return Calibration()
    facts = [Calibration.facts(*both) for both in zip(chances[single, 2], likely[single], strict=True)]
    return Calibration(*fit_logistic(np.array(facts), right[single]))


def _substituted(
    classifier: EditClassifier, rows: Sequence[Labelled]
) -> tuple[Floats, NDArray[np.bool_], Floats, NDArray[np.bool_]]:
    """For all words: the probabilities, whether it has targets, how likely these are, and whether one was written."""
    logits, wanted = _logits(classifier, rows), np.concatenate([row.actions for row in rows])
    chances = np.exp(logits - np.logaddexp.reduce(logits, 1, keepdims=True))
    likely, right = _offered(classifier.tables, rows)
    return chances, (likely > 0) & (wanted != IGNORED), likely, right


def _measure(classifier: EditClassifier, calibration: Calibration, rows: Sequence[Labelled]) -> dict[str, Any]:
    """Mean precision over all thresholds, and how far probabilities are from what was seen."""
    chances, single, likely, right = _substituted(classifier, rows)
    wanted = np.concatenate([row.actions for row in rows])
    known = wanted != IGNORED
    figures: dict[str, Any] = {"words": int(known.sum())}
    for number, action in enumerate(ACTIONS):
        told, score = wanted[known] == number, chances[known, number]
        order = np.argsort(-score)
        precision = told[order].cumsum() / np.arange(1, len(told) + 1)
        figures[action] = {
            "share": round(100 * float(told.mean()), 2),
            "mean_precision": round(100 * float(precision[told[order]].mean()), 2) if told.any() else None,
            "calibration_error": round(100 * calibration_error(score, told), 2),
        }
    if single.any():
        sure = np.array([calibration.of(*both) for both in zip(chances[single, 2], likely[single], strict=True)])
        figures["substitute"]["with_target"] = {
            "share": round(100 * float(right[single].mean()), 2),
            "calibration_error": round(100 * calibration_error(sure, right[single]), 2),
        }
    return figures


def _offered(tables: Tables, rows: Sequence[Labelled]) -> tuple[Floats, NDArray[np.bool_]]:
    """For each word: how likely one of its targets is what is written, and whether it was."""
    likely, right = [], []
    for row in rows:
        for place, word in enumerate(row.words):
            entry = tables.lexicon.entry(word)
            offered = [text for text, _ in entry.targets[:ALTERNATIVES]] if entry else []
            likely.append(entry.likely(ALTERNATIVES) if entry else 0.0)
            right.append(row.written.get(place) in offered)
    return np.array(likely, np.float32), np.array(right)
