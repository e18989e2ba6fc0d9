"""The word rule lifted from characters to tokens: two tables for each tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from redraft.text.words import Closes, Sign, Tail, closes, next_tail, sign

# Byte-level vocabularies cut characters in two: in GPT-2's, a curly quote is b"\xe2\x80" and then b"\x9c". A state is a
# tail and the bytes of a character that has only begun. Only these beginnings are kept apart, since quotes, dashes,
# hyphens and odd spaces live behind them. Any other beginning counts at once as whichever of the characters behind it
# holds the most together: a word may then seem to go on where it ends, but never to end where it goes on.
_BEGUN = (b"", b"\xc2", b"\xe2", b"\xe2\x80")
STATES = len(Tail) * len(_BEGUN)

# What a token is made of: the sign of each whole character, or (as a negative number) a byte of a broken one.
Unit = int


@dataclass(frozen=True, eq=False)
class BoundaryTables:
    """How each token changes the tail of a text, and whether it closes the word before it."""

    next_tail: npt.NDArray[np.uint8]  # (tail, vocab)
    closes: npt.NDArray[np.uint8]  # (tail, vocab) of Closes
    always_closes: npt.NDArray[np.bool_]  # (tail,)


def tail_tables(texts: Sequence[bytes | None]) -> BoundaryTables:
    """Tables for a vocabulary of token texts; None marks a special token, which writes nothing and decides nothing."""
    after = np.tile(np.arange(STATES, dtype=np.uint8)[:, None], len(texts))
    close = np.full((STATES, len(texts)), Closes.LATER, dtype=np.uint8)
    columns: dict[tuple[Unit, ...], list[int]] = {}
    for token, text in enumerate(texts):
        if text is not None:
            columns.setdefault(_shorten(_units(text)), []).append(token)
    for units, tokens in columns.items():
        for state in range(STATES):
            close[state, tokens], after[state, tokens] = _run(state, units)
    ordinary = [token for token, text in enumerate(texts) if text is not None]
    return BoundaryTables(after, close, (close[:, ordinary] == Closes.YES).all(axis=1))


def tail_after(text: bytes, state: int = Tail.EDGE) -> int:
    """The state after a text."""
    return _run(state, _units(text))[1]


@lru_cache(maxsize=65_536)
def starts_after(lead: str, word: str) -> tuple[bool, ...]:
    """(state,) whether a word begins with `word` when `lead` and then `word` are written in each state.

    A lone number sign may begin one; what follows it decides, as it does for its end.
    """
    return _starts_after(_units(lead.encode()), _units(word[:2].encode()))


@lru_cache(maxsize=4096)
def _starts_after(lead: tuple[Unit, ...], word: tuple[Unit, ...]) -> tuple[bool, ...]:
    return tuple(_run(_run(state, lead)[1], word)[0] is not Closes.NO for state in range(STATES))


def _units(text: bytes) -> tuple[Unit, ...]:
    units: list[Unit] = []
    for character in text.decode("utf-8", "surrogateescape"):
        broken = 0xDC80 <= ord(character) <= 0xDCFF
        units.append(-(ord(character) - 0xDC00) if broken else int(sign(character)))
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
        read, begun = _read(begun, unit)
        for signs in read:
            if verdict is Closes.LATER:
                verdicts = {closes(tail, one) for one in signs}
                verdict = verdicts.pop() if len(verdicts) == 1 else Closes.NO
            if len(signs) == 1:
                tail = next_tail(tail, signs[0])
            else:  # after a digit the fewest words end, then after a letter
                tail = Tail.DIGIT if Sign.DIGIT in signs else Tail.LETTER if Sign.LETTER in signs else Tail.OTHER
    return verdict, tail + len(Tail) * _BEGUN.index(begun)


_BROKEN = (Sign.OTHER,)  # decodes to U+FFFD


def _read(begun: bytes, unit: Unit) -> tuple[list[tuple[Sign, ...]], bytes]:
    """The characters that a unit completes, each as the signs it may have, and the bytes to remember."""
    if unit >= 0:
        return [_BROKEN, (Sign(unit),)] if begun else [(Sign(unit),)], b""
    byte = bytes([-unit])
    data = begun + byte
    if data in _BEGUN:
        return [], data
    goes_on = 0x80 <= byte[0] < 0xC0
    if begun and not goes_on:
        read, begun = _read(b"", unit)
        return [_BROKEN, *read], begun
    if begun:
        return [_signs_behind(data)], b""
    if goes_on:  # with a character that has been counted already; if there is none it parts words, so nothing is lost
        return [], b""
    return [_signs_behind(byte)], b""


@cache
def _signs_behind(data: bytes) -> tuple[Sign, ...]:
    """The signs of all characters whose UTF-8 begins with these bytes."""
    if data[0] in (0xC0, 0xC1) or data[0] > 0xF4:
        return _BROKEN
    if len(data) == 1 and data[0] >= 0xE0:  # thousands of characters of every sort
        return (Sign.LETTER, Sign.DIGIT, Sign.OTHER)
    ends = (b"",) if len(data) == (2 if data[0] < 0xE0 else 3) else (bytes([last]) for last in range(0x80, 0xC0))
    return tuple(sorted({sign((data + end).decode()) for end in ends}))
