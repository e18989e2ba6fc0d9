"""Word alignment: exact and by vectors, gold files, scores, and the trained aligner from training to links."""

import json
import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.align.aligner_network import HeadConfig
from redraft.align.aligners import make_aligner
from redraft.align.exact_aligner import ExactAligner, align_exactly, lemma
from redraft.align.gold_alignments import GoldPair, read_gold
from redraft.align.links import format_links, parse_links
from redraft.align.trained_aligner import TrainedAligner
from redraft.align.vector_aligner import VectorAligner, argmax, itermax, match
from redraft.align.word_batches import PairReader
from redraft.eight_bit_weights import load_eight_bit, save_eight_bit
from redraft.errors import ConfigError, CorpusError, ModelError
from redraft.evaluate.alignment_scores import score_links, score_non_identical
from redraft.fit.aligner import aligner_training as fit
from redraft.fit.aligner.aligner_training import AlignerTraining, train_aligner
from redraft.fit.aligner.gold_splits import EVALUATION, MAIN, OTHER, read_sets
from redraft.text.function_words import is_content
from redraft.text.words import normalise
from small_models import save_small_bert


def links(text):
    return parse_links(text)


# ---- links and gold ----


def test_link_notation():
    assert links("0-0 12-3 0-0") == {(0, 0), (12, 3)}
    assert format_links([(12, 3), (2, 1), (2, 0)]) == "2-0 2-1 12-3"
    assert links("") == frozenset()
    for bad in ("3", "a-1", "1-", "1--2", "-1-2"):
        with pytest.raises(CorpusError, match="is not a link"):
            links(bad)


def test_gold_files(tmp_path):
    row = "0:0\tThe cat\tN/A\ta cat sat\tN/A\t1\t1\t1-1\t0-0\t\n"
    (tmp_path / "g.tsv").write_text(row, encoding="utf-8")
    item = {"source": "The cat", "target": "a cat sat", "sureAlign": "1-1", "possibleAlign": "0-0", "id": "x"}
    (tmp_path / "g.json").write_text(json.dumps([item]), encoding="utf-8")
    expected = GoldPair(("The", "cat"), ("a", "cat", "sat"), frozenset({(1, 1)}), frozenset({(0, 0)}))
    assert read_gold(tmp_path / "g.tsv") == read_gold(tmp_path / "g.json") == [expected]
    assert expected.links == {(0, 0), (1, 1)}
    assert expected.reversed().reversed() == expected
    assert expected.reversed().source == ("a", "cat", "sat")
    (tmp_path / "bad.tsv").write_text(row.replace("1-1", "1-3"), encoding="utf-8")
    with pytest.raises(CorpusError, match=r"bad.tsv, pair 1: the link 1-3 refers to words outside"):
        read_gold(tmp_path / "bad.tsv")
    with pytest.raises(CorpusError, match="does not exist"):
        read_gold(tmp_path / "none.tsv")


def test_scores_by_hand():
    """Pair 1: 1 of 2 right, 1 of 2 found. Pair 2: 1 of 1 right, 1 of 1 found. Pair 3: nothing there, nothing found."""
    gold = [
        GoldPair(("a", "b"), ("a", "c"), links("0-0 1-1")),
        GoldPair(("a",), ("A",), links("0-0")),
        GoldPair(("a",), ("b",), frozenset()),
    ]
    found = [links("0-0 0-1"), links("0-0"), frozenset()]
    scores = score_links(found, gold)
    assert (scores.precision, scores.recall) == pytest.approx((100 * 2.5 / 3, 100 * 2.5 / 3))
    different = score_non_identical(found, gold)  # 0-1 is wrong, 1-1 is missing; A and a are the same word
    assert (different.precision, different.recall, different.f1) == (0, 0, 0)
    assert score_non_identical([links("1-1"), frozenset(), frozenset()], gold).f1 == 100
    assert score_links([frozenset()] * 3, gold).f1 == pytest.approx(100 / 3)


# ---- without weights ----

EXACT = [
    ("the cat sat", "the cat sat", "0-0 1-1 2-2"),
    ("The cats sat .", "the cat sits .", "0-0 1-1 2-2 3-3"),
    ("the a the b", "the b", "2-0 3-1"),
    ("-LRB- x -RRB-", "( x )", "0-0 1-1 2-2"),
    ("a b", "c d", ""),
    ("", "a", ""),
    ("a", "", ""),
    ("dog dog dog", "dog", "0-0"),
]


@pytest.mark.parametrize("source, target, expected", EXACT)
def test_exact_links(source, target, expected):
    assert format_links(align_exactly(source.split(), target.split())) == expected


WORDS = st.lists(st.sampled_from(["the", "The", "cat", "cats", "ran", "runs", ".", "-LRB-", "(", "11"]), max_size=12)


@given(WORDS, WORDS)
def test_exact_links_are_one_to_one_and_between_similar_words(source, target):
    found = align_exactly(source, target)
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)
    for i, j in found:
        assert lemma(normalise(source[i])) == lemma(normalise(target[j]))


def test_the_exact_aligner_is_fast_on_very_long_sentences():
    words = ["word"] * 10_000
    (found,) = ExactAligner().align([(words, words)])
    assert len(found) == 10_000


CONTENT = {
    "cat": True,
    "The": False,
    "n't": False,
    ".": False,
    "-LRB-": False,
    "11,000": True,
    "``": False,
    "quickly": True,
}


def test_content_words():
    assert {word: is_content(word) for word in CONTENT} == CONTENT


# ---- by vectors ----

TABLE = np.array([[0.9, 0.2, 0.1], [0.3, 0.8, 0.7], [0.2, 0.75, 0.1]])


def test_methods_of_the_vector_aligner():
    assert argmax(TABLE) == {(0, 0), (1, 1)}
    assert match(TABLE) == {(0, 0), (1, 2), (2, 1)}
    assert itermax(TABLE) >= argmax(TABLE)
    assert argmax(np.zeros((0, 3))) == argmax(np.zeros((2, 2))) == frozenset()


def test_itermax_adds_links_to_argmax():
    """Word 2 is free and nearest to column 1, which counts nine tenths now that it is taken: 0.675 is its best."""
    assert (2, 1) in itermax(TABLE)
    assert (2, 1) not in argmax(TABLE)


# ---- weights in 8 bits ----


def test_eight_bit_weights_are_nearly_the_same(tmp_path):
    torch.manual_seed(0)
    weights = {
        "a": torch.randn(30, 40) * torch.logspace(-3, 1, 30)[:, None],
        "b": torch.randn(7),
        "c": torch.randn(4, 3, 3, 3),
    }
    weights["zero"] = torch.zeros(2, 2)
    save_eight_bit(tmp_path / "w", weights)
    restored = load_eight_bit(tmp_path / "w")
    assert set(restored) == set(weights)
    for name, weight in weights.items():
        rows = weight.flatten(1) if weight.dim() > 1 else weight[:, None]
        error = (restored[name].view_as(rows) - rows).abs().amax(1)
        assert bool((error <= rows.abs().amax(1) / 250 + 1e-6).all()), name
        assert restored[name].dtype == torch.float32


# ---- the trained network ----


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A small BERT of random weights."""
    words = [*(f"w{number}" for number in range(40)), "##x"]
    return save_small_bert(tmp_path_factory.mktemp("encoder"), words, hidden_size=32, intermediate_size=32)


def made_up(rng):
    """A sentence and a shuffled part of it, with the links between equal words."""
    source = rng.sample([f"w{number}" for number in range(40)], rng.randint(3, 8))
    target = rng.sample(source, rng.randint(2, len(source)))
    return source, target, {(source.index(word), place) for place, word in enumerate(target)}


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gold")
    rng = random.Random(0)
    for name in (*MAIN, *EVALUATION):
        rows = []
        for _ in range(120):
            source, target, found = made_up(rng)
            rows.append(f"i\t{' '.join(source)}\t-\t{' '.join(target)}\t-\t-\t-\t{format_links(found)}\t\t\n")
        (folder / name).write_text("".join(rows), encoding="utf-8")
    for name in OTHER:
        items = []
        for _ in range(20):
            source, target, found = made_up(rng)
            items.append({"source": " ".join(source), "target": " ".join(target), "sureAlign": format_links(found),
                          "possibleAlign": ""})  # fmt: skip
        (folder / name).write_text(json.dumps(items + items[:3]), encoding="utf-8")
    return folder


TRAINING = AlignerTraining(epochs=12, batch=16, held_out=20, encoder_learning_rate=1e-3, head_learning_rate=3e-3,
                           head=HeadConfig(projections=4, size=8, channels=8, depth=1))  # fmt: skip


@pytest.fixture(scope="module")
def trained(encoder, gold, tmp_path_factory):
    out = tmp_path_factory.mktemp("aligner")
    train_aligner(encoder, gold, out, TRAINING, device="cpu", say=lambda text: None)
    return out


def test_training_learns_and_what_is_saved_is_what_is_loaded(trained, gold):
    pairs = read_gold(gold / "wiki-test.tsv")
    found = list(TrainedAligner.load(trained, device="cpu").align((pair.source, pair.target) for pair in pairs))
    assert score_links(found, pairs).f1 > 90
    about = json.loads((trained / "training.json").read_text(encoding="utf-8"))
    assert about["run"]["settings"]["epochs"] == 12
    assert set(about["run"]["gold"]) == {*MAIN, *OTHER}
    assert not (trained / "checkpoint.pt").exists()


def test_a_batch_has_the_links_of_single_pairs(trained):
    rng = random.Random(1)
    pairs = [made_up(rng)[:2] for _ in range(40)] + [(["w1"], ["w2"] * 30), (["w1"], ["w1"])]
    aligner = TrainedAligner.load(trained, device="cpu")
    aligner.model.float()
    together = list(aligner.probabilities(pairs))
    for pair, table in zip(pairs, together, strict=True):
        (alone,) = aligner.probabilities([pair])
        assert torch.allclose(alone, table, atol=0.02)


def test_empty_and_too_long_pairs(trained):
    aligner = TrainedAligner.load(trained, device="cpu")
    long = ["w1", "w2"] * 400
    pairs = [([], ["w1"]), (["w1"], []), ([], []), (long, long), (["\x00", "\u200b"], ["w1", "\x07"]), (["w1"], ["w1"])]
    found = list(aligner.align(pairs))
    assert found[:3] == [frozenset()] * 3
    assert len(found[3]) == len(long)  # beyond the encoder's limit: aligned by the exact aligner, and counted
    assert aligner.too_long == 1
    assert found[5] == {(0, 0)}


def test_a_killed_training_resumes(encoder, gold, tmp_path, monkeypatch):
    class Killed(Exception):
        pass

    short = AlignerTraining(**{**vars(TRAINING), "epochs": 3})
    quiet = lambda text: None  # noqa: E731
    train_aligner(encoder, gold, tmp_path / "whole", short, device="cpu", say=quiet)
    loss, done = fit._AlignerLoop.compute_loss, []

    def dies(self, step):
        if len(done) == 30:
            raise Killed
        done.append(1)
        return loss(self, step)

    monkeypatch.setattr(fit, "_SAVE_EVERY", 10)
    monkeypatch.setattr(fit._AlignerLoop, "compute_loss", dies)
    with pytest.raises(Killed):
        train_aligner(encoder, gold, tmp_path / "killed", short, device="cpu", say=quiet)
    assert (tmp_path / "killed" / "checkpoint.pt").exists()
    monkeypatch.setattr(fit._AlignerLoop, "compute_loss", loss)
    said = []
    train_aligner(encoder, gold, tmp_path / "killed", short, device="cpu", say=said.append)
    assert "resuming from step 30" in said
    one, other = (load_eight_bit(tmp_path / name / "aligner.safetensors") for name in ("whole", "killed"))
    assert all(torch.allclose(one[name], other[name], atol=0.05) for name in one)


def test_a_checkpoint_of_other_settings_is_refused(encoder, gold, tmp_path, monkeypatch):
    short = AlignerTraining(**{**vars(TRAINING), "epochs": 1})
    monkeypatch.setattr(fit, "_SAVE_EVERY", 5)
    monkeypatch.setattr(fit, "choose_threshold", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train_aligner(encoder, gold, tmp_path, short, device="cpu", say=lambda text: None)
    with pytest.raises(ConfigError, match=r"another training: there settings\.epochs"):
        train_aligner(encoder, gold, tmp_path, TRAINING, device="cpu", say=lambda text: None)


def test_sentences_of_evaluation_sets_are_removed_from_training(gold, tmp_path):
    for path in gold.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    tested = read_gold(gold / "wiki-test.tsv")[0]
    items = json.loads((gold / OTHER[0]).read_text(encoding="utf-8"))
    items.append({"source": " ".join(tested.source).upper(), "target": "w1", "sureAlign": "", "possibleAlign": ""})
    (tmp_path / OTHER[0]).write_text(json.dumps(items), encoding="utf-8")
    before, after = read_sets(gold, TRAINING.held_out), read_sets(tmp_path, TRAINING.held_out)
    assert after.left_out == before.left_out + 1
    assert len(after.other) == len(before.other)
    assert len(before.held_out) == 40
    assert not {pair.source for pair in before.held_out} & {pair.source for pair in before.main}
    (tmp_path / MAIN[0]).unlink()
    with pytest.raises(CorpusError, match=r"missing wiki-train.tsv"):
        read_sets(tmp_path, TRAINING.held_out)


def test_gold_files_can_be_left_out(gold, tmp_path):
    for name in ("wiki-train.tsv", *EVALUATION):
        (tmp_path / name).write_bytes((gold / name).read_bytes())
    sets = read_sets(tmp_path, TRAINING.held_out, ["mtref", "msr.edinburgh", "gold.train", "RTE2"])
    assert sets.other == []
    assert sets.main == read_sets(gold, TRAINING.held_out).main[: len(sets.main)]
    with pytest.raises(CorpusError, match=r"missing msr.edinburgh.train.json\."):
        read_sets(tmp_path, TRAINING.held_out, ["mtref", "gold.train", "RTE2"])
    with pytest.raises(ConfigError, match="removes all of MultiMWA"):
        read_sets(tmp_path, TRAINING.held_out, ["mtref", "wiki"])


def test_vectors_of_an_encoder(encoder):
    aligner = VectorAligner(encoder, layer=0, device="cpu")  # embeddings: the same word has nearly the same vector
    pairs = [(["w1", "w2", "w3"], ["w1", "w2"]), ([], ["w1"]), (["w5"] * 700, ["w5"])]
    found = list(aligner.align(pairs))
    assert found[0] == {(0, 0), (1, 1)}
    assert found[1] == frozenset()


def test_aligners_by_name(encoder, trained):
    assert list(make_aligner("exact").align([(["a"], ["A"])])) == [{(0, 0)}]
    assert isinstance(make_aligner("trained", encoder=str(trained)), TrainedAligner)
    with pytest.raises(ConfigError, match="not known"):
        make_aligner("magic")
    with pytest.raises(ConfigError, match="needs an encoder"):
        make_aligner("vectors")
    with pytest.raises(ModelError, match=r"does not contain an aligner: .*aligner\.json"):
        make_aligner("trained", encoder=encoder)


@settings(max_examples=30)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4))
def test_batches_hold_every_word_once(pairs):
    class Tokenizer:
        cls_token_id, sep_token_id, pad_token_id, unk_token_id = 1, 2, 0, 3

        def __call__(self, words, add_special_tokens):
            return {"input_ids": [[10 + len(word)] * (len(word) % 3) for word in words]}

    batch = PairReader(Tokenizer()).batch(pairs)
    for row, (source, target) in enumerate(pairs):
        assert batch.source_words[row].sum(-1).round().tolist() == [1] * len(source) + [0] * (
            batch.source_words.shape[1] - len(source)
        )
        assert batch.target_words[row].sum(-1).round().tolist() == [1] * len(target) + [0] * (
            batch.target_words.shape[1] - len(target)
        )
        assert int(batch.pair_mask[row].sum()) == len(source) * len(target)
        same = [[float(a.lower() == b.lower()) for b in target] for a in source]
        assert batch.features[row, 0, : len(source), : len(target)].tolist() == same
