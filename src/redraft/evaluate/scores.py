"""Outputs → figures with intervals; two systems → which is better, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np

from redraft import __version__
from redraft.errors import ConfigError, CorpusError, shown
from redraft.evaluate.bleu import Bleu
from redraft.evaluate.corpora import Corpus
from redraft.evaluate.fkgl import Fkgl
from redraft.evaluate.measures import Array, Measure, Texts
from redraft.evaluate.resampling import Test, interval, p_value, resampled, swapped
from redraft.evaluate.sari import Sari
from redraft.evaluate.satisfaction import Satisfaction
from redraft.evaluate.surface import Surface

SAMPLES, TRIALS, SEED = 1000, 10_000, 12345
MOST = 1_000_000  # samples


@dataclass(frozen=True)
class Figure:
    """A value, and the interval that holds 95 % of its resampled values. None: there was nothing to measure."""

    value: float | None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Measured:
    """A measure and its counts for each sentence of one system."""

    measure: Measure
    counts: Array  # (sentence, count)

    @cached_property
    def by_sentence(self) -> dict[str, Array]:
        return self.measure.figures(self.counts)


@dataclass(frozen=True)
class Scores:
    """All figures of one system on one corpus."""

    name: str
    corpus: Corpus
    outputs: Sequence[str]
    measured: Sequence[Measured]
    figures: Mapping[str, Figure]
    signatures: Mapping[str, str]  # by figure
    notices: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """All signatures in one: what every figure depends on, then the rest, by the first figure of a measure."""
        parts = {next(iter(each.by_sentence)): self._parts(each) for each in self.measured}
        shared = [part for part in next(iter(parts.values())) if all(part in other for other in parts.values())]
        own = [f"{name}({','.join(part for part in some if part not in shared)})" for name, some in parts.items()]
        return "|".join([*shared, *(text for text in own if not text.endswith("()"))])

    def _parts(self, measured: Measured) -> list[str]:
        return self.signatures[next(iter(measured.by_sentence))].split("|")

    def by_sentence(self, figure: str) -> Array:
        """A figure for each sentence by itself: (sentence,)."""
        return next(each.by_sentence[figure] for each in self.measured if figure in each.by_sentence)

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.name,
            **{name: figure.value for name, figure in self.figures.items()},
            "intervals": {name: figure.interval for name, figure in self.figures.items()},
            "sentences": len(self.corpus),
            "signature": self.signature,
            "signatures": dict(self.signatures),
            "notices": list(self.notices),
        }


@dataclass(frozen=True)
class Comparison:
    """One figure of two systems, on the same sentences."""

    figure: str
    one: str
    other: str
    difference: float  # other − one
    low: float
    high: float
    p: float
    test: str

    @property
    def sure(self) -> bool:
        return self.p < 0.05


def default_measures() -> list[Measure]:
    return [Sari(), Bleu(), Fkgl(), Surface()]


def score(
    outputs: Sequence[str],
    corpus: Corpus,
    *,
    name: str = "outputs",
    measures: Sequence[Measure] | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
    notices: tuple[str, ...] = (),
) -> Scores:
    """The figures of one system, with intervals from `samples` resampled test sets (0: none)."""
    if len(outputs) != len(corpus):
        raise CorpusError(
            f"{name} has {len(outputs):,} outputs, {corpus.name} has {len(corpus):,} sentences.",
            "Give one output for each sentence, in order.",
        )
    if not len(corpus):
        raise CorpusError(f"{corpus.name} has no sentences.", "Give at least one.")
    if measures is None and not corpus.references:
        raise CorpusError(f"{corpus.name} has no references.", "Give at least one, or measures that need none.")
    _check_number("samples", samples, least=0)
    texts = Texts(corpus.sources, outputs, corpus.references)
    measured = [Measured(measure, measure.count(texts)) for measure in measures or default_measures()]
    drawn = resampled([each.counts for each in measured], samples, seed) if samples else None
    settings = f"|boot:{samples}|seed:{seed}" if samples else ""
    figures, signatures = {}, {}
    for number, each in enumerate(measured):
        values = each.measure.figures(each.counts.sum(0))
        spread = each.measure.figures(drawn[number]) if drawn else {}
        for figure, value in values.items():
            known = None if np.isnan(value) else float(value)
            figures[figure] = Figure(known, interval(spread[figure]) if figure in spread else None)
            signatures[figure] = f"{corpus.signature}|{each.measure.signature}{settings}|redraft:{__version__}"
    notices += tuple(filter(None, (getattr(each.measure, "notice", "") for each in measured)))
    return Scores(name, corpus, outputs, measured, figures, signatures, notices)


def compare(
    one: Scores,
    other: Scores,
    figures: Sequence[str] | None = None,
    *,
    test: Test = "randomisation",
    samples: int = SAMPLES,
    trials: int = TRIALS,
    seed: int = SEED,
) -> dict[str, Comparison]:
    """Is the other system better than the one? Sentence by sentence on the same corpus, for every figure of both."""
    if test not in get_args(Test):
        raise ConfigError(f"the test {shown(test)} is not known.", f"Use one of {', '.join(get_args(Test))}.")
    _check_number("samples", samples)
    _check_number("trials", trials)
    if one.corpus is not other.corpus and one.corpus != other.corpus:
        raise ConfigError(
            f"{one.name} and {other.name} were scored on different sentences or references.", "Use one corpus for both."
        )
    pairs = [(a, b) for a in one.measured for b in other.measured if _alike(a.measure, b.measure)]
    if not pairs:
        return {}
    left, right = [a.counts for a, _ in pairs], [b.counts for _, b in pairs]
    drawn = resampled(left, samples, seed), resampled(right, samples, seed)
    chance = swapped(left, right, trials, seed) if test == "randomisation" else drawn
    found = {}
    for number, (each, _) in enumerate(pairs):
        before, after = (each.measure.figures(sums[number]) for sums in drawn)
        before_chance, after_chance = (each.measure.figures(sums[number]) for sums in chance)
        for figure in before:
            values = [system.figures[figure].value if figure in system.figures else None for system in (one, other)]
            if None in values or (figures is not None and figure not in figures):
                continue
            difference = float(values[1]) - float(values[0])  # type: ignore[arg-type]
            by_chance = after_chance[figure] - before_chance[figure]
            if test == "bootstrap":  # moved to where chance alone would put it
                by_chance = by_chance - np.nanmean(by_chance)
            low, high = interval(after[figure] - before[figure]) or (difference, difference)
            settings = f"paired {test}, {samples if test == 'bootstrap' else trials:,} samples, seed {seed}"
            p = p_value(difference, by_chance)
            found[figure] = Comparison(figure, one.name, other.name, difference, low, high, p, settings)
    return found


def _alike(one: Measure, other: Measure) -> bool:
    """Whether two systems were measured in the same way; what was judged of them may differ."""
    return type(one) is type(other) and (one.signature == other.signature or isinstance(one, Satisfaction))


def _check_number(name: str, number: int, least: int = 1) -> None:
    if not least <= number <= MOST:
        raise ConfigError(f"{name} is {number}.", f"Use a whole number from {least} to {MOST:,}.")
