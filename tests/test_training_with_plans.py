"""Training with plans: models of all families learn to read plans and are saved as such."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from safetensors.torch import load_file

from documentation_folder import PAIRS
from redraft import Edit, EditPlan, Redrafter
from redraft.align.exact_aligner import align_exactly
from redraft.align.trained_aligner import TrainedAligner
from redraft.errors import ConfigError
from redraft.fit.rewriter.plan_pairs import PlanPairs
from redraft.fit.rewriter.rewriter_training import train_rewriter
from redraft.fit.rewriter.trainable_models import load_weights, read_start
from redraft.fit.rewriter.training_data import read_data
from redraft.fit.rewriter.training_run import RewriterRun
from redraft.fit.rewriter.training_settings import RewriterTraining
from redraft.plan.marked_source import PLACEHOLDERS, Mark, mark
from small_models import tiny_model_for
from tokenizers_in_memory import byte_level, unigram
from toy_pairs import WORDS, save_small_model, small_model, write_table

TOKENIZERS = {"bart": byte_level, "mbart": byte_level, "t5": unigram, "gpt2": byte_level, "llama": byte_level}


class Exact:
    """Links equal words, and the others in order if both sides have equally many."""

    def align(self, pairs):
        for source, target in pairs:
            found = align_exactly(source, target)
            lefts, rights = ([n for n in range(len(words)) if n not in {link[side] for link in found}]
                             for side, words in ((0, source), (1, target)))  # fmt: skip
            yield found | frozenset(zip(lefts, rights, strict=False) if len(lefts) == len(rights) else ())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(TrainedAligner, "load", classmethod(lambda cls, device: Exact()))
    write_table(tmp_path / "train.tsv", PAIRS * 3)
    write_table(tmp_path / "valid.tsv", PAIRS)
    return tmp_path


def save_tiny(family):
    tokenizer = TOKENIZERS[family]()
    tiny_model_for(family, tokenizer).save_pretrained(family)
    tokenizer.save_pretrained(family)
    return family


def train(model, out="out", said=None, **settings):
    settings = RewriterTraining(**{"epochs": 2, "batch": 6, "beams": 1, "plans": True, **settings})
    say = (lambda message: None) if said is None else said.append
    return train_rewriter(model, "train.tsv", "valid.tsv", out, settings, device="cpu", say=say)


def plan_pairs(model, **settings):
    """As a run has them, with the model's start."""
    settings = RewriterTraining(plans=True, **settings)
    start = read_start(model, plans=True)
    data = read_data(start, "train.tsv", "valid.tsv", settings, say=lambda message: None)
    links = Exact().align((pair.source.split(), pair.target.split()) for pair in data.pairs)
    rows = [("train", False, pair.source, pair.target, " ".join(f"{one}-{other}" for one, other in sorted(found)))
            for pair, found in zip(data.pairs, links, strict=True)]  # fmt: skip
    return PlanPairs(start, data, settings, rows), start, data


@pytest.mark.parametrize("family", TOKENIZERS)
def test_every_family_is_saved_as_a_model_that_reads_plans(folder, family):
    outcome = train(save_tiny(family), epochs=1)
    redrafter = Redrafter("out", device="cpu")
    assert redrafter.model.config.reads_plans is True
    assert redrafter._marks is not None
    assert redrafter.model.get_input_embeddings().num_embeddings >= len(redrafter.tokenizer)
    plan = EditPlan(PAIRS[0][0], (Edit.delete("remain"), Edit.substitute("artisans", "makers")))
    inputs, _ = redrafter._encode([plan], redrafter.config)
    read = redrafter.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    assert [token for token in read if token in set(Mark)] == [
        Mark.REPLACE, Mark.WITH, Mark.DELETE, Mark.END,
    ]  # fmt: skip
    assert redrafter(plan, beams=2, max_tokens=8).verdicts[0].edit.kind == "delete"
    assert 0 <= outcome.best["satisfied"] <= 100
    report = json.loads(Path("out/training.json").read_text())
    assert report["evaluations"][-1].keys() >= {"sari", "satisfied", "satisfied_insert", "satisfied_substitute"}
    assert not Path("out/checkpoint").exists()


@pytest.mark.parametrize("family", ["bart", "t5", "gpt2"])
def test_sources_are_encoded_as_redrafter_encodes_them(folder, family):
    pairs, start, data = plan_pairs(save_tiny(family), max_length=500)
    model, _ = load_weights(start)
    redrafter = Redrafter(model, start.tokenizer, prompt=data.prompt, device="cpu")
    drawn = [(epoch, row) for epoch in range(6) for row in range(len(data.pairs))]
    marked = [place for place in drawn if len(mark(pairs.sample(*place).plan)) > 1]
    assert len(marked) >= 20
    for epoch, row in drawn:
        (source,) = pairs.examples(epoch, [row]).sources
        assert [source.tolist()] == redrafter._encode_marked([pairs.sample(epoch, row).plan])
    plain = redrafter._encode_marked([EditPlan(pair.source) for pair in data.pairs])
    assert [source.tolist() for source in data.examples.sources] == plain


def test_examples_are_drawn_from_seed_epoch_and_pair_alone(folder):
    pairs, _, data = plan_pairs(save_tiny("bart"))
    rows = range(len(data.pairs))
    drawn = {(epoch, row): pairs.sample(epoch, row) for epoch in range(3) for row in rows}
    again, _, _ = plan_pairs("bart")
    assert all(again.sample(*place) == drawn[place] for place in reversed(drawn))
    assert [drawn[0, row] for row in rows] != [drawn[1, row] for row in rows]
    assert [plan_pairs("bart", seed=1)[0].sample(0, row) for row in rows] != [drawn[0, row] for row in rows]


def test_at_least_a_third_of_the_examples_have_no_marks_and_are_the_pairs_themselves(folder):
    write_table(folder / "train.tsv", [("He came and he left .", "He came . He left .")] * 100 + PAIRS * 25)
    pairs, _, data = plan_pairs(save_tiny("bart"))
    drawn = [(row, pairs.sample(epoch, row)) for epoch in range(2) for row in range(200)]
    bare = [(row, example) for row, example in drawn if mark(example.plan) == (example.plan.source,)]
    assert len(drawn) / 2 < len(bare) < 0.8 * len(drawn)
    assert all((example.plan.source, example.target) == (data.pairs[row].source, data.pairs[row].target)
               for row, example in bare if PLACEHOLDERS[0] not in example.target)  # fmt: skip
    assert any(data.pairs[row].target.count(".") == 2 for row, _ in bare)  # validated without marks, so learned so


@pytest.mark.parametrize("family", ["bart", "gpt2"])
def test_a_source_that_marks_make_too_long_is_learned_without_them(folder, family):
    roomy, _, data = plan_pairs(save_tiny(family), max_length=500)
    longest = max(max(size) for size in data.examples.sizes)
    pairs, _, _ = plan_pairs(family, max_length=longest)
    bare, fallen = data.examples, 0
    for epoch in range(5):
        wide, narrow = (one.examples(epoch, range(len(data.pairs))) for one in (roomy, pairs))
        for row in range(len(data.pairs)):
            if max(wide.sizes[row]) > longest:
                fallen += 1
                assert narrow.sources[row].tolist() == bare.sources[row].tolist()
                assert narrow.targets[row].tolist() == bare.targets[row].tolist()
            else:
                assert narrow.sources[row].tolist() == wide.sources[row].tolist()
    assert fallen
    assert roomy.share_too_long() == 0 < pairs.share_too_long() < 1


def test_examples_beyond_the_model_s_positions_do_no_harm(folder):
    long = " ".join(["The old man remained in the old town"] * 7)  # the model has 96 positions
    write_table(folder / "train.tsv", [(long, long.replace("remained", "stayed"))] * 12)
    said = []
    assert train(save_tiny("bart"), said=said).finished
    assert any(line.startswith("too long with marks, so trained on without a plan: about ")
               for line in said)  # fmt: skip


def test_a_model_learns_to_follow_plans(folder):
    """Most pairs replace "residence" by "house", and so does the model, unless the plan requests "bought"."""
    rng = random.Random(0)

    def pairs(count):
        for _ in range(count):
            words = [*rng.sample(WORDS[:4], 2), "residence"]
            rng.shuffle(words)
            source = " ".join(words)
            yield source, source.replace("residence", "house" if rng.random() < 0.7 else "bought")

    write_table(folder / "train.tsv", list(pairs(300)))
    write_table(folder / "valid.tsv", list(pairs(4)))
    train(save_small_model(folder / "toy", "bart"), epochs=40, batch=32, learning_rate=5e-3, evaluate_every=10_000)
    redrafter = Redrafter("out", device="cpu")
    sources = sorted({source for source, _ in pairs(40)})
    plain = [one.text for one in redrafter.rewrite(sources, method="beam", beams=1)]
    plans = [EditPlan(source, (Edit.substitute("residence", "bought"),)) for source in sources]
    with_plans = [one.text for one in redrafter.rewrite(plans, method="beam", beams=1)]
    assert sum(text == source.replace("residence", "house") for text, source in zip(plain, sources, strict=True)) >= (
        0.9 * len(sources)
    )
    assert sum("bought" in text.split() for text in with_plans) >= 0.8 * len(sources)


def test_a_run_stopped_while_linking_or_later_resumes(folder, monkeypatch):
    save_tiny("bart")
    clock = iter([False] * 3 + [True])
    monkeypatch.setattr(RewriterRun, "is_time_over", lambda run: next(clock, False))
    assert not train("bart").finished
    links = Path("out/checkpoint/links-0.jsonl")
    whole = links.read_bytes()
    assert whole.count(b"\n") == len(PAIRS) * 4  # of --train and --valid
    links.write_bytes(whole[:-30])
    assert train("bart").finished
    train("bart", "other")
    one, other = (load_file(f"{out}/model.safetensors") for out in ("out", "other"))
    assert all(one[name].equal(other[name]) for name in other)


def test_a_model_that_reads_plans_is_trained_on_with_and_without(folder):
    train(save_tiny("bart"), "first", epochs=1)
    said = []
    train("first", "second", epochs=1, said=said)
    assert not any("may forget" in line for line in said)
    size = {name: len(Redrafter(name, device="cpu").tokenizer) for name in ("first", "second")}
    assert size["first"] == size["second"]
    train("first", "third", epochs=1, said=said, plans=False)
    assert "first reads plans, and may forget how to if it is trained without --plans" in said
    report = json.loads(Path("third/training.json").read_text())
    assert "satisfied" not in report["evaluations"][-1]


def test_without_plans_the_model_gets_no_marks(folder):
    save_tiny("bart")
    train("bart", epochs=1, plans=False)
    assert Redrafter("out", device="cpu")._marks is None
    assert len(Redrafter("out", device="cpu").tokenizer) == len(byte_level())


def test_a_tokenizer_of_another_model_is_detected(folder):
    small_model("bart").save_pretrained("odd")
    byte_level().save_pretrained("odd")
    with pytest.raises(Exception, match=r"the tokenizer of \"odd\" has \d+ tokens, the model 13\."):
        load_weights(read_start("odd", plans=True))


def test_the_command(command, folder):
    save_tiny("gpt2")
    words = ("train", "--model", "gpt2", "--train", "train.tsv", "--valid", "valid.tsv", "--out", "out",
             "--device", "cpu", "--epochs", "1", "--batch", "6", "--beams", "1", "--plans")  # fmt: skip
    status, _, err = command(*words)
    assert status == 0
    assert "redraft: 16 of 16 pairs aligned" in err
    assert "redraft: 12 pairs with plans, 4 to validate with" in err
    assert "  satisfied edits " in err
    status, _, err = command(*words[:-1])
    assert status == 2
    assert "there settings.plans is true, here false" in err


def test_the_setting_is_true_or_false():
    with pytest.raises(ConfigError) as caught:
        RewriterTraining(plans=1)
    assert (caught.value.problem, caught.value.hint) == ("plans is 1.", "Give true or false.")
