"""A model that is to read plans: its tokenizer gets the marks, its embeddings grow, its configuration says so."""

from __future__ import annotations

from typing import Any

from redraft.constrain.mark_tokens import add_marks, has_marks
from redraft.decode.loading import READS_PLANS


def prepare_for_plans(model: Any, tokenizer: Any) -> None:
    """New embeddings start near the mean of the others; a model that has enough keeps them as they are."""
    if not has_marks(tokenizer):
        add_marks(tokenizer)
    if model.get_input_embeddings().num_embeddings < len(tokenizer):
        _resize_quietly(model, len(tokenizer))
    setattr(model.config, READS_PLANS, True)


def _resize_quietly(model: Any, tokens: int) -> None:
    """transformers says in a warning how the new embeddings start, and offers what is not wanted here."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        model.resize_token_embeddings(tokens)
    finally:
        logging.set_verbosity(level)
