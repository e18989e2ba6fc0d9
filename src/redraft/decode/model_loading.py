"""Loads models by name, by path or as objects, and the bundled model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from redraft.decode.eight_bit_model import holds_eight_bit_model, load_eight_bit_model, load_rewriter_network
from redraft.decode.step_model import StepModel
from redraft.decode.transformers_steps import check_can_generate
from redraft.eight_bit_linear import EIGHT_BIT, has_eight_bit_arithmetic, to_eight_bit
from redraft.errors import ModelError, shown
from redraft.light_tokenizer import load_tokenizer
from redraft.memory import return_freed_memory
from redraft.models import SCRIPTED, bundled, is_scripted, scripted_table
from redraft.reading import read_json, typed_member
from redraft.trust import loading, remote_code_kwargs, weights_kwargs

PLAIN_PROMPT = "{source}"  # nothing around it
READS_PLANS = "reads_plans"  # in a model's configuration
_NAMES = f"a folder with config.json and weights, a name on the Hugging Face hub, or {SCRIPTED}TABLE.json"


def require_bundled_rewriter() -> Path:
    """The folder of the bundled model, or an error if it is missing."""
    folder = bundled("rewriter")
    if not holds_eight_bit_model(folder):
        raise ModelError(
            "this installation of redraft lacks the bundled model: the weights are not in the package.",
            f"Give a model: {_NAMES}.",
        )
    return folder


def stored_prompt(model: Any) -> str:
    """The prompt that a decoder-only model was trained with, if recorded by `redraft train`."""
    report = Path(model) / "training.json" if isinstance(model, str | Path) else Path()
    if not report.is_file():
        return PLAIN_PROMPT
    try:
        prompt = typed_member(typed_member(read_json(report), "run", dict), "prompt", str)
    except ValueError:  # a report of another program, or of a model without a prompt
        return PLAIN_PROMPT
    return prompt if PLAIN_PROMPT in prompt else PLAIN_PROMPT


def reads_plans(model: Any) -> bool:
    """Whether a model was trained to read plans in its sources, according to its configuration."""
    return not isinstance(model, StepModel) and bool(getattr(model.config, READS_PLANS, False))


def load_model(
    model: Any = None,
    tokenizer: Any = None,
    *,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    needs_generate: bool = False,
) -> tuple[Any, Any]:
    """A model that can be searched, and its tokenizer. None: the bundled model.

    In 8 bits, a model of the bundled one's architecture is a `RewriterNetwork`, which does not need transformers;
    with `needs_generate`, it is a model of transformers like any other.
    """
    if model is None:
        model = require_bundled_rewriter()
    if isinstance(model, str | Path):
        return _load_by_name(str(model), tokenizer, device, dtype, needs_generate)
    tokenizer = tokenizer if tokenizer is not None else getattr(model, "tokenizer", None)
    if tokenizer is None:
        kind = type(model).__name__
        if not isinstance(model, StepModel) and not hasattr(model, "generate"):
            problem = f"the model is {shown(model)}, which is neither a name nor a model object."
            raise ModelError(problem, f"Give {_NAMES}, or a model object of transformers.")
        raise ModelError(f"the model {kind} has no tokenizer.", "Pass tokenizer=… with the model.")
    if not isinstance(model, StepModel):
        check_can_generate(model)
        if device is not None or dtype is not None:
            model = model.to(device=device, dtype=_dtype(dtype))
        if dtype == EIGHT_BIT:
            _check_eight_bit(model.device)
            to_eight_bit(model)
        model.eval()
    return model, tokenizer


@contextmanager
def loading_model(name: str) -> Iterator[None]:
    """Turn any error with the files of a model into one that names the model."""
    if name.startswith(("/", ".", "~")) and not Path(name).exists():  # avoids the misleading error of the hub
        raise ModelError(f"the model {shown(name, 300)} cannot be loaded: there is no such folder.", f"Give {_NAMES}.")
    with loading("the model", name, ModelError, f"Give {_NAMES}."):
        yield


def _load_by_name(name: str, tokenizer: Any, device: Any, dtype: Any, needs_generate: bool) -> tuple[Any, Any]:
    if is_scripted(name):
        from redraft.decode.scripted_model import ScriptedModel

        scripted = ScriptedModel.from_json(scripted_table(name))
        return scripted, scripted.tokenizer
    with loading_model(name):
        if dtype == EIGHT_BIT and not needs_generate and holds_eight_bit_model(name):
            _check_eight_bit(torch.device(_place(device)))
            network = load_rewriter_network(name)
            if network is not None:
                return_freed_memory()
                return network, tokenizer if tokenizer is not None else load_tokenizer(name)
        from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

        if holds_eight_bit_model(name):
            model = load_eight_bit_model(name, _dtype(dtype))
        else:
            config = AutoConfig.from_pretrained(name, **remote_code_kwargs())
            kind: Any = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
            stored = _dtype(dtype) or "auto"
            model, found = kind.from_pretrained(name, dtype=stored, output_loading_info=True, **weights_kwargs())
            if found["missing_keys"]:  # transformers has initialised them at random
                raise ValueError(f"its weights lack {min(found['missing_keys'])}")
        tokenizer = tokenizer if tokenizer is not None else AutoTokenizer.from_pretrained(name, **remote_code_kwargs())
    return load_model(model.to(_place(device)), tokenizer, dtype=dtype if dtype == EIGHT_BIT else None)


def fastest_dtype(model: Any, device: str | torch.device | None) -> str | None:
    """The data type that `Simplifier` uses if none is given: 8-bit integers for the bundled model on a CPU that has
    instructions for them, otherwise the stored type."""
    fast = model is None and torch.device(_place(device)).type == "cpu" and has_eight_bit_arithmetic()
    return EIGHT_BIT if fast else None


def _place(device: str | torch.device | None) -> str | torch.device:
    return device if device is not None else "cuda" if torch.cuda.is_available() else "cpu"


def _check_eight_bit(device: torch.device) -> None:
    if device.type != "cpu":
        raise ModelError(f"dtype {EIGHT_BIT} is for the CPU, not for {device}.", "Use bfloat16 on a GPU.")
    if not has_eight_bit_arithmetic():
        raise ModelError(f"dtype {EIGHT_BIT} needs a CPU with VNNI instructions.", "Use float32.")


def _dtype(dtype: str | torch.dtype | None) -> torch.dtype | None:
    """The type of the weights while they are loaded."""
    if dtype == EIGHT_BIT:
        return torch.float32
    if isinstance(dtype, str):
        found = getattr(torch, dtype, None)
        if not isinstance(found, torch.dtype):
            raise ModelError(f"dtype {shown(dtype)} is not known.", "Use float32, bfloat16, float16, float64 or int8.")
        return found
    return dtype
