"""Redrafter: rewrites sentences by their plans with one model, and judges every edit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch

from redraft.constrain.clauses import CompiledPlan
from redraft.constrain.compiler import compiler_for
from redraft.constrain.mark_tokens import MarkTokens
from redraft.decode.argument_checks import check_config, check_text, check_texts
from redraft.decode.config import DecodeConfig
from redraft.decode.draft_verification import GreedyText, can_verify_drafts, write_greedily
from redraft.decode.edit_weights import UNIT
from redraft.decode.generate import search_prepared
from redraft.decode.model_loading import PLAIN_PROMPT, load_model, reads_plans, stored_prompt
from redraft.decode.result import Candidate, Result
from redraft.decode.rewriter_network import RewriterNetwork
from redraft.decode.rewriter_steps import RewriterSteps
from redraft.decode.search import Hypothesis, Observer, check_search_memory, search
from redraft.decode.step_model import StepModel
from redraft.decode.token_rows import padded
from redraft.decode.trace import Trace
from redraft.decode.transformers_steps import position_limit
from redraft.errors import ConfigError, ModelError, shown
from redraft.plan.edits import EditPlan
from redraft.plan.marked_source import mark
from redraft.plan.phrases import Variants
from redraft.plan.verdicts import Verdict, judge
from redraft.settings_checks import check_names, check_setting

if TYPE_CHECKING:
    from redraft.decode.cuda_graphs import Graphs

# Settings of a model's generation config that DecodeConfig replaces.
_GENERATION_SETTINGS = {
    "do_sample": False,
    "num_return_sequences": 1,
    "min_length": 0,
    "no_repeat_ngram_size": 0,
    "return_dict_in_generate": False,
}


SHARED_GPU = "CUDA_MPS_PIPE_DIRECTORY"  # set for processes that compute on one GPU at the same time
_LEAST_FOR_GRAPHS = 32  # sentences of a batch for which capturing a graph takes less time than it saves


class Redrafter:
    """Rewrites sentences with the insertions, deletions and substitutions of a plan.

    `model` is a name or path for `transformers`, `scripted:TABLE.json`, a model object of transformers (with its
    `tokenizer`), or any StepModel (with a `tokenizer`, its own or given). Default: the bundled
    model. `prompt` wraps the source for decoder-only models: "Simplify: {source}\\nSimple:"; for a model of
    `redraft train` it is known. A model that was trained to read plans (`reads_plans` in its configuration) finds them
    in the source as marks; with other models, the search alone makes the edits. `graphs` replays whole steps, the model
    included, from CUDA graphs: the first batch of each shape takes longer, the others take a fraction of the time. By
    default, batches of at least 32 sentences are replayed, unless processes share the GPU: it is busy then anyway.
    """

    def __init__(
        self,
        model: Any = None,
        tokenizer: Any = None,
        *,
        config: DecodeConfig | None = None,
        variants: Variants = "case",
        prompt: str | None = None,
        processors: Any = None,
        graphs: bool | None = None,
        device: str | torch.device | None = None,
        dtype: str | torch.dtype | None = None,
    ) -> None:
        needs_generate = processors is not None or bool(graphs)
        self.model, self.tokenizer = load_model(
            model, tokenizer, device=device, dtype=dtype, needs_generate=needs_generate
        )
        check_setting("variants", variants, Variants)
        self.config = check_config(config) or DecodeConfig()
        if prompt is not None and PLAIN_PROMPT not in prompt:
            raise ConfigError(f"the prompt {shown(prompt)} lacks {PLAIN_PROMPT}.", "Write {source} for the sentence.")
        self.prompt = stored_prompt(model) if prompt is None else prompt
        self.processors = processors
        own_gpu = getattr(getattr(self.model, "device", None), "type", None) == "cuda" and SHARED_GPU not in os.environ
        self.graphs = _new_graphs() if graphs or (graphs is None and own_gpu) else None
        self._least_for_graphs = 1 if graphs else _LEAST_FOR_GRAPHS
        self._marks = MarkTokens(self.tokenizer) if reads_plans(self.model) else None
        self._compiler = compiler_for(self.tokenizer, variants)
        self._variants: Variants = variants
        self.room = _room(self.model)

    def __call__(self, plan: EditPlan | str, **changes: Any) -> Result:
        """Rewrite one sentence; `changes` are settings of DecodeConfig for this call."""
        return self.rewrite([check_text(plan, "the text")], **changes)[0]

    def rewrite(self, plans: Iterable[EditPlan | str], **changes: Any) -> list[Result]:
        """Rewrite sentences; a string is a plan without edits."""
        return list(self.stream(plans, **changes))

    def stream(
        self,
        plans: Iterable[EditPlan | str],
        *,
        config: DecodeConfig | None = None,
        batch_size: int = 8,
        trace: bool | int = False,
        **changes: Any,
    ) -> Iterator[Result]:
        """Rewrite sentences batch by batch, in order; sentences are read as they are needed.

        `config` and `changes` are settings for this call. `trace` adds every step of the search to the results; as a
        number, it is the maximum number of values in the trace of a sentence.
        """
        texts = check_texts(plans)
        check_setting("batch_size", batch_size, int, least=1)
        check_setting("trace", trace, bool | int, least=0)
        check_names(changes, [field.name for field in fields(DecodeConfig)])
        config = check_config(config) or self.config
        config = config.with_changes(**changes) if changes else config
        return self._rewrite_batches(texts, config, batch_size, trace)

    def _rewrite_batches(
        self, texts: Iterator[str | EditPlan], config: DecodeConfig, batch_size: int, trace: bool | int
    ) -> Iterator[Result]:
        waiting = (EditPlan(text) if isinstance(text, str) else text for text in texts)
        while batch := list(islice(waiting, batch_size)):
            yield from self._rewrite_batch(batch, config, trace)

    def _rewrite_batch(self, plans: Sequence[EditPlan], config: DecodeConfig, trace: bool | int) -> list[Result]:
        compiled = self._compiler.compile(plans)
        traced = None
        if trace:
            traced = Trace(compiled, self._compiler.vocabulary.decode, None if trace is True else trace)
        limits, found = self._search(compiled, config, traced.observe if traced else None)
        return [
            Result(
                plan.plan.source,
                tuple(self._candidates(plan, hypotheses, limit, config))
                or (self._source_candidate(plan, limit, config),),
                tuple(traced.sentences[place]) if traced else (),
                unchanged=None if hypotheses else "all continuations were banned",
                plan=plan.plan,
            )
            for place, (plan, limit, hypotheses) in enumerate(zip(compiled, limits, found, strict=True))
        ]

    def _search(
        self, plans: Sequence[CompiledPlan], config: DecodeConfig, observe: Observer | None
    ) -> tuple[list[int], list[list[Hypothesis]]]:
        sources = [plan.plan.source for plan in plans]
        if isinstance(self.model, StepModel):
            lengths = [len(tokens) for tokens in self._compiler.vocabulary.encode(sources)]
            limits = [config.max_tokens or 2 * length + 10 for length in lengths]
            check_search_memory(config, limits, len(self._compiler.vocabulary.texts), torch.device("cpu"))
            return limits, search(self.model, sources, plans, config, limits, observe)
        inputs, limits = self._encode([plan.plan for plan in plans], config)
        check_search_memory(config, limits, len(self._compiler.vocabulary.texts), self.model.device)
        if isinstance(self.model, RewriterNetwork):
            steps = RewriterSteps(self.model, inputs["input_ids"], inputs["attention_mask"])
            return limits, search(steps, sources, plans, config, limits, observe)
        return limits, self._search_transformers(inputs, limits, plans, config, observe)

    def _search_transformers(
        self,
        inputs: dict[str, torch.Tensor],
        limits: Sequence[int],
        plans: Sequence[CompiledPlan],
        config: DecodeConfig,
        observe: Observer | None,
    ) -> list[list[Hypothesis]]:
        """Let `generate` of transformers prepare inputs, cache and processors, then search."""
        graphs = self.graphs if len(plans) >= self._least_for_graphs else None

        def decode(
            model: Any,
            input_ids: torch.Tensor,
            logits_processor: Any,
            stopping_criteria: Any,
            generation_config: Any,
            synced_gpus: bool = False,
            **model_kwargs: Any,
        ) -> list[list[Hypothesis]]:
            _, found = search_prepared(
                model, input_ids, logits_processor, generation_config, model_kwargs, plans, config, limits,
                observe=observe, graphs=graphs, own_limits=True,
            )  # fmt: skip
            return found

        found: list[list[Hypothesis]] = self.model.generate(
            **inputs,
            **_GENERATION_SETTINGS,
            num_beams=config.beams,
            length_penalty=config.length_penalty,
            early_stopping=config.early_stopping,
            max_new_tokens=max(limits),
            logits_processor=self.processors,
            custom_generate=decode,
        )
        return found

    def _encode(self, plans: Sequence[EditPlan], config: DecodeConfig) -> tuple[dict[str, torch.Tensor], list[int]]:
        tokenizer, model = self.tokenizer, self.model
        decoder_only = not model.config.is_encoder_decoder
        sources = [plan.source for plan in plans]
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        marked = self._marks is not None and config.tell
        rows = self._encode_marked(plans) if marked else self._encode_sources(sources)
        side = "left" if decoder_only else tokenizer.padding_side
        tokens, mask = padded(rows, tokenizer.pad_token_id, side)
        inputs = {"input_ids": tokens.to(model.device), "attention_mask": mask.to(model.device)}
        sizes = [len(row) for row in rows]
        # An output may be twice as long as its source, without marks and prompt.
        own = rows
        if decoder_only:
            own = self._compiler.vocabulary.encode(sources)
        elif marked:
            own = self._encode_sources(sources)
        lengths = [len(tokens) for tokens in own]
        room = self.room
        for number, length in enumerate(sizes):
            if not length:  # the tokenizer adds no special tokens, and a model needs at least one token
                raise ModelError(
                    "an empty sentence cannot be rewritten by this model.", "Leave it out, or give a prompt."
                )
            if room is not None and length + decoder_only > room:
                raise ModelError(
                    f"the sentence {shown(sources[number])} has {length} tokens, and the model reads {room}.",
                    "Split the sentence, or use a model with more positions.",
                )
        limits = [config.max_tokens or 2 * length + 10 for length in lengths]
        if room is not None:  # from the sentence's own tokens: the padding of its batch changes nothing
            limits = [
                max(1, min(limit, room - (length if decoder_only else 1)))
                for limit, length in zip(limits, sizes, strict=True)
            ]
        return inputs, limits

    def _encode_sources(self, sources: Sequence[str]) -> list[list[int]]:
        """The tokens of each source without its plan, with the special tokens of the tokenizer."""
        decoder_only = not self.model.config.is_encoder_decoder
        texts = [self.prompt.replace("{source}", source) for source in sources] if decoder_only else list(sources)
        tokens: list[list[int]] = self.tokenizer(texts, verbose=False)["input_ids"]
        return tokens

    def _encode_marked(self, plans: Sequence[EditPlan]) -> list[list[int]]:
        """The tokens of each source with its plan as marks; without marks if that is too long for the model."""
        assert self._marks is not None
        prompt = PLAIN_PROMPT if self.model.config.is_encoder_decoder else self.prompt
        room, rows = self.room, []
        for plan in plans:
            row = self._marks.encode(mark(plan), prompt)
            if room is not None and len(row) > room - (not self.model.config.is_encoder_decoder):
                row = self._marks.encode((plan.source,), prompt)
            rows.append(row)
        return rows

    @property
    def can_write_greedily(self) -> bool:
        """Whether `write_greedily` can be used: an encoder-decoder model that reads its plan."""
        return self._marks is not None and self.processors is None and can_verify_drafts(self.model)

    def write_greedily(self, plans: Sequence[EditPlan], drafts: Sequence[str], config: DecodeConfig) -> list[Result]:
        """The greedy text of each plan, which the model reads in its source; the edits are judged, but not enforced.

        A draft is what the text is likely to be: the more of it is right, the sooner the text is written.
        """
        inputs, limits = self._encode(plans, config)
        rows = self.tokenizer(text_target=list(drafts), verbose=False)["input_ids"]
        written = write_greedily(self.model, inputs, rows, limits)
        return [self._greedy_result(plan, found) for plan, found in zip(plans, written, strict=True)]

    def _greedy_result(self, plan: EditPlan, found: GreedyText) -> Result:
        text = self._compiler.vocabulary.decode(found.tokens).strip()
        verdicts = judge(plan, text, variants=self._variants, forms_of=self._compiler.forms_in_text)
        candidate = Candidate(text, found.log_prob, 0.0, tuple(verdicts), tuple(found.tokens), not found.ended)
        return Result(plan.source, (candidate,), plan=plan)

    def _candidates(
        self, plan: CompiledPlan, hypotheses: Sequence[Hypothesis], limit: int, config: DecodeConfig
    ) -> list[Candidate]:
        """The best hypotheses with different texts."""
        texts: dict[str, Candidate] = {}
        for hypothesis in hypotheses:
            text = self._compiler.vocabulary.decode(hypothesis.tokens).strip()
            if text not in texts:
                verdicts = self._verdicts(plan, text, hypothesis, limit, config)
                texts[text] = Candidate(
                    text,
                    hypothesis.log_prob,
                    hypothesis.edit_score / UNIT,
                    verdicts,
                    hypothesis.tokens,
                    hypothesis.truncated,
                )
            if len(texts) == config.candidates:
                break
        return list(texts.values())

    def _source_candidate(self, plan: CompiledPlan, limit: int, config: DecodeConfig) -> Candidate:
        """The source itself, for sentences in which bans leave no continuation."""
        nothing = Hypothesis((), 0.0, 0, True, (), (False,) * len(plan.clauses))
        source = plan.plan.source
        return Candidate(source, 0.0, 0.0, self._verdicts(plan, source, nothing, limit, config), (), False)

    def _verdicts(
        self, plan: CompiledPlan, text: str, hypothesis: Hypothesis, limit: int, config: DecodeConfig
    ) -> tuple[Verdict, ...]:
        judged = judge(
            plan.plan,
            text,
            variants=self._variants,
            forms_of=self._compiler.forms_in_text,
            impossible={**_too_long(plan, limit), **plan.impossible},
        )
        if config.method != "edit":
            return tuple(judged)
        return tuple(
            Verdict(verdict.edit, verdict.status, _chosen_over(plan, number, verdict, hypothesis), verdict.reason)
            for number, verdict in enumerate(judged)
        )


def _room(model: Any) -> int | None:
    """The number of positions of the decoder, kept because asking a configuration takes a millisecond."""
    if isinstance(model, RewriterNetwork):
        return model.config.max_position_embeddings
    return None if isinstance(model, StepModel) else position_limit(model)


def _new_graphs() -> Graphs:
    from redraft.decode.cuda_graphs import Graphs  # imports transformers

    return Graphs()


def _chosen_over(plan: CompiledPlan, edit: int, verdict: Verdict, hypothesis: Hypothesis) -> bool | None:
    """Whether an edit was made while its alternative was among the siblings; None for insertions, which have none."""
    if verdict.status != "satisfied" or verdict.edit.kind in ("insert", "split"):
        return None
    for number, clause in enumerate(plan.clauses):
        if clause.edit == edit and clause.role in ("delete", "target"):
            return hypothesis.satisfied[number]
    return False


def _too_long(plan: CompiledPlan, limit: int) -> dict[int, str]:
    reason = f"longer than the maximum output length ({limit} tokens with the end token)"
    return {
        clause.edit: reason
        for clause in plan.clauses
        if clause.role in ("insert", "target") and all(len(variant.tokens) >= limit for variant in clause.variants)
    }
