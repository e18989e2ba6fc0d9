"""Model, tokenizer and plans of the benchmarks, generated in memory from random seeds."""

from __future__ import annotations

import random
from functools import cache

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import BartConfig, BartForConditionalGeneration, LogitsProcessor, PreTrainedTokenizerFast

from redraft import Edit, EditPlan

# BART-base: six encoder and six decoder layers of width 768, 50,265 tokens, 139 M parameters.
BART_BASE = {
    "vocab_size": 50265, "d_model": 768, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 12,
    "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072, "max_position_embeddings": 1024,
    "forced_eos_token_id": None,
}  # fmt: skip
SMALL = {**BART_BASE, "vocab_size": 5000, "d_model": 96, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128}


def make_model(shape: dict[str, int | None], device: str, dtype: torch.dtype) -> BartForConditionalGeneration:
    """A model with random weights. The large standard deviation makes log-probabilities clearly different."""
    torch.manual_seed(0)
    model = BartForConditionalGeneration(BartConfig(**shape, init_std=0.06))
    return model.eval().to(device=device, dtype=dtype)


@cache
def made_up_words(count: int = 12000) -> list[str]:
    rng = random.Random(1)
    onsets, vowels, codas = (
        ["b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "pl", "gr"],
        ["a", "e", "i", "o", "u", "ea", "ou"],
        ["n", "r", "s", "t", "l", "m", "nd", "st"],
    )
    words: dict[str, None] = {}
    while len(words) < count:
        words[
            "".join(rng.choice(onsets) + rng.choice(vowels) for _ in range(rng.randint(1, 3))) + rng.choice(codas)
        ] = None
    return list(words)


@cache
def make_tokenizer(size: int = 4000) -> PreTrainedTokenizerFast:
    """Byte-level BPE like BART's, but smaller than the model's vocabulary: the other ids have no text."""
    rng = random.Random(2)
    words = made_up_words()
    text = [" ".join(words[min(int(rng.paretovariate(0.8)), len(words)) - 1] for _ in range(12)) for _ in range(4000)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(text, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


def make_plans(
    count: int, seed: int, insertions: int = 6, deletions: int = 3, substitutions: int = 2
) -> list[EditPlan]:
    """Plans for sentences of 16 to 24 made-up words, with edits of some of these words."""
    rng = random.Random(seed)
    words = made_up_words()
    plans = []
    for _ in range(count):
        wanted = insertions + deletions + substitutions
        source = rng.sample(words[:8000], max(rng.randint(16, 24), wanted))
        named = iter(rng.sample(source, wanted))
        edits = [Edit.insert(next(named)) for _ in range(insertions)]
        edits += [Edit.delete(next(named)) for _ in range(deletions)]
        edits += [Edit.substitute(next(named), *rng.sample(words[8000:], 2)) for _ in range(substitutions)]
        plans.append(EditPlan(" ".join(source), tuple(edits)))
    return plans


class EndAtSourceLength(LogitsProcessor):
    """Makes EOS likely once an output is as long as its source; with random weights it would come at once or never."""

    def __init__(self, attention_mask: torch.Tensor, beams: int, end: int) -> None:
        self._lengths = attention_mask.sum(1).repeat_interleave(beams)
        self._end = end

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        due = self._lengths <= input_ids.shape[1]
        scores[:, self._end] = torch.where(due, scores.amax(1), scores[:, self._end])
        return scores


def make_inputs(plans: list[EditPlan], device: str) -> dict[str, torch.Tensor]:
    tokens = make_tokenizer()([plan.source for plan in plans], padding=True, return_tensors="pt")
    return {name: tokens[name].to(device) for name in ("input_ids", "attention_mask")}
