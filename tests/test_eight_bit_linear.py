"""Linear layers in 8-bit arithmetic, against the same integers multiplied in Python."""

import pytest
import torch
from torch import nn

from redraft import Redrafter
from redraft.decode.model_loading import fastest_dtype
from redraft.eight_bit_linear import EIGHT_BIT, EightBitLinear, has_eight_bit_arithmetic, to_eight_bit
from redraft.errors import ModelError
from small_models import FAMILIES, tiny_model_for
from tokenizers_in_memory import single_digits

needs_vnni = pytest.mark.skipif(not has_eight_bit_arithmetic(), reason="this CPU has no 8-bit arithmetic")


def reference(linear: nn.Linear, rows: torch.Tensor) -> torch.Tensor:
    """The same arithmetic in Python integers, one output at a time."""
    bias = [0.0] * linear.out_features if linear.bias is None else linear.bias.tolist()
    found = torch.zeros(len(rows), linear.out_features)
    for out, weights in enumerate(linear.weight.tolist()):
        weight_scale = max(map(abs, weights)) / 127 or 1e-12
        integers = [round(weight / weight_scale) for weight in weights]
        for at, row in enumerate(rows.tolist()):
            scale = max(map(abs, row)) / 127 or 1e-12
            total = sum(round(value / scale) * weight for value, weight in zip(row, integers, strict=True))
            found[at, out] = total * scale * weight_scale + bias[out]
    return found


@needs_vnni
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [1, 3, 17])
def test_results_are_those_of_integers(rows, bias):
    torch.manual_seed(rows)
    linear = nn.Linear(24, 10, bias=bias)
    inputs = torch.randn(rows, 24) * torch.logspace(-3, 3, rows)[:, None]
    inputs[0] = 0
    found = EightBitLinear(linear.weight, linear.bias)(inputs)
    torch.testing.assert_close(found, reference(linear, inputs), rtol=2e-3, atol=1e-4 * float(inputs.abs().max()))


@needs_vnni
def test_a_row_does_not_depend_on_the_other_rows():
    torch.manual_seed(0)
    layer = EightBitLinear(torch.randn(96, 448), torch.randn(96))
    inputs = torch.randn(40, 448) * torch.logspace(-2, 2, 40)[:, None]
    together = layer(inputs)
    assert all(torch.equal(together[at : at + 1], layer(inputs[at : at + 1])) for at in range(40))
    assert torch.equal(layer(inputs.view(4, 10, 448)), together.view(4, 10, 96))


@needs_vnni
@pytest.mark.parametrize("family", FAMILIES)
def test_models_of_all_families_run_in_eight_bits(family):
    """Trained weights change little; these are random, so only that texts come out is checked."""
    model = to_eight_bit(tiny_model_for(family, single_digits()))
    found = Redrafter(model, single_digits())("the old man", beams=2, max_tokens=6)
    assert found.candidates
    assert not any(type(module) is nn.Linear for module in model.modules())


@needs_vnni
def test_the_bundled_model_is_computed_in_eight_bits_on_a_cpu_only(tmp_path):
    assert fastest_dtype(None, "cpu") == EIGHT_BIT
    assert fastest_dtype("another", "cpu") is None
    assert fastest_dtype(None, "cuda") is None
    tiny_model_for("bart", single_digits()).save_pretrained(tmp_path)
    single_digits().save_pretrained(tmp_path)
    loaded = Redrafter(str(tmp_path), device="cpu", dtype=EIGHT_BIT)
    assert any(isinstance(module, EightBitLinear) for module in loaded.model.modules())


@pytest.mark.parametrize(
    "supported, device, hint", [(False, "cpu", "float32"), (True, "meta", "bfloat16")], ids=["old-cpu", "no-cpu"]
)
def test_eight_bits_where_there_are_none(monkeypatch, supported, device, hint):
    monkeypatch.setattr("redraft.decode.model_loading.has_eight_bit_arithmetic", lambda: supported)
    with pytest.raises(ModelError, match="int8") as caught:
        Redrafter(tiny_model_for("bart", single_digits()), single_digits(), device=device, dtype=EIGHT_BIT)
    assert hint in caught.value.hint
