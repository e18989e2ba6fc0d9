"""The training recipe of the bundled rewriter: selection of pairs, batches, the loop, and a small run of all steps."""

import itertools
import json
import lzma
import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from training import distil, plan_reading
from training.__main__ import STEPS, main
from training.checkpoint_choice import agreed, is_copy, sound
from training.controls import Controls, controls_of, likeness
from training.loop import Batches, Clock, Training
from training.pair_rows import TokenRows
from training.pretrain import make_model, mean_loss, noised
from training.sampling import Sampler
from training.settings import read_recipe, remember
from training.teacher import load_teacher
from training.text_corpus import HeldOut, premises
from training.tokenizer import END, MASK, PAD

from redraft import Edit, EditPlan
from redraft.check.meaning import Meaning
from redraft.constrain.mark_tokens import add_marks
from redraft.errors import ConfigError
from redraft.fit.linked_pairs import LinkedPair
from redraft.fit.rewriter.plan_examples import PlanSampler
from redraft.fit.rewriter.token_batches import pad_rows
from redraft.fit.tagged_pairs import TaggedPair, read_tagged
from redraft.plan.target_guard import TargetGuard
from redraft.text.names import invented_names, missing_names, names, numbers
from tokenizers_in_memory import TOKENIZERS

# ---- names and numbers ----


def test_names_are_capitalised_words_not_at_the_start():
    assert names("The city of New York has 8,000 Pubs .") == ["New", "York", "Pubs"]
    assert numbers("8,000 in 1990s") == ["8", "000", "1990"]
    assert missing_names("He met Ann in 1990 .", "he met ANN .") == ["1990"]
    assert missing_names("He met Ann's aunt Sue.", "He met Ann's aunt.") == ["Sue"]
    assert missing_names("He met Ann.", "Annie was met by him.") == ["Ann"]


def test_invented_names():
    assert invented_names("He met Ann.", "He met Bob in 1990.") == ["Bob", "1990"]
    assert invented_names("He met Ann and left.", "He met Ann. Then he left.") == []


# ---- selection of rewritings ----

SOURCE = "The artisans of Rome purchased 12 residences in 1990, and later they sold them."


@pytest.mark.parametrize("target, good", [
    ("The craftsmen of Rome bought 12 houses in 1990, and then sold them.", True),
    ("The craftsmen of Rome bought houses in 1990, and then sold them.", False),  # a number is lost
    ("The craftsmen bought 12 houses in 1990, and then sold them.", False),  # a name is lost
    ("The craftsmen of Rome and Pisa bought 12 houses in 1990, then sold them.", False),  # a name is added
    ("The craftsmen of Rome bought 12 houses in 1990, and then", False),  # incomplete
    ("In 1990 Rome 12.", False),  # too short
    ("The craftsmen of Rome bought 12 houses in 1990,\nand then sold them.", False),  # two lines
    ("Rome bought 12 houses in 1990 they sold them and they sold them and they sold them.", False),  # loops
])  # fmt: skip
def test_sound_rewritings(target, good):
    assert sound(SOURCE, target) is good


def test_the_sample_that_agrees_most_with_the_others():
    sources = ["the big cat sat .", "a b c"]
    drawn = [["the cat sat .", "a b"], ["the large cat rested .", "a b"], ["the cat sat down .", "c"]]
    assert agreed(sources, drawn)[0] in (0, 2)
    assert agreed(sources, drawn)[1] in (0, 1)
    assert is_copy("A b, c.", "a b c")


def test_controls_of_a_pair():
    ranks = {word: place for place, word in enumerate(["house", "old", "residence", "ancient"], 1)}
    same = controls_of("turk", "ancient residence", "ancient residence", ranks)
    assert same == Controls("turk", 1.0, 1.0, 1.0)
    simple = controls_of("turk", "ancient residence", "old house", ranks)
    assert simple.likeness == 0.2  # the minimum
    assert simple.length < 1
    assert simple.simplicity < 1
    assert likeness("a b", "a c") == 0.5
    assert simple.prompt("x").splitlines()[0] == "turk, length 0.55, likeness 0.20, words 0.50"


@pytest.fixture(scope="module")
def guard():
    return TargetGuard.load()


OLD_TOWN = "The artisans remain in the old town ."
EVERY_WORD = "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7"


@pytest.mark.parametrize("source, target, links, by_people, by_teacher", [
    pytest.param(OLD_TOWN, "The craftsmen stay in the old town .", EVERY_WORD, True, True, id="simpler-words"),
    pytest.param(OLD_TOWN, "The artisans remain in the old town , rich kings .", EVERY_WORD, True, True, id="two-new"),
    pytest.param(OLD_TOWN, "The artisans remain in the old town , rich kings lived .", EVERY_WORD, False, False,
                 id="three-new"),
    pytest.param("They did not stay .", "They stayed .", "0-0 3-1 4-2", True, False, id="a-negation-is-lost"),
    pytest.param("They stayed .", "They did not stay .", "0-0 1-3 2-4", True, False, id="a-negation-is-new"),
    pytest.param("They did not stay .", "They never stayed .", "0-0 2-1 3-2 4-3", True, True, id="another-negation"),
    pytest.param("Prices rose fast .", "Prices fell fast .", "0-0 1-1 2-2 3-3", True, False, id="the-opposite"),
])  # fmt: skip
def test_faithful_pairs(source, target, links, by_people, by_teacher, guard):
    """Pairs by the teacher are checked more strictly than human ones."""
    for tag, good in (("wikiauto_plan_cardiff", by_people), ("distilled_strong", by_teacher)):
        assert plan_reading.is_faithful(LinkedPair.of((tag, False, source, target, links)), guard) is good


# ---- source sentences ----


@pytest.mark.parametrize("sources, found", [
    ("abcdefghi", ["medium ab", "strong fg", "light i", "medium cd", "strong h", "medium e"]),
    ("abcdefg", ["medium ab", "strong fg", "medium cd", "medium e"]),  # fewer than wanted
])  # fmt: skip
def test_strengths_alternate(sources, found, monkeypatch):
    monkeypatch.setattr(distil, "_PART", 2)
    settings = SimpleNamespace(strengths={"medium": {"sources": 5}, "strong": {"sources": 3}, "light": {"sources": 1}})
    assert [" ".join(part) for part in distil._parts(sources, settings)] == found


def test_premises_are_distinct_and_from_the_given_parts(tmp_path):
    assert list(premises(tmp_path, ["MultiNLI"])) == []
    rows = [("MultiNLI", "One."), ("SNLI", "Two."), ("MultiNLI", "Three."), ("MultiNLI", "One."), ("MultiNLI", "")]
    text = "".join(f"{part}\tneutral\t{premise}\tA guess.\n" for part, premise in rows)
    (tmp_path / "nli").mkdir()
    (tmp_path / "nli" / "nli.tsv.xz").write_bytes(lzma.compress(text.encode()))
    assert list(premises(tmp_path, ["MultiNLI"])) == ["One.", "Three."]
    assert list(premises(tmp_path, ["SNLI", "MultiNLI"])) == ["One.", "Two.", "Three."]


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


def test_packed_rows_are_padded_like_single_ones():
    rng = np.random.default_rng(0)
    rows = [rng.integers(5, 60_000, rng.integers(1, 20)).tolist() for _ in range(100)]
    packed = TokenRows.joined([TokenRows.of(rows[:40]), TokenRows.of([]), TokenRows.of(rows[40:])])
    for chosen in ([0], [99], [7, 99, 3, 7], rng.permutation(100)):
        wanted = pad_rows([np.array(rows[row]) for row in chosen], PAD)
        found = packed.padded(np.array(chosen), PAD)
        assert found.dtype == wanted.dtype
        assert torch.equal(found, wanted)


@pytest.fixture(scope="module")
def marked_tokenizer(tmp_path_factory):
    folder, tokenizer = tmp_path_factory.mktemp("marked"), TOKENIZERS["byte-level"]()
    add_marks(tokenizer)
    tokenizer.save_pretrained(folder)
    return folder


def test_batches_are_the_same_after_a_restart_and_epochs_differ(marked_tokenizer, monkeypatch):
    monkeypatch.setattr(plan_reading, "_CHUNK", 8)
    rows = [
        ("turk", False, f"The artisans remain in the old town {number} .", f"The craftsmen stay in town {number} .",
         "0-0 1-1 2-2 3-3 6-4 7-5 8-6")
        for number in range(20)
    ]  # fmt: skip
    settings = SimpleNamespace(
        seed=1, tokens=600, positions=200, joined=0.3, corpora={"turk": [1.5, "bare"], "other": [1, "planned"]}
    )
    sampler = PlanSampler.load()
    with plan_reading.Epochs(rows, sampler, marked_tokenizer, settings) as epochs:
        steps = 3 * epochs.per_epoch
        whole = [epochs[step] for step in range(steps)]
    with plan_reading.Epochs(rows, sampler, marked_tokenizer, settings) as epochs:
        assert 3 * epochs.per_epoch == steps
        for step in (steps - 1, steps - 2, epochs.per_epoch, 0):  # in any order
            assert all(torch.equal(*both) for both in zip(epochs[step], whole[step], strict=True))

    def examples(epoch):
        batches = whole[epoch * steps // 3 : (epoch + 1) * steps // 3]
        return {tuple(row[row != PAD].tolist()) for source, _ in batches for row in source}

    assert examples(0) != examples(1) != examples(2)
    assert all(source.numel() <= 600 for source, _ in whole)


@pytest.mark.parametrize("positions", [40, 100])
def test_a_longer_model_writes_the_same_for_short_texts(positions):
    shape = SimpleNamespace(
        d_model=16, positions=32, encoder_layers=1, decoder_layers=1, heads=2, ffn_dim=32, dropout=0
    )
    torch.manual_seed(0)
    model = make_model(shape, 60).eval()
    short = torch.tensor([[7, 8, 9, END]])
    same = {"input_ids": short, "decoder_input_ids": short.flip(1)}
    sides = [model.model.encoder, model.model.decoder]
    before = [side.embed_positions.weight.clone() for side in sides]
    scores, wrote = model(**same).logits, model.generate(short, max_new_tokens=12, do_sample=False)
    plan_reading.lengthen(model, positions)
    assert torch.equal(model(**same).logits, scores)
    assert torch.equal(model.generate(short, max_new_tokens=12, do_sample=False), wrote)
    for side, old in zip(sides, before, strict=True):
        assert torch.equal(side.embed_positions.weight[: len(old)], old)
        assert torch.isfinite(side.embed_positions.weight).all()
    assert model.config.max_position_embeddings == positions
    long = torch.full((1, positions), 7)
    assert torch.isfinite(model(input_ids=long, decoder_input_ids=long).logits).all()


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


def test_a_resumed_training_ends_with_the_same_weights(tmp_path, monkeypatch):
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


def test_the_number_of_steps_may_change_before_the_decay(tmp_path, monkeypatch):
    first, times = small_training(tmp_path, steps=100), iter([False] * 4 + [True] * 4)
    clock = Clock(None)
    monkeypatch.setattr(clock, "over", lambda: next(times))
    assert not first.run(clock)
    with pytest.raises(ConfigError, match="already decaying"):
        small_training(tmp_path, steps=first.step + 1).run(Clock(None))
    assert small_training(tmp_path, steps=12).run(Clock(None))
    with pytest.raises(ConfigError, match="the number of steps cannot become 13"):
        small_training(tmp_path, steps=13).run(Clock(None))
    with pytest.raises(ConfigError, match="the number of steps cannot become 2"):
        small_training(tmp_path, steps=2).run(Clock(None))


def test_settings_of_a_step_are_recorded(tmp_path):
    remember(tmp_path / "step", {"rate": 1, "steps": 5}, may_change=["steps"])
    remember(tmp_path / "step", {"rate": 1, "steps": 6}, may_change=["steps"])
    with pytest.raises(ConfigError, match="made with another rate: rate was 1 and is 2"):
        remember(tmp_path / "step", {"rate": 2, "steps": 6}, may_change=["steps"])
    assert json.loads((tmp_path / "step" / "settings.json").read_text()) == {"rate": 1, "steps": 6}


def test_a_run_does_not_resume_with_other_pairs(tmp_path):
    rows = [("turk", False, "They remain .", "They stay .", "0-0 1-1 2-2"), ("turk", False, "Yes .", "No .", "1-1")]
    plan_reading.remember_kept(tmp_path, {"rate": 1, "steps": 5}, rows)
    plan_reading.remember_kept(tmp_path, {"rate": 1, "steps": 6}, rows)
    with pytest.raises(ConfigError, match=r"another kept_pairs: .*\"2, digest .* and is \"1, digest") as caught:
        plan_reading.remember_kept(tmp_path, {"rate": 1, "steps": 6}, rows[:1])
    assert "the relation tables" in str(caught.value)


@pytest.mark.parametrize("step, problem", [
    ("tokenizer", "tokenizer needs text in --data."),
    ("pretrain", "pretrain needs text in --data."),
    ("teacher", "teacher needs pairs/pairs.tsv.xz in --data."),
    ("student", "student needs pairs/pairs.tsv.xz in --data."),
    ("plan_reading", "plan_reading needs pairs/pairs.tsv.xz in --data."),
    ("pack", "pack needs"),
])  # fmt: skip
def test_missing_inputs_of_a_step_are_named(step, problem, tmp_path, monkeypatch, capsys):
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
    changed = read_recipe(changes=["distil.strengths.medium.sources=8", 'plan_reading.corpora.medeasi=[1, "bare"]'])
    assert changed["distil"]["strengths"]["medium"]["sources"] == 8
    assert changed["plan_reading"]["corpora"]["medeasi"] == [1, "bare"]
    for name in ("distil.strengths.mild.sources", "distil.seed.sources", "distil.strengths.medium.x", "seed", ""):
        with pytest.raises(ConfigError, match="no such setting"):
            read_recipe(changes=[f"{name}=8"])
    corpora = {tag for step in ("teacher", "student", "plan_reading") for tag in read_recipe()[step]["corpora"]}
    assert not any(tag.startswith("asset") for tag in corpora)


# ---- all steps ----


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
        found = sampler._generate(encoded[:3], 32, 9).tolist()
    for prompt, row in zip(encoded, found, strict=False):
        wanted = model.generate(torch.tensor([prompt]), max_new_tokens=9, do_sample=False)[0][len(prompt) :].tolist()
        assert row[: len(wanted)] == wanted
    written = dict(sampler.write(prompts, lambda width: 6))
    assert sorted(written) == list(range(len(prompts)))


def test_the_whole_recipe_at_toy_size(tiny_teacher, tmp_path, monkeypatch, capsys):
    """All seven steps on the command line; the resulting model can be loaded, reads a plan and writes."""
    from redraft.decode.model_loading import reads_plans
    from redraft.decode.redrafter import Redrafter

    data, work, out = tmp_path / "data", tmp_path / "work", tmp_path / "out"
    for folder in ("text", "pairs", "nli"):
        (data / folder).mkdir(parents=True)
    sentences = [f"The old man number {number} saw the big house in Rome and went away again." for number in range(60)]
    articles = "\n\n".join("\n".join(sentences[start : start + 5]) for start in range(0, 60, 5))
    (data / "text" / "wiki.txt.xz").write_bytes(lzma.compress(articles.encode()))
    letter = "She wrote that the big dogs and the cats were well again."
    (data / "nli" / "nli.tsv.xz").write_bytes(lzma.compress(f"MultiNLI\tneutral\t{letter}\tNo.\n".encode()))
    pairs = [f"turk_valid_refs_1600src\tcased\t{text}\t{text.replace('went away', 'left')}" for text in sentences]
    pairs += ["asset_valid\tcased\tNever read this.\tNever."]
    (data / "pairs" / "pairs.tsv.xz").write_bytes(lzma.compress("\n".join(pairs).encode()))
    held = HeldOut(sentences[:3], {"turk": [sentences[:3]], "asset": [sentences[3:6]]})
    for module in ("training.distil", "training.student", "training.plan_reading"):
        monkeypatch.setattr(f"{module}.read_held_out", lambda data: held)
    small = {
        "tokenizer.vocabulary": 400, "tokenizer.every": 1, "model.d_model": 16, "model.ffn_dim": 32, "model.heads": 2,
        "model.encoder_layers": 1, "model.decoder_layers": 1, "model.positions": 64,
        "pretrain.steps": 3, "pretrain.tokens": 400, "pretrain.warm_up": 1,
        "teacher.steps": 2, "teacher.tokens": 600, "teacher.warm_up": 1, "teacher.longest": 512,
        "distil.batch": 4, "student.steps": 3, "student.tokens": 400, "student.warm_up": 1,
        "plan_reading.steps": 3, "plan_reading.tokens": 800, "plan_reading.warm_up": 1, "plan_reading.positions": 96,
        "plan_reading.linkers": 1,
    }  # fmt: skip
    for strength, sources in (("medium", 8), ("strong", 4), ("light", 2)):
        grid = {"sources": sources, "draws": 2, "length": "[0.9]", "likeness": "[0.7]", "simplicity": "[0.8, 0.9]"}
        small |= {f"distil.strengths.{strength}.{name}": value for name, value in grid.items()}
    small["distil.strengths.strong.style"] = '["wiki"]'
    options = [part for name, value in small.items() for part in ("--set", f"{name}={value}")]
    monkeypatch.setattr(distil, "chosen", lambda sources, drawn: [text.replace("big", "large") for text in sources])
    for step in STEPS:
        command = ["training", step, "--data", data, "--work", work, "--teacher", tiny_teacher, "--out", out]
        monkeypatch.setattr("sys.argv", [str(part) for part in [*command, "--device", "cpu", *options]])
        assert main() == 0, (step, capsys.readouterr())
    said = capsys.readouterr().out
    assert [line.partition(";")[0] for line in said.splitlines() if line.startswith("part ")] == [
        "part 0, medium: 8 sentences, 8 pairs",
        "part 1, strong: 4 sentences, 4 pairs",
        "part 2, light: 2 sentences, 2 pairs",
    ]
    assert '"reads": ' in said
    assert "8 distilled and 120 real pairs" in said  # each of the 60 is read twice
    assert "74 pairs linked, 74 of them kept" in said
    tagged = [*read_tagged(work / "distil" / "pairs.tsv")]
    assert Counter(pair.tag for pair in tagged) == {"distilled_medium": 8, "distilled_strong": 4, "distilled_light": 2}
    assert letter in {pair.source for pair in tagged}
    assert {*json.loads((out / "held_out.json").read_text())} == {"bare", "light", "medium", "strong"}
    notes = json.loads((out / "settings.json").read_text())
    assert notes["plan_reading"]["kept_pairs"].startswith("74, digest")
    redrafter = Redrafter(str(out), device="cpu")
    assert reads_plans(redrafter.model)
    assert redrafter.model.config.max_position_embeddings == 96
    plan = EditPlan("The old man saw the house.", (Edit.substitute("house", "home"), Edit.split()), "strong")
    assert redrafter(plan, max_tokens=5).candidates


def test_distilled_pairs_with_an_alarm_are_left_out():
    class Suspicious:
        def check(self, pairs):
            yield from (Meaning(1.0, "sold" in output, "") for _, output in pairs)

    pairs = [
        TaggedPair("distilled_light", False, "He bought it.", "He sold it."),
        TaggedPair("turk_valid", False, "He bought it.", "He sold it."),
        TaggedPair("distilled_light", False, "He purchased it.", "He bought it."),
    ]
    assert plan_reading.without_alarms(pairs, Suspicious()) == pairs[1:]
