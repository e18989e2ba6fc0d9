"""Step 1: trains the tokenizer and counts word frequencies."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from training.text_corpus import articles

WORD = re.compile(r"[^\W\d_]+")
START, PAD, END, UNKNOWN, MASK = range(5)
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
_RANKS = 60_000  # most frequent words, whose ranks are stored


def make_tokenizer(data: Path, out: Path, settings: SimpleNamespace, positions: int) -> None:
    """Byte-level BPE, cased; every digit is a token, so that numbers are copied unchanged."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    counts: Counter[str] = Counter()

    def lines() -> Iterator[str]:
        for number, article in enumerate(articles(data)):
            if number % settings.every == 0:
                for sentence in article:
                    counts.update(word.lower() for word in WORD.findall(sentence))
                    yield sentence

    bpe: Any = Tokenizer(models.BPE(unk_token=None))
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(r" ?\d"), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=settings.vocabulary, min_frequency=2, special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
    )  # fmt: skip
    bpe.train_from_iterator(lines(), trainer)
    bpe.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", END)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>",
        mask_token="<mask>", model_max_length=positions, clean_up_tokenization_spaces=False,
    )  # fmt: skip
    tokenizer.save_pretrained(out)
    (out / "ranks.json").write_text(json.dumps([word for word, _ in counts.most_common(_RANKS)]), encoding="utf-8")
    print(f"{len(tokenizer):,} tokens; {sum(counts.values()):,} words counted", flush=True)


def read_ranks(folder: Path) -> dict[str, int]:
    """Word → its frequency rank, from 1."""
    words = json.loads((folder / "ranks.json").read_text(encoding="utf-8"))
    return {word: place for place, word in enumerate(words, 1)}
