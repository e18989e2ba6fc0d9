"""Models stored in 8 bits: size, loading as ordinary models, and the bundled one."""

import pytest
import torch
from safetensors import safe_open
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, BartConfig, BartForConditionalGeneration

from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.decode.eight_bit_model import save_eight_bit_model
from redraft.decode.model_loading import load_model
from redraft.eight_bit_weights import load_eight_bit, save_eight_bit
from redraft.errors import ModelError
from redraft.models import bundled
from small_models import FAMILIES, tiny_model_for
from tokenizers_in_memory import single_digits

WEIGHTS = "model.8bit.safetensors"
PLAN = EditPlan("the old man", (Edit.insert("old"), Edit.delete("man")))
CONFIG = DecodeConfig(beams=3, max_tokens=8)


@pytest.fixture
def folder(tmp_path):
    save_eight_bit_model(tiny_model_for("bart", single_digits()), single_digits(), tmp_path / "small")
    return tmp_path / "small"


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_are_rounded_to_the_nearest_step(tmp_path, family):
    model = tiny_model_for(family, single_digits())
    model.generation_config.no_repeat_ngram_size = 7
    save_eight_bit_model(model, single_digits(), tmp_path)
    restored, tokenizer = load_model(tmp_path, device="cpu")
    assert type(restored) is type(model)
    assert not restored.training
    assert restored.generation_config.to_dict() == model.generation_config.to_dict()
    assert tokenizer.get_vocab() == single_digits().get_vocab()
    before, after = model.state_dict(), restored.state_dict()
    assert before.keys() == after.keys()
    for name, weight in before.items():
        assert after[name].dtype == torch.float32
        gap = (weight - after[name]).abs()
        step = weight.flatten(1).abs().amax(1) / 127 if weight.dim() > 1 else weight.abs() / 1024
        assert (gap.flatten(1).amax(1) if weight.dim() > 1 else gap).le(0.501 * step + 1e-7).all(), name


@pytest.mark.parametrize("family", FAMILIES)
def test_tied_weights_are_stored_once_and_tied_again(tmp_path, family):
    model = tiny_model_for(family, single_digits())
    save_eight_bit_model(model, single_digits(), tmp_path)
    with safe_open(tmp_path / WEIGHTS, framework="pt") as file:
        stored = sum(file.get_tensor(name).numel() for name in file.keys() if not name.endswith(".scale"))  # noqa: SIM118
    buffers = sum(buffer.numel() for name, buffer in model.named_buffers() if name in model.state_dict())
    assert stored == sum(weight.numel() for weight in model.parameters()) + buffers
    restored, _ = load_model(tmp_path, device="cpu")
    assert [name for name, _ in restored.named_parameters()] == [name for name, _ in model.named_parameters()]


def test_a_weight_takes_a_byte(tmp_path):
    shape = BartConfig(
        vocab_size=2000, d_model=448, encoder_layers=1, decoder_layers=1, encoder_attention_heads=7,
        decoder_attention_heads=7, encoder_ffn_dim=1792, decoder_ffn_dim=1792, max_position_embeddings=192,
    )  # fmt: skip
    model = BartForConditionalGeneration(shape)
    save_eight_bit_model(model, single_digits(), tmp_path)
    assert (tmp_path / WEIGHTS).stat().st_size < 1.04 * model.num_parameters()


def test_groups_of_a_row_have_their_own_scales(tmp_path):
    """Small weights in a row with a large one stay distinct; with one scale for the row, all would become 0."""
    weight = torch.tensor([[0.001, -0.002, 0.003, 0.004, 100.0, 50.0, 1.0, 0.0]])
    for group, zeros in ((None, 5), (4, 1), (3, 5)):  # a row of eight cannot be divided into groups of three
        save_eight_bit(tmp_path / "weights", {"one": weight}, group=group)
        restored = load_eight_bit(tmp_path / "weights")["one"]
        assert int((restored == 0).sum()) == zeros
        assert (restored - weight).abs().max() <= 100 / 254


def test_weights_too_small_for_a_scale_are_nearly_0(tmp_path):
    weight = torch.tensor([[1e-12, -3e-9], [0.0, 0.0]])
    save_eight_bit(tmp_path / "weights", {"one": weight})
    assert (load_eight_bit(tmp_path / "weights")["one"] - weight).abs().max() <= 3e-8


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64", torch.float16])
def test_the_requested_dtype(folder, dtype):
    model, _ = load_model(folder, device="cpu", dtype=dtype)
    assert model.dtype == (getattr(torch, dtype) if isinstance(dtype, str) else dtype)


def test_loading_prints_nothing(folder, capfd):
    load_model(folder, device="cpu")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["text", "path"])
def test_an_ordinary_copy_writes_the_same(folder, tmp_path, kind):
    redrafter = Redrafter(kind(folder), config=CONFIG, device="cpu")
    redrafter.model.save_pretrained(tmp_path / "ordinary")
    redrafter.tokenizer.save_pretrained(tmp_path / "ordinary")
    copy = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "ordinary")
    assert all(torch.equal(a, b) for a, b in zip(copy.parameters(), redrafter.model.parameters(), strict=True))
    again = Redrafter(copy, AutoTokenizer.from_pretrained(tmp_path / "ordinary"), config=CONFIG, device="cpu")
    assert again(PLAN).candidates == redrafter(PLAN).candidates


def test_a_damaged_file_is_explained(folder):
    weights = folder / WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ModelError, match=f"{WEIGHTS} is damaged"):
        load_model(folder)


def test_a_file_that_lacks_weights_is_explained(folder):
    """transformers would continue with random ones."""
    weights = load_eight_bit(folder / WEIGHTS)
    del weights["model.decoder.layers.1.fc1.weight"]
    save_eight_bit(folder / WEIGHTS, weights)
    with pytest.raises(ModelError, match=r"lacks model\.decoder\.layers\.1\.fc1\.weight"):
        load_model(folder)


# The bundled model


def test_the_default_is_the_bundled_model(folder, monkeypatch):
    monkeypatch.setattr("redraft.decode.model_loading.bundled", lambda name: folder)
    assert Redrafter(config=CONFIG, device="cpu")(PLAN) == Redrafter(folder, config=CONFIG, device="cpu")(PLAN)
    assert load_model(None, dtype="bfloat16")[0].dtype == torch.bfloat16


def test_a_package_without_weights_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("redraft.decode.model_loading.bundled", lambda name: tmp_path)
    with pytest.raises(ModelError, match="lacks the bundled model") as caught:
        Redrafter()
    assert "scripted:TABLE.json" in caught.value.hint


def test_it_is_inside_the_package():
    import redraft

    assert bundled("rewriter").is_relative_to(next(iter(redraft.__path__)))
