"""SARI: cases worked out by hand, a reference implementation, published values, and edge cases."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from published_corpora import FOLDER, needs_corpora
from redraft.evaluate import load_corpus, sari
from redraft.evaluate.measures import Texts, tokenized
from redraft.evaluate.sari import Sari


def figures(sources, outputs, references):
    measure = Sari()
    counts = measure.count(Texts(sources, outputs, references))
    return {name: float(value) for name, value in measure.figures(counts.sum(0)).items()}


def one(source, output, *references):
    return figures([source], [output], [[reference] for reference in references])


# ---- by hand ----


def test_copying_a_short_reference_scores_below_100():
    """n = 1: c added, a kept, b deleted, all correct. n = 2: "a c" added, "a b" deleted, nothing to keep: 0/0 = 0.
    n = 3 and 4: no n-grams. So add = del = (1 + 1) / 4 and keep = 1 / 4."""
    assert one("a b", "a c", "a c") == pytest.approx({"sari": 125 / 3, "add": 50, "keep": 25, "del": 50})


def test_counts_of_kept_and_deleted_words_are_summed_over_references():
    """R = 2. n = 1: s = a2 b1, h = a1 b1, r = a1 b3: keep 4 and 3, overlap 3; delete 2 and 3, overlap 2.
    n = 2: kept "a b" 2 and 1, overlap 1; deleted "a a" 2, and "a a" 2 and "a b" 1.
    n = 3: all delete "a a b". The references add "b b", the output does not."""
    keep = (6 / 7 + 2 / 3) / 4
    delete = (4 / 5 + 4 / 5 + 1) / 4
    expected = {"sari": 100 * (keep + delete) / 3, "add": 0, "keep": 100 * keep, "del": 100 * delete}
    assert one("a a b", "a b", "a b", "b b") == pytest.approx(expected)


def test_a_repeated_addition_counts_once():
    """ "c c c" adds one word: 1 correct of 1 predicted and 1 expected. "c c", "c c c" are wrong, "a c" is correct."""
    add = (1 + 2 * (1 / 2) * 1 / (1 / 2 + 1) + 0 + 0) / 4
    assert one("a", "a c c c", "a c")["add"] == pytest.approx(100 * add)


def test_counts_are_summed_over_the_corpus_before_division():
    """One correct and one wrong addition: precision 1/2, recall 1/1 for n = 1, not the mean of 1 and 0."""
    found = figures(["a", "b"], ["a x", "b y"], [["a x", "b"]])
    per_order = 2 * 0.5 / 1.5
    assert found["add"] == pytest.approx(100 * 2 * per_order / 4)


# ---- a reference implementation, written from the formulas ----


def ngrams(text, n):
    words = tokenized(text).split()
    return Counter(tuple(words[at : at + n]) for at in range(len(words) - n + 1))


def reference_sari(sources, outputs, references):
    sums = np.zeros((3, 3, 4))
    for row, (source, output) in enumerate(zip(sources, outputs, strict=True)):
        for n in range(1, 5):
            s, h = ngrams(source, n), ngrams(output, n)
            r = sum((ngrams(reference[row], n) for reference in references), Counter())
            size = len(references)
            for gram in {*s, *h, *r}:
                kept = min(size * s[gram], size * h[gram]), min(size * s[gram], r[gram])
                deleted = max(size * s[gram] - size * h[gram], 0), max(size * s[gram] - r[gram], 0)
                new = int(h[gram] > 0 and s[gram] == 0), int(r[gram] > 0 and s[gram] == 0)
                for operation, (predicted, expected) in enumerate((new, kept, deleted)):
                    sums[operation, :, n - 1] += min(predicted, expected), predicted, expected
    scores = []
    for operation in sums:
        values = []
        for correct, predicted, expected in operation.T:
            precision = correct / predicted if predicted else 0
            recall = correct / expected if expected else 0
            values.append(2 * precision * recall / (precision + recall) if precision + recall else 0)
        scores.append(100 * sum(values) / 4)
    return {"sari": sum(scores) / 3, "add": scores[0], "keep": scores[1], "del": scores[2]}


TEXT = st.lists(st.sampled_from(["a", "b", "c", "B", "11,000", "dog's", "&amp;", "é", "."]), max_size=9).map(" ".join)


@given(st.data())
def test_agrees_with_the_reference_implementation(data):
    size, count = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    row = st.lists(TEXT, min_size=size, max_size=size)
    sources, outputs, *references = (data.draw(row) for _ in range(2 + count))
    assert figures(sources, outputs, references) == pytest.approx(reference_sari(sources, outputs, references))


def test_the_block_size_does_not_change_counts(monkeypatch):
    sources = [f"a b {number} c d" for number in range(25)]
    outputs = [f"a {number % 7} c" for number in range(25)]
    references = [[f"a b {number % 5} d" for number in range(25)], outputs[::-1]]
    whole = Sari().count(Texts(sources, outputs, references))
    monkeypatch.setattr(sari, "_BLOCK", 4)
    assert np.array_equal(whole, Sari().count(Texts(sources, outputs, references)))
    assert whole.shape == (25, 36)


# ---- edge cases ----


def test_an_empty_output_deletes_everything():
    """Nothing added or kept. All three words are deleted; the reference deletes only b, so P = 1/3, R = 1 for n = 1."""
    found = one("a b c", "", "a c")
    orders = [2 * (1 / 3) / (4 / 3), 1, 1, 0]
    assert found == pytest.approx({"sari": 100 * sum(orders) / 12, "add": 0, "keep": 0, "del": 100 * sum(orders) / 4})


def test_empty_texts_score_0():
    assert one("", "", "") == {"sari": 0, "add": 0, "keep": 0, "del": 0}
    assert figures(["a b", ""], ["", ""], [["", "a"]])["keep"] == 0


@pytest.mark.parametrize("space", ["\u00a0", "\u2009", "\u3000", "\t", "  ", "\u2028", "\x1f"])
def test_all_white_space_separates_words(space):
    assert one(f"a{space}b c", "a b", f"a{space}c") == one("a b c", "a b", "a c")


def test_duplicate_references_do_not_change_scores():
    once = figures(["a b c d", "e f"], ["a c d", "e g"], [["a b d", "g"]])
    assert figures(["a b c d", "e f"], ["a c d", "e g"], [["a b d", "g"]] * 4) == pytest.approx(once)


def test_case_and_spacing_of_punctuation_are_ignored():
    assert one("The cat, (it) sat.", "the CAT sat .", "A cat sat.") == one(
        "the cat , ( it ) sat .", "the cat sat .", "a cat sat ."
    )


def test_long_texts_are_not_truncated():
    """The only edit is at word 5,000: with truncation nothing would be added or deleted, and both would score 0."""
    unchanged = " ".join(f"w{number % 300}" for number in range(4999))
    found = one(f"{unchanged} old", f"{unchanged} new", f"{unchanged} new")
    assert found == pytest.approx({"sari": 100, "add": 100, "keep": 100, "del": 100})


def test_a_sentence_score_is_the_score_of_a_corpus_of_one():
    sources, outputs, references = ["a b c", "d e"], ["a c", "d f"], [["a c", "d"], ["b c", "f"]]
    measure = Sari()
    sentence_scores = measure.figures(measure.count(Texts(sources, outputs, references)))["sari"]
    for row in range(2):
        assert sentence_scores[row] == pytest.approx(
            one(sources[row], outputs[row], *(text[row] for text in references))["sari"]
        )


# ---- known values ----

KNOWN = [
    ("turk", {"sari": 26.29, "add": 0, "keep": 78.87, "del": 0}),
    ("asset", {"sari": 20.73, "add": 0, "del": 0}),
]


@needs_corpora
@pytest.mark.parametrize("name, expected", KNOWN)
def test_the_copied_source_has_the_published_score(name, expected):
    corpus = load_corpus(name, data=FOLDER)
    found = figures(corpus.sources, corpus.sources, corpus.references)
    assert {key: round(found[key], 2) for key in expected} == expected


@needs_corpora
def test_agrees_with_the_reference_implementation_on_real_text():
    corpus = load_corpus("asset", data=FOLDER)
    rows = slice(0, 120)
    references = [reference[rows] for reference in corpus.references]
    outputs = [*references[3][:60], *corpus.sources[60:100], *[""] * 20]
    assert figures(corpus.sources[rows], outputs, references[:3]) == pytest.approx(
        reference_sari(corpus.sources[rows], outputs, references[:3])
    )


@needs_corpora
def test_human_references_score_as_published():
    """One human reference against the others, as in the papers: 39.7 to 40.6 on Turk, 44.1 to 45.5 on ASSET."""
    for name, low, high in (("turk", 39.0, 41.0), ("asset", 43.8, 45.8)):
        corpus = load_corpus(name, data=FOLDER)
        scores = [
            figures(corpus.sources, corpus.references[number], [
                reference for other, reference in enumerate(corpus.references) if other != number
            ])["sari"]
            for number in (0, len(corpus.references) - 1)
        ]  # fmt: skip
        assert low < np.mean(scores) < high
