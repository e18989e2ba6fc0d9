"""The interface to tokenizers: the text of each token, and the tokens of a text."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol

from redraft.constrain.word_boundaries import BoundaryTables, boundary_tables
from redraft.errors import ModelError
from redraft.light_tokenizer import LightTokenizer
from redraft.text.words import split_words


class Vocabulary(Protocol):
    """What the compiler of plans needs from a tokenizer."""

    @property
    def texts(self) -> Sequence[bytes | None]:
        """(vocab,) the text that a token adds in the middle of a text; None for special tokens."""

    @property
    def special(self) -> frozenset[int]: ...

    @property
    def unknown(self) -> int | None:
        """The token for text that cannot be encoded; one of `special`."""

    @property
    def tables(self) -> BoundaryTables: ...

    def encode(self, texts: Sequence[str]) -> list[list[int]]: ...

    def decode(self, tokens: Sequence[int]) -> str: ...


class WordVocabulary:
    """A vocabulary of whole words separated by spaces, for scripted models."""

    def __init__(self, words: Sequence[str], special: Iterable[str] = ()) -> None:
        self.words = tuple(words)
        self.index = {word: token for token, word in enumerate(words)}
        self.special = frozenset(self.index[word] for word in special)
        self.unknown = None
        self.texts = [None if token in self.special else f" {word}".encode() for token, word in enumerate(words)]

    @cached_property
    def tables(self) -> BoundaryTables:
        return boundary_tables(self.texts)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of each text; -1 for a word that is not in the vocabulary."""
        return [[token for chunk in text.split() for token in self._encode_chunk(chunk)] for text in texts]

    def _encode_chunk(self, chunk: str) -> list[int]:
        if chunk in self.index:
            return [self.index[chunk]]
        return [self.index.get(word.text, -1) for word in split_words(chunk)]

    def decode(self, tokens: Sequence[int]) -> str:
        return " ".join(self.words[token] for token in tokens if token not in self.special)


class TokenizerVocabulary:
    """Any tokenizer of `transformers`."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.special = frozenset(tokenizer.all_special_ids)
        # GPT-2 uses its end token as unknown token too, but never encodes a text with it.
        reserved = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id)
        self.unknown: int | None = None if tokenizer.unk_token_id in reserved else tokenizer.unk_token_id
        self.texts = _token_texts(tokenizer, self.special)
        # Nobody sets padding or truncation on that of a light tokenizer.
        self._fast = tokenizer.backend_tokenizer if isinstance(tokenizer, LightTokenizer) else own_backend(tokenizer)

    @cached_property
    def tables(self) -> BoundaryTables:
        return boundary_tables(self.texts)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        if self._fast is not None:
            return [found.ids for found in self._fast.encode_batch_fast(list(texts), add_special_tokens=False)]
        # Encode as targets: Marian has separate SentencePiece models for source and target.
        encoded: list[list[int]] = self._tokenizer(text_target=list(texts), add_special_tokens=False)["input_ids"]
        return encoded

    def decode(self, tokens: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text


_KNOWN: weakref.WeakKeyDictionary[Any, TokenizerVocabulary] = weakref.WeakKeyDictionary()


def vocabulary_of(tokenizer: Any) -> Vocabulary:
    """The cached vocabulary of a tokenizer; built again if tokens were added."""
    if hasattr(tokenizer, "texts") and hasattr(tokenizer, "tables"):
        own: Vocabulary = tokenizer
        return own
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise ModelError(
            f"{type(tokenizer).__name__} is not a tokenizer",
            "Pass a tokenizer of transformers, or an object with texts, special, unknown, tables, encode and decode.",
        )
    known = _KNOWN.get(tokenizer)
    if known is None or len(known.texts) != len(tokenizer):
        known = _KNOWN[tokenizer] = TokenizerVocabulary(tokenizer)
    return known


def own_backend(tokenizer: Any) -> Any:
    """A copy of the Rust tokenizer inside a tokenizer of `transformers`; None if there is none.

    Called directly, it encodes short phrases several times faster. The copy is not affected by padding and truncation
    that other callers set on the original.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return None
    own = type(backend).from_str(backend.to_str())
    own.no_padding()
    own.no_truncation()
    return own


def _token_texts(tokenizer: Any, special: frozenset[int]) -> list[bytes | None]:
    names: list[str | None] = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    backend = getattr(tokenizer, "backend_tokenizer", None)
    decoder = repr(backend.decoder) if backend is not None else ""
    if "ByteLevel" in decoder:
        return [
            None if token in special or name is None else _from_byte_alphabet(name) for token, name in enumerate(names)
        ]
    decoded = _decoded_after_a_word(tokenizer, names, special)
    if "ByteFallback" in decoder or not decoder:
        for token, name in enumerate(names):
            byte = re.fullmatch(r"<0x([0-9A-Fa-f]{2})>", name or "")
            if byte:
                decoded[token] = bytes([int(byte[1], 16)])
    return decoded


def _decoded_after_a_word(tokenizer: Any, names: Sequence[str | None], special: frozenset[int]) -> list[bytes | None]:
    """The text that each token adds after a word, with the space that WordPiece or SentencePiece implies."""
    anchor = next(
        (token for token, name in enumerate(names) if token not in special and name and name.strip("▁#").isalpha()), 0
    )

    def decode(batch: list[list[int]]) -> list[str]:
        texts: list[str] = tokenizer.batch_decode(batch, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return texts

    before = decode([[anchor]])[0]
    texts: list[bytes | None] = []
    for token, text in enumerate(decode([[anchor, token] for token in range(len(names))])):
        usable = token not in special and text.startswith(before)
        texts.append(text[len(before) :].encode("utf-8", "replace") if usable else None)
    return texts


def _byte_alphabet() -> dict[str, int]:
    """Byte-level BPE maps each byte to a printable character: itself if printable, else the next free code point."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAC + 1), *range(0xAE, 0xFF + 1)]
    alphabet = {chr(byte): byte for byte in printable}
    for offset, byte in enumerate(byte for byte in range(256) if byte not in set(printable)):
        alphabet[chr(256 + offset)] = byte
    return alphabet


_BYTES = _byte_alphabet()


def _from_byte_alphabet(name: str) -> bytes:
    if all(character in _BYTES for character in name):
        return bytes(_BYTES[character] for character in name)
    return name.encode("utf-8", "replace")  # a manually added token is its own text
