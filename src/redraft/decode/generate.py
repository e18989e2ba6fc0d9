"""The search as a custom generation method of `transformers`: model.generate(…, custom_generate=redraft.generate)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from redraft.constrain.clauses import CompiledPlan
from redraft.constrain.word_boundaries import boundary_tables
from redraft.decode.config import DecodeConfig
from redraft.decode.length_penalty import normalised_log_prob
from redraft.decode.search import Hypothesis, Observer, search
from redraft.decode.transformers_steps import TransformersSteps
from redraft.errors import ConfigError, ModelError, PlanError, shown
from redraft.plan.edits import EditPlan

if TYPE_CHECKING:
    from redraft.decode.cuda_graphs import Graphs


def generate(
    model: Any,
    input_ids: Tensor,
    logits_processor: Any = None,
    stopping_criteria: Any = None,
    generation_config: Any = None,
    edit_constraints: Sequence[CompiledPlan] | None = None,
    edit_config: DecodeConfig | None = None,
    edit_graphs: Graphs | None = None,
    synced_gpus: bool = False,
    streamer: Any = None,
    **model_kwargs: Any,
) -> Any:
    """Edit-constrained beam search on what `model.generate` has prepared, with the outputs of its own beam search.

    `edit_constraints` comes from `redraft.compile_plans(plans, tokenizer)`, one plan for each input, and
    `edit_config` holds the settings of the search. Beams, length penalty, early stopping, lengths and processors are
    those given to `model.generate`.
    """
    if generation_config.do_sample:
        raise ConfigError("redraft.generate got do_sample=True.", "It is a beam search: leave do_sample out.")
    _check_criteria(stopping_criteria)
    beams, wanted = generation_config.num_beams, generation_config.num_return_sequences
    if not isinstance(edit_config, DecodeConfig | None):
        raise ConfigError(f"edit_config is {shown(edit_config)}.", "Give a DecodeConfig.")
    config = (edit_config or DecodeConfig()).with_changes(
        beams=beams,
        candidates=min(wanted, beams),
        length_penalty=generation_config.length_penalty,
        early_stopping=generation_config.early_stopping,
        min_tokens=0,  # transformers has made processors for these two
        no_repeat_ngram=0,
    )
    batch, prompt = input_ids.shape[0] // beams, input_ids.shape[1]
    plans = _plans(edit_constraints, batch)
    room = generation_config.max_length - prompt
    steps, found = search_prepared(
        model, input_ids, logits_processor, generation_config, model_kwargs, plans, config, [room] * batch,
        graphs=edit_graphs,
    )  # fmt: skip
    return _as_transformers(model, generation_config, input_ids[::beams], found, steps, model_kwargs)


def search_prepared(
    model: Any,
    input_ids: Tensor,
    processors: Any,
    generation_config: Any,
    model_kwargs: dict[str, Any],
    plans: Sequence[CompiledPlan],
    config: DecodeConfig,
    limits: Sequence[int],
    *,
    observe: Observer | None = None,
    graphs: Graphs | None = None,
    own_limits: bool = False,
) -> tuple[TransformersSteps, list[list[Hypothesis]]]:
    """The search on what `model.generate` has prepared: inputs, processors and the cache.

    `own_limits`: the search ends each sentence at its own limit; otherwise a processor may force the end at the longest
    limit of the batch.
    """
    ends = generation_config._eos_token_tensor
    if ends is None:
        raise ModelError(
            "the model has no end token.", "Set model.generation_config.eos_token_id, or pass eos_token_id."
        )
    processors, forced_end = _without_forced_end(processors) if own_limits else (processors, None)
    steps = TransformersSteps(
        model, input_ids, processors, ends.tolist(), model_kwargs, forced_end=forced_end,
        keep_scores=bool(generation_config.return_dict_in_generate and generation_config.output_scores),
    )  # fmt: skip
    sources = [plan.plan.source for plan in plans]
    return steps, search(steps, sources, plans, config, limits, observe, graphs)


def _without_forced_end(processors: Any) -> tuple[Any, int | None]:
    kept, forced = type(processors)(), None
    for processor in processors:
        if type(processor).__name__ == "ForcedEOSTokenLogitsProcessor":
            forced = int(processor.eos_token_id[0])
        else:
            kept.append(processor)
    return kept, forced


def _check_criteria(criteria: Any) -> None:
    for criterion in criteria or ():
        if type(criterion).__name__ not in ("MaxLengthCriteria", "EosTokenCriteria"):
            raise ConfigError(
                f"redraft.generate does not support the stopping criterion {type(criterion).__name__}.",
                "Stop by eos_token_id, max_length or max_new_tokens.",
            )


def _plans(constraints: Any, batch: int) -> Sequence[CompiledPlan]:
    if constraints is None:
        empty = CompiledPlan(EditPlan(""), (), {}, boundary_tables([b" "]))
        return [empty] * batch
    if isinstance(constraints, CompiledPlan):
        constraints = [constraints]
    if not all(isinstance(plan, CompiledPlan) for plan in constraints):
        raise PlanError(
            "edit_constraints contains plans that are not compiled; transformers does not pass on the tokenizer.",
            "Pass edit_constraints=redraft.compile_plans(plans, tokenizer).",
        )
    if len(constraints) != batch:
        raise PlanError(
            f"edit_constraints has {len(constraints)} plans for {batch} inputs.",
            "Give one plan for each input, an empty one for no edits.",
        )
    plans: Sequence[CompiledPlan] = constraints
    return plans


def _as_transformers(
    model: Any,
    generation_config: Any,
    prompt: Tensor,  # (batch, prompt)
    found: Sequence[Sequence[Hypothesis]],
    steps: TransformersSteps,
    model_kwargs: dict[str, Any],
) -> Any:
    """Sequences padded as transformers does, in the output classes of its beam search."""
    wanted, beams = generation_config.num_return_sequences, generation_config.num_beams
    rows = [
        (batch, found[batch][n] if n < len(found[batch]) else None)
        for batch in range(len(found))
        for n in range(wanted)
    ]
    longest = max((len(row.tokens) for _, row in rows if row is not None), default=0)
    # transformers pads with the end token if the pad id is 0, because `0 or end` is `end`.
    pad, ends = generation_config._pad_token_tensor, generation_config._eos_token_tensor
    fill = int(pad or ends[0]) if pad is not None else int(ends[0])
    sequences = torch.full((len(rows), longest), fill, dtype=torch.int64)
    lineage = torch.full((len(rows), longest), -1, dtype=torch.int32)
    scores = torch.full((len(rows),), -1e9)
    for place, (batch, row) in enumerate(rows):
        if row is not None:
            sequences[place, : len(row.tokens)] = torch.tensor(row.tokens)
            lineage[place, : len(row.tokens)] = torch.tensor(row.rows, dtype=torch.int32) + batch * beams
            scores[place] = normalised_log_prob(row.log_prob, len(row.tokens), generation_config.length_penalty)
    sequences = torch.cat([prompt.repeat_interleave(wanted, 0), sequences.to(prompt.device)], 1)
    if not generation_config.return_dict_in_generate:
        return sequences
    from transformers.generation.utils import GenerateBeamDecoderOnlyOutput, GenerateBeamEncoderDecoderOutput

    known = {
        "sequences": sequences,
        "sequences_scores": scores.to(prompt.device) if generation_config.output_scores else None,
        "scores": tuple(steps.scores) if generation_config.output_scores else None,
        "beam_indices": lineage.to(prompt.device),
        "past_key_values": steps.cache,
    }
    if not model.config.is_encoder_decoder:
        return GenerateBeamDecoderOnlyOutput(**known)
    encoded = model_kwargs["encoder_outputs"]
    return GenerateBeamEncoderDecoderOutput(
        **known, encoder_attentions=encoded.get("attentions"), encoder_hidden_states=encoded.get("hidden_states")
    )
