"""Step 6: trains the student to read plans, with aligned pairs and plans that are sampled anew in each epoch."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import Pool, get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from redraft.align.trained_aligner import TrainedAligner
from redraft.check.meaning_check import MeaningCheck
from redraft.constrain.mark_tokens import MarkTokens
from redraft.decode.config import DecodeConfig
from redraft.decode.redrafter import Redrafter
from redraft.evaluate.corpora import load_corpus
from redraft.files import digest
from redraft.fit.linked_pairs import LinkedPair, Row, link_pairs, read_rows, split_for_processes
from redraft.fit.rewriter.plan_examples import PlanExample, PlanSampler, can_join, joined
from redraft.fit.rewriter.trainable_models import prepare_for_plans
from redraft.fit.tagged_pairs import TaggedPair, read_tagged
from redraft.plan.edits import EditPlan
from redraft.plan.marked_source import STRENGTH_MARKS, mark
from redraft.plan.target_guard import TargetGuard
from redraft.text.function_words import is_content
from redraft.text.names import missing_negations
from training.checkpoint_choice import hardly_differs, is_copy
from training.distil import figures
from training.loop import Batch, Batches, Clock, Training
from training.pair_rows import TokenRows
from training.pretrain import mean_loss
from training.settings import check_same, remember
from training.teacher import is_broken
from training.text_corpus import LICENCE_FORBIDS, read_held_out
from training.tokenizer import PAD

_WITHOUT = {"bare": (), "stated": ("bare",), "planned": ("bare", "strength")}
_NEW = 0.15  # maximum share of the target's content words without a link
_CHUNK = 1000  # pairs per task of a process
_MAY_CHANGE = ("steps", "linkers")

Tokens = tuple[TokenRows, TokenRows]  # the sources and the targets of examples


def train_plan_reading(data: Path, work: Path, settings: SimpleNamespace, clock: Clock, device: torch.device) -> bool:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = work / "plan_reading"
    pairs = plan_reading_pairs(data, work, settings)
    facts = {**vars(settings), "pairs": digest(json.dumps([vars(pair) for pair in pairs]).encode())}
    check_same(folder, facts, [*_MAY_CHANGE, "kept_pairs"])  # now, since linking takes long
    began = time.monotonic()
    rows = linked_rows(pairs, folder, settings.linkers, device)
    remember_kept(folder, facts, rows)
    print(f"{len(pairs):,} pairs linked, {len(rows):,} of them kept, {time.monotonic() - began:.0f} s", flush=True)
    tokenizer: Any = AutoTokenizer.from_pretrained(work / "student" / "model")
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(
        work / "student" / "model", dtype=torch.float32, dropout=settings.dropout
    )
    torch.manual_seed(settings.seed)
    prepare_for_plans(model, tokenizer)
    lengthen(model, settings.positions)
    tokenizer.model_max_length = settings.positions
    tokenizer.save_pretrained(folder / "tokenizer")
    with Epochs(rows, PlanSampler.load(), folder / "tokenizer", settings) as epochs:
        print(f"{epochs.per_epoch} batches in an epoch; the first made in {time.monotonic() - began:.0f} s", flush=True)

        def batch_of(step: int) -> Batch:
            source, target = epochs[step]
            return {"source": source, "target": target}

        def loss_of(model: Any, batch: Batch) -> Tensor:
            return mean_loss(model, batch["source"], batch["target"], settings.smoothing)

        training = Training(model, batch_of, loss_of, settings, folder, device)
        done = training.run(clock)
    if done:
        training.averaged.save_pretrained(folder / "model")
        tokenizer.save_pretrained(folder / "model")
        _report(data, folder, device)
    return done


def _report(data: Path, folder: Path, device: torch.device) -> None:
    """Scores on held-out sentences with plans that have no edits: without a strength, and with each strength."""
    held = read_held_out(data)
    redrafter = Redrafter(str(folder / "model"), config=DecodeConfig(method="beam", beams=4), device=str(device),
                          graphs=device.type == "cuda")  # fmt: skip
    found = {}
    for strength in (None, *STRENGTH_MARKS):
        plans = [EditPlan(source, (), strength) for source in held.sources]
        outputs = [one.text for one in redrafter.stream(plans, batch_size=64)]
        found[strength or "bare"] = figures(held, outputs)
        print(strength or "bare", json.dumps(found[strength or "bare"]), flush=True)
        lines = "".join(f"{source}\t{output}\n" for source, output in zip(held.sources, outputs, strict=True))
        (folder / f"held_out.{strength or 'bare'}.tsv").write_text(lines, encoding="utf-8")
    (folder / "held_out.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def plan_reading_pairs(data: Path, work: Path, settings: SimpleNamespace) -> list[TaggedPair]:
    """The pairs of the corpora in the settings, each once, without broken pairs, copies and most near copies."""
    rng = random.Random(settings.seed)
    found = list(read_tagged(data / "pairs" / "pairs.tsv.xz", LICENCE_FORBIDS))
    found += read_tagged(work / "distil" / "pairs.tsv")
    plain = data / "lexical" / "plainlanguage_pairs.tsv"
    if plain.exists():
        rows = [line.split("\t") for line in plain.read_text(encoding="utf-8").split("\n") if line.count("\t")]
        found += [TaggedPair("plain_language", False, *row[:2]) for row in rows]
    if (data / "eval" / "automets").exists():
        corpus = load_corpus("automets", "train", data=data / "eval")
        found += [TaggedPair("automets_tokens", False, *pair)
                  for pair in zip(corpus.sources, corpus.references[0], strict=True)]  # fmt: skip
    kept = [
        pair for pair in found
        if pair.tag in settings.corpora and not is_broken(pair) and not is_copy(pair.source, pair.target)
        and (not hardly_differs(pair.source, pair.target) or rng.random() < settings.near_copies
             or not pair.tag.startswith("distilled"))
    ]  # fmt: skip
    return without_alarms(kept, MeaningCheck.load()) if settings.checked else kept


def without_alarms(pairs: Sequence[TaggedPair], check: MeaningCheck) -> list[TaggedPair]:
    """The pairs without distilled ones that raise an alarm of the meaning check."""
    distilled = check.check((pair.source, pair.target) for pair in pairs if pair.tag.startswith("distilled"))
    return [pair for pair in pairs if not (pair.tag.startswith("distilled") and next(distilled).alarm)]


def linked_rows(pairs: Sequence[TaggedPair], folder: Path, processes: int, device: torch.device) -> list[Row]:
    """The faithful pairs with the links of the bundled aligner, computed by several processes on one device."""
    jobs = [(part, path, device.type) for part, path in split_for_processes(pairs, folder, processes)]
    with get_context("spawn").Pool(processes) as pool:
        return [row for part in pool.starmap(_linked, jobs) for row in part]


def remember_kept(folder: Path, facts: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Record the settings and the kept pairs, which depend on tables of the package that the settings do not name."""
    kept = f"{len(rows):,}, digest {digest(json.dumps(rows).encode())}"
    remember(
        folder, {**facts, "kept_pairs": kept}, _MAY_CHANGE,
        hint="The bundled aligner, the relation tables or the filter have changed since. Restore them, or delete the "
        "folder and train again.",
    )  # fmt: skip


def _linked(pairs: Sequence[TaggedPair], path: Path, device: str) -> list[Row]:
    torch.set_num_threads(1)
    link_pairs(pairs, TrainedAligner.load(device=device), path, say=lambda message: None)
    guard = TargetGuard.load()
    return [row for row in read_rows(path) if is_faithful(LinkedPair.of(row), guard)]


def is_faithful(linked: LinkedPair, guard: TargetGuard) -> bool:
    """Whether a target adds few words and, if distilled, has as many negations and no refused substitution."""
    pair, found = linked.pair, {right for _, right in linked.links}
    content = [at for at, word in enumerate(pair.target_words) if is_content(word.text)]
    new = sum(at not in found for at in content)
    if new > max(2, _NEW * len(content)):
        return False
    if not linked.tag.startswith("distilled"):
        return True
    texts = pair.source, pair.target
    if missing_negations(*texts) or missing_negations(*reversed(texts)):
        return False
    edits = linked.plan().edits
    return not any(guard.refusal_reason(edit.phrase, target) for edit in edits for target in edit.targets)


class Epochs:
    """The batches of all epochs. Worker processes sample the examples of the next epoch during the current one.

    Every epoch has as many batches as the first, so that the number of a step determines its batch.
    """

    def __init__(
        self, rows: Sequence[Row], sampler: PlanSampler, tokenizer: Path, settings: SimpleNamespace
    ) -> None:  # fmt: skip
        self._settings, self._lock = settings, threading.Lock()
        self._chunks = -(-len(rows) // _CHUNK)
        self._pool = Pool(max(1, (os.cpu_count() or 1) - 1), _begin, (rows, sampler, tokenizer, settings))
        self._made: dict[int, tuple[Tokens, Batches]] = {}
        self._waiting: dict[int, Any] = {}
        self.per_epoch = self._epoch(0)[1].per_epoch

    def __enter__(self) -> Epochs:
        return self

    def __exit__(self, *exception: object) -> None:
        self._pool.terminate()
        self._pool.join()

    def __getitem__(self, step: int) -> tuple[Tensor, Tensor]:
        """The sources and the targets of a step, padded."""
        epoch, place = divmod(step, self.per_epoch)
        with self._lock:
            (sources, targets), batches = self._epoch(epoch)
            if epoch + 1 not in self._made:
                self._request(epoch + 1)  # prepared during this epoch
        rows = batches[place % batches.per_epoch]
        return sources.padded(rows, PAD), targets.padded(rows, PAD)

    def _epoch(self, epoch: int) -> tuple[Tokens, Batches]:
        if epoch not in self._made:
            parts = self._request(epoch).get()
            del self._waiting[epoch]
            sources, targets = (TokenRows.joined(side) for side in zip(*parts, strict=True))
            lengths = np.maximum(sources.lengths, targets.lengths)
            self._made = {number: made for number, made in self._made.items() if number >= epoch - 1}
            batches = Batches(lengths, self._settings.tokens, 1, self._settings.seed + epoch)
            self._made[epoch] = (sources, targets), batches
        return self._made[epoch]

    def _request(self, epoch: int) -> Any:
        if epoch not in self._waiting:
            self._waiting[epoch] = self._pool.map_async(_examples, [(epoch, chunk) for chunk in range(self._chunks)])
        return self._waiting[epoch]


def _begin(rows: Sequence[Row], sampler: PlanSampler, tokenizer: Path, settings: SimpleNamespace) -> None:
    """Initialise a worker process."""
    from transformers import AutoTokenizer

    torch.set_num_threads(1)
    own: Any = AutoTokenizer.from_pretrained(tokenizer)
    _KEPT.update(rows=rows, settings=settings, sampler=sampler, marks=MarkTokens(own), tokenizer=own)


_KEPT: dict[str, Any] = {}  # of a process


def _examples(job: tuple[int, int]) -> Tokens:
    """The tokenized examples of some pairs in one epoch, without those that are too long."""
    epoch, chunk = job
    settings, marks, most = _KEPT["settings"], _KEPT["marks"], _KEPT["settings"].positions
    rng = random.Random(f"{settings.seed} {epoch} {chunk}")
    made = list(_sample_examples(_KEPT["rows"][chunk * _CHUNK : (chunk + 1) * _CHUNK], rng))
    targets = _KEPT["tokenizer"]([example.target for example in made])["input_ids"]
    sources = [marks.encode(mark(example.plan)) for example in made]
    fit = [pair for pair in zip(sources, targets, strict=True) if max(map(len, pair)) <= most]
    return TokenRows.of([source for source, _ in fit]), TokenRows.of([target for _, target in fit])


def _sample_examples(rows: Sequence[Row], rng: random.Random) -> Iterator[PlanExample]:
    settings, sampler = _KEPT["settings"], _KEPT["sampler"]
    last: PlanExample | None = None
    for one in map(LinkedPair.of, rows):
        times, use = settings.corpora[one.tag]
        for _ in range(int(times) + (rng.random() < times % 1)):
            example = sampler.example(one, rng, without=_WITHOUT[use])
            if last is not None and rng.random() < settings.joined and can_join(last, example):
                yield joined(last, example)
            yield example
            last = example


def lengthen(model: Any, positions: int) -> None:
    """Add positions to the model; the new embeddings are copies of the last old ones."""
    known = model.config.max_position_embeddings
    for side in (model.model.encoder, model.model.decoder):
        old = side.embed_positions
        new = type(old)(positions, old.embedding_dim)
        with torch.no_grad():
            new.weight[: len(old.weight)] = old.weight
            more = len(new.weight) - len(old.weight)
            new.weight[len(old.weight) :] = old.weight[-more:] if more <= known else old.weight.mean(0)
        side.embed_positions = new
    model.config.max_position_embeddings = positions
