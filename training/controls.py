"""Control values in the teacher's prompt: style, length, likeness, simplicity (after ACCESS: Martin et al., 2020)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from redraft.text.function_words import is_content
from training.tokenizer import WORD

_RARE = 100_000  # frequency rank of unknown words


@dataclass(frozen=True)
class Controls:
    """Style, and three ratios of target to source: length in characters, word overlap, log-rank of the rarer words."""

    style: str
    length: float
    likeness: float
    simplicity: float

    def prompt(self, source: str) -> str:
        figures = f"length {self.length:.2f}, likeness {self.likeness:.2f}, words {self.simplicity:.2f}"
        return f"{self.style}, {figures}\n{source}\n→"  # the rewriting follows after a space


def controls_of(style: str, source: str, target: str, ranks: Mapping[str, int]) -> Controls:
    hard = _hardness(source, ranks)
    return Controls(
        style,
        _step(len(target) / max(len(source), 1)),
        _step(likeness(source, target)),
        _step(_hardness(target, ranks) / hard if hard else 1.0),
    )


def likeness(source: str, target: str) -> float:
    """Word overlap (Dice coefficient): 1 for the same words, 0 for none in common."""
    one, other = (Counter(text.lower().split()) for text in (source, target))
    size = sum(one.values()) + sum(other.values())
    return 2 * sum((one & other).values()) / size if size else 1.0


def _hardness(text: str, ranks: Mapping[str, int]) -> float:
    """The third quartile of the log frequency ranks of the content words."""
    found = sorted(math.log(ranks.get(word, _RARE)) for word in WORD.findall(text.lower()) if is_content(word))
    return found[(3 * len(found)) // 4] if found else 0.0


def _step(value: float) -> float:
    return round(min(max(value, 0.2), 1.5) * 20) / 20
