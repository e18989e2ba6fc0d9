"""Score outputs with confidence intervals, and compare two systems with paired significance tests."""

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
from redraft.evaluate.resampling import Test, bootstrap_sums, p_value, percentile_interval, randomised_sums
from redraft.evaluate.sari import Sari
from redraft.evaluate.satisfaction import Satisfaction
from redraft.evaluate.surface import Surface

SAMPLES, TRIALS, SEED = 1000, 10_000, 12345
MAX_SAMPLES = 1_000_000


@dataclass(frozen=True)
class Figure:
    """A score and its 95 % bootstrap interval. None: undefined, as there was nothing to count."""

    value: float | None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class MeasureCounts:
    """A measure and its counts for each sentence of one system."""

    measure: Measure
    counts: Array  # (sentence, count)

    @cached_property
    def by_sentence(self) -> dict[str, Array]:
        return self.measure.figures(self.counts)


@dataclass(frozen=True)
class Scores:
    """All scores of one system on one corpus."""

    name: str
    corpus: Corpus
    outputs: Sequence[str]
    measured: Sequence[MeasureCounts]
    figures: Mapping[str, Figure]
    signatures: Mapping[str, str]  # by score name
    notices: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """All signatures in one: the shared parts, then the parts of single measures, by their first score name."""
        parts = {next(iter(each.by_sentence)): self._parts(each) for each in self.measured}
        shared = [part for part in next(iter(parts.values())) if all(part in other for other in parts.values())]
        own = [
            f"{name}({','.join(part for part in own_parts if part not in shared)})" for name, own_parts in parts.items()
        ]
        return "|".join([*shared, *(text for text in own if not text.endswith("()"))])

    def _parts(self, measured: MeasureCounts) -> list[str]:
        return self.signatures[next(iter(measured.by_sentence))].split("|")

    def by_sentence(self, figure: str) -> Array:
        """A score for each sentence separately: (sentence,)."""
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
    """One score of two systems on the same sentences."""

    figure: str
    one: str
    other: str
    difference: float  # other − one
    low: float
    high: float
    p: float
    test: str

    @property
    def significant(self) -> bool:
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
    """Score the outputs of one system, with intervals from `samples` bootstrap samples (0: no intervals)."""
    if len(outputs) != len(corpus):
        raise CorpusError(
            f"{name} has {len(outputs):,} outputs, {corpus.name} has {len(corpus):,} sentences.",
            "Give one output for each sentence, in the same order.",
        )
    if not len(corpus):
        raise CorpusError(f"{corpus.name} has no sentences.", "Give at least one sentence.")
    if measures is None and not corpus.references:
        raise CorpusError(
            f"{corpus.name} has no references.", "Give at least one reference, or use measures that need none."
        )
    _check_number("samples", samples, least=0)
    texts = Texts(corpus.sources, outputs, corpus.references)
    measured = [MeasureCounts(measure, measure.count(texts)) for measure in measures or default_measures()]
    drawn = bootstrap_sums([each.counts for each in measured], samples, seed) if samples else None
    settings = f"|boot:{samples}|seed:{seed}" if samples else ""
    figures, signatures = {}, {}
    for number, each in enumerate(measured):
        values = each.measure.figures(each.counts.sum(0))
        spread = each.measure.figures(drawn[number]) if drawn else {}
        for figure, value in values.items():
            defined = None if np.isnan(value) else float(value)
            figures[figure] = Figure(defined, percentile_interval(spread[figure]) if figure in spread else None)
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
    """Test whether `other` differs from `one` on the same corpus, for every score that both systems have."""
    if test not in get_args(Test):
        raise ConfigError(f"the test {shown(test)} is not known.", f"Use one of {', '.join(get_args(Test))}.")
    _check_number("samples", samples)
    _check_number("trials", trials)
    if one.corpus is not other.corpus and one.corpus != other.corpus:
        raise ConfigError(
            f"{one.name} and {other.name} were scored on different sentences or references.",
            "Score both on the same corpus.",
        )
    pairs = [(a, b) for a in one.measured for b in other.measured if _comparable(a.measure, b.measure)]
    if not pairs:
        return {}
    left, right = [a.counts for a, _ in pairs], [b.counts for _, b in pairs]
    drawn = bootstrap_sums(left, samples, seed), bootstrap_sums(right, samples, seed)
    null = randomised_sums(left, right, trials, seed) if test == "randomisation" else drawn
    comparisons = {}
    for number, (each, _) in enumerate(pairs):
        before, after = (each.measure.figures(sums[number]) for sums in drawn)
        null_before, null_after = (each.measure.figures(sums[number]) for sums in null)
        for figure in before:
            values = [system.figures[figure].value if figure in system.figures else None for system in (one, other)]
            if None in values or (figures is not None and figure not in figures):
                continue
            difference = float(values[1]) - float(values[0])  # type: ignore[arg-type]
            null_differences = null_after[figure] - null_before[figure]
            if test == "bootstrap":  # centred at 0, the null hypothesis
                null_differences = null_differences - np.nanmean(null_differences)
            low, high = percentile_interval(after[figure] - before[figure]) or (difference, difference)
            settings = f"paired {test}, {samples if test == 'bootstrap' else trials:,} samples, seed {seed}"
            p = p_value(difference, null_differences)
            comparisons[figure] = Comparison(figure, one.name, other.name, difference, low, high, p, settings)
    return comparisons


def _comparable(one: Measure, other: Measure) -> bool:
    """Whether two measures have the same settings. The signature of Satisfaction counts edits, so it may differ."""
    return type(one) is type(other) and (one.signature == other.signature or isinstance(one, Satisfaction))


def _check_number(name: str, number: int, least: int = 1) -> None:
    if not least <= number <= MAX_SAMPLES:
        raise ConfigError(f"{name} is {number}.", f"Use a whole number from {least} to {MAX_SAMPLES:,}.")
