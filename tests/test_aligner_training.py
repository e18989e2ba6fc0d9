"""Training data of the aligner besides gold: tagged pairs, synthetic pairs, and labels by teachers."""

import json
import lzma
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redraft.align.aligner_network import HeadConfig
from redraft.align.gold_alignments import GoldPair
from redraft.align.links import format_links
from redraft.errors import ConfigError, CorpusError
from redraft.fit.aligner.aligner_training import AlignerTraining, label_by_teachers, train_aligner
from redraft.fit.aligner.gold_splits import EVALUATION, MAIN, OTHER
from redraft.fit.aligner.unlabelled_pairs import SoftPair, UnlabelledPairs
from redraft.fit.synthetic_pairs import make_pair, make_pairs, read_synonyms
from redraft.fit.tagged_pairs import comparison_key, read_tagged
from small_models import save_small_bert

# ---- tagged pairs ----


@pytest.mark.parametrize("ending", ["tsv", "tsv.xz"])
def test_tagged_pairs_without_those_left_out(tmp_path, ending):
    path = tmp_path / f"pairs.{ending}"
    text = b"turk\tcased\tThe Cat .\tA cat .\nasset_valid\tcased\ta\tb\nwiki\tlower\tx\ty\n"
    path.write_bytes(lzma.compress(text) if ending.endswith("xz") else text)
    found = list(read_tagged(path, ["asset"]))
    (tmp_path / "odd.tsv").write_text("turk\tCased\ta\tb\n", encoding="utf-8")
    with pytest.raises(CorpusError, match='line 1: the casing is "Cased"'):
        list(read_tagged(tmp_path / "odd.tsv"))
    assert [(pair.tag, pair.lower, pair.source, pair.target) for pair in found] == [
        ("turk", False, "The Cat .", "A cat ."), ("wiki", True, "x", "y"),
    ]  # fmt: skip
    assert len(list(read_tagged(path))) == 3


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("turk\tcased\ta\tb\nturk\tcased\ta\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"pairs.tsv, line 2: has 3 columns"):
        list(read_tagged(path))
    with pytest.raises(CorpusError, match="does not exist"):
        list(read_tagged(tmp_path / "none.tsv"))


def test_sentences_are_compared_by_letters_and_digits():
    assert comparison_key("“Hello”, World 2!") == "helloworld2" == comparison_key("hello world 2")


# ---- synthetic pairs ----

SYNONYMS = {"big": ["large"], "house": ["home", "residence"]}
SENTENCES = st.lists(
    st.sampled_from(["the", "big", "house", ",", "of", "a", "cat", "sat", "on", "mat", "7", "."]),
    min_size=1,
    max_size=20,
)


@given(SENTENCES, SENTENCES, st.integers(0, 10_000))
def test_links_of_synthetic_pairs_are_correct(words, other, seed):
    pair = make_pair(words, other, SYNONYMS, random.Random(seed))
    assert pair.source == tuple(words)
    for left, right in pair.links:
        one, two = pair.source[left], pair.target[right]
        assert two == one or two in SYNONYMS[one]
    assert len({right for _, right in pair.links}) == len({left for left, _ in pair.links}) == len(pair.links)
    unlinked = [word for place, word in enumerate(pair.target) if place not in {right for _, right in pair.links}]
    assert set(unlinked) <= set(other)


def test_synthetic_pairs_delete_move_replace_and_insert():
    words = ["the", "big", "cat", "sat", "on", "the", "old", "house", ",", "and", "then", "it", "ran", "away", "."]
    pairs = make_pairs([words], SYNONYMS, 300, random.Random(0))
    assert any(len(pair.links) < len(words) for pair in pairs)
    assert any(len(pair.target) > len(pair.links) for pair in pairs)
    assert any("large" in pair.target for pair in pairs)
    assert any(sorted(pair.links) != sorted(pair.links, key=lambda link: link[1]) for pair in pairs)


def test_synonyms_are_words_and_symmetric(tmp_path):
    path = tmp_path / "synonyms.txt.xz"
    path.write_bytes(lzma.compress(b"big\tlarge\n10/17\t17.10\n"))
    assert read_synonyms(path) == {"big": ["large"], "large": ["big"]}


# ---- teachers ----

WORDS = [f"w{number}" for number in range(30)]
TRAINING = AlignerTraining(
    epochs=3, batch=16, held_out=10, encoder_learning_rate=1e-3, head_learning_rate=3e-3, teachers=2, synthetic=40,
    unlabelled=30, head=HeadConfig(projections=4, size=8, channels=8, depth=1),
)  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("data"), random.Random(0)

    def made_up():
        source = rng.sample(WORDS, rng.randint(4, 8))
        target = rng.sample(source, 3)
        return " ".join(source), " ".join(target), format_links({(source.index(w), at) for at, w in enumerate(target)})

    for name in (*MAIN, *EVALUATION):
        rows = [made_up() for _ in range(40)]
        (folder / name).write_text("".join(f"i\t{s}\t-\t{t}\t-\t-\t-\t{links}\n" for s, t, links in rows))
    for name in OTHER:
        rows = [made_up() for _ in range(5)]
        items = [{"source": s, "target": t, "sureAlign": links, "possibleAlign": ""} for s, t, links in rows]
        (folder / name).write_text(json.dumps(items))
    tested = (folder / "wiki-test.tsv").read_text().splitlines()[0].split("\t")[1]
    pairs = [made_up()[:2] for _ in range(50)]
    lines = [f"real\tcased\t{s}\t{t}\n" for s, t in pairs] + ["asset_x\tcased\tw1 w2 w3\tw1 w2 w3\n"]
    lines += [f"real\tcased\t{tested.upper()}!\tw1 w2 w3\n"]
    (folder / "pairs.tsv").write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_small_bert(tmp_path_factory.mktemp("encoder"), [*WORDS, "##x"], hidden_size=32, intermediate_size=32)


def test_unlabelled_pairs_share_no_sentence_with_an_evaluation_file(data):
    plain = UnlabelledPairs.read(data / "pairs.tsv", None, data, ["asset"])
    assert len(plain.pairs) == 50
    assert len(UnlabelledPairs.read(data / "pairs.tsv", None, data).pairs) == 51
    made = plain.synthetic(40, 0)
    assert len(made) == 40
    assert made == plain.synthetic(40, 0)


def test_teachers_are_trained_once_and_label_pairs(data, encoder, tmp_path):
    plain = UnlabelledPairs.read(data / "pairs.tsv", None, data, ["asset"])
    said: list[str] = []
    train_aligner(encoder, data, tmp_path, TRAINING, unlabelled=plain, device="cpu", say=said.append)
    assert [line for line in said if line.startswith("teacher ")] == ["teacher 1 of 2", "teacher 2 of 2"]
    assert json.loads((tmp_path / "training.json").read_text())["pairs"]["extra"] == 70
    seeds = [
        json.loads((tmp_path / f"teacher-{k}" / "training.json").read_text())["run"]["settings"]["seed"] for k in (0, 1)
    ]
    assert seeds == [1, 2]
    again: list[str] = []
    train_aligner(encoder, data, tmp_path, TRAINING, unlabelled=plain, device="cpu", say=again.append)
    assert again == [f"{tmp_path}: this training is already finished; nothing to do."]
    with_asset = UnlabelledPairs.read(data / "pairs.tsv", None, data)
    with pytest.raises(
        ConfigError, match=r"another training: there unlabelled\.leave_out"
    ):  # otherwise teachers trained on ASSET would be used
        train_aligner(encoder, data, tmp_path, TRAINING, unlabelled=with_asset, device="cpu", say=again.append)
    (tmp_path / "training.json").unlink()
    with pytest.raises(ConfigError, match=r"teacher-0.*another training: there unlabelled\.leave_out"):
        train_aligner(encoder, data, tmp_path, TRAINING, unlabelled=with_asset, device="cpu", say=again.append)
    train_aligner(encoder, data, tmp_path, TRAINING, unlabelled=plain, device="cpu", say=again.append)
    assert not [line for line in again if line.startswith("teacher ")]
    with pytest.raises(ConfigError, match=r"another training: there settings\.epochs is 3, here 2"):
        train_aligner(encoder, data, tmp_path, AlignerTraining(**{**vars(TRAINING), "epochs": 2}), unlabelled=plain,
                      device="cpu", say=again.append)  # fmt: skip


def test_soft_labels_are_the_mean_of_the_teachers(data, encoder, tmp_path):
    plain = UnlabelledPairs.read(data / "pairs.tsv", None, data, ["asset"])
    train_aligner(encoder, data, tmp_path, TRAINING, unlabelled=plain, device="cpu", say=lambda text: None)
    folders = [tmp_path / "teacher-0", tmp_path / "teacher-1"]
    pair = plain.pairs[0]
    (both,) = label_by_teachers(folders, [pair], device="cpu", say=lambda text: None)
    alone = [
        label_by_teachers([folder], [pair], device="cpu", say=lambda text: None)[0].table.float() for folder in folders
    ]
    assert torch.allclose(both.table.float(), (alone[0] + alone[1]) / 2, atol=1.5)
    assert isinstance(both, SoftPair)
    assert torch.equal(both.reversed().table, both.table.T)
    assert isinstance(plain.synthetic(40, 0)[0], GoldPair)
