"""The recipe's settings: one TOML file, any of which a run may change."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
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
        *folders, key = name.split(".")
        table: Any = recipe
        for folder in folders:
            table = table.get(folder, {}) if isinstance(table, dict) else {}
        if not folders or key not in table:
            raise ConfigError(f"--set {change}: {path.name} has no such setting.", "Write STEP.NAME=VALUE.")
        try:
            table[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            raise ConfigError(f"--set {change}: the value is not TOML.", 'Write 100, 0.5, "text" or [1, 2].') from None
    return recipe


def remember(folder: Path, facts: Mapping[str, Any], may_change: Sequence[str] = ()) -> None:
    """Note what a step is made with, beside what it makes; an error where other settings have been at work there."""
    path = folder / "settings.json"
    facts = json.loads(json.dumps(facts))
    if path.exists():
        there = json.loads(path.read_text(encoding="utf-8"))
        other = [name for name in {*facts, *there} - {*may_change} if facts.get(name) != there.get(name)]
        if other:
            raise ConfigError(f"{folder} was made with another {' and '.join(sorted(other))}.",
                              "Delete it, or name another folder with --work.")  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def settings_of(recipe: dict[str, Any], step: str) -> SimpleNamespace:
    return SimpleNamespace(**recipe[step])
