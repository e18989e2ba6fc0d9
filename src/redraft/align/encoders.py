"""Loads encoders of `transformers` and chooses their device."""

from __future__ import annotations

from typing import Any

import torch

from redraft.errors import ConfigError, shown
from redraft.trust import loading, remote_code_kwargs, weights_kwargs


def load_encoder(name: str) -> tuple[Any, Any]:
    """An encoder in float32 and its tokenizer, from the Hugging Face hub or a folder."""
    from transformers import AutoModel, AutoTokenizer

    with loading("the encoder", name, ConfigError, "Give a name on the Hugging Face hub or a folder."):
        model = AutoModel.from_pretrained(name, dtype=torch.float32, **weights_kwargs())
        return model, AutoTokenizer.from_pretrained(name, **remote_code_kwargs())


def chosen_device(name: str | None) -> torch.device:
    """The device of that name; without a name, a GPU if there is one. Raises ConfigError if it cannot be used."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(f"the device {shown(name)} is not known.", "Use cpu, cuda or cuda:0.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"the device {name} cannot be used: no GPU is available.", "Use cpu.")
    return device
