"""Checks whether a model can be trained, from its configuration and tokenizer, and then loads its weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from redraft.constrain.mark_tokens import add_marks, has_marks
from redraft.decode.eight_bit_model import holds_eight_bit_model, load_eight_bit_model
from redraft.decode.model_loading import READS_PLANS
from redraft.errors import ModelError, shown
from redraft.models import is_scripted
from redraft.trust import loading, remote_code_kwargs, weights_kwargs

_KINDS = "Give a seq2seq or causal model: a name on the Hugging Face hub, or a folder with config.json and weights."


@dataclass(frozen=True)
class Start:
    """An initial model, before its weights are loaded."""

    name: str
    config: Any
    tokenizer: Any
    plans: bool = False  # it is trained to read plans, and `tokenizer` has the marks
    marks: int = 0  # tokens that were added for the marks

    @property
    def reads_plans(self) -> bool:
        """Whether Redrafter encodes its sources with marks, already or after this training."""
        return self.plans or bool(getattr(self.config, READS_PLANS, False))

    @property
    def causal(self) -> bool:
        return not self.config.is_encoder_decoder

    @property
    def end(self) -> int:
        return int(self.tokenizer.eos_token_id)

    @property
    def pad(self) -> int:
        return self.end if self.tokenizer.pad_token_id is None else int(self.tokenizer.pad_token_id)


def read_start(name: str, *, plans: bool = False) -> Start:
    """Load the configuration and tokenizer of a model; a model that cannot be trained is an error with the reason.

    `plans`: teach the model to read plans. Its tokenizer gets the marks, and `load_weights` adds their embeddings.
    """
    _check_name(name)
    from transformers import AutoConfig, AutoTokenizer

    with loading("the model", name, ModelError, _KINDS):
        config = AutoConfig.from_pretrained(name, **remote_code_kwargs())
        _check_kind(name, config)
        tokenizer = AutoTokenizer.from_pretrained(name, **remote_code_kwargs())
    if tokenizer.eos_token_id is None:
        raise ModelError(
            f"the tokenizer of {shown(name)} has no end-of-sequence token, so the model would not learn to stop.",
            "Set eos_token in its tokenizer_config.json.",
        )
    known = len(tokenizer)
    if plans:
        add_marks(tokenizer)
    return Start(name, config, tokenizer, plans, len(tokenizer) - known)


def load_weights(start: Start) -> tuple[Any, list[str]]:
    """The model in float32, and the names of weights that it does not store, which are randomly initialised."""
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

    kind: Any = AutoModelForCausalLM if start.causal else AutoModelForSeq2SeqLM
    with loading("the model", start.name, ModelError, _KINDS):
        if holds_eight_bit_model(start.name):  # restored to float32, with all weights present
            model, missing = load_eight_bit_model(start.name), []
        else:
            options = {"dtype": torch.float32, "output_loading_info": True, **weights_kwargs()}
            model, info = kind.from_pretrained(start.name, **options)
            missing = sorted(info["missing_keys"])
    _check_tokens(start, model)
    if start.plans:
        prepare_for_plans(model, start.tokenizer)
    return model, missing


def _check_name(name: str) -> None:
    folder = Path(name)
    if is_scripted(name):
        raise ModelError(f"{shown(name)} is a scripted model and has no weights to train.", _KINDS)
    if name.endswith(".gguf") or (
        folder.is_dir() and any(folder.glob("*.gguf")) and not any(folder.glob("*.safetensors"))
    ):
        raise ModelError(
            f"{shown(name)} has quantized weights (GGUF), which cannot be trained.",
            "Give the original model, with weights in safetensors.",
        )
    if folder.is_file():
        raise ModelError(f"{shown(name)} is a file.", _KINDS)
    if folder.is_dir() and not (folder / "config.json").is_file():
        raise ModelError(f"{shown(name)} is a folder without config.json.", _KINDS)
    if folder.is_dir() and not any(True for end in ("safetensors", "bin") for _ in folder.glob(f"*.{end}")):
        raise ModelError(f"{shown(name)} is a folder without weights.", _KINDS)
    if not folder.is_dir() and (name.startswith((".", "/", "~")) or name.count("/") > 1):
        raise ModelError(f"{shown(name)} does not exist.", _KINDS)


def _check_kind(name: str, config: Any) -> None:
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING
    from transformers import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING as MODEL_FOR_SEQ2SEQ_MAPPING

    quantized = getattr(config, "quantization_config", None)
    if quantized is not None:
        settings = quantized if isinstance(quantized, dict) else quantized.to_dict()
        raise ModelError(
            f"the weights of {shown(name)} are quantized ({settings.get('quant_method', 'method unknown')}) "
            "and cannot be trained.",
            "Give the original model, in float32, bfloat16 or float16.",
        )
    encoder_decoder = bool(getattr(config, "is_encoder_decoder", False))
    known = type(config) in (MODEL_FOR_SEQ2SEQ_MAPPING if encoder_decoder else MODEL_FOR_CAUSAL_LM_MAPPING)
    # Encoders such as BERT are listed as causal models too, but are one only if `is_decoder` is set.
    encoder = not encoder_decoder and type(config) in MODEL_FOR_MASKED_LM_MAPPING
    if not known or (encoder and not getattr(config, "is_decoder", False)):
        raise ModelError(
            f"{shown(name)} ({config.model_type}) is neither a seq2seq nor a causal model: it cannot generate text.",
            _KINDS,
        )


def _check_tokens(start: Start, model: Any) -> None:
    width = model.get_input_embeddings().num_embeddings
    known = len(start.tokenizer) - start.marks
    if known > width:
        raise ModelError(
            f"the tokenizer of {shown(start.name)} has {known:,} tokens, the model {width:,}.",
            "Give a model with its own tokenizer.",
        )
    ends = model.generation_config.eos_token_id
    if ends is None:
        model.generation_config.eos_token_id = start.end
    elif start.end not in (ends if isinstance(ends, list) else [ends]):
        raise ModelError(
            f"the tokenizer of {shown(start.name)} ends a text with {shown(start.tokenizer.eos_token)} ({start.end}), "
            f"the model with {ends}.",
            f"Set eos_token_id in its generation_config.json to {start.end}.",
        )
    if not start.causal and model.config.decoder_start_token_id is None:
        raise ModelError(
            f"the configuration of {shown(start.name)} has no decoder_start_token_id.",
            "Set decoder_start_token_id in its config.json.",
        )


def prepare_for_plans(model: Any, tokenizer: Any) -> None:
    """Add the marks to the tokenizer, and embeddings for them to the model if it has too few.

    transformers initialises new embeddings near the mean of the existing ones.
    """
    if not has_marks(tokenizer):
        add_marks(tokenizer)
    if model.get_input_embeddings().num_embeddings < len(tokenizer):
        _resize_quietly(model, len(tokenizer))
    setattr(model.config, READS_PLANS, True)


def _resize_quietly(model: Any, tokens: int) -> None:
    """Resize the embeddings without the warning of transformers about their initialisation."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        model.resize_token_embeddings(tokens)
    finally:
        logging.set_verbosity(level)
