"""The parts of the recipe that decide what the embedded model learns."""

import itertools
import json
import lzma
import random
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from training.__main__ import STEPS, main
from training.choosing import agreed, is_copy, sound
from training.controls import Controls, controls_of, likeness
from training.loop import Batches, Clock, Training
from training.pretrain import mean_loss, noised
from training.sampling import Sampler
from training.settings import read_recipe, remember
from training.teacher import load_teacher
from training.text import HeldOut
from training.tokenizer import END, MASK, PAD

from redraft.align.names import made_up, missing, names, numbers
from redraft.errors import ConfigError
from redraft.fit.tagged_pairs import read_tagged
from tokenizers_in_memory import TOKENIZERS

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


def test_the_number_of_steps_may_change_until_the_rate_goes_down(tmp_path, monkeypatch):
    first, times = small_training(tmp_path, steps=100), iter([False] * 4 + [True] * 4)
    clock = Clock(None)
    monkeypatch.setattr(clock, "over", lambda: next(times))
    assert not first.run(clock)
    with pytest.raises(ConfigError, match="goes down already"):
        small_training(tmp_path, steps=first.step + 1).run(Clock(None))
    assert small_training(tmp_path, steps=12).run(Clock(None))
    with pytest.raises(ConfigError, match="it cannot go on to 13"):
        small_training(tmp_path, steps=13).run(Clock(None))
    with pytest.raises(ConfigError, match="it cannot go on to 2"):
        small_training(tmp_path, steps=2).run(Clock(None))


def test_what_a_step_was_made_with_is_remembered(tmp_path):
    remember(tmp_path / "step", {"rate": 1, "steps": 5}, may_change=["steps"])
    remember(tmp_path / "step", {"rate": 1, "steps": 6}, may_change=["steps"])
    with pytest.raises(ConfigError, match="made with another rate"):
        remember(tmp_path / "step", {"rate": 2, "steps": 6}, may_change=["steps"])
    assert json.loads((tmp_path / "step" / "settings.json").read_text()) == {"rate": 1, "steps": 6}


@pytest.mark.parametrize("step, problem", [
    ("tokenizer", "tokenizer needs text in --data."),
    ("pretrain", "pretrain needs text in --data."),
    ("teacher", "teacher needs pairs/pairs.tsv.xz in --data."),
    ("student", "student needs pairs/pairs.tsv.xz in --data."),
    ("pack", "pack needs"),
])  # fmt: skip
def test_what_a_step_needs_is_named(step, problem, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["training", step, "--data", str(tmp_path), "--work", str(tmp_path)])
    assert main() == 2
    assert capsys.readouterr().err.startswith(f"error: {problem}")


def test_the_loss_is_over_the_target_alone():
    class Model(torch.nn.Module):
        config = SimpleNamespace(is_encoder_decoder=True, decoder_start_token_id=END, pad_token_id=PAD)

        def forward(self, input_ids, attention_mask, decoder_input_ids, use_cache):
            assert decoder_input_ids.tolist() == [[END, 7, 8], [END, 9, END]]
            assert attention_mask.tolist() == [[1, 1], [1, 0]]
            return SimpleNamespace(logits=torch.zeros(2, 3, 10).index_fill(2, torch.tensor([3]), 1.0))

    target = torch.tensor([[7, 8, END], [9, END, PAD]])
    loss = mean_loss(Model(), torch.tensor([[5, END], [END, PAD]]), target)
    assert float(loss) == pytest.approx(float(np.log(9 + np.e)))


def test_settings_of_the_recipe_can_be_changed():
    assert read_recipe(changes=["pretrain.steps=7"])["pretrain"]["steps"] == 7
    with pytest.raises(ConfigError, match="no such setting"):
        read_recipe(changes=["pretrain.stepz=7"])
    with pytest.raises(ConfigError, match="not TOML"):
        read_recipe(changes=["pretrain.steps=seven"])
    corpora = {*read_recipe()["teacher"]["corpora"], *read_recipe()["student"]["corpora"]}
    assert not any(tag.startswith("asset") for tag in corpora)


# ---- from text to a model that is stored ----


@pytest.fixture(scope="module")
def tiny_teacher(tmp_path_factory):
    """A Llama of random weights with a byte-level tokenizer."""
    from transformers import LlamaConfig, LlamaForCausalLM

    folder, tokenizer = tmp_path_factory.mktemp("llama"), TOKENIZERS["byte-level"]()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=36, intermediate_size=32, num_hidden_layers=2, num_attention_heads=6,
        num_key_value_heads=2, max_position_embeddings=512, initializer_range=0.5, tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id, bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_the_sampler_writes_what_transformers_writes(tiny_teacher):
    """Greedy: prompts of many lengths in one batch, padded on the left, three heads to each pair of keys and values."""
    model, tokenizer = load_teacher(tiny_teacher)
    prompts = ["the old man", "they remain here and the artisans are old", "he", "words words", "the the the"]
    encoded = tokenizer(prompts, add_special_tokens=False)["input_ids"]
    sampler = Sampler(model, tokenizer, batch=4)
    with torch.inference_mode():
        found = sampler._go_on(encoded[:3], 32, 9).tolist()
    for prompt, row in zip(encoded, found, strict=False):
        wanted = model.generate(torch.tensor([prompt]), max_new_tokens=9, do_sample=False)[0][len(prompt) :].tolist()
        assert row[: len(wanted)] == wanted
    written = dict(sampler.write(prompts, lambda width: 6))
    assert sorted(written) == list(range(len(prompts)))


def test_the_whole_recipe_at_the_size_of_a_toy(tiny_teacher, tmp_path, monkeypatch, capsys):
    """All six steps, called as a person would; the model that comes out loads and writes."""
    from training import distil

    from redraft.decode.redrafter import Redrafter

    data, work, out = tmp_path / "data", tmp_path / "work", tmp_path / "out"
    for folder in ("text", "pairs"):
        (data / folder).mkdir(parents=True)
    sentences = [f"The old man number {number} saw the big house in Rome and went away again." for number in range(60)]
    articles = "\n\n".join("\n".join(sentences[start : start + 5]) for start in range(0, 60, 5))
    (data / "text" / "wiki.txt.xz").write_bytes(lzma.compress(articles.encode()))
    pairs = [f"turk_valid_refs_1600src\tcased\t{text}\t{text.replace('went away', 'left')}" for text in sentences]
    pairs += ["asset_valid\tcased\tNever read this.\tNever."]
    (data / "pairs" / "pairs.tsv.xz").write_bytes(lzma.compress("\n".join(pairs).encode()))
    held = HeldOut(sentences[:3], {"turk": [sentences[:3]], "asset": [sentences[3:6]]})
    for module in ("training.distil", "training.student"):
        monkeypatch.setattr(f"{module}.read_held_out", lambda data: held)
    small = {
        "tokenizer.vocabulary": 400, "tokenizer.every": 1, "model.d_model": 16, "model.ffn_dim": 32, "model.heads": 2,
        "model.encoder_layers": 1, "model.decoder_layers": 1, "model.positions": 64,
        "pretrain.steps": 3, "pretrain.tokens": 400, "pretrain.warm_up": 1,
        "teacher.steps": 2, "teacher.tokens": 600, "teacher.warm_up": 1, "teacher.longest": 512,
        "distil.sources": 8, "distil.batch": 4, "distil.draws": 2, "distil.length": "[0.9]", "distil.likeness": "[0.7]",
        "distil.simplicity": "[0.8, 0.9]", "student.steps": 3, "student.tokens": 400, "student.warm_up": 1,
    }  # fmt: skip
    options = [part for name, value in small.items() for part in ("--set", f"{name}={value}")]
    monkeypatch.setattr(distil, "chosen", lambda sources, drawn: [text.replace("big", "large") for text in sources])
    for step in STEPS:
        command = ["training", step, "--data", data, "--work", work, "--teacher", tiny_teacher, "--out", out]
        monkeypatch.setattr("sys.argv", [str(part) for part in [*command, "--device", "cpu", *options]])
        assert main() == 0, (step, capsys.readouterr())
    said = capsys.readouterr().out
    assert "8 sentences, 8 pairs" in said
    assert '"reads": ' in said
    assert "8 distilled and" in said
    tagged = [*read_tagged(work / "distil" / "pairs.tsv")]
    assert len(tagged) == 8
    assert {pair.tag for pair in tagged} == {"distilled"}
    assert Redrafter(str(out), device="cpu")("The old man saw the house.", max_tokens=5).candidates
