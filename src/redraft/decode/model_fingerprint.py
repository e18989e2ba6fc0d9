"""What a model is, by the content of its files: weights that are trained on keep their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from redraft.decode.model_loading import existing_bundled_rewriter, loading_model, stored_prompt
from redraft.files import digest, digest_of_folder
from redraft.models import is_scripted, scripted_table
from redraft.trust import for_code


def fingerprint(
    model: str | None = None, *, prompt: str | None = None, dtype: str | None = None, variants: str = "case"
) -> dict[str, str]:
    """Facts that differ where `Redrafter(model, prompt=…, …)` may write something else. No weights are loaded."""
    name = str(existing_bundled_rewriter()) if model is None else model
    with loading_model(name):
        content = _content(name)
    prompt = stored_prompt(name) if prompt is None else prompt
    return {"model": content, "prompt": prompt, "dtype": dtype or "as stored", "variants": variants}


def _content(name: str) -> str:
    if is_scripted(name):
        return digest(Path(scripted_table(name)).read_bytes())
    if Path(name).is_dir():
        return digest_of_folder(Path(name))
    from transformers import AutoConfig

    config: Any = AutoConfig.from_pretrained(name, **for_code())
    return f"{name}@{config._commit_hash}"  # of the hub
