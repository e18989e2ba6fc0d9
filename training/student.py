"""Step 5: trains the pretrained model on the teacher's rewritings and on human ones."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from redraft.files import digest
from redraft.fit.rewriter.token_batches import pad_rows
from training.checkpoint_choice import is_copy, sound
from training.distil import figures, read_distilled
from training.loop import Batch, Batches, Clock, Training
from training.pretrain import mean_loss
from training.settings import remember
from training.teacher import repeated
from training.text_corpus import read_held_out
from training.tokenizer import PAD


def train_student(data: Path, work: Path, settings: SimpleNamespace, clock: Clock, device: torch.device) -> bool:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(work / "tokenizer")
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(
        work / "pretrain" / "model", dtype=torch.float32, dropout=settings.dropout
    )
    made = read_distilled(work, settings.near_copies, settings.seed)
    real = [
        (pair.source, pair.target)
        for pair in repeated(data, settings.corpora, settings.seed)
        if sound(pair.source, pair.target) and not is_copy(pair.source, pair.target)
    ]
    pairs = made + real
    facts = {**vars(settings), "pairs": digest(json.dumps(pairs).encode())}
    remember(work / "student", facts, may_change=["steps"])
    encoded = [tokenizer(texts)["input_ids"] for texts in map(list, zip(*pairs, strict=True))]
    sides = [[np.array(ids, np.int64) for ids in texts] for texts in encoded]
    lengths = np.array([max(map(len, pair)) for pair in zip(*sides, strict=True)])
    fit = np.flatnonzero(lengths <= model.config.max_position_embeddings)
    batches = Batches(lengths[fit], settings.tokens, settings.steps, settings.seed)
    print(f"{len(made):,} distilled and {len(real):,} real pairs ({len(pairs) - len(fit)} too long), "
          f"{batches.per_epoch} batches in an epoch", flush=True)  # fmt: skip

    def batch_of(step: int) -> Batch:
        rows = fit[batches[step]]
        source, target = ([side[row] for row in rows] for side in sides)
        return {"source": pad_rows(source, PAD), "target": pad_rows(target, PAD)}

    def loss_of(model: Any, batch: Batch) -> Tensor:
        return mean_loss(model, batch["source"], batch["target"], settings.smoothing)

    training = Training(model, batch_of, loss_of, settings, work / "student", device)
    done = training.run(clock)
    if done:
        out = work / "student" / "model"
        training.averaged.save_pretrained(out)
        tokenizer.save_pretrained(out)
        _report(data, out, device)
    return done


def _report(data: Path, folder: Path, device: torch.device) -> None:
    """Scores of the student on the held-out sentences, with plain beam search."""
    from redraft.decode.config import DecodeConfig
    from redraft.decode.redrafter import Redrafter

    held = read_held_out(data)
    redrafter = Redrafter(str(folder), config=DecodeConfig(method="beam", beams=20), device=str(device),
                          graphs=device.type == "cuda")  # fmt: skip
    outputs = [found.text for found in redrafter.stream(held.sources, batch_size=32)]
    found = figures(held, outputs)
    print(json.dumps(found), flush=True)
    (folder.parent / "held_out.json").write_text(json.dumps(found) + "\n", encoding="utf-8")
    lines = "".join(f"{source}\t{output}\n" for source, output in zip(held.sources, outputs, strict=True))
    (folder.parent / "held_out.tsv").write_text(lines, encoding="utf-8")
