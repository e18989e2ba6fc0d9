"""Training: a small task is learned, killed runs resume exactly, and the best weights are kept."""

import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import fields
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from redraft import Redrafter, progress_bar
from redraft.cli.settings_options import default_of
from redraft.decode.config import DecodeConfig
from redraft.decode.eight_bit_model import save_eight_bit_model
from redraft.errors import ConfigError, CorpusError, ModelError
from redraft.evaluate.corpora import Corpus
from redraft.evaluate.sari import Sari
from redraft.evaluate.scores import score
from redraft.fit.rewriter import training_run
from redraft.fit.rewriter.rewriter_training import train_rewriter
from redraft.fit.rewriter.token_batches import make_batch, make_examples, summed_loss
from redraft.fit.rewriter.trainable_models import read_start
from redraft.fit.rewriter.training_run import RewriterRun, stopped_early
from redraft.fit.rewriter.training_settings import RewriterTraining
from toy_pairs import PROMPT, save_small_model, small_model, toy_pairs, word_tokenizer, write_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with pairs and a model; paths in messages are short because it is the current one."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "train.tsv", toy_pairs(40))
    write_table(tmp_path / "valid.tsv", toy_pairs(6, seed=1))
    save_small_model(tmp_path / "bart", "bart", dropout=0.1)
    return tmp_path


def train(out="out", model="bart", said=None, **settings):
    settings = RewriterTraining(**{"epochs": 4, "batch": 8, "learning_rate": 1e-3, "beams": 2, **settings})
    say = (lambda message: None) if said is None else said.append
    return train_rewriter(model, "train.tsv", "valid.tsv", out, settings, device="cpu", say=say)


def weights(out):
    return load_file(Path(out) / "model.safetensors")


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def log(out):
    return [json.loads(line) for line in (Path(out) / "log.jsonl").read_text().splitlines()]


# Learning


@pytest.mark.parametrize("family, rate", [("bart", 3e-3), ("t5", 5e-3), ("gpt2", 3e-3)])
def test_a_small_task_is_learned(tmp_path, family, rate):
    model = save_small_model(tmp_path / family, family)
    pairs, unseen = toy_pairs(320), toy_pairs(30, seed=1)
    settings = RewriterTraining(
        epochs=30,
        batch=16,
        learning_rate=rate,
        evaluate_every=300,
        beams=2,
        prompt=PROMPT if family == "gpt2" else None,
    )
    files = [write_table(tmp_path / name, rows) for name, rows in (("train.tsv", pairs), ("valid.tsv", unseen))]
    outcome = train_rewriter(model, *files, tmp_path / "out", settings, device="cpu", say=lambda message: None)
    losses = [record["loss"] for record in log(tmp_path / "out") if "loss" in record]
    assert losses[-1] < losses[0] / 10
    assert outcome.finished
    assert outcome.best["sari"] > 70  # 75 is all right: three words have no 4-grams
    written = Redrafter(str(tmp_path / "out"), prompt=PROMPT, device="cpu").rewrite([source for source, _ in unseen])
    right = sum(decoded.text == target for decoded, (_, target) in zip(written, unseen, strict=True))
    assert right >= 27


SHAPE = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 16,
         "decoder_attention_heads": 2, "decoder_ffn_dim": 16, "max_position_embeddings": 32,
         "decoder_start_token_id": 2}  # fmt: skip
LLAMA = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}


@pytest.mark.parametrize(
    "family, head, shape",
    [
        ("M2M100", "ForConditionalGeneration", SHAPE),  # leaves the decoder's inputs to others
        ("Marian", "MTModel", SHAPE),
        ("Pegasus", "ForConditionalGeneration", SHAPE),
        ("Llama", "ForCausalLM", LLAMA),
        ("Qwen3", "ForCausalLM", {**LLAMA, "head_dim": 8, "num_key_value_heads": 1}),
    ],
)
def test_other_model_families_can_be_trained(folder, family, head, shape):
    config = getattr(transformers, family + "Config")(
        vocab_size=13, pad_token_id=0, bos_token_id=1, eos_token_id=2, **shape
    )
    torch.manual_seed(0)
    getattr(transformers, family + head)(config).save_pretrained("other")
    word_tokenizer().save_pretrained("other")
    train(model="other", learning_rate=1e-2, patience=9)
    losses = [record["loss"] for record in log("out") if "loss" in record]
    assert losses[-1] < losses[0] - 0.3


def test_the_gradient_of_an_update_is_that_of_the_mean_over_all_its_tokens(folder, monkeypatch):
    """For any micro-batches: targets have one to three words, so a mean of means would differ."""
    save_small_model(folder / "still", "bart")
    pairs = [(" ".join(["old"] * size), " ".join(["man", "town", "river"][:size])) for size in (1, 2, 3, 3, 1, 2, 1)]
    write_table(folder / "train.tsv", pairs)
    model = small_model("bart")
    examples = make_examples(read_start("still"), *zip(*pairs, strict=True), None)
    loss = summed_loss(model, model, make_batch(examples, range(7))) / sum(len(target) for target in examples.targets)
    loss.backward()
    expected = [weight.grad for weight in sorted(model.parameters(), key=lambda weight: weight.dim() < 2)]
    found = []
    step = torch.optim.AdamW.step

    def spy(optimizer, *arguments):
        found.append([weight.grad.clone() for group in optimizer.param_groups for weight in group["params"]])
        return step(optimizer, *arguments)

    monkeypatch.setattr(torch.optim.AdamW, "step", spy)
    for number, cut in enumerate(({}, {"micro_batch": 2}, {"micro_batch": 1}, {"micro_tokens": 9})):
        train(f"out{number}", "still", epochs=1, batch=7, clip=0, **cut)
        assert all(torch.allclose(*pair, atol=1e-6) for pair in zip(found.pop(), expected, strict=True))
        (first,) = [record for record in log(f"out{number}") if "loss" in record]
        assert first["loss"] == pytest.approx(float(loss.detach()), rel=1e-4)


_SLOW_SECOND = """
import os, sys, time
from redraft.cli.main import main
from redraft.fit.rewriter.run_folder import RunFolder

def slowly(read):
    def wait_and_read(*given):
        time.sleep(2 * int(os.environ["RANK"]))
        return read(*given)
    return wait_and_read

RunFolder.load, RunFolder.weights = slowly(RunFolder.load), slowly(RunFolder.weights)
sys.exit(main())
"""


def test_two_processes_give_the_same_result_as_one(folder):
    """By torch's launcher, which `accelerate launch` uses as well; 41 pairs, so that the last update has only one.

    The second process is slow to read files: the first must not delete files that it still has to read.
    """
    save_small_model(folder / "still", "bart")
    write_table(folder / "train.tsv", toy_pairs(41))
    flags = "--model still --train train.tsv --valid valid.tsv --epochs 2 --batch 8 --learning-rate 1e-3"
    flags += " --beams 2 --micro-batch 3"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    (folder / "slow.py").write_text(_SLOW_SECOND)
    done = subprocess.run(
        [*launcher, "slow.py", "train", *flags.split(), "--out", "two", "--device", "cpu"],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("updates in an epoch; 2 × cpu") == 1  # only the first process prints
    train("one", "still", epochs=2, micro_batch=3)
    assert json.loads(Path("two/training.json").read_text())["run"]["processes"] == 2
    for here, there in zip(log("one"), log("two"), strict=True):
        assert here == pytest.approx(there, rel=1e-3)  # losses, gradient norms, SARI
    one, two = weights("one"), weights("two")
    assert all(torch.allclose(one[name], two[name], atol=1e-4) for name in one)


def test_in_bfloat16_the_weights_stay_float32(folder):
    from accelerate.state import AcceleratorState

    try:
        AcceleratorState._reset_state(True)
        with pytest.raises(ConfigError, match="precision float16 needs a GPU"):
            train(precision="float16")
        train(precision="bfloat16", epochs=1)
        assert {str(weight.dtype) for weight in weights("out").values()} == {"torch.float32"}
        with pytest.raises(ConfigError, match="Start a new process"):  # accelerate's state is the process's
            train("other", precision="float32")
    finally:
        AcceleratorState._reset_state(True)
    assert json.loads(Path("out/training.json").read_text())["run"]["precision"] == "bfloat16"
    train("float32", epochs=1)
    assert not same(weights("out"), weights("float32"))


# Resuming


@pytest.mark.parametrize("plans", [False, True], ids=["pairs", "plans"])
def test_a_repeatedly_killed_run_ends_with_the_same_weights(folder, plans):
    settings = {
        "epochs": 4,
        "batch": 8,
        "learning_rate": 1e-3,
        "beams": 2,
        "save_every": 4,
        "average": 2,
        "plans": plans,
    }
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = Path(__file__).with_name("killed_training.py")
    done = subprocess.run(
        [sys.executable, script, "bart", "train.tsv", "valid.tsv", "killed", repr(settings)],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("resuming from step") == 1  # the second run had no checkpoint
    assert not Path("killed/model.safetensors").exists()
    said = []
    train("killed", said=said, **settings)
    assert "resuming from step 12" in said
    train("whole", **settings)
    assert same(weights("killed"), weights("whole"))
    assert log("killed") == log("whole")
    assert not list(Path("killed").rglob("*.part"))


def test_a_run_resumes_after_the_time_limit(folder, monkeypatch):
    clock = iter([False] * 7 + [True])
    monkeypatch.setattr(RewriterRun, "is_time_over", lambda run: next(clock, False))
    first = train("short", patience=9)
    assert (first.finished, first.step) == (False, 7)
    assert first.best["step"] == 5
    assert json.loads(Path("short/training.json").read_text())["finished"] is False
    assert Redrafter("short", device="cpu")("old man").text is not None  # the best so far can be used
    second = train("short", patience=9, minutes=5, save_every=3)  # neither affects the weights
    assert (second.finished, second.step) == (True, 20)
    train("whole", patience=9)
    assert same(weights("short"), weights("whole"))


def test_a_time_limit_of_0(folder):
    outcome = train(minutes=0)
    assert (outcome.finished, outcome.step, outcome.best) == (False, 0, None)
    assert train().finished


def test_a_finished_run_does_nothing(folder):
    done = train(epochs=1)
    before = {path.name: path.stat().st_mtime_ns for path in Path("out").iterdir()}
    said = []
    assert train(epochs=1, said=said) == done
    assert said[1:] == [f"out: this training is already finished; nothing to do. {training_run.described(done.best)}"]
    assert {path.name: path.stat().st_mtime_ns for path in Path("out").iterdir()} == before
    assert set(before) == {
        "config.json", "generation_config.json", "log.jsonl", "model.safetensors", "plot.svg", "tokenizer.json",
        "tokenizer_config.json", "training.json",
    }  # fmt: skip


HINT = "choose another --out"


@pytest.mark.parametrize("minutes", [0, None], ids=["unfinished", "finished"])
def test_other_settings_or_data_do_not_resume(folder, minutes):
    train(epochs=1, minutes=minutes)
    for change, named in (
        ({"learning_rate": 2e-3}, "settings.learning_rate is 0.001, here 0.002"),
        ({"seed": 7}, "settings.seed is 0, here 7"),
    ):
        with pytest.raises(ConfigError) as caught:
            train(**{"epochs": 1, **change})
        assert f"belongs to another training: there {named}." in caught.value.problem
        assert HINT in caught.value.hint
    write_table(folder / "train.tsv", toy_pairs(40, seed=5))
    with pytest.raises(ConfigError, match=r"there data\.train\.files is"):
        train(epochs=1)


def test_folders_in_other_use_are_refused(folder):
    with pytest.raises(ConfigError, match="bart is the initial model"):
        train("bart")
    (folder / "other").mkdir()
    (folder / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="other contains files that are not of a training"):
        train("other")
    with pytest.raises(ConfigError, match=r"train\.tsv is a file"):
        train("train.tsv")


def test_two_trainings_do_not_share_a_folder(folder, monkeypatch):
    update = RewriterRun.update

    def meanwhile(run):
        if run.progress.step == 1:
            with pytest.raises(ConfigError, match="out is in use by another training"):
                train()
        update(run)

    monkeypatch.setattr(RewriterRun, "update", meanwhile)
    assert train().finished


# Choosing weights


def scripted(monkeypatch, saris):
    """Replaces validation by the given SARI values; returns the weights at each validation."""
    seen, remaining = [], iter(saris)

    def figures(run):
        seen.append({name: weight.clone() for name, weight in run.network.state_dict().items()})
        return dict.fromkeys(("add", "keep", "del"), 0.0) | {"sari": next(remaining)}

    monkeypatch.setattr(RewriterRun, "_figures", figures)
    return seen


def test_the_best_weights_are_kept_and_training_stops_early(folder, monkeypatch):
    seen = scripted(monkeypatch, [10.0, 30.0, 20.0, 30.0])
    outcome = train(epochs=9, patience=2)
    assert (outcome.step, outcome.best["step"], outcome.best["epoch"]) == (20, 10, 2.0)
    assert [record["sari"] for record in log("out") if "sari" in record] == [10.0, 30.0, 20.0, 30.0]
    kept = weights("out")
    assert kept
    assert all(torch.equal(weight, seen[1][name]) for name, weight in kept.items())
    assert not torch.equal(seen[1]["model.shared.weight"], seen[3]["model.shared.weight"])


@pytest.mark.parametrize("saris, stops", [([], False), ([1], False), ([1, 1], False), ([1, 1, 1], True),
                                          ([1, 0, 2], False), ([2, 0, 1], True)])  # fmt: skip
def test_early_stopping(saris, stops):
    assert stopped_early(saris, 2) is stops


@pytest.mark.parametrize("averaged, kept", [(35.0, "mean"), (29.0, "best")])
def test_weights_are_averaged_unless_that_is_worse(folder, monkeypatch, averaged, kept):
    seen = scripted(monkeypatch, [10.0, 30.0, 20.0, 5.0, averaged])
    outcome = train(average=2)
    mean = {name: (seen[1][name].double() + seen[2][name].double()) / 2 for name in seen[0]}
    expected = mean if kept == "mean" else seen[1]
    assert all(torch.equal(weight, expected[name].float()) for name, weight in weights("out").items())
    assert outcome.best.get("averaged") == ([10, 15] if kept == "mean" else None)
    assert outcome.best["sari"] == max(averaged, 30.0)


def test_validation_every_so_many_steps(folder):
    train(evaluate_every=8, epochs=4, patience=9)
    assert [record["step"] for record in log("out") if "sari" in record] == [8, 16, 20]


def test_validation_is_without_dropout(folder):
    """The scores of a validation equal those of the loaded weights, for any batch size."""
    save_small_model(folder / "dropping", "bart", dropout=0.5)
    found = train(model="dropping", epochs=6, patience=9)
    rewriter = Redrafter("out", config=DecodeConfig(method="beam", beams=2, no_repeat_ngram=3))
    sources, references = zip(*toy_pairs(6, seed=1), strict=True)
    outputs = [decoded.text for decoded in rewriter.rewrite(sources)]
    corpus = Corpus("valid", "valid", list(sources), [list(references)])
    sari = score(outputs, corpus, measures=[Sari()], samples=0).figures["sari"].value
    assert found.best["sari"] == pytest.approx(sari, abs=1e-3)
    train(out="other", model="dropping", epochs=6, patience=9, valid_batch=2)
    assert same(weights("out"), weights("other"))


def test_a_generation_config_that_cannot_be_stored_is_refused_at_the_start(folder):
    path = folder / "bart" / "generation_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "temperature": 0.5, "do_sample": False}))
    with pytest.raises(ModelError, match="cannot decode or be stored") as caught:
        train()
    assert caught.value.hint == "Fix its generation_config.json."


def test_a_model_in_eight_bits_is_trained_as_it_is_restored(folder):
    save_eight_bit_model(small_model("bart"), word_tokenizer(), folder / "small")
    train(model="small", epochs=1)
    assert weights("out")["model.shared.weight"].dtype == torch.float32


def test_a_causal_model_stores_its_prompt(folder):
    save_small_model(folder / "gpt", "gpt2")
    train(model="gpt", epochs=1, prompt=PROMPT)
    assert Redrafter("out").prompt == PROMPT
    assert Redrafter("gpt").prompt == "{source}"
    assert Redrafter("out", prompt="{source} ->").prompt == "{source} ->"


def test_validation_uses_the_very_weights_that_are_trained(folder, monkeypatch):
    models = []
    monkeypatch.setattr(RewriterRun, "_rehearse", lambda run: models.append(run))
    train(epochs=1)
    (run,) = models
    assert run.redrafter.model is run.network
    assert (run.redrafter.config.method, run.redrafter.config.no_repeat_ngram, run.redrafter.config.beams) == (
        "beam",
        3,
        2,
    )


# Files and messages


def test_the_report_of_the_training(folder):
    train(epochs=2)
    about = json.loads(Path("out/training.json").read_text())
    assert about["finished"] is True
    assert (about["steps"], about["steps_done"], about["device"], about["run"]["model"]) == (10, 10, "cpu", "bart")
    assert about["run"]["data"]["train"]["pairs"] == 40
    assert about["best"] in about["evaluations"]
    assert set(about["versions"]) == {"redraft", "torch", "transformers", "accelerate"}
    assert [set(record) for record in log("out")].count({"step", "epoch", "sari", "add", "keep", "del"}) == 2
    picture = ElementTree.parse("out/plot.svg").getroot()
    curves = picture.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(curve.get("points").split()) for curve in curves] == [10, 2]
    loaded = AutoModelForSeq2SeqLM.from_pretrained("out")
    assert AutoTokenizer.from_pretrained("out")("old man")["input_ids"] == [4, 5]
    assert torch.equal(loaded.model.shared.weight, weights("out")["model.shared.weight"])


def test_a_nan_loss_ends_the_run(folder, monkeypatch):
    monkeypatch.setattr(training_run, "summed_loss", lambda *given: summed_loss(*given) * float("nan"))
    with pytest.raises(ModelError, match="the loss is NaN or infinite before the first update"):
        train()
    monkeypatch.setattr(RewriterRun, "_rehearse", lambda run: None)
    with pytest.raises(ModelError, match="the loss became NaN or infinite, noticed at step 1"):
        train()


def test_out_of_memory_errors_state_what_helps(folder, monkeypatch):
    def too_much(*given):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(training_run, "summed_loss", too_much)
    with pytest.raises(ModelError) as caught:
        train()
    assert caught.value.problem == "out of memory with 56 tokens at once: CUDA out of memory."
    assert caught.value.hint == "Try --micro-tokens 28."


def test_the_rehearsal_has_no_effect(folder, monkeypatch):
    train("rehearsed", epochs=1)
    monkeypatch.setattr(RewriterRun, "_rehearse", lambda run: None)
    train("plain", epochs=1)
    assert same(weights("rehearsed"), weights("plain"))


def test_a_prompt_is_for_causal_models(folder):
    with pytest.raises(ConfigError, match='prompt is only for causal models, and "bart" is not one'):
        train(prompt=PROMPT)


def test_without_accelerate(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(ConfigError) as caught:
        train()
    assert str(caught.value) == (
        "redraft train needs accelerate, which is not installed.\n  Install it: pip install 'redraft[train]'"
    )


def test_the_command_needs_accelerate_and_says_so_at_once(folder):
    """Before it imports torch and reads the pairs, which takes seconds."""
    code = (
        "import sys; sys.modules['accelerate'] = None; from redraft.cli.main import main; "
        "status = main(['train', '--train', 'nowhere', '--valid', 'nowhere', '--out', 'out']); "
        "print(status, sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "2 []\n"
    assert "redraft train needs accelerate" in done.stderr
    assert "pip install 'redraft[train]'" in done.stderr


# The command


def argv(*more, out="out"):
    return ("train", "--model", "bart", "--train", "train.tsv", "--valid", "valid.tsv", "--out", out, "--device", "cpu",
            "--epochs", "1", "--batch", "8", "--beams", "2", *more)  # fmt: skip


def test_the_command(command, folder):
    status, out, err = command(*argv())
    assert (status, out) == (0, "")
    lines = [line for line in err.splitlines() if not line.startswith("redraft: sources of --valid")]
    assert lines[0] == "redraft: 40 pairs, 6 to validate with, 5 updates in an epoch; cpu, float32"
    assert lines[1].startswith("redraft: step 5, epoch 1: SARI ")
    assert lines[2].startswith("redraft: out holds the best weights. step 5, epoch 1: SARI ")
    assert len(lines) == 3  # no bar where there is no terminal
    status, _, err = command(*argv())
    assert status == 0
    assert "this training is already finished" in err
    status, out, _ = command("simplify", "--model", "out", "--beams", "2", "old man")
    assert (status, out.count("\n")) == (0, 1)


def test_the_command_counts_what_it_leaves_out(command, folder):
    with open("train.tsv", "a") as file:
        file.write("old\n" + "old " * 200 + "\tman\n")
    status, _, err = command(*argv())
    assert status == 2
    assert err == (
        "redraft: train.tsv, line 41: has 1 column, 2 are needed.\n"
        "  Write source, tab, target on each line. Only --valid may have further references, the same number "
        "everywhere.\n"
    )
    status, _, err = command(*argv("--on-error", "skip"))
    assert status == 2
    assert "redraft: train.tsv, line 42: the source has 200 tokens, and --max-length is 128.\n" in err
    assert not Path("out").exists()
    status, _, err = command(*argv("--on-error", "skip", "--long", "skip"))
    assert status == 0
    assert "--train: invalid lines left out: 1; the first: train.tsv, line 41: has 1 column" in err
    assert "--train: pairs left out because they are too long or have no tokens: 1" in err


def test_the_command_out_of_time(command, folder):
    status, _, err = command(*argv("--minutes", "0"))
    assert status == 3
    assert err.splitlines()[-1] == "redraft: time limit reached at step 0; rerun the same command to resume"


@pytest.mark.parametrize(
    "words, message",
    [
        (["train"], "Missing option '--train'."),
        (["train", "--model", "x", "--train", "t.tsv"], "Missing option '--valid'."),
        ([*argv(), "--epochs", "many"], '--epochs: "many" is not a whole number.'),
        ([*argv(), "--learning-rate", "0"], "learning_rate is 0, so nothing would be learned."),
        ([*argv(), "--schedule", "steep"], '--schedule "steep" is not known.'),
        ([*argv(), "--device", "tpu"], 'device "tpu" is not known.'),
        ([*argv(), "--device", "cuda"], "device cuda: no GPU is available."),
        (
            [*argv(), "--model", "scripted:x.json"],
            '"scripted:x.json" is a scripted model and has no weights to train.',
        ),
        ([*argv(), "--train", "nowhere.tsv"], "nowhere.tsv does not exist."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_errors_of_the_command(command, folder, words, message):
    if "no GPU" in message and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    status, _, err = command(*words)
    assert status == 2
    assert err.startswith(f"redraft: {message}\n  ")
    assert not Path("out").exists()


def test_nothing_is_loaded_before_the_data_is_known_to_be_good(folder, monkeypatch):
    monkeypatch.setattr(training_run, "load_weights", lambda start: pytest.fail("weights were loaded"))
    Path("valid.tsv").write_text("old\tman\n\tman\n")
    with pytest.raises(CorpusError, match="line 2: the source is empty"):
        train()


def test_the_help_names_every_setting(command):
    _, out, _ = command("train", "--help")
    for name in RewriterTraining.__dataclass_fields__:
        assert f"--{name.replace('_', '-')} " in out
    assert "peak learning rate of AdamW (default 0.0001)" in " ".join(out.replace("│", " ").split())


def test_the_page_lists_every_setting():
    rows = [
        f"| `{field.name}` | {default_of(field.name, RewriterTraining)} | {field.metadata['help']} |"
        for field in fields(RewriterTraining)
    ]
    page = Path(__file__).resolve().parent.parent / "docs" / "train.md"
    assert page.read_text(encoding="utf-8").endswith("\n".join(rows) + "\n")


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(monkeypatch, terminal):
    stderr = io.StringIO()
    stderr.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress_bar, "_LINE_SECONDS", 0)
    said = []
    bar = progress_bar.ProgressBar(4, 1, said.append)
    bar.step(2, 0.5)
    bar.say("half way")
    bar.close()
    assert ("2/4" in stderr.getvalue()) is terminal
    assert said[-1] == "half way"
    lines = said[:-1]
    assert len(lines) == (0 if terminal else 1)
    assert all(re.fullmatch(r"step 2/4  loss 0\.500  [\d.]+ steps/s  at most 0 min left", line) for line in lines)
