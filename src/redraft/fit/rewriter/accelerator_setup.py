"""Device, precision and processes of a training, through `accelerate`."""

from __future__ import annotations

from typing import Any, Literal

import torch

from redraft.errors import ConfigError, shown

Precision = Literal["float32", "bfloat16", "float16"]
_NAMES = {"float32": "no", "bfloat16": "bf16", "float16": "fp16"}  # as accelerate calls them
_SHARDED = ("DEEPSPEED", "FSDP", "MEGATRON_LM", "TP", "XLA")


def make_accelerator(precision: Precision | None, device: str | None) -> tuple[Any, Precision]:
    """An `Accelerator` for this process, and the precision it uses."""
    try:
        from accelerate import Accelerator, PartialState
        from accelerate.utils import parse_flag_from_env
    except ImportError:
        raise ConfigError(
            "redraft train needs accelerate, which is not installed.", "Install it: pip install 'redraft[train]'"
        ) from None
    if device not in (None, "cpu", "cuda"):
        raise ConfigError(
            f"device {shown(device)} is not known.",
            "Use cpu or cuda. CUDA_VISIBLE_DEVICES selects a GPU; accelerate launch uses several.",
        )
    cpu = device == "cpu" or parse_flag_from_env("ACCELERATE_USE_CPU") or not torch.accelerator.is_available()
    gpu = PartialState(cpu=cpu).device.type == "cuda"  # CPU processes connect only with cpu=True
    if device == "cuda" and not gpu:
        raise ConfigError("device cuda: no GPU is available.", "Use cpu.")
    chosen = precision or ("bfloat16" if gpu and torch.cuda.is_bf16_supported(including_emulation=False) else "float32")
    if chosen == "float16" and not gpu:
        raise ConfigError("precision float16 needs a GPU.", "Use float32 or bfloat16.")
    try:
        accelerator = Accelerator(mixed_precision=_NAMES[chosen], cpu=cpu)
    except ValueError as error:  # its state is shared by the whole process
        raise ConfigError(f"could not initialise accelerate: {error}", "Start a new process.") from error
    if accelerator.distributed_type.name in _SHARDED:
        raise ConfigError(
            f"accelerate is configured for {accelerator.distributed_type.name}, which splits the model.",
            "Launch with --multi_gpu, so that every process holds the whole model.",
        )
    return accelerator, chosen
