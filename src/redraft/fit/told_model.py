"""A model that is to read plans: its tokenizer gets the marks, its embeddings grow, its configuration says so."""

from __future__ import annotations

from typing import Any

from redraft.constrain.mark_tokens import add_marks, has_marks
from redraft.decode.loading import READS_PLANS


def prepare_for_plans(model: Any, tokenizer: Any) -> None:
    """New embeddings start near the mean of the others; a model that has them keeps them."""
    if not has_marks(tokenizer):
        add_marks(tokenizer)
    if model.get_input_embeddings().num_embeddings < len(tokenizer):
        model.resize_token_embeddings(len(tokenizer))
    setattr(model.config, READS_PLANS, True)
