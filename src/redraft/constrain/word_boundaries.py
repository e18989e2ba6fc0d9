"""The word-boundary rule applied to tokens instead of characters: transition tables for each tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from redraft.text.words import Boundary, BoundaryState, CharClass, boundary_before, char_class, next_state

# Byte-level vocabularies split characters: in GPT-2's, a curly quote is b"\xe2\x80" and then b"\x9c". A state is
# therefore a BoundaryState together with the bytes of an incomplete character. Only the prefixes below are tracked,
# since quotes, dashes, hyphens and special spaces start with them. Any other prefix counts at once as the possible
# character that continues a word most readily: a boundary may then be missed, but is never invented.
_TRACKED_PREFIXES = (b"", b"\xc2", b"\xe2", b"\xe2\x80")
STATES = len(BoundaryState) * len(_TRACKED_PREFIXES)

# A part of a token: the class of a complete character, or (as a negative number) one byte of an incomplete one.
Unit = int


@dataclass(frozen=True, eq=False)
class BoundaryTables:
    """For each state and token: the next state, and whether there is a word boundary before the token."""

    next_state: npt.NDArray[np.uint8]  # (state, vocab)
    boundary: npt.NDArray[np.uint8]  # (state, vocab) of Boundary
    always_boundary: npt.NDArray[np.bool_]  # (state,) a boundary follows whatever the next token is


def boundary_tables(texts: Sequence[bytes | None]) -> BoundaryTables:
    """Tables for a vocabulary of token texts; None is a special token, which writes nothing and decides nothing."""
    after = np.tile(np.arange(STATES, dtype=np.uint8)[:, None], len(texts))
    boundary = np.full((STATES, len(texts)), Boundary.UNDECIDED, dtype=np.uint8)
    columns: dict[tuple[Unit, ...], list[int]] = {}
    for token, text in enumerate(texts):
        if text is not None:
            columns.setdefault(_shortened(_units(text)), []).append(token)
    for units, tokens in columns.items():
        for state in range(STATES):
            boundary[state, tokens], after[state, tokens] = _run(state, units)
    ordinary = [token for token, text in enumerate(texts) if text is not None]
    return BoundaryTables(after, boundary, (boundary[:, ordinary] == Boundary.YES).all(axis=1))


def state_after(text: bytes, state: int = BoundaryState.EDGE) -> int:
    """The state after a text that is written in `state`."""
    return _run(state, _units(text))[1]


@lru_cache(maxsize=65_536)
def allowed_start_states(lead: str, word: str) -> tuple[bool, ...]:
    """(state,) whether `word` starts at a word boundary if `lead` and then `word` are written in that state.

    A number separator whose boundary is undecided counts as a possible start; the text after it decides.
    """
    return _allowed_start_states(_units(lead.encode()), _units(word[:2].encode()))


@lru_cache(maxsize=4096)
def _allowed_start_states(lead: tuple[Unit, ...], word: tuple[Unit, ...]) -> tuple[bool, ...]:
    return tuple(_run(_run(state, lead)[1], word)[0] is not Boundary.NO for state in range(STATES))


def _units(text: bytes) -> tuple[Unit, ...]:
    units: list[Unit] = []
    for character in text.decode("utf-8", "surrogateescape"):
        is_byte = 0xDC80 <= ord(character) <= 0xDCFF
        units.append(-(ord(character) - 0xDC00) if is_byte else int(char_class(character)))
    return tuple(units)


def _shortened(units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Only the first two and the last two characters matter if all are complete; this leaves few distinct tokens."""
    if len(units) > 4 and min(units) >= 0:
        return units[:2] + units[-2:]
    return units


def _run(state: int, units: tuple[Unit, ...]) -> tuple[Boundary, int]:
    """Whether there is a word boundary before these units, and the state after them."""
    boundary = Boundary.UNDECIDED
    current, prefix = BoundaryState(state % len(BoundaryState)), _TRACKED_PREFIXES[state // len(BoundaryState)]
    for unit in units:
        completed, prefix = _read_unit(prefix, unit)
        for classes in completed:
            if boundary is Boundary.UNDECIDED:
                possible = {boundary_before(current, one) for one in classes}
                boundary = possible.pop() if len(possible) == 1 else Boundary.NO
            if len(classes) == 1:
                current = next_state(current, classes[0])
            elif CharClass.DIGIT in classes:  # of all states, a digit ends the fewest words, then a letter
                current = BoundaryState.DIGIT
            else:
                current = BoundaryState.LETTER if CharClass.LETTER in classes else BoundaryState.OTHER
    return boundary, current + len(BoundaryState) * _TRACKED_PREFIXES.index(prefix)


_INVALID = (CharClass.OTHER,)  # invalid bytes decode to U+FFFD


def _read_unit(prefix: bytes, unit: Unit) -> tuple[list[tuple[CharClass, ...]], bytes]:
    """The characters that a unit completes, each as its possible classes, and the incomplete bytes that remain."""
    if unit >= 0:
        return [_INVALID, (CharClass(unit),)] if prefix else [(CharClass(unit),)], b""
    byte = bytes([-unit])
    data = prefix + byte
    if data in _TRACKED_PREFIXES:
        return [], data
    is_continuation = 0x80 <= byte[0] < 0xC0
    if prefix and not is_continuation:
        completed, prefix = _read_unit(b"", unit)
        return [_INVALID, *completed], prefix
    if prefix:
        return [_possible_classes(data)], b""
    if is_continuation:  # of a character counted already; if there was none it separates words, so nothing is lost
        return [], b""
    return [_possible_classes(byte)], b""


@cache
def _possible_classes(data: bytes) -> tuple[CharClass, ...]:
    """The classes of all characters whose UTF-8 encoding starts with these bytes."""
    if data[0] in (0xC0, 0xC1) or data[0] > 0xF4:
        return _INVALID
    if len(data) == 1 and data[0] >= 0xE0:  # thousands of characters of every class
        return (CharClass.LETTER, CharClass.DIGIT, CharClass.OTHER)
    ends = (b"",) if len(data) == (2 if data[0] < 0xE0 else 3) else (bytes([last]) for last in range(0x80, 0xC0))
    return tuple(sorted({char_class((data + end).decode()) for end in ends}))
