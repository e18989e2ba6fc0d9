"""Identifies a model by the content of its files: after more training, weights keep their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from redraft.decode.model_loading import loading_model, require_bundled_rewriter, stored_prompt
from redraft.files import digest, folder_digest
from redraft.models import is_scripted, scripted_table
from redraft.trust import remote_code_kwargs


def fingerprint(
    model: str | None = None, *, prompt: str | None = None, dtype: str | None = None, variants: str = "case"
) -> dict[str, str]:
    """Facts that differ if `Redrafter(model, prompt=…, …)` may write something else. No weights are loaded."""
    name = str(require_bundled_rewriter()) if model is None else model
    with loading_model(name):
        content = _content(name)
    prompt = stored_prompt(name) if prompt is None else prompt
    return {"model": content, "prompt": prompt, "dtype": dtype or "as stored", "variants": variants}


def _content(name: str) -> str:
    if is_scripted(name):
        return digest(Path(scripted_table(name)).read_bytes())
    if Path(name).is_dir():
        return folder_digest(Path(name))
    from transformers import AutoConfig

    config: Any = AutoConfig.from_pretrained(name, **remote_code_kwargs())
    return f"{name}@{config._commit_hash}"  # a commit of the hub
