"""Trains the head that predicts for each word whether it is kept, deleted or replaced, from linked sentence pairs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
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
from redraft.fit.checkpoints import CheckpointFile
from redraft.fit.linked_pairs import LinkedPair
from redraft.fit.tagged_pairs import comparison_key
from redraft.fit.training_loop import Figures, LoopSettings, TrainingLoop, linear_schedule
from redraft.plan.edit_classifier import ACTIONS, EditClassifier, EditHead, Floats, HeadShape, WordTables, edit_logits
from redraft.plan.lexicon import Entry, lookup_key
from redraft.plan.planner import ANY_STYLE, Planner
from redraft.plan.prediction import ALTERNATIVES, Calibration
from redraft.progress_bar import Say

Ints = NDArray[np.int64]
IGNORED = -100  # the label of a word whose action is unknown
_SAVE_EVERY = 200  # steps between checkpoints


@dataclass(frozen=True)
class ClassifierTraining:
    """Everything that the trained weights depend on, apart from the data and the machine."""

    epochs: int = 2
    batch: int = 64  # sentences
    learning_rate: float = 5e-4  # peak
    warm_up: float = 0.05  # share of the steps
    weight_decay: float = 0.01
    style_dropout: float = 0.5  # share of the sentences whose style is hidden from the network
    max_words: int = 120  # longer sentences are not used
    held_out: float = 0.04  # share of the sources: one half for calibration, the other for evaluation
    default_style: str = ANY_STYLE  # of plans without a requested style
    seed: int = 0


@dataclass(frozen=True)
class LabelledSource:
    """The words of a source sentence, the action for each, and the replacements of replaced words."""

    words: tuple[str, ...]
    actions: Ints
    written: Mapping[int, str]  # index of a single replaced word → its replacement
    style: int  # 0: any


def label(linked: LinkedPair, style: int) -> LabelledSource:
    """The action of each word in the oracle plan of a pair."""
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
            written[first] = lookup_key(edit.targets[0])
    return LabelledSource(tuple(word.text for word in pair.source_words), actions, written, style)


def style_of(tag: str) -> str:
    """The name of a corpus: its tag up to the first underscore."""
    return tag.partition("_")[0]


def train_classifier(
    pairs: Iterable[LinkedPair], tables: WordTables, out: str | Path, settings: ClassifierTraining | None = None, *,
    aligner: str | None = None, device: str | None = None, say: Say = print,
) -> Planner:  # fmt: skip
    """Train the head on the frozen encoder of an aligner, calibrate it, and write the planner to `out`."""
    settings, out = settings or ClassifierTraining(), Path(out)
    trained = TrainedAligner.load(aligner, device=device)
    rows, for_calibration, for_evaluation, styles = _split(pairs, settings, trained.reader)
    if len(rows) < settings.batch // 4 or not for_calibration or not for_evaluation:
        total = len(rows) + len(for_calibration) + len(for_evaluation)
        raise ConfigError(f"{total} pairs are too few to train on.", "Give a file with thousands of pairs.")
    if settings.default_style not in (ANY_STYLE, *styles):
        known = ", ".join([ANY_STYLE, *sorted(styles)])
        raise ConfigError(f"no pair has the style {shown(settings.default_style)}.", f"Use {known}.")
    encoder = trained.model.encoder
    shape = HeadShape(encoder.config.hidden_size, encoder.config.num_hidden_layers + 1, styles=1 + len(styles))
    torch.manual_seed(settings.seed)
    head = EditHead(shape)
    classifier = EditClassifier(trained, head, tables)
    out.mkdir(parents=True, exist_ok=True)
    loop = _ClassifierLoop(classifier, rows, settings, out, say)
    loop.run()
    head.eval()
    actions = np.concatenate([row.actions for row in for_calibration])
    calibrate(head.leave, _logits(classifier, for_calibration), actions)
    calibration = _fit_calibration(classifier, for_calibration)
    figures = _evaluate(classifier, calibration, for_evaluation)
    say("on held-out sentences: " + json.dumps(figures))
    planner = Planner(classifier, styles, calibration, default_style=settings.default_style, aligner=aligner)
    planner.save(out, {"settings": asdict(settings), "pairs": len(rows), "held": figures, "log": loop.progress.log})
    loop.checkpoint.delete()
    return planner


def held_out_position(source: str, settings: ClassifierTraining) -> float:
    """A pseudo-random number for a source: below 1 if it is held out. It is the same for all pairs with this source."""
    uniform = int(digest(f"{settings.seed} {comparison_key(source)}".encode()), 16) / 16**16
    return uniform / settings.held_out if settings.held_out else 2.0


def _split(
    pairs: Iterable[LinkedPair], settings: ClassifierTraining, reader: PairReader
) -> tuple[list[LabelledSource], list[LabelledSource], list[LabelledSource], list[str]]:
    """Rows for training, for calibration and for evaluation, and the names of the styles."""
    training: list[LabelledSource] = []
    calibration: list[LabelledSource] = []
    evaluation: list[LabelledSource] = []
    styles: list[str] = []
    for linked in pairs:
        words = [word.text for word in linked.pair.source_words]
        if 3 <= len(words) <= settings.max_words and len(reader.cut(words)) == len(words):
            style = style_of(linked.tag)
            if style not in styles:
                styles.append(style)
            position = held_out_position(linked.pair.source, settings)
            rows = training if position >= 1 else calibration if position < 0.5 else evaluation
            rows.append(label(linked, 1 + styles.index(style)))
    return training, calibration, evaluation, styles


class _ClassifierLoop(TrainingLoop):
    """Cross-entropy of the action of each word, computed by the head alone: the encoder stays as it is."""

    def __init__(
        self, classifier: EditClassifier, rows: Sequence[LabelledSource], settings: ClassifierTraining, out: Path,
        say: Say,
    ) -> None:  # fmt: skip
        self.classifier, self.rows, self.settings = classifier, rows, settings
        self.batches = [batch for epoch in range(settings.epochs) for batch in self._epoch(epoch)]
        head, steps = classifier.head, len(self.batches)
        optimizer = torch.optim.AdamW(head.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
        loop = LoopSettings(
            steps=steps, learning_rate=linear_schedule(steps, settings.warm_up), report_every=_SAVE_EVERY,
            save_every=_SAVE_EVERY,
        )  # fmt: skip
        checkpoint = CheckpointFile(out / "checkpoint.pt", self._run())
        super().__init__(head, optimizer, loop, checkpoint, say)

    def compute_loss(self, step: int) -> tuple[Tensor, Figures]:
        classifier = self.classifier
        self.network.train()
        batch = [self.rows[at] for at in self.batches[step]]
        shown = torch.rand(len(batch)) >= self.settings.style_dropout
        styles = [row.style * bool(is_shown) for row, is_shown in zip(batch, shown, strict=True)]
        features = []
        for row in batch:
            found = (classifier.tables.lexicon.entry(word) for word in row.words)
            entries = [without(entry, action) for entry, action in zip(found, row.actions, strict=True)]
            features.append(classifier.tables.features(row.words, entries))
        words = [row.words for row in batch]
        logits = edit_logits(classifier.encoder, classifier.head, classifier.reader, words, features, styles)
        labels = torch.full(logits.shape[:2], IGNORED)
        for table, row in zip(labels, batch, strict=True):
            table[: len(row.actions)] = torch.from_numpy(row.actions)
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten().to(logits.device), ignore_index=IGNORED
        )
        return loss, {"loss": loss.detach()}

    def _epoch(self, epoch: int) -> list[list[int]]:
        """Batches of rows of similar length, in random order; the same in every run."""
        rng = random.Random(self.settings.seed * 1000 + epoch)
        order = sorted(range(len(self.rows)), key=lambda at: len(self.rows[at].words) + 6 * rng.random())
        batches = [order[at : at + self.settings.batch] for at in range(0, len(order), self.settings.batch)]
        rng.shuffle(batches)
        return batches

    def _run(self) -> dict[str, Any]:
        """What identifies this training: its settings, rows, tables and encoder."""
        lexicon = self.classifier.tables.lexicon
        tables = digest(repr([(phrase, lexicon.entry(phrase)) for phrase in sorted(lexicon)]).encode())
        return {
            "settings": asdict(self.settings), "rows": len(self.rows), "tables": tables,
            "encoder": self.classifier.encoder_digest,
        }  # fmt: skip


def without(entry: Entry | None, action: int) -> Entry | None:
    """The lexicon entry of a word without this occurrence; otherwise the counts would give its label away."""
    if entry is None or not entry.seen or action == IGNORED:
        return entry
    deleted, replaced = entry.deleted - (action == 1), entry.replaced - (action == 2)
    return Entry(entry.seen - 1, max(0, deleted), max(0, replaced), entry.targets)


def _logits(classifier: EditClassifier, rows: Sequence[LabelledSource]) -> Floats:
    """(word, action): the logits of all rows, concatenated; for any style."""
    found = []
    for start in range(0, len(rows), 64):
        part = rows[start : start + 64]
        table = classifier.logits([row.words for row in part], [0] * len(part)).float().cpu().numpy()
        found += [one[: len(row.words)] for one, row in zip(table, part, strict=True)]
    return np.concatenate(found)


def _fit_calibration(classifier: EditClassifier, rows: Sequence[LabelledSource]) -> Calibration:
    """Fit the probability that a word is replaced by one of its targets."""
    probabilities, with_targets, likely, right = _substitutions(classifier, rows)
    if not right[with_targets].any():
        return Calibration()
    found = zip(probabilities[with_targets, 2], likely[with_targets], strict=True)
    features = np.array([Calibration.features(*both) for both in found])
    return Calibration(*fit_logistic(features, right[with_targets]))


def _substitutions(
    classifier: EditClassifier, rows: Sequence[LabelledSource]
) -> tuple[Floats, NDArray[np.bool_], Floats, NDArray[np.bool_]]:
    """For all words: action probabilities, whether there are targets, their probability, and whether one was used."""
    logits, labels = _logits(classifier, rows), np.concatenate([row.actions for row in rows])
    probabilities = np.exp(logits - np.logaddexp.reduce(logits, 1, keepdims=True))
    likely, right = _targets(classifier.tables, rows)
    return probabilities, (likely > 0) & (labels != IGNORED), likely, right


def _evaluate(classifier: EditClassifier, calibration: Calibration, rows: Sequence[LabelledSource]) -> dict[str, Any]:
    """For each action: its share, mean precision over all thresholds, and calibration error; all in percent."""
    probabilities, with_targets, likely, right = _substitutions(classifier, rows)
    labels = np.concatenate([row.actions for row in rows])
    known = labels != IGNORED
    figures: dict[str, Any] = {"words": int(known.sum())}
    for number, action in enumerate(ACTIONS):
        is_action, score = labels[known] == number, probabilities[known, number]
        order = np.argsort(-score)
        precision = is_action[order].cumsum() / np.arange(1, len(is_action) + 1)
        figures[action] = {
            "share": round(100 * float(is_action.mean()), 2),
            "mean_precision": round(100 * float(precision[is_action[order]].mean()), 2) if is_action.any() else None,
            "calibration_error": round(100 * calibration_error(score, is_action), 2),
        }
    if with_targets.any():
        found = zip(probabilities[with_targets, 2], likely[with_targets], strict=True)
        calibrated = np.array([calibration.of(*both) for both in found])
        figures["substitute"]["with_target"] = {
            "share": round(100 * float(right[with_targets].mean()), 2),
            "calibration_error": round(100 * calibration_error(calibrated, right[with_targets]), 2),
        }
    return figures


def _targets(tables: WordTables, rows: Sequence[LabelledSource]) -> tuple[Floats, NDArray[np.bool_]]:
    """For each word: the probability that a replacement is one of its targets, and whether one was used."""
    likely, right = [], []
    for row in rows:
        for place, word in enumerate(row.words):
            entry = tables.lexicon.entry(word)
            offered = [text for text, _ in entry.targets[:ALTERNATIVES]] if entry else []
            likely.append(entry.target_probability(ALTERNATIVES) if entry else 0.0)
            right.append(row.written.get(place) in offered)
    return np.array(likely, np.float32), np.array(right)
