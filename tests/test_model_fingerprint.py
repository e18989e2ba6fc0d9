"""A model is identified by its content, not by its name."""

import json
import os
from types import SimpleNamespace

import pytest
import transformers

from redraft.decode.model_fingerprint import fingerprint
from redraft.errors import ModelError
from redraft.models import bundled

FILES = {
    "config.json": "{}", "generation_config.json": "{}", "tokenizer.json": "{}", "merges.txt": "a b\n",
    "model.safetensors": "weights", "model-00002-of-00002.safetensors": "more", "source.spm": "pieces",
    "modeling.py": "class Model: ...\n",
}  # fmt: skip


@pytest.fixture
def model(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_each_file_of_a_model_counts(model, name):
    before = fingerprint(str(model))
    stored = os.stat(model / name)
    (model / name).write_text(FILES[name].replace(FILES[name][0], "X", 1), encoding="utf-8")
    os.utime(model / name, ns=(stored.st_atime_ns, stored.st_mtime_ns))  # as long and as old as before
    assert fingerprint(str(model)) != before


def test_added_and_renamed_files_count(model):
    before = fingerprint(str(model))
    (model / "adapter_config.json").write_text("{}")
    more = fingerprint(str(model))
    (model / "adapter_config.json").rename(model / "special_tokens_map.json")
    assert len({one["model"] for one in (before, more, fingerprint(str(model)))}) == 3


def test_other_files_do_not_count(model, tmp_path):
    before = fingerprint(str(model))
    for name in ("README.md", "log.jsonl", "plot.svg", ".hidden", "optimizer.pt", "training.log"):
        (model / name).write_text("x")
    (model / "checkpoint").mkdir()
    (model / "training.json").write_text("{}")
    os.utime(model / "model.safetensors", (0, 0))
    assert fingerprint(str(model)) == before
    model.rename(tmp_path.parent / "elsewhere")
    assert fingerprint(str(tmp_path.parent / "elsewhere")) == before


@pytest.mark.parametrize("use", [{"prompt": "Simplify: {source}"}, {"dtype": "float16"}, {"variants": "lemma"}])
def test_how_a_model_is_used_counts(model, use):
    assert fingerprint(str(model), **use) != fingerprint(str(model))


def test_the_prompt_that_it_was_trained_with_counts(model):
    before = fingerprint(str(model))
    (model / "training.json").write_text(json.dumps({"run": {"prompt": "Simply: {source}"}}))
    assert fingerprint(str(model)) == {**before, "prompt": "Simply: {source}"}


def test_scripted_and_bundled_models(tmp_path):
    (tmp_path / "t.json").write_text("{}")
    before = fingerprint(f"scripted:{tmp_path / 't.json'}")
    (tmp_path / "t.json").write_text("[]")
    assert fingerprint(f"scripted:{tmp_path / 't.json'}") != before
    assert fingerprint() == fingerprint(str(bundled("rewriter")))


def test_a_hub_model_is_identified_by_its_commit(monkeypatch):
    commits = iter(["c0ffee", "c0ffee", "deca1f"])

    def from_pretrained(name, **options):
        assert options == {"trust_remote_code": False}
        return SimpleNamespace(_commit_hash=next(commits))

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", from_pretrained)
    one, same, other = (fingerprint("someone/some-model") for _ in range(3))
    assert one == same
    assert (one["model"], other["model"]) == ("someone/some-model@c0ffee", "someone/some-model@deca1f")


@pytest.mark.parametrize("name", ["./nowhere", "scripted:nowhere.json", "scripted:\0"])
def test_a_missing_model_is_reported(name):
    with pytest.raises(ModelError, match="cannot be loaded"):
        fingerprint(name)
