"""Encodes marked sources with tokenizers that have a token for each mark."""

from __future__ import annotations

from typing import Any

from redraft.constrain.vocabulary import own_backend
from redraft.plan.marked_source import PLACEHOLDERS, Mark, Marked


def add_marks(tokenizer: Any) -> None:
    """Add a token for each mark and each placeholder; the embeddings of the model must be resized accordingly.

    Marks are special tokens: the model never writes them, and text that looks like a mark is encoded as text.
    Placeholders are ordinary tokens, because the model also writes them.
    """
    from transformers import AddedToken

    tokenizer.add_tokens([AddedToken(mark.value, special=True, normalized=False) for mark in Mark], special_tokens=True)
    tokenizer.add_tokens([AddedToken(sign, special=False, normalized=False) for sign in PLACEHOLDERS])


def has_marks(tokenizer: Any) -> bool:
    return hasattr(tokenizer, "get_vocab") and {*map(str, Mark), *PLACEHOLDERS} <= tokenizer.get_vocab().keys()


class MarkTokens:
    """Encodes marked sources, including the special tokens that a tokenizer adds around a text."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        known = tokenizer.get_vocab()
        self._tokens: dict[Mark, int] = {mark: known[mark.value] for mark in Mark}
        whole, bare = tokenizer("a")["input_ids"], tokenizer("a", add_special_tokens=False)["input_ids"]
        at = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
        self._first, self._last = whole[:at], whole[at + len(bare) :]
        self._backend = own_backend(tokenizer)
        if self._backend is not None:
            self._backend.encode_special_tokens = True  # encode the text of a special token as ordinary text

    def encode(self, marked: Marked, prompt: str = "{source}") -> list[int]:
        """`prompt` is the prompt template of a decoder-only model."""
        before, _, after = prompt.partition("{source}")
        tokens: list[int] = list(self._first)
        for piece in (before, *marked, after):
            if isinstance(piece, Mark):
                tokens.append(self._tokens[piece])
            elif piece:
                tokens += self._text(piece)
        return [*tokens, *self._last]

    def _text(self, text: str) -> list[int]:
        if self._backend is not None:
            ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
            return ids
        found: list[int] = self._tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return found
