"""The word rule lifted from characters to tokens: two tables for each tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from redraft.align.words import Closes, Sign, Tail, closes, next_tail, sign

# Byte-level vocabularies cut characters in two: in GPT-2's, a curly quote is b"\xe2\x80" and then b"\x9c". A state is a
# tail and the bytes of a character that has only begun. Only these beginnings are kept apart, since quotes, dashes, hyphens and
# odd spaces live behind them; any other beginning counts as a letter at once, which never closes a word wrongly.
_BEGUN = (b"", b"\xc2", b"\xe2", b"\xe2\x80")
STATES = len(Tail) * len(_BEGUN)

# What a token is made of: the sign of each whole character, or (as a negative number) a byte of a broken one.
Unit = int


@dataclass(frozen=True, eq=False)
class TailTables:
    """How each token changes the tail of a text, and whether it closes the word before it."""

    next_tail: npt.NDArray[np.uint8]  # (tail, vocab)
    closes: npt.NDArray[np.uint8]  # (tail, vocab) of Closes
    always_closes: npt.NDArray[np.bool_]  # (tail,)


def tail_tables(texts: Sequence[bytes | None]) -> TailTables:
    """Tables for a vocabulary of token texts; None marks a special token, which never closes a word."""
    after = np.zeros((STATES, len(texts)), dtype=np.uint8)
    close = np.full((STATES, len(texts)), Closes.NO, dtype=np.uint8)
    columns: dict[tuple[Unit, ...], list[int]] = {}
    for token, text in enumerate(texts):
        if text is not None:
            columns.setdefault(_shorten(_units(text)), []).append(token)
    for units, tokens in columns.items():
        for state in range(STATES):
            close[state, tokens], after[state, tokens] = _run(state, units)
    ordinary = [token for token, text in enumerate(texts) if text is not None]
    return TailTables(after, close, (close[:, ordinary] == Closes.YES).all(axis=1))


def tail_after(text: bytes, state: int = Tail.EDGE) -> int:
    """The state after a text."""
    return _run(state, _units(text))[1]


@lru_cache(maxsize=4096)
def _sign_of(character: str) -> Sign:
    return sign(character)


def _units(text: bytes) -> tuple[Unit, ...]:
    units: list[Unit] = []
    for character in text.decode("utf-8", "surrogateescape"):
        broken = 0xDC80 <= ord(character) <= 0xDCFF
        units.append(-(ord(character) - 0xDC00) if broken else int(_sign_of(character)))
    return tuple(units)


def _shorten(units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Only the first two characters and the last two can matter, where all are whole: few token shapes remain."""
    if len(units) > 4 and min(units) >= 0:
        return units[:2] + units[-2:]
    return units


def _run(state: int, units: tuple[Unit, ...]) -> tuple[Closes, int]:
    """Whether the word before these units is closed by them, and the state after them."""
    verdict = Closes.LATER
    tail, begun = Tail(state % len(Tail)), _BEGUN[state // len(Tail)]
    for unit in units:
        if unit >= 0:
            here: Sign | None = Sign(unit) if not begun else Sign.LETTER  # a character that broke off
            begun = b""
        else:
            here, begun = _whole(begun + bytes([-unit]))
        if here is None:
            continue
        if verdict is Closes.LATER:
            verdict = closes(tail, here)
        tail = next_tail(tail, here)
    return verdict, tail + len(Tail) * _BEGUN.index(begun)


def _whole(data: bytes) -> tuple[Sign | None, bytes]:
    """The sign of a character once it is known, else the bytes to remember."""
    if data in _BEGUN:
        return None, data
    if len(data) > 1:
        try:
            return _sign_of(data.decode("utf-8")), b""
        except UnicodeDecodeError:
            return (Sign.OTHER if data[:1] == b"\xe2" else Sign.LETTER), b""
    if 0x80 <= data[0] < 0xC0:  # goes on with a character that has been counted already
        return None, b""
    return Sign.LETTER, b""
