"""The words that SARI, BLEU, FKGL and Len count: lower-cased, then split as `13a` of sacrebleu does."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import sacrebleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

SIGNATURE = "case:lc|tok:13a"
LIBRARY = f"sacrebleu:{sacrebleu.__version__}"


@lru_cache(maxsize=16_384)  # the same sources and references for every system and measure
def tokenized(text: str) -> str:
    """The tokens of a text, joined by single spaces."""
    return str(_tokenizer()(text.lower()))


@cache
def _tokenizer() -> Any:
    make: Any = Tokenizer13a  # has no types
    return make()
