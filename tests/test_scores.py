"""Confidence intervals and paired tests, checked against formulas, sacrebleu, and exact results."""

import itertools
import math

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from redraft import Edit, EditPlan
from redraft.errors import ConfigError, CorpusError
from redraft.evaluate import Corpus, compare, score
from redraft.evaluate.measures import Texts
from redraft.evaluate.resampling import bootstrap_sums, p_value, percentile_interval, randomised_sums
from redraft.evaluate.satisfaction import Satisfaction
from redraft.plan.verdicts import judge


class Mean:
    """The mean of numbers written as text, so that every result can be checked by a formula."""

    signature = "mean"

    def count(self, texts: Texts):
        return np.array([[float(text), 1] for text in texts.outputs])

    def figures(self, sums):
        return {"mean": sums[..., 0] / sums[..., 1]}


def corpus(size):
    return Corpus("made-up", "test", ["a"] * size, [["a"] * size])


def scored(values, **options):
    return score([str(value) for value in values], corpus(len(values)), measures=[Mean()], **options)


# ---- intervals ----


def test_the_interval_of_a_mean_is_the_normal_approximation():
    values = np.random.default_rng(0).normal(5, 2, 400)
    figure = scored(values).figures["mean"]
    error = 1.96 * values.std() / 20
    assert figure.value == pytest.approx(values.mean())
    assert figure.interval == pytest.approx((values.mean() - error, values.mean() + error), abs=0.05)


def test_about_95_percent_of_intervals_contain_the_true_value():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        figure = scored(rng.normal(5, 2, 60), samples=300).figures["mean"]
        low, high = figure.interval
        covered += low <= 5 <= high
    assert 180 <= covered <= 198


def test_results_depend_only_on_the_seed():
    values = list(range(50))
    assert scored(values).figures == scored(values).figures
    assert scored(values, seed=7).figures["mean"].interval != scored(values).figures["mean"].interval
    assert "boot:1000|seed:7" in scored(values, seed=7).signature


def test_without_samples_there_is_no_interval():
    figure = scored([1, 2], samples=0).figures["mean"]
    assert figure.value == 1.5
    assert figure.interval is None


def test_resampling_draws_sentences():
    counts = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    (sums,) = bootstrap_sums([counts], 200, seed=0)
    assert (sums[:, 1] == 10 * sums[:, 0]).all()
    assert set(sums[:, 0]) == {3, 4, 5, 6, 7, 8, 9}


# ---- paired tests ----


def test_randomisation_finds_the_exact_p_value():
    """Six sentences have 64 ways to swap, so the exact p-value is known."""
    one, other = np.array([3.0, 1, 4, 1, 5, 9]), np.array([4.0, 3, 4, 3, 6, 8])
    differences = other - one
    every = [
        abs(np.dot(signs, differences)) >= abs(differences.sum()) for signs in itertools.product((1, -1), repeat=6)
    ]
    found = compare(scored(one), scored(other), trials=20_000)["mean"]
    assert found.difference == pytest.approx(differences.mean())
    assert found.p == pytest.approx(np.mean(every), abs=0.01)


def test_swapping_preserves_the_total_of_both_systems():
    rng = np.random.default_rng(2)
    one, other = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
    (left,), (right,) = randomised_sums([one], [other], 50, seed=0)
    assert np.allclose(left + right, one.sum(0) + other.sum(0))
    assert len(np.unique(left[:, 0])) > 40


@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
def test_a_clear_difference_is_significant(test):
    rng = np.random.default_rng(3)
    one = rng.normal(5, 1, 200)
    better, same = one + rng.normal(0.5, 1, 200), one + rng.normal(0, 1, 200)
    found = compare(scored(one), scored(better), test=test)["mean"]
    assert found.significant
    assert found.p < 0.001
    assert 0 < found.low < found.difference < found.high
    found = compare(scored(one), scored(same), test=test)["mean"]
    assert found.low < found.difference < found.high
    assert not found.significant
    assert compare(scored(one), scored(one), test=test)["mean"].p == 1


@pytest.mark.parametrize("test", ["randomisation", "bootstrap"])
def test_the_type_i_error_rate_is_about_5_percent(test):
    rng = np.random.default_rng(4)
    wrong = 0
    for _ in range(200):
        one, other = rng.normal(5, 1, 40), rng.normal(5, 1, 40)
        wrong += compare(scored(one, samples=0), scored(other, samples=0), test=test, samples=300, trials=300)[
            "mean"
        ].significant
    assert 1 <= wrong <= 22


@pytest.mark.parametrize("shares", [(0.30, 0.25), (0.30, 0.27), (0.30, 0.29)])
def test_randomisation_p_values_agree_with_sacrebleu(shares):
    rng = np.random.default_rng(5)
    words = ["the", "cat", "sat", "on", "a", "mat", "and", "saw", "the", "dog", "that", "ran"]
    reference = [" ".join(rng.choice(words, 9)) for _ in range(60)]
    one, other = (
        [" ".join(word if rng.random() > share else "noise" for word in text.split()) for text in reference]
        for share in shares
    )
    bleu = BLEU(lowercase=True, tokenize="13a", references=[reference])
    corpus = Corpus("c", "s", reference, [reference])
    ours = [score(texts, corpus) for texts in (one, other)]
    paired = PairedTest([("one", one), ("other", other)], {"BLEU": bleu}, None, test_type="ar", n_samples=10_000)
    expected = paired()[1]["BLEU"][1]
    found = compare(*ours, ["bleu"])["bleu"]
    assert expected.score == pytest.approx(ours[1].figures["bleu"].value)
    assert found.p == pytest.approx(expected.p_value, rel=0.15, abs=0.001)


def test_bootstrap_p_values_agree_with_the_normal_approximation():
    """The bootstrap distribution of a mean is normal, with the standard error of the differences."""
    rng = np.random.default_rng(6)
    differences = rng.normal(0.1, 1, 300)
    found = compare(scored(np.zeros(300)), scored(differences), test="bootstrap", samples=20_000)["mean"]
    expected = math.erfc(abs(differences.mean()) / (differences.std() / math.sqrt(300)) / math.sqrt(2))
    assert found.p == pytest.approx(expected, rel=0.05)


def test_p_is_never_0():
    assert p_value(1.0, np.zeros(99)) == 0.01
    assert percentile_interval(np.arange(101.0)) == pytest.approx((2.5, 97.5))


# ---- invalid input ----


def test_sizes_must_match():
    with pytest.raises(CorpusError, match=r"outputs has 2 .*made-up has 3"):
        score(["1", "2"], corpus(3))
    with pytest.raises(CorpusError, match="no sentences"):
        score([], corpus(0))
    with pytest.raises(CorpusError, match="no references"):
        score(["a"], Corpus("c", "s", ["a"], []))
    with pytest.raises(CorpusError, match=r"reference 1 of c has 2 .*sources 1"):
        Corpus("c", "s", ["a"], [["a"], ["a", "b"]])


def test_only_systems_on_the_same_corpus_are_compared():
    other = score(["1"], Corpus("other", "test", ["b"], [["b"]]), measures=[Mean()])
    with pytest.raises(ConfigError, match="different sentences"):
        compare(scored([1]), other)
    two = Corpus("c", "s", ["a"], [["a"], ["b"]])
    with pytest.raises(ConfigError, match=r"different .*references"):
        compare(score(["a"], two), score(["a"], two.with_references("first")))


@pytest.mark.parametrize("options", [{"test": "nonsense"}, {"samples": 0}, {"trials": -1}, {"samples": 10**9}])
def test_invalid_settings_are_refused(options):
    with pytest.raises(ConfigError):
        compare(scored([1, 2]), scored([2, 1]), **options)


def test_only_measures_with_equal_settings_are_compared():
    class Other(Mean):
        signature = "another mean"

    one, other = scored([1, 2]), score(["1", "2"], corpus(2), measures=[Other()])
    assert compare(one, scored([2, 2]))
    assert compare(one, other) == {}


def test_without_edits_the_score_is_undefined():
    plan = EditPlan("a", (Edit.delete("b"),))
    found = score(["a"], Corpus("c", "s", ["a"], [["a"]]), measures=[Satisfaction([judge(plan, "a")])])
    assert found.figures["satisfied_delete"].value == 100
    assert found.figures["satisfied_insert"].value is None
    assert found.figures["satisfied_insert"].interval is None


def test_every_figure_has_a_signature_with_its_settings():
    found = score(["a b"], Corpus("c", "test", ["a b"], [["a"], ["b"]]))
    assert set(found.signatures) == set(found.figures) >= {"sari", "add", "keep", "del", "bleu", "fkgl", "len"}
    for name, signature in found.signatures.items():
        assert signature.startswith("c/test|refs:2|"), name
        assert "case:lc|tok:13a" in signature
        assert "redraft:" in signature
    assert "smooth:exp" in found.signatures["bleu"]
    assert "sentences:" in found.signatures["fkgl"]
    assert "smooth" not in found.signatures["sari"]
    assert "bleu(eff:no,smooth:exp)" in found.signature
