"""Models that cannot be trained are refused at once, with the reason."""

import json

import pytest

from redraft.errors import ModelError
from redraft.fit.rewriter.trainable_models import load_weights, read_start
from small_models import save_small_bert
from toy_pairs import save_small_model, small_model, word_tokenizer

KINDS = "Give a seq2seq or causal model: a name on the Hugging Face hub, or a folder with config.json and weights."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model"
    path.mkdir()
    return path


def refused(name):
    with pytest.raises(ModelError) as caught:
        read_start(str(name))
    return caught.value.problem, caught.value.hint


@pytest.mark.parametrize("family, causal", [("bart", False), ("t5", False), ("gpt2", True)])
def test_trainable_models(folder, family, causal):
    start = read_start(save_small_model(folder, family))
    model, missing = load_weights(start)
    assert (start.causal, start.end, start.pad, missing) == (causal, 2, 0, [])
    assert {str(weight.dtype) for weight in model.parameters()} == {"torch.float32"}


def test_names_without_a_model(folder):
    assert refused("scripted:table.json") == (
        '"scripted:table.json" is a scripted model and has no weights to train.',
        KINDS,
    )
    assert refused("./nowhere") == ('"./nowhere" does not exist.', KINDS)
    assert refused("model") == ('"model" is a folder without config.json.', KINDS)
    (folder / "config.json").write_text("{}")
    assert refused("model/config.json") == ('"model/config.json" is a file.', KINDS)
    assert refused("model") == ('"model" is a folder without weights.', KINDS)
    (folder / "model.safetensors").write_bytes(b"")
    problem, hint = refused("model")
    assert problem.startswith('the model "model" cannot be loaded: Unrecognized model')
    assert hint == KINDS


def test_an_encoder(folder):
    save_small_bert(folder, ["a"])
    assert refused("model") == (
        '"model" (bert) is neither a seq2seq nor a causal model: it cannot generate text.',
        KINDS,
    )


def test_quantized_weights(folder):
    gguf = "has quantized weights (GGUF), which cannot be trained."
    hint = "Give the original model, with weights in safetensors."
    assert refused("small.gguf") == (f'"small.gguf" {gguf}', hint)
    (folder / "small.gguf").write_bytes(b"GGUF")
    assert refused("model") == (f'"model" {gguf}', hint)
    (folder / "small.gguf").unlink()
    save_small_model(folder, "gpt2")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "quantization_config": {"quant_method": "bitsandbytes"}}))
    assert refused("model") == (
        'the weights of "model" are quantized (bitsandbytes) and cannot be trained.',
        "Give the original model, in float32, bfloat16 or float16.",
    )


def test_a_tokenizer_without_an_end_token(folder):
    save_small_model(folder, "bart")
    word_tokenizer(eos_token=None).save_pretrained(folder)
    assert refused("model") == (
        'the tokenizer of "model" has no end-of-sequence token, so the model would not learn to stop.',
        "Set eos_token in its tokenizer_config.json.",
    )


def unloadable(folder, model):
    model.save_pretrained(folder)
    word_tokenizer().save_pretrained(folder)
    with pytest.raises(ModelError) as caught:
        load_weights(read_start("model"))
    return caught.value.problem, caught.value.hint


def test_a_model_and_a_tokenizer_that_do_not_match(folder):
    model = small_model("gpt2")
    model.generation_config.eos_token_id = [5, 6]
    assert unloadable(folder, model) == (
        'the tokenizer of "model" ends a text with "</s>" (2), the model with [5, 6].',
        "Set eos_token_id in its generation_config.json to 2.",
    )
    model = small_model("gpt2")
    model.resize_token_embeddings(7)
    assert unloadable(folder, model) == (
        'the tokenizer of "model" has 13 tokens, the model 7.',
        "Give a model with its own tokenizer.",
    )
    model = small_model("bart")
    model.config.decoder_start_token_id = None
    assert unloadable(folder, model) == (
        'the configuration of "model" has no decoder_start_token_id.',
        "Set decoder_start_token_id in its config.json.",
    )


def test_an_end_token_known_only_to_the_tokenizer_is_set_in_the_model(folder):
    model = small_model("gpt2")
    model.generation_config.eos_token_id = None
    model.save_pretrained(folder)
    word_tokenizer().save_pretrained(folder)
    loaded, _ = load_weights(read_start("model"))
    assert loaded.generation_config.eos_token_id == 2
