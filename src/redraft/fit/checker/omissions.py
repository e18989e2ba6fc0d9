"""Corruptions that omit something that matters: a clause, a prepositional phrase, an adjective, an "only"."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from redraft.fit.checker.corruptions import Corruption
from redraft.text.function_words import is_content
from redraft.text.words import normalise

PART_LOST, MODIFIER_LOST = "part lost", "modifier lost"
_STARTS = """
which who that where when while if unless although because as after before until since with without by for from to in
on at of under over between during against about into through and or but
"""
_BEGINS = frozenset(_STARTS.split())
_ONLY = frozenset({"only", "nearly", "almost", "about", "both", "all", "every", "some", "most", "still"})
_ENDS = frozenset(",.;:!?()")
_MAX_WORDS = 14  # of the omitted part
_MIN_CONTENT = 2  # content words of the omitted part
_MIN_LEFT = 3  # content words that remain


def modifier_lost(words: Sequence[str], rng: random.Random) -> Corruption | None:
    """The words without one modifier: "gross misconduct", "paid only where"."""
    places = [at for at in range(1, len(words) - 1) if _is_modifier(words, at)]
    if not places:
        return None
    at = rng.choice(places)
    return Corruption(MODIFIER_LOST, (*words[:at], *words[at + 1 :]), frozenset(), frozenset({at}))


def _is_modifier(words: Sequence[str], at: int) -> bool:
    word, before, after = words[at], words[at - 1], words[at + 1]
    if not (word.isalpha() and word.islower()):
        return False
    if word in _ONLY or (word.endswith("ly") and is_content(word)):
        return True
    begins = is_content(word) and not is_content(before) and normalise(before) not in ("to", "not")
    return begins and after.islower() and is_content(after)


def part_lost(words: Sequence[str], rng: random.Random) -> Corruption | None:
    """The words without one part: from a function word or punctuation mark to the next one."""
    ends = [at for at, word in enumerate(words) if word in _ENDS or normalise(word) in _BEGINS]
    parts = [
        (start, end) for start in ends for end in [*(at for at in ends if at > start + 1), len(words)]
        if end - start <= _MAX_WORDS and _may_be_omitted(words, start, end)
    ]  # fmt: skip
    if not parts:
        return None
    start, end = rng.choice(parts)
    out = (*words[:start], *words[end:])
    if start == 0 and out[0][:1].islower():
        out = (out[0].capitalize(), *out[1:])
    return Corruption(PART_LOST, out, frozenset(), frozenset(range(start, end)))


def _may_be_omitted(words: Sequence[str], start: int, end: int) -> bool:
    gone, total = sum(map(is_content, words[start:end])), sum(map(is_content, words))
    return gone >= _MIN_CONTENT and total - gone >= _MIN_LEFT


LOSSES: dict[str, Callable[[Sequence[str], random.Random], Corruption | None]] = {
    PART_LOST: part_lost,
    MODIFIER_LOST: modifier_lost,
}
