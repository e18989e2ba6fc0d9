"""A task that tiny models learn in seconds: copy three words, and replace difficult ones by simple ones."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

transformers.utils.logging.disable_progress_bar()

PLAIN = {"residence": "house", "purchased": "bought"}
WORDS = ["old", "man", "town", "river", *PLAIN, *PLAIN.values()]
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>"]
PROMPT = "{source} >"


def word_tokenizer(**changes: Any) -> PreTrainedTokenizerFast:
    """A token for each word."""
    vocabulary = {word: token for token, word in enumerate([*SPECIAL, *WORDS, ">"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", **changes}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def small_model(family: str, *, dropout: float = 0.0) -> Any:
    """A model that has learned nothing yet, for the tokenizer above."""
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    size, positions = len(SPECIAL) + len(WORDS) + 1, 32
    torch.manual_seed(0)
    if family == "bart":
        return transformers.BartForConditionalGeneration(
            transformers.BartConfig(
                vocab_size=size, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
                decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=positions,
                decoder_start_token_id=2, forced_eos_token_id=2, dropout=dropout, init_std=0.1, **ids,
            )
        )  # fmt: skip
    if family == "t5":
        return transformers.T5ForConditionalGeneration(
            transformers.T5Config(
                vocab_size=size, d_model=32, d_kv=8, d_ff=64, num_layers=1, num_heads=4, dropout_rate=dropout,
                decoder_start_token_id=0, **ids,
            )
        )  # fmt: skip
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=size, n_embd=32, n_layer=2, n_head=4, n_positions=positions, embd_pdrop=dropout,
            attn_pdrop=dropout, resid_pdrop=dropout, initializer_range=0.1, **ids,
        )
    )  # fmt: skip


def save_small_model(folder: Path, family: str, *, dropout: float = 0.0) -> str:
    small_model(family, dropout=dropout).save_pretrained(folder)
    word_tokenizer().save_pretrained(folder)
    return str(folder)


def toy_pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    sources = [rng.sample([*WORDS[:4], *PLAIN], rng.choice([2, 3, 3])) for _ in range(count)]
    return [(" ".join(words), " ".join(PLAIN.get(word, word) for word in words)) for words in sources]


def write_table(path: Path, rows: list[tuple[str, ...]]) -> str:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)
