"""Model folders run no code and unpickle nothing unless that is allowed; damaged folders are named."""

import io
import json
import pickle

import pytest
import torch

from redraft import Redrafter
from redraft.align.encoders import load_encoder
from redraft.cli.main import main
from redraft.errors import ConfigError, ModelError, RedraftError
from redraft.fit.rewriter.trainable_models import load_weights, read_start
from redraft.trust import trusting
from small_models import tiny_model_for
from tokenizers_in_memory import single_digits

EVIL = """
from pathlib import Path
from transformers import PretrainedConfig, PreTrainedModel
Path({mark!r}).write_text("ran")
class Config(PretrainedConfig):
    model_type = "evil"
class Model(PreTrainedModel):
    config_class = Config
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    tokenizer = single_digits()
    tiny_model_for("bart", tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def model(stored, tmp_path):
    """A copy of the model for one test to damage."""
    folder = tmp_path / "model"
    folder.mkdir()
    for path in stored.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture
def evil(model, tmp_path, monkeypatch):
    """A folder whose configuration names code beside it; returns it and the file that the code would write."""
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    mark = tmp_path / "mark"
    (model / "evil.py").write_text(EVIL.format(mark=str(mark)), encoding="utf-8")
    config = json.loads((model / "config.json").read_text())
    names = {"AutoConfig": "evil.Config", **dict.fromkeys(("AutoModel", "AutoModelForSeq2SeqLM"), "evil.Model")}
    config.update(model_type="evil", auto_map=names)
    (model / "config.json").write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"y\n1\nyes\n" * 20)))
    return model, mark


def bert_score(folder):
    pytest.importorskip("bert_score")
    from redraft.evaluate.bertscore import BertScore

    return BertScore(str(folder))


LOADERS = {
    "redrafter": Redrafter,
    "encoder": load_encoder,
    "training": read_start,
    "bertscore": bert_score,
}


@pytest.mark.parametrize("loader", LOADERS.values(), ids=LOADERS)
def test_code_beside_the_weights_does_not_run(evil, loader):
    folder, mark = evil
    with pytest.raises(RedraftError, match="--trust-remote-code"):
        loader(str(folder))
    assert not mark.exists()


def test_code_runs_if_allowed(evil, capsys):
    folder, mark = evil
    main(["simplify", "--model", str(folder), "--trust-remote-code", "They remain old ."])
    assert mark.exists()


def test_input_lines_do_not_answer_the_trust_prompt(evil, capsys):
    folder, mark = evil
    assert main(["simplify", "--model", str(folder), "--input", "-"]) == 2
    assert "--trust-remote-code" in capsys.readouterr().err
    assert not mark.exists()


class Bomb:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return open, (str(self.mark), "w")


def pickled(folder, content=None):
    weights = tiny_model_for("bart", single_digits()).state_dict() if content is None else content
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")


@pytest.mark.parametrize("loader", LOADERS.values(), ids=LOADERS)
def test_pickles_are_refused(model, tmp_path, loader):
    mark = tmp_path / "mark"
    pickled(model, {"model.shared.weight": Bomb(mark)})
    read = (lambda name: load_weights(read_start(name))) if loader is read_start else loader
    with pytest.raises(RedraftError, match="--pickled-weights"):
        read(str(model))
    assert not mark.exists()


def test_pickles_are_read_if_allowed(model):
    pickled(model)
    with trusting(pickled_weights=True):
        assert Redrafter(str(model), device="cpu")("They remain old .").text is not None


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def without_a_weight(path):
    from safetensors.torch import load_file, save_file

    weights = load_file(path)
    del weights["model.encoder.layers.0.fc1.weight"]
    save_file(weights, path, metadata={"format": "pt"})


def of_another_shape(path):
    config = json.loads((path.parent / "config.json").read_text())
    (path.parent / "config.json").write_text(json.dumps({**config, "d_model": 32}))


DAMAGE = {
    "cut": lambda folder: cut(folder / "model.safetensors"),
    "empty": lambda folder: (folder / "model.safetensors").write_bytes(b""),
    "a-pickle-by-another-name": lambda folder: (folder / "model.safetensors").write_bytes(pickle.dumps([1])),
    "a-weight-less": lambda folder: without_a_weight(folder / "model.safetensors"),
    "another-shape": lambda folder: of_another_shape(folder / "model.safetensors"),
    "no-json": lambda folder: cut(folder / "config.json"),
    "a-list": lambda folder: (folder / "config.json").write_text("[]"),
    "nonsense": lambda folder: (folder / "config.json").write_text('{"model_type": "bart", "d_model": "many"}'),
    "an-unknown-kind": lambda folder: (folder / "config.json").write_text('{"model_type": "rhubarb"}'),
    "tokenizer-cut": lambda folder: cut(folder / "tokenizer.json"),
    "tokenizer-nonsense": lambda folder: (folder / "tokenizer.json").write_text('{"model": 3}'),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_model_is_named(model, damage):
    Redrafter(str(model), device="cpu")
    damage(model)
    with pytest.raises(ModelError, match=r"cannot be loaded: .") as error:
        Redrafter(str(model), device="cpu")
    assert str(model) in str(error.value)
    assert error.value.hint


def test_a_damaged_encoder_is_named(model):
    cut(model / "model.safetensors")
    with pytest.raises(ConfigError, match=r"cannot be loaded: .") as error:
        load_encoder(str(model))
    assert str(model) in str(error.value)


def test_trust_ends_with_its_block():
    from redraft.trust import remote_code_kwargs, weights_kwargs

    with trusting(remote_code=True, pickled_weights=True):
        assert weights_kwargs() == {"trust_remote_code": True, "use_safetensors": None}
    assert (remote_code_kwargs(), weights_kwargs()["use_safetensors"]) == ({"trust_remote_code": False}, True)
