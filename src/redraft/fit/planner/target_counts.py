"""Ranks replacement candidates of a phrase with a conditional logit model.

Candidates are the targets that were counted for the phrase, targets of its other inflected forms, and synonyms.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray

from redraft.fit.calibration import minimize
from redraft.fit.planner.lexicon_counts import Counts
from redraft.fit.word_forms import agreement, inflected, lemmas, siblings
from redraft.text.function_words import is_content
from redraft.text.names import is_negation, is_number
from redraft.text.word_frequency import WordFrequency

Floats = NDArray[np.float32]
_MIN_LETTERS = 3  # of a phrase or a target
_FEW = 4  # replacements of a phrase; if there are more, a target counted once is dropped as noise
_OFTEN = 0.2  # smallest share of a phrase's replacements for a closed-class word or a negation to be a target
_FEATURES = 15  # of a candidate
_NEVER_COUNTED = 0.05  # the count that stands for 0 in a logarithm


class Targets:
    """Candidates for a phrase, and the features by which they are ranked."""

    def __init__(self, counts: Counts, synonyms: Mapping[str, Set[str]], word_frequency: WordFrequency) -> None:
        self.counts, self.synonyms, self.word_frequency = counts, synonyms, word_frequency
        self._family = cache(self._counted_family)

    def candidates(self, phrase: str, hidden: str | None = None) -> list[str]:
        """Targets that were counted often enough, and synonyms.

        Not: other forms of the phrase, and words that are rarer or harder. One count of the `hidden` target is ignored.
        """
        if not _is_plain(phrase) or any(map(is_number, phrase.split())):
            return []
        counted, family = self.counts.targets.get(phrase, Counter()), self._family(phrase)
        synonyms = self.synonyms.get(phrase, frozenset())
        all_counted = sum(counted.values())
        least = 1 if all_counted <= _FEW else 2
        found = {text for text in {*counted, *family} if counted[text] + family[text] - (text == hidden) >= least}
        return sorted(
            text for text in found | synonyms
            if _is_plain(text)
            and not any(map(is_number, text.split()))
            and not _is_variant(phrase, text)
            and (_is_ordinary(text) or (counted[text] > _FEW and counted[text] >= _OFTEN * all_counted))
            and self._is_plainer(phrase, text)
        )  # fmt: skip

    def features(self, phrase: str, texts: Sequence[str], hidden: str | None = None) -> Floats:
        """(candidate, feature). One count of the `hidden` target is ignored, since it is the one to predict."""
        counted, family = self.counts.targets.get(phrase, Counter()), self._family(phrase)
        all_counted, all_family = sum(counted.values()) - (hidden is not None), sum(family.values())
        zipf, hard = self.word_frequency.zipf(phrase), self.word_frequency.difficulty(phrase)
        rows = []
        for text in texts:
            times = counted[text] - (text == hidden)
            more = self.word_frequency.zipf(text) - zipf
            easy = self.word_frequency.difficulty(text)
            rows.append([
                math.log((times or _NEVER_COUNTED) / (all_counted + 1)),
                math.log((family[text] or _NEVER_COUNTED) / (all_family + 1)),
                times > 0, times > 1, family[text] > 0,
                text in self.synonyms.get(phrase, ()), phrase in self.synonyms.get(text, ()),
                min(max(more, -2), 3), more < 0, zipf + more,
                easy - hard if easy and hard else 0, bool(easy and hard),
                agreement(phrase, text), len(text) / max(4, len(phrase)) - 1, " " in text,
            ])  # fmt: skip
        return np.array(rows, np.float32).reshape(len(texts), _FEATURES)

    def _is_plainer(self, phrase: str, text: str) -> bool:
        hard, easy = self.word_frequency.difficulty(phrase), self.word_frequency.difficulty(text)
        if hard is not None and easy is not None and easy > hard + 0.5:
            return False
        return self.word_frequency.zipf(text) >= self.word_frequency.zipf(phrase) - 0.3

    def _counted_family(self, phrase: str) -> Counter[str]:
        """Targets of the other inflected forms of a word, inflected like the word itself."""
        found: Counter[str] = Counter()
        for sibling in siblings(phrase):
            for text, times in self.counts.targets.get(sibling.text, {}).items():
                fitting = inflected(text, sibling.part_of_speech, sibling.tag, sibling.tag_of_word)
                if fitting is not None:
                    found[fitting] += times
        return found


class Ranker:
    """Ranks the candidates of a phrase by a linear model."""

    def __init__(self, targets: Targets, weights: Floats, coverage: float) -> None:
        self.targets, self.weights, self.coverage = targets, weights, coverage

    def ranked(self, phrase: str) -> list[tuple[str, float]]:
        """Candidates with their probabilities, most probable first.

        The probabilities sum to `coverage`: how often a replacement is among the candidates at all.
        """
        texts = self.targets.candidates(phrase)
        if not texts:
            return []
        scores = self.targets.features(phrase, texts) @ self.weights
        probabilities = np.exp(scores - scores.max())
        probabilities *= self.coverage / probabilities.sum()
        return sorted(zip(texts, probabilities.tolist(), strict=True), key=lambda item: (-item[1], item[0]))


def fit_ranker(targets: Targets, *, max_examples: int = 40_000, rivals: int = 60, seed: int = 0) -> Ranker:
    """Fit the ranker on counted replacements; when one is predicted, it is left out of the counts."""
    rng = random.Random(seed)
    replacements = sorted(
        (phrase, text) for phrase, texts in targets.counts.targets.items() if is_content(phrase)
        for text in texts.elements() if not _is_variant(phrase, text)
    )  # fmt: skip
    rng.shuffle(replacements)
    rows = []
    for phrase, text in replacements[:max_examples]:
        texts = targets.candidates(phrase, hidden=text)
        if text not in texts:
            continue
        others = [other for other in texts if other != text]
        texts = [text, *rng.sample(others, min(rivals, len(others)))]
        rows.append(targets.features(phrase, texts, hidden=text))
    weights = _conditional_logit(rows)
    return Ranker(targets, weights, len(rows) / max(1, min(max_examples, len(replacements))))


def _is_plain(text: str) -> bool:
    return len(text) >= _MIN_LETTERS and text.replace(" ", "").replace("-", "").isalpha()


def _is_ordinary(text: str) -> bool:
    """Whether it has a content word and no negation."""
    return (is_content(text) or " " in text) and not any(map(is_negation, text.split()))


def _is_variant(phrase: str, text: str) -> bool:
    """Whether two phrases are forms of one word, or derived from each other: retroactive, retroactively."""
    if lemmas(phrase) & lemmas(text):
        return True
    one, other = sorted((phrase.replace(" ", ""), text.replace("-", "").replace(" ", "")), key=len)
    return len(one) >= 5 and other.startswith(one[: max(5, round(0.75 * len(one)))])


def _conditional_logit(rows: Sequence[Floats], decay: float = 1e-4) -> Floats:
    """Weights under which the first candidate of each row is most probable; without rows, candidates rank by count."""
    if not rows:
        return np.array([1, *[0] * (_FEATURES - 1)], np.float32)
    size = max(map(len, rows))
    features = torch.zeros(len(rows), size, rows[0].shape[1])
    mask = torch.full((len(rows), size), -1e9)
    for at, row in enumerate(rows):
        features[at, : len(row)] = torch.from_numpy(row)
        mask[at, : len(row)] = 0
    weights, wanted = torch.zeros(features.shape[2]), torch.zeros(len(rows), dtype=torch.long)
    minimize(
        lambda: torch.nn.functional.cross_entropy(features @ weights + mask, wanted) + decay * weights.square().sum(),
        weights,
    )
    found: Floats = weights.numpy()
    return found
