"""Step 3: trains a language model to rewrite with given controls."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from redraft.fit.rewriter.token_batches import IGNORED, pad_rows
from redraft.fit.tagged_pairs import TaggedPair, read_tagged
from training.controls import controls_of
from training.loop import Batch, Batches, Clock, Training
from training.text_corpus import LICENCE_FORBIDS
from training.tokenizer import read_ranks

_BROKEN = ("Ã", "Â", "\\/", "�")  # signs of a wrong encoding


def load_teacher(path: Path) -> tuple[Any, Any]:
    """Load a causal model from a folder or a .gguf file, in float32."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where: dict[str, Any] = {"pretrained_model_name_or_path": path}
    if path.suffix == ".gguf":
        where = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    return model, AutoTokenizer.from_pretrained(**where)


def train_teacher(
    data: Path, work: Path, start: Path, settings: SimpleNamespace, clock: Clock, device: torch.device
) -> bool:
    model, tokenizer = load_teacher(start)
    pairs = repeated(data, {tag: times for tag, (_, times) in settings.corpora.items()}, settings.seed)
    ranks = read_ranks(work / "tokenizer")
    prompts, targets = [], []
    for pair in pairs:
        controls = controls_of(settings.corpora[pair.tag][0], pair.source, pair.target, ranks)
        prompts.append(controls.prompt(pair.source))
        targets.append(f" {pair.target}")
    encoded = [tokenizer(texts, add_special_tokens=False)["input_ids"] for texts in (prompts, targets)]
    end = tokenizer.eos_token_id
    rows = [(prompt, [*target, end]) for prompt, target in zip(*encoded, strict=True)]
    kept = [row for row in rows if len(row[0]) + len(row[1]) <= settings.longest]
    lengths = np.array([len(prompt) + len(target) for prompt, target in kept])
    batches = Batches(lengths, settings.tokens, settings.steps, settings.seed)
    left_out = len(rows) - len(kept)
    print(f"{len(kept):,} pairs ({left_out:,} too long), {batches.per_epoch} batches in an epoch", flush=True)

    def batch_of(step: int) -> Batch:
        chosen = [kept[row] for row in batches[step]]
        tokens = [np.array([*prompt, *target]) for prompt, target in chosen]
        labels = [np.array([*[IGNORED] * len(prompt), *target]) for prompt, target in chosen]
        return {"tokens": pad_rows(tokens, end), "labels": pad_rows(labels, IGNORED)}

    training = Training(model, batch_of, _loss, settings, work / "teacher", device)
    done = training.run(clock)
    if done:
        torch.save(training.averaged.bfloat16().state_dict(), work / "teacher" / "weights.pt")
    return done


def _loss(model: Any, batch: Batch) -> Tensor:
    """Padding is on the right, so a causal model needs no attention mask."""
    logits = model(input_ids=batch["tokens"], use_cache=False).logits
    return functional.cross_entropy(
        logits[:, :-1].flatten(0, 1).float(), batch["labels"][:, 1:].flatten(), ignore_index=IGNORED
    )


def repeated(data: Path, times: dict[str, float], seed: int) -> list[TaggedPair]:
    """The pairs of the corpora in `times`, each repeated that often (0.4: two in five pairs), without broken ones."""
    rng = random.Random(seed)
    found: list[TaggedPair] = []
    for pair in read_tagged(data / "pairs" / "pairs.tsv.xz", LICENCE_FORBIDS):
        wanted = times.get(pair.tag, 0)
        if is_broken(pair):
            continue
        found += [pair] * (int(wanted) + (rng.random() < wanted % 1))
    return found


def is_broken(pair: TaggedPair) -> bool:
    return any(sign in pair.source + pair.target for sign in _BROKEN)
