"""Step 2: pretrains the model to restore text with masked spans and wrong tokens."""

from __future__ import annotations

import os
from multiprocessing import Pool
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from redraft.fit.rewriter.token_batches import IGNORED, pad_rows, summed_loss
from redraft.fit.rewriter.token_batches import Batch as Examples
from training.loop import Batch, Batches, Clock, Training
from training.text_corpus import articles_of, text_files
from training.tokenizer import END, MASK, PAD, SPECIAL, START

_ROOM = 2  # positions reserved for the start and end tokens


def make_model(settings: SimpleNamespace, vocabulary: int) -> Any:
    """The architecture of mBART: BART with layer norms before each layer. With layer norms after each layer, the
    encoder collapsed within 4,000 steps: all its vectors became equal, and nothing was copied."""
    from transformers import MBartConfig, MBartForConditionalGeneration

    config = MBartConfig(
        vocab_size=vocabulary, d_model=settings.d_model, max_position_embeddings=settings.positions,
        encoder_layers=settings.encoder_layers, decoder_layers=settings.decoder_layers,
        encoder_attention_heads=settings.heads, decoder_attention_heads=settings.heads,
        encoder_ffn_dim=settings.ffn_dim, decoder_ffn_dim=settings.ffn_dim,
        dropout=settings.dropout, attention_dropout=0.0, activation_dropout=0.0,
        bos_token_id=START, pad_token_id=PAD, eos_token_id=END, decoder_start_token_id=END,
        forced_eos_token_id=None, scale_embedding=False, num_labels=1,
    )  # fmt: skip
    return MBartForConditionalGeneration(config)


def pretrain(
    data: Path, work: Path, settings: SimpleNamespace, shape: SimpleNamespace, clock: Clock, device: torch.device
) -> bool:
    tokens, starts = _tokens(data, work, shape.positions)
    lengths = np.diff(starts)
    batches = Batches(lengths + 1, settings.tokens, settings.steps, settings.seed)
    print(f"{len(lengths):,} texts, {len(tokens):,} tokens, {batches.per_epoch} batches in an epoch", flush=True)
    end = np.array([END], np.uint16)

    def batch_of(step: int) -> Batch:
        rows = [np.append(tokens[starts[row] : starts[row + 1]], end) for row in batches[step]]
        return {"text": pad_rows(rows, PAD)}

    torch.manual_seed(settings.seed)
    model = make_model(shape, _vocabulary(work))

    def loss_of(model: Any, batch: Batch) -> Tensor:
        noisy = noised(batch["text"], settings.masked, settings.wrong, model.config.vocab_size)
        return mean_loss(model, noisy, batch["text"])

    some = batch_of(0)["text"][:64].to(device)

    def watch(model: Any) -> dict[str, float]:
        """How much the loss grows if the source is another text; near 0, the model ignores the source."""
        own, other = (float(mean_loss(model, source, some)) for source in (some, some.roll(1, 0)))
        return {"reads": other - own}

    training = Training(model, batch_of, loss_of, settings, work / "pretrain", device, watch)
    done = training.run(clock)
    if done:
        training.averaged.save_pretrained(work / "pretrain" / "model")
    return done


def mean_loss(model: Any, source: Tensor, target: Tensor, smoothing: float = 0.0) -> Tensor:
    """The mean loss of a target's tokens; (batch, token) both, padded."""
    batch = Examples(source, (source != PAD).long(), target.masked_fill(target == PAD, IGNORED))
    return summed_loss(model, model, batch, smoothing) / (target != PAD).sum()


def noised(text: Tensor, masked: float, wrong: float, vocabulary: int) -> Tensor:
    """(batch, token): spans of three tokens on average are replaced by one mask each, some tokens by random ones."""
    batch, width = text.shape
    real = (text != PAD) & (text != END)
    place = torch.arange(width, device=text.device)
    begins = torch.rand(text.shape, device=text.device) < masked / 3.2
    size = torch.poisson(torch.full(text.shape, 3.0, device=text.device)).clamp(min=1).long()
    until = torch.where(begins, place + size, 0).cummax(1).values
    hidden = (until > place) & real
    first = hidden & ~functional.pad(hidden[:, :-1], (1, 0))
    other = torch.randint(len(SPECIAL), vocabulary, text.shape, device=text.device)
    changed = torch.where((torch.rand(text.shape, device=text.device) < wrong) & real, other, text)
    changed = torch.where(first, MASK, changed)
    kept = (~hidden | first) & (text != PAD)
    target = torch.where(kept, kept.cumsum(1) - 1, width)  # dropped tokens go to an extra column, which is cut off
    out = text.new_full((batch, width + 1), PAD).scatter(1, target, torch.where(kept, changed, PAD))
    return out[:, : int(kept.sum(1).max())]


def _vocabulary(work: Path) -> int:
    from transformers import AutoTokenizer

    return len(AutoTokenizer.from_pretrained(work / "tokenizer"))


def _tokens(data: Path, work: Path, positions: int) -> tuple[np.ndarray, np.ndarray]:
    """The tokens of all texts, concatenated, and the start of each text of a few sentences; stored in a file."""
    paths = work / "pretrain" / "tokens.npy", work / "pretrain" / "starts.npy"
    if not all(path.exists() for path in paths):
        with Pool(min(len(text_files(data)), os.cpu_count() or 1)) as pool:
            jobs = [(path, work / "tokenizer", positions - _ROOM) for path in text_files(data)]
            parts = pool.starmap(_encode, jobs)
        lengths = np.concatenate([part[1] for part in parts])
        np.save(paths[0], np.concatenate([part[0] for part in parts]))
        np.save(paths[1], np.concatenate([[0], np.cumsum(lengths)]))
    return np.load(paths[0]), np.load(paths[1])


def _encode(path: Path, tokenizer_path: Path, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Texts of consecutive sentences of an article, each filled up to a random length."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_path)
    rng = np.random.default_rng(0)
    texts: list[list[int]] = []
    ahead: list[list[str]] = []

    def flush() -> None:
        flat = [" " * (place > 0) + sentence for article in ahead for place, sentence in enumerate(article)]
        encoded = iter(tokenizer(flat, add_special_tokens=False)["input_ids"])
        for article in ahead:
            room, text = int(rng.integers(most // 4, most + 1)), []
            for _ in article:
                ids = next(encoded)[:most]
                if text and len(text) + len(ids) > room:
                    texts.append(text)
                    room, text = int(rng.integers(most // 4, most + 1)), []
                text = text + ids
            if text:
                texts.append(text)
        ahead.clear()

    for article in articles_of(path):
        ahead.append(article)
        if len(ahead) == 500:
            flush()
    flush()
    flat = np.fromiter((token for text in texts for token in text), np.uint16)
    return flat, np.array([len(text) for text in texts], np.int64)
