"""Settings of the search in a small file: TOML with the names of DecodeConfig, as `redraft tune` writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from redraft.decode.config import SIMPLIFY, DecodeConfig
from redraft.errors import ConfigError, did_you_mean
from redraft.files import replacing
from redraft.reading import read_toml

SIMPLIFY_NAME = "simplify"
_NONE = "none"  # TOML has no word for it


def read_config(path: str | Path) -> dict[str, Any]:
    """The settings that a file names, checked; the others keep their defaults. `simplify` is no file but SIMPLIFY."""
    if str(path) == SIMPLIFY_NAME:
        return dict(SIMPLIFY)
    found = read_toml(path, "Write one setting on each line: delta = 2.0")
    names = [field.name for field in fields(DecodeConfig)]
    for name in found:
        if name not in names:
            raise ConfigError(f"{path}: there is no setting {name!r}.", did_you_mean(name, names))
    settings = {name: _value(value) for name, value in found.items()}
    try:
        DecodeConfig(**settings)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.problem}", error.hint) from None
    return settings


def write_config(path: str | Path, config: DecodeConfig, remarks: Sequence[str] = ()) -> None:
    """All settings that are not the defaults, and the method; remarks stand above them."""
    plain = DecodeConfig()
    lines = [f"# {remark}" for remark in remarks]
    for field in fields(DecodeConfig):
        value = getattr(config, field.name)
        if field.name == "method" or value != getattr(plain, field.name):
            lines.append(f"{field.name} = {_written(value)}")
    with replacing(Path(path)) as file:
        file.write(("\n".join(lines) + "\n").encode("utf-8"))


def _value(value: Any) -> Any:
    return None if value == _NONE else tuple(value) if isinstance(value, list) else value


def _written(value: Any) -> str:
    return json.dumps(_NONE if value is None else list(value) if isinstance(value, tuple) else value)
