"""Encoders of `transformers`, and where they run."""

from __future__ import annotations

from typing import Any

import torch

from redraft.errors import ConfigError, shown
from redraft.trust import for_code, for_weights, loading


def load_encoder(name: str) -> tuple[Any, Any]:
    """An encoder in float32 and its tokenizer, by name on the hub or by folder."""
    from transformers import AutoModel, AutoTokenizer

    with loading("the encoder", name, ConfigError, "Give a name on the Hugging Face hub or a folder."):
        model = AutoModel.from_pretrained(name, dtype=torch.float32, **for_weights())
        return model, AutoTokenizer.from_pretrained(name, **for_code())


def chosen_device(name: str | None) -> torch.device:
    """The device of that name; if none is given, a GPU where there is one. One that cannot be used is an error."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"the device {shown(name)} is not known.", "Use cpu, cuda or cuda:0.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"the device {name} cannot be used: there is no GPU here.", "Use cpu.")
    return device
