"""The recipe's settings: one TOML file, any of which a run may change."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from redraft.errors import ConfigError

RECIPE = Path(__file__).with_name("recipe.toml")


def read_recipe(path: Path = RECIPE, changes: Sequence[str] = ()) -> dict[str, Any]:
    """Step → settings. A change is written as in TOML: `pretrain.steps=100`."""
    recipe = tomllib.loads(path.read_text(encoding="utf-8"))
    for change in changes:
        name, _, value = change.partition("=")
        step, _, key = name.partition(".")
        if key not in recipe.get(step, {}):
            raise ConfigError(f"--set {change}: {path.name} has no such setting.", "Write STEP.NAME=VALUE.")
        try:
            recipe[step][key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            raise ConfigError(f"--set {change}: the value is not TOML.", 'Write 100, 0.5, "text" or [1, 2].') from None
    return recipe


def settings_of(recipe: dict[str, Any], step: str) -> SimpleNamespace:
    return SimpleNamespace(**recipe[step])
