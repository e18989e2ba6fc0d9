"""Selects one of several sampled rewritings of a sentence for training, or none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from multiprocessing import Pool

import numpy as np

from redraft.evaluate.measures import Texts
from redraft.evaluate.sari import Sari
from redraft.fit.tagged_pairs import comparison_key
from redraft.text.names import invented_names, missing_names
from training.controls import likeness

_PART = 2000  # sentences per task of a process
_NEAR = 0.95  # likeness from which two sentences count as near copies


def agreed(sources: Sequence[str], drawn: Sequence[Sequence[str]]) -> list[int]:
    """For each sentence, the index of the sample with the best SARI against the others; drawn: (sample, sentence).

    This is minimum Bayes risk decoding (Kumar and Byrne, 2004).
    """
    sari, scores = Sari(), []
    for number, outputs in enumerate(drawn):
        others = [texts for place, texts in enumerate(drawn) if place != number]
        scores.append(sari.figures(sari.count(Texts(sources, outputs, others)))["sari"])
    return [int(best) for best in np.argmax(scores, 0)]


def sound(source: str, target: str) -> bool:
    """Whether a rewriting keeps names and numbers, adds none, is complete, and is similar enough to the source."""
    size = len(target) / max(len(source), 1)
    return (
        0.35 <= size <= 1.25
        and "\n" not in target
        and target[-1:] in (".", "!", "?", '"', ")")
        and target[:1] == target[:1].upper()
        and likeness(source, target) >= 0.35
        and not missing_names(source, target)
        and not invented_names(source, target)
        and not _loops(source, target)
    )


def is_copy(source: str, target: str) -> bool:
    return comparison_key(source) == comparison_key(target)


def hardly_differs(source: str, target: str) -> bool:
    return likeness(source, target) >= _NEAR


def chosen(sources: Sequence[str], drawn: Sequence[Sequence[str]]) -> list[str | None]:
    """For each sentence, the best rewriting that is sound and not a copy; None if there is none."""
    parts = [slice(start, start + _PART) for start in range(0, len(sources), _PART)]
    with Pool(os.cpu_count()) as pool:
        found = pool.starmap(_chosen, [(sources[part], [texts[part] for texts in drawn]) for part in parts])
    return [text for part in found for text in part]


def _chosen(sources: Sequence[str], drawn: Sequence[Sequence[str]]) -> list[str | None]:
    out: list[str | None] = []
    for place, (source, best) in enumerate(zip(sources, agreed(sources, drawn), strict=True)):
        order = [best, *(number for number in range(len(drawn)) if number != best)]
        texts = [drawn[number][place] for number in order]
        out.append(next((text for text in texts if sound(source, text) and not is_copy(source, text)), None))
    return out


def _loops(source: str, target: str) -> bool:
    """Whether a 4-gram of words is repeated that is not repeated in the source."""
    once, twice = set(), set()
    words = target.lower().split()
    for gram in zip(words, words[1:], words[2:], words[3:], strict=False):
        (twice if gram in once else once).add(gram)
    return any(source.lower().count(" ".join(gram)) < 2 for gram in twice)
