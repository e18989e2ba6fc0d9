"""Checks before timing: outputs equal those of `transformers` and of the reference search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from benchmarks.workload import make_inputs, make_plans
from redraft import DecodeConfig
from redraft.constrain.compiler import Compiler
from redraft.constrain.vocabulary import vocabulary_of
from redraft.decode.reference_search import reference_search
from redraft.decode.search import search
from redraft.decode.transformers_steps import TransformersSteps

if TYPE_CHECKING:
    from benchmarks.bench_search import Bench


def check_beam(bench: Bench, batch: int = 4) -> str:
    """Plain beam search gives the same tokens as transformers, or scores that differ only by rounding."""
    plans = make_plans(batch, seed=5)
    settings = {"num_beams": bench.args.beams, "max_new_tokens": bench.args.length, "do_sample": False}
    asked = {**settings, "return_dict_in_generate": True, "output_scores": True}
    theirs, own = bench.plain(plans, asked), bench.ours(plans, asked, "beam")
    equal = [torch.equal(a, b) for a, b in zip(theirs.sequences, own.sequences, strict=True)]
    gap = (theirs.sequences_scores - own.sequences_scores).abs().max().item()
    if not all(equal) and gap > (1e-5 if bench.dtype == torch.float32 else 1e-2):
        raise SystemExit(f"beam differs from transformers: {sum(equal)}/{batch} equal, scores {gap} apart")
    return f"beam = transformers on {sum(equal)}/{batch} sentences, scores within {gap:.1e}"


class _Recorder:
    """Records a model's scores by prefix, so that the reference search uses exactly the same numbers."""

    def __init__(self, steps: TransformersSteps, beams: int) -> None:
        self._steps = steps
        self.end_tokens = steps.end_tokens
        self.rows: list[list[tuple[int, ...]]] = []
        self.known: list[dict[tuple[int, ...], list[float]]] = []

    def start(self, sources: Sequence[str], beams: int) -> Tensor:
        self.rows = [[()] * beams for _ in sources]
        self.known = [{} for _ in sources]
        return self._keep(self._steps.start(sources, beams))

    def step(self, tokens: Tensor) -> Tensor:
        self.rows = [
            [(*row, token) for row, token in zip(rows, own, strict=True)]
            for rows, own in zip(self.rows, tokens.tolist(), strict=True)
        ]
        return self._keep(self._steps.step(tokens))

    def reorder(self, parent: Tensor) -> None:
        self.rows = [[rows[place] for place in own] for rows, own in zip(self.rows, parent.tolist(), strict=True)]
        self._steps.reorder(parent)

    def _keep(self, scores: Tensor) -> Tensor:
        wide = scores.double()  # the reference search adds in double precision
        for batch, rows in enumerate(self.rows):
            for beam, row in enumerate(rows):
                self.known[batch].setdefault(row, wide[batch, beam].tolist())
        for batch, rows in enumerate(self.rows):  # equal prefixes must have equal scores
            for beam, row in enumerate(rows):
                wide[batch, beam] = torch.tensor(self.known[batch][row], dtype=wide.dtype)
        return wide


def check_edit(bench: Bench, batch: int = 2, length: int = 10, beams: int = 6) -> str:
    """The vectorised search equals the reference search on the same scores."""
    plans = make_plans(batch, seed=6)
    compiled = Compiler(vocabulary_of(bench.tokenizer)).compile(plans)
    config = DecodeConfig(beams=beams)
    agreed: list[bool] = []

    def decode(
        model: Any,
        input_ids: Tensor,
        logits_processor: Any,
        stopping_criteria: Any,
        generation_config: Any,
        **inputs: Any,
    ) -> Any:
        steps = TransformersSteps(
            model, input_ids, logits_processor, generation_config._eos_token_tensor.tolist(), inputs
        )
        recorder = _Recorder(steps, beams)
        found = search(recorder, [plan.source for plan in plans], compiled, config, [length] * batch)
        for place, plan in enumerate(compiled):
            expected = reference_search(
                lambda prefix, place=place: recorder.known[place][prefix],  # type: ignore[misc]
                plan, config, end_tokens=recorder.end_tokens, max_tokens=length,
            )  # fmt: skip
            own = [(one.tokens, one.log_prob, one.edit_score) for one in found[place]]
            agreed.append(own == [(one.tokens, one.log_prob, one.edit_score) for one in expected][: len(own)])
        return input_ids

    bench.model.generate(
        **make_inputs(plans, bench.device),
        num_beams=beams,
        max_new_tokens=length,
        do_sample=False,
        custom_generate=decode,
    )
    if not all(agreed):
        raise SystemExit(f"edit differs from the reference search: {agreed}")
    return f"edit = reference search on {sum(agreed)}/{batch} sentences, {beams} hypotheses each"


def check_graphs(bench: Bench, batch: int = 4) -> str:
    """Steps replayed from a CUDA graph equal steps launched kernel by kernel."""
    settings = {"num_beams": bench.args.beams, "max_new_tokens": bench.args.length, "do_sample": False}
    equal = 0
    for seed in (21, 22):
        plans = make_plans(batch, seed=seed)
        for method in ("edit", "beam"):
            eager, replayed = bench.ours(plans, settings, method), bench.ours(plans, settings, method, bench.graphs)
            wide = min(eager.shape[1], replayed.shape[1])
            equal += sum(torch.equal(a, b) for a, b in zip(eager[:, :wide], replayed[:, :wide], strict=True))
    return f"graph = eager on {equal}/{4 * batch} sentences"
