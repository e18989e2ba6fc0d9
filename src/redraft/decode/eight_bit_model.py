"""A folder with a model of `transformers` in 8-bit weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import nn

from redraft.decode.rewriter_network import RewriterNetwork, RewriterShape
from redraft.eight_bit_linear import EightBitEmbedding, EightBitLinear
from redraft.eight_bit_weights import EightBitFile, save_eight_bit
from redraft.reading import read_json
from redraft.trust import remote_code_kwargs

_WEIGHTS = "model.8bit.safetensors"
# Weights that share a scale. The vectors of all-MiniLM-L6-v2 differ by 1.9 %, and by 3.3 % with a scale for each row.
_GROUP = 64
_EMBEDDING, _OUTPUT = "model.shared", "lm_head"  # tied
# What a generation configuration may say without changing how texts are searched.
_PLAIN_GENERATION = {
    "_from_model_config", "bos_token_id", "decoder_start_token_id", "eos_token_id", "output_attentions",
    "output_hidden_states", "pad_token_id", "transformers_version", "use_cache",
}  # fmt: skip


def save_eight_bit_model(model: Any, tokenizer: Any, folder: str | Path) -> None:
    """Write configuration, tokenizer and 8-bit weights as `load_model` reads them."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    config = deepcopy(model.config)
    config.architectures = [type(model).__name__]  # a model made in memory does not state its class
    config.dtype = torch.float32
    config.save_pretrained(path)
    model.generation_config.save_pretrained(path)
    tokenizer.save_pretrained(path)
    save_eight_bit(path / _WEIGHTS, model.state_dict(), group=_GROUP)


def holds_eight_bit_model(folder: str | Path) -> bool:
    return (Path(folder) / _WEIGHTS).is_file()


def load_eight_bit_model(folder: str | Path, dtype: torch.dtype | None = None) -> Any:
    """An ordinary model of `transformers`, in float32 if no type is given; `save_pretrained` stores it as such."""
    import transformers

    path = Path(folder)
    config = transformers.AutoConfig.from_pretrained(path, **remote_code_kwargs())
    named = getattr(transformers, str((config.architectures or [""])[0]), None)
    if not (isinstance(named, type) and issubclass(named, transformers.PreTrainedModel)):
        raise ValueError(f"config.json names no model class of transformers: {config.architectures}")
    kind: Any = named
    weights = dict(_opened(path / _WEIGHTS))
    with _no_progress_bar():
        model, found = kind.from_pretrained(
            None, config=config, state_dict=weights, dtype=dtype or torch.float32, output_loading_info=True
        )
    if found["missing_keys"]:  # transformers has initialised them at random
        raise ValueError(f"{_WEIGHTS} lacks {min(found['missing_keys'])}")
    model.generation_config = transformers.GenerationConfig.from_pretrained(path)
    return model


def load_rewriter_network(folder: str | Path) -> RewriterNetwork | None:
    """The plain network of a folder, in 8-bit arithmetic; None if the folder has another model.

    Only one layer at a time is in float32, and the embeddings stay in 8 bits.
    """
    path = Path(folder)
    config, generation = (read_json(path / name) for name in ("config.json", "generation_config.json"))
    shape = RewriterShape.of(config) if isinstance(config, dict) and isinstance(generation, dict) else None
    if shape is None or not generation.keys() <= _PLAIN_GENERATION:
        return None
    ends = generation.get("eos_token_id")
    if not isinstance(ends, int) or generation.get("decoder_start_token_id") != shape.decoder_start_token_id:
        return None
    with torch.device("meta"):
        network = RewriterNetwork(shape, (ends,))
    weights = _opened(path / _WEIGHTS)
    if not weights.is_quantised(f"{_EMBEDDING}.weight"):
        return None
    linears = [name for name, module in network.named_modules() if type(module) is nn.Linear and name != _OUTPUT]
    for name in linears:
        network.set_submodule(name, EightBitLinear(weights[f"{name}.weight"], weights[f"{name}.bias"]))
    network.set_submodule(_OUTPUT, EightBitLinear(weights[f"{_EMBEDDING}.weight"]))
    network.set_submodule(_EMBEDDING, EightBitEmbedding(*weights.quantised(f"{_EMBEDDING}.weight")))
    network.load_state_dict({name: weights[name] for name in network.state_dict()}, assign=True)
    return network.eval().requires_grad_(False)


def _opened(path: Path) -> EightBitFile:
    try:
        return EightBitFile(path)
    except SafetensorError as error:
        raise ValueError(f"{path.name} is damaged: {error}") from None


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Without the bar that transformers would show for a few hundredths of a second."""
    from transformers.utils import logging

    bars: Any = logging  # its functions have no types
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()
