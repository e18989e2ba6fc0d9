"""The parts of the recipe that decide what the embedded model learns."""

import itertools
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from training.choosing import agreed, is_copy, sound
from training.controls import Controls, controls_of, likeness
from training.loop import Batches, Clock, Training
from training.pretrain import noised, seq2seq_loss
from training.settings import read_recipe
from training.tokenizer import END, MASK, PAD

from redraft.align.names import made_up, missing, names, numbers
from redraft.errors import ConfigError

# ---- names and numbers ----


def test_names_are_capitalised_words_not_at_the_start():
    assert names("The city of New York has 8,000 Pubs .") == ["New", "York", "Pubs"]
    assert numbers("8,000 in 1990s") == ["8", "000", "1990"]
    assert missing("He met Ann in 1990 .", "he met ANN .") == ["1990"]
    assert missing("He met Ann's aunt Sue.", "He met Ann's aunt.") == ["Sue"]
    assert missing("He met Ann.", "Annie was met by him.") == ["Ann"]


def test_made_up_names():
    assert made_up("He met Ann.", "He met Bob in 1990.") == ["Bob", "1990"]
    assert made_up("He met Ann and left.", "He met Ann. Then he left.") == []


# ---- which rewritings are learned from ----

SOURCE = "The artisans of Rome purchased 12 residences in 1990, and later they sold them."


@pytest.mark.parametrize("target, good", [
    ("The craftsmen of Rome bought 12 houses in 1990, and then sold them.", True),
    ("The craftsmen of Rome bought houses in 1990, and then sold them.", False),  # a number is lost
    ("The craftsmen bought 12 houses in 1990, and then sold them.", False),  # a name is lost
    ("The craftsmen of Rome and Pisa bought 12 houses in 1990, then sold them.", False),  # one is made up
    ("The craftsmen of Rome bought 12 houses in 1990, and then", False),  # stops
    ("In 1990 Rome 12.", False),  # too short
    ("Rome bought 12 houses in 1990 they sold them and they sold them and they sold them.", False),  # loops
])  # fmt: skip
def test_sound_rewritings(target, good):
    assert sound(SOURCE, target) is good


def test_the_draw_that_the_others_agree_with():
    sources = ["the big cat sat .", "a b c"]
    drawn = [["the cat sat .", "a b"], ["the large cat rested .", "a b"], ["the cat sat down .", "c"]]
    assert agreed(sources, drawn)[0] in (0, 2)
    assert agreed(sources, drawn)[1] in (0, 1)
    assert is_copy("A b, c.", "a b c")


def test_controls_say_how_a_rewriting_differs():
    ranks = {word: place for place, word in enumerate(["house", "old", "residence", "ancient"], 1)}
    same = controls_of("turk", "ancient residence", "ancient residence", ranks)
    assert same == Controls("turk", 1.0, 1.0, 1.0)
    simple = controls_of("turk", "ancient residence", "old house", ranks)
    assert simple.likeness == 0.2  # the least that is told
    assert simple.length < 1
    assert simple.simplicity < 1
    assert likeness("a b", "a c") == 0.5
    assert simple.prompt("x").splitlines()[0] == "turk, length 0.55, likeness 0.20, words 0.50"


# ---- noise and batches ----


def test_noise_hides_spans_and_keeps_the_rest_in_order():
    torch.manual_seed(0)
    text = torch.full((64, 40), PAD)
    for row in range(64):
        size = 10 + row % 30
        text[row, :size] = torch.arange(100, 100 + size)
        text[row, size - 1] = END
    noisy = noised(text, masked=0.3, wrong=0.0, vocabulary=1000)
    hidden = 0
    for before, after in zip(text.tolist(), noisy.tolist(), strict=True):
        before, after = ([token for token in row if token != PAD] for row in (before, after))
        kept = [token for token in after if token != MASK]
        assert kept == [token for token in before if token in set(kept)]  # in order, nothing twice
        assert after[-1] == END
        assert not any(one == other == MASK for one, other in itertools.pairwise(after))
        hidden += 1 - len(kept) / len(before)
    assert 0.2 < hidden / 64 < 0.4
    assert torch.equal(noised(text, masked=0.0, wrong=0.0, vocabulary=1000), text[:, :39])  # the longest has 39


def test_batches_hold_every_row_once_in_an_epoch_and_keep_to_their_size():
    lengths = np.array([random.Random(row).randint(3, 50) for row in range(500)])
    batches = Batches(lengths, 400, 10_000, seed=1)
    epoch = [batches[step] for step in range(batches.per_epoch)]
    assert sorted(row for batch in epoch for row in batch) == list(range(500))
    assert all(len(batch) * lengths[batch].max() <= 400 for batch in epoch)
    again = Batches(lengths, 400, 10_000, seed=1)
    assert all((batches[step] == again[step]).all() for step in range(1000))


# ---- the loop ----


def small_training(folder: Path, steps: int = 12, seed: int = 5) -> Training:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 1))
    settings = SimpleNamespace(steps=steps, rate=0.05, warm_up=2, average=0.9, seed=seed)

    def batch_of(step):
        return {"x": torch.from_numpy(np.random.default_rng(step).normal(size=(16, 4)).astype(np.float32))}

    def loss_of(model, batch):
        return ((model(batch["x"])[:, 0] - batch["x"].sum(1)) ** 2).mean()

    return Training(model, batch_of, loss_of, settings, folder, torch.device("cpu"))


def test_a_training_that_stops_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    whole = small_training(tmp_path / "whole")
    assert whole.run(Clock(None))
    times = iter([False] * 4 + [True] * 10)
    stopped = Clock(None)
    monkeypatch.setattr(stopped, "over", lambda: next(times))
    first = small_training(tmp_path / "parts")
    assert not first.run(stopped)
    assert 0 < first.step < 12
    second = small_training(tmp_path / "parts")
    assert second.run(Clock(None))
    for one, other in zip(whole.averaged.parameters(), second.averaged.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_checkpoint_of_other_settings_is_refused(tmp_path):
    small_training(tmp_path).run(Clock(None))
    with pytest.raises(SystemExit, match="other settings"):
        small_training(tmp_path, seed=6).run(Clock(None))


def test_the_loss_is_over_the_target_alone():
    class Model(torch.nn.Module):
        def forward(self, input_ids, attention_mask, decoder_input_ids):
            assert decoder_input_ids.tolist() == [[0, 7, 8], [0, 9, END]]
            assert attention_mask.tolist() == [[1, 1], [1, 0]]
            return SimpleNamespace(logits=torch.zeros(2, 3, 10).index_fill(2, torch.tensor([3]), 1.0))

    target = torch.tensor([[7, 8, END], [9, END, PAD]])
    loss = seq2seq_loss(Model(), torch.tensor([[5, END], [END, PAD]]), target)
    assert float(loss) == pytest.approx(float(np.log(9 + np.e)))


def test_settings_of_the_recipe_can_be_changed():
    assert read_recipe(changes=["pretrain.steps=7"])["pretrain"]["steps"] == 7
    with pytest.raises(ConfigError, match="no such setting"):
        read_recipe(changes=["pretrain.stepz=7"])
    with pytest.raises(ConfigError, match="not TOML"):
        read_recipe(changes=["pretrain.steps=seven"])
    corpora = {*read_recipe()["teacher"]["corpora"], *read_recipe()["student"]["corpora"]}
    assert not any(tag.startswith("asset") for tag in corpora)
