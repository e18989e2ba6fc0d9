"""Models made in memory with fixed weights: tiny ones of transformers, and one that prefers given texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

transformers.logging.set_verbosity_error()

BAD = -20.0  # log-probability of a token that a WritingModel does not like


_BART = {
    "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 96, "init_std": 0.5,
}  # fmt: skip


def _bart(vocab: int, **ids: int) -> Any:
    end = ids["eos_token_id"]
    config = transformers.BartConfig(
        vocab_size=vocab, decoder_start_token_id=end, forced_eos_token_id=end, **_BART, **ids
    )
    return transformers.BartForConditionalGeneration(config)


def _mbart(vocab: int, **ids: int) -> Any:
    """The architecture of the bundled model."""
    config = transformers.MBartConfig(
        vocab_size=vocab, decoder_start_token_id=ids["eos_token_id"], forced_eos_token_id=None, **_BART, **ids
    )
    return transformers.MBartForConditionalGeneration(config)


def _t5(vocab: int, **ids: int) -> Any:
    config = transformers.T5Config(
        vocab_size=vocab, d_model=16, d_kv=4, d_ff=32, num_layers=2, num_heads=2, initializer_factor=1.5,
        decoder_start_token_id=ids["pad_token_id"], **ids,
    )  # fmt: skip
    model = transformers.T5ForConditionalGeneration(config)
    for name, weight in model.named_parameters():  # otherwise it depends only on the last token, and texts are tied
        if name.endswith("Attention.o.weight"):
            weight.data *= 5
    return model


def _gpt2(vocab: int, **ids: int) -> Any:
    config = transformers.GPT2Config(
        vocab_size=vocab, n_embd=16, n_layer=2, n_head=2, n_positions=96, initializer_range=0.8, **ids
    )
    return transformers.GPT2LMHeadModel(config)


def _llama(vocab: int, **ids: int) -> Any:
    config = transformers.LlamaConfig(
        vocab_size=vocab, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=96, initializer_range=0.8, **ids,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


FAMILIES: dict[str, Callable[..., Any]] = {"bart": _bart, "mbart": _mbart, "t5": _t5, "gpt2": _gpt2, "llama": _llama}


def tiny_model(
    family: str, vocab: int = 24, *, pad_token_id: int = 0, bos_token_id: int = 1, eos_token_id: int = 2
) -> Any:
    """A random model; with few tokens its texts end early and often."""
    torch.manual_seed(0)
    model = FAMILIES[family](vocab, pad_token_id=pad_token_id, bos_token_id=bos_token_id, eos_token_id=eos_token_id)
    return model.eval()


def tiny_model_for(family: str, tokenizer: Any) -> Any:
    """A random model for a tokenizer, with an output layer a little wider than the vocabulary, as many have."""
    return tiny_model(
        family,
        len(tokenizer) + 3,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )


class WritingModel:
    """Prefers given token sequences; all other tokens are unlikely, lower ids slightly less so.

    `likes` maps token sequences, each with its end, to a log-probability for the step where it parts from the others.
    """

    def __init__(self, vocab: int, likes: dict[tuple[int, ...], float], end_tokens: Sequence[int]) -> None:
        self.end_tokens = list(end_tokens)
        self._likes = likes
        self._others = [BAD - token * 1e-3 for token in range(vocab)]

    def next_log_probs(self, prefix: tuple[int, ...]) -> list[float]:
        scores = list(self._others)
        for text, log_prob in self._likes.items():
            if len(text) > len(prefix) and text[: len(prefix)] == prefix:
                token = text[len(prefix)]
                scores[token] = max(scores[token], log_prob)
        return scores

    def start(self, sources: Sequence[str], beams: int) -> Tensor:
        self._rows: list[list[tuple[int, ...]]] = [[()] * beams for _ in sources]
        return self._scores()

    def step(self, tokens: Tensor) -> Tensor:
        self._rows = [
            [(*row, token) for row, token in zip(rows, sentence, strict=True)]
            for rows, sentence in zip(self._rows, tokens.tolist(), strict=True)
        ]
        return self._scores()

    def reorder(self, parent: Tensor) -> None:
        self._rows = [[rows[row] for row in order] for rows, order in zip(self._rows, parent.tolist(), strict=True)]

    def _scores(self) -> Tensor:
        return torch.tensor([[self.next_log_probs(row) for row in rows] for rows in self._rows], dtype=torch.float64)


def save_small_bert(folder: Path, words: Sequence[str], **shape: int) -> str:
    """A BERT of random weights with these words as its vocabulary; returns the folder as text."""
    from transformers import BertConfig, BertModel, BertTokenizer

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16, **shape}
    BertModel(BertConfig(vocab_size=len(vocabulary), **sizes)).save_pretrained(folder)
    BertTokenizer(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)
