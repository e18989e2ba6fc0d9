"""Steps in fixed buffers, on a GPU replayed from graphs, equal steps launched one by one."""

from __future__ import annotations

import pytest
import torch

from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.decode.cuda_graphs import Graphs, step_graphs
from small_models import FAMILIES, tiny_model_for
from tokenizers_in_memory import TOKENIZERS

BATCHES = [
    [
        EditPlan("the old town", (Edit.insert("old"), Edit.delete("town"), Edit.substitute("the", "a", "one"))),
        EditPlan("a doctor said", ()),
    ],
    [
        EditPlan("many people live there", (Edit.insert("people live"), Edit.delete("people"))),
        EditPlan("it is", (Edit.substitute("is", "was"),)),
    ],
]


def outputs(redrafter: Redrafter, method: str) -> list[list[tuple[str, float, float]]]:
    """Three rounds over both batches: a shape is captured at its second use, and then reused with other plans."""
    found = []
    for batch in [*BATCHES, *BATCHES, *BATCHES]:
        done = redrafter.rewrite(batch, method=method, max_tokens=9, candidates=3)
        found.append([(one.text, round(one.log_prob, 4), one.edit_score) for each in done for one in each.candidates])
    return found


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", ["edit", "beam", "negative", "neurologic"])
def test_whole_steps_in_fixed_buffers(family: str, method: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = TOKENIZERS["byte-level"]()
    model = tiny_model_for(family, tokenizer).to(device).double()
    model.generation_config.forced_eos_token_id = None
    config = DecodeConfig(beams=4)
    held = Redrafter(model, tokenizer, config=config, graphs=True)
    found = outputs(held, method)
    assert held.graphs is not None
    assert len(held.graphs) > 0  # the buffers were used
    with monkeypatch.context() as patch:
        patch.setattr("redraft.decode.cuda_graphs.step_graphs", lambda: Never())
        assert outputs(Redrafter(model, tokenizer, config=config, graphs=False), method) == found


class Never(Graphs):
    def runner(self, *args: object, **kwargs: object) -> None:  # type: ignore[override]
        return None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("method", ["edit", "beam", "negative", "neurologic"])
def test_the_searchs_own_step_is_replayed(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = TOKENIZERS["byte-level"]()
    redrafter = Redrafter(tiny_model_for("bart", tokenizer).cuda().double(), tokenizer, config=DecodeConfig(beams=4))
    before = len(step_graphs())
    found = outputs(redrafter, method)
    assert len(step_graphs()) > before
    monkeypatch.setattr("redraft.decode.cuda_graphs.step_graphs", lambda: Never())
    assert outputs(redrafter, method) == found


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_large_batches_are_replayed_by_default() -> None:
    tokenizer = TOKENIZERS["byte-level"]()
    model = tiny_model_for("bart", tokenizer).cuda().double()
    replayed, launched = (
        Redrafter(model, tokenizer, config=DecodeConfig(beams=4), graphs=graphs) for graphs in (None, False)
    )
    plans = [plan for batch in BATCHES for plan in batch] * 32
    for size, captured in ((31, 0), (32, 1)):
        found = [one.text for one in replayed.rewrite(plans[:size], batch_size=size, max_tokens=9)]
        assert found == [one.text for one in launched.rewrite(plans[:size], batch_size=size, max_tokens=9)]
        assert replayed.graphs is not None
        assert len(replayed.graphs) == captured
    assert launched.graphs is None


def test_models_with_processors_do_not_use_graphs() -> None:
    tokenizer = TOKENIZERS["byte-level"]()
    model = tiny_model_for("bart", tokenizer)
    model.generation_config.suppress_tokens = [7]
    held = Redrafter(model, tokenizer, config=DecodeConfig(beams=2), graphs=True)
    assert (
        held("the old town", max_tokens=5).text
        == Redrafter(model, tokenizer, config=DecodeConfig(beams=2))("the old town", max_tokens=5).text
    )
    assert held.graphs is not None
    assert len(held.graphs) == 0
