"""BLEU, FKGL, surface statistics, satisfaction, plan precision, BERTScore: by hand and against their libraries."""

import random
import sys
from dataclasses import replace

import numpy as np
import pytest
import sacrebleu

from published_corpora import FOLDER, needs_corpora
from redraft import Edit, EditPlan
from redraft.errors import ConfigError, CorpusError
from redraft.evaluate import fkgl, load_corpus
from redraft.evaluate.bertscore import BertScore
from redraft.evaluate.bleu import Bleu
from redraft.evaluate.fkgl import Fkgl, sentence_splitter, split_by_rule, syllables
from redraft.evaluate.measures import Texts, tokenized
from redraft.evaluate.plan_precision import PlanPrecision
from redraft.evaluate.satisfaction import Satisfaction
from redraft.evaluate.surface import Surface
from redraft.plan.verdicts import Verdict, judge
from small_models import save_small_bert


def figures(measure, sources, outputs, references):
    sums = measure.count(Texts(sources, outputs, references)).sum(0)
    return {name: float(value) for name, value in measure.figures(sums).items()}


# ---- BLEU ----


def made_up(rng, size):
    return [
        " ".join(rng.choices(["The", "the", "cat", "sat", "a", "mat", ".", ",", "'s", "11,000"], k=rng.randint(0, 14)))
        for _ in range(size)
    ]


@pytest.mark.parametrize("count", [1, 3])
def test_bleu_agrees_with_sacrebleu_on_lower_cased_13a_tokens(count):
    rng = random.Random(count)
    outputs, references = made_up(rng, 40), [made_up(rng, 40) for _ in range(count)]
    expected = sacrebleu.corpus_bleu(outputs, references, lowercase=True, tokenize="13a", force=True).score
    assert figures(Bleu(), outputs, outputs, references)["bleu"] == pytest.approx(expected)


def test_bleu_by_hand():
    """4 of 5 words, 3 of 4 pairs, 2 of 3, 1 of 2, no brevity penalty."""
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert figures(Bleu(), ["-"], ["a b c d e"], [["A b c d f"]])["bleu"] == pytest.approx(expected)


def test_bleu_of_empty_output_is_0():
    assert figures(Bleu(), ["a b"], [""], [["a b"]])["bleu"] == 0


@needs_corpora
def test_bleu_of_the_copied_source():
    corpus = load_corpus("turk", data=FOLDER)
    assert round(figures(Bleu(), corpus.sources, corpus.sources, corpus.references)["bleu"], 2) == 99.36


# ---- FKGL ----

SYLLABLES = [
    ("cat", 1), ("table", 2), ("make", 1), ("agree", 1), ("simple", 1), ("simplify", 3), ("reading", 2), ("idea", 2),
    ("nation", 2), ("social", 2), ("radio", 3), ("queue", 2), ("the", 1), ("etc", 4), ("mr", 2), ("60", 2), ("1998", 0),
    (".", 0), ("'s", 0), ("rhythm", 1), ("realism", 3), ("lovely", 2), ("macedonia", 5), ("e", 0),
]  # fmt: skip


@pytest.mark.parametrize("word, count", SYLLABLES)
def test_syllables(word, count):
    assert syllables(word) == count


def test_fkgl_by_hand():
    """One sentence of nine words (the full stop counts) and 22 syllables: the rules count three in "postponed"."""
    text = "The international administration postponed the big ceremony today ."
    counts = [syllables(word) for word in text.lower().split()]
    assert counts == [1, 5, 5, 3, 1, 1, 4, 2, 0]
    expected = 0.39 * 9 + 11.8 * 22 / 9 - 15.59
    assert figures(Fkgl(), ["-"], [text], [["-"]])["fkgl"] == pytest.approx(expected)


def test_fkgl_uses_corpus_totals_and_is_never_below_0():
    texts = ["Go on .", "The international administration postponed the ceremony . It was big ."]
    syllable_count = (1 + 1) + (1 + 5 + 5 + 3 + 1 + 4) + (1 + 1 + 1)
    assert figures(Fkgl(), texts, texts, [texts])["fkgl"] == pytest.approx(
        0.39 * 14 / 3 + 11.8 * syllable_count / 14 - 15.59
    )
    assert figures(Fkgl(), ["-"], ["go ."], [["-"]])["fkgl"] == 0
    assert figures(Fkgl(), ["-"], [""], [["-"]])["fkgl"] == 0


PLAIN = [
    ("he came . she left .", 2),
    ("he came", 1),
    ("j . smith came .", 1),
    ("mr . smith met dr . jones .", 1),
    ('" go ! " she said . really ? ! yes .', 4),
    ("( it ended . ) then more .", 2),
    ("3.5 percent .", 1),
    ("it was 5 . then more .", 2),
    ("", 0),
]


@pytest.mark.parametrize("tokens, count", PLAIN)
def test_rule_based_sentence_splitting(tokens, count):
    assert len(split_by_rule(tokens)) == count
    assert "".join(split_by_rule(tokens)) == tokens


def test_without_punkt_signature_and_notice_name_the_rule(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk.tokenize.punkt", None)
    sentence_splitter.cache_clear()
    try:
        assert "sentences:plain" in Fkgl().signature
        assert "Punkt is not installed" in Fkgl().notice
    finally:
        sentence_splitter.cache_clear()


@needs_corpora
@pytest.mark.skipif(fkgl.sentence_splitter()[0] != "punkt", reason="NLTK's Punkt data is not installed")
def test_fkgl_of_the_copied_source():
    corpus = load_corpus("turk", data=FOLDER)
    assert round(figures(Fkgl(), corpus.sources, corpus.sources, corpus.references)["fkgl"], 2) == 10.02


# ---- reference-free statistics ----


def test_surface_by_hand():
    """Sentence 1: 3 of 4 words kept, "d" added. Sentence 2: a copy except for case. Lengths 4 and 2."""
    found = figures(Surface(), ["a b c e", "x y"], ["a b c d", "X y"], [["-", "-"]])
    assert found == pytest.approx({"len": 3, "compression": 1, "copies": 50, "added": 12.5, "deleted": 12.5})


def test_surface_of_empty_texts():
    found = figures(Surface(), ["a b", ""], ["", ""], [["-", "-"]])
    assert found == pytest.approx({"len": 0, "compression": 0, "copies": 50, "added": 0, "deleted": 50})


# ---- edits ----

PLAN = EditPlan(
    "The artisans remain old .", (Edit.insert("old"), Edit.delete("remain"), Edit.substitute("artisans", "makers"))
)


def test_satisfaction_counts_by_kind():
    outputs = ["The makers are old .", "The artisans remain old .", "They are young ."]
    measure = Satisfaction([judge(PLAN, output) for output in outputs])
    found = figures(measure, outputs, outputs, [outputs])
    assert found == pytest.approx({
        "satisfied_insert": 200 / 3, "satisfied_delete": 200 / 3, "satisfied_substitute": 100 / 3,
        "satisfied": 500 / 9,
    })  # fmt: skip


def test_splits_have_their_own_score_and_change_no_other():
    split = replace(PLAN, edits=(*PLAN.edits, Edit.split(), Edit.split()))
    outputs = ["The makers are old . They live .", "The makers are old ."]
    plain, found = (figures(Satisfaction([judge(plan, output) for output in outputs]), outputs, outputs, [outputs])
                    for plan in (PLAN, split))  # fmt: skip
    assert found == pytest.approx({**plain, "satisfied_split": 25})


def test_splits_do_not_disable_strict_scores():
    verdicts = [[Verdict(PLAN.edits[1], "satisfied", True), Verdict(Edit.split(), "satisfied")]]
    found = figures(Satisfaction(verdicts), ["-"], ["-"], [["-"]])
    assert (found["strict_delete"], found["strict"]) == (100, 100)
    assert "strict_split" not in found


def test_strict_scores_require_that_the_model_offered_the_alternative():
    insert, delete, substitute = PLAN.edits
    verdicts = [
        [Verdict(insert, "satisfied"), Verdict(delete, "satisfied", True), Verdict(substitute, "satisfied", False)],
        [Verdict(insert, "unmet"), Verdict(delete, "violated"), Verdict(substitute, "satisfied", True)],
    ]
    found = figures(Satisfaction(verdicts), ["-"] * 2, ["-"] * 2, [["-"] * 2])
    assert found["satisfied_substitute"] == 100
    assert found["strict_substitute"] == 50
    assert (found["satisfied_delete"], found["strict_delete"]) == (50, 50)
    assert (found["strict_insert"], found["strict"]) == (50, 50)


def test_no_strict_scores_without_recorded_alternatives():
    found = figures(Satisfaction([judge(PLAN, "The makers are old .")]), ["-"], ["-"], [["-"]])
    assert not any(name.startswith("strict") for name in found)


def test_plan_precision_by_hand():
    """2 of 3 insertions correct ("old" is predicted twice, the oracle has it once); deletion wrong; a shared target."""
    oracle = EditPlan(
        "a", (Edit.insert("old"), Edit.insert("Big"), Edit.delete("x"), Edit.substitute("use", "Apply", "do"))
    )
    predicted = EditPlan("a", (
        Edit.insert("old"), Edit.insert("old"), Edit.insert("big"), Edit.delete("y"), Edit.substitute("use", "apply"),
        Edit.substitute("used", "do"),
    ))  # fmt: skip
    found = figures(PlanPrecision([predicted], [oracle]), ["a"], ["a"], [["a"]])
    assert found == pytest.approx({
        "precision_insert": 200 / 3, "recall_insert": 100, "precision_delete": 0, "recall_delete": 0,
        "precision_substitute": 50, "recall_substitute": 100,
    })  # fmt: skip


def test_plans_must_have_the_same_sources():
    with pytest.raises(CorpusError, match=r"plan 1 .*\"a\" and \"b\""):
        PlanPrecision([EditPlan("a")], [EditPlan("b")])
    with pytest.raises(CorpusError, match=r"1 predicted .*2 oracle"):
        PlanPrecision([EditPlan("a")], [EditPlan("a"), EditPlan("b")])


# ---- BERTScore ----


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A BERT with random weights and a vocabulary of whole words."""
    words = ["the", "cat", "dog", "sat", "ran", ".", "a"]
    return save_small_bert(tmp_path_factory.mktemp("encoder"), words, max_position_embeddings=32)


def test_bertscore_with_a_local_encoder(encoder):
    measure = BertScore(encoder)
    outputs = ["the cat sat .", "", "a dog ran ."]
    references = [["the cat sat .", "a cat .", "the dog sat ."], ["a dog .", "a dog .", ""]]
    counts = measure.count(Texts(outputs, outputs, references))
    assert counts[0, :3] == pytest.approx([1, 1, 1], abs=1e-5)
    assert counts[1, :3].tolist() == [0, 0, 0]
    assert 0 < counts[2, 2] < 1
    found = {name: float(value) for name, value in measure.figures(counts.sum(0)).items()}
    assert found["bertscore"] == pytest.approx(100 * counts[:, 2].mean())
    assert f"encoder:{encoder}|layer:2" in measure.signature


def test_bertscore_truncates_long_text(encoder, tmp_path):
    long = Texts(["-"], ["cat " * 500], [["the cat " * 300]])
    assert np.isfinite(BertScore(encoder).count(long)).all()
    from transformers import AutoTokenizer, RobertaConfig, RobertaModel

    config = RobertaConfig(vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                           intermediate_size=16, max_position_embeddings=34, pad_token_id=0)  # fmt: skip
    RobertaModel(config).save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    tokenizer.model_max_length = int(1e30)
    tokenizer.save_pretrained(tmp_path)
    assert np.isfinite(BertScore(str(tmp_path)).count(long)).all()


def test_bertscore_errors_name_what_is_missing(monkeypatch, encoder):
    with pytest.raises(ConfigError, match='no-such-folder"'):
        BertScore(f"{encoder}/no-such-folder")
    monkeypatch.setitem(sys.modules, "bert_score", None)
    with pytest.raises(ConfigError, match=r"pip install 'redraft\[bertscore\]'"):
        BertScore(encoder)


def test_tokenization():
    assert tokenized("Don't  pay $11,000, (OK)?") == "don't pay $ 11,000 , ( ok ) ?"
