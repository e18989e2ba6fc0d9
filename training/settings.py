"""The settings of the recipe: a TOML file, and overrides of a run."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from redraft.errors import ConfigError, shown

RECIPE = Path(__file__).with_name("recipe.toml")
_NOTE = "settings.json"
_DELETE = "Delete it, or give another folder with --work."


def read_recipe(path: Path = RECIPE, changes: Sequence[str] = ()) -> dict[str, Any]:
    """Step → settings. A change is written as in TOML: `pretrain.steps=100`, `distil.strengths.medium.sources=8`."""
    recipe = tomllib.loads(path.read_text(encoding="utf-8"))
    for change in changes:
        name, _, value = change.partition("=")
        *folders, key = name.split(".")
        table: Any = recipe
        for folder in folders:
            table = table.get(folder) if isinstance(table, dict) else None
        if not folders or not isinstance(table, dict) or key not in table:
            raise ConfigError(f"--set {change}: {path.name} has no such setting.", "Write STEP.NAME=VALUE.")
        try:
            table[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            raise ConfigError(f"--set {change}: the value is not TOML.", 'Write 100, 0.5, "text" or [1, 2].') from None
    return recipe


def check_same(folder: Path, facts: Mapping[str, Any], may_change: Sequence[str] = (), hint: str = _DELETE) -> None:
    """Raise ConfigError if the content of a folder was made with other settings."""
    path = folder / _NOTE
    if not path.exists():
        return
    there, now = json.loads(path.read_text(encoding="utf-8")), json.loads(json.dumps(facts))
    other = sorted(name for name in {*now, *there} - {*may_change} if now.get(name) != there.get(name))
    if other:
        values = "; ".join(f"{name} was {shown(there.get(name))} and is {shown(now.get(name))}" for name in other)
        raise ConfigError(f"{folder} was made with another {' and '.join(other)}: {values}.", hint)


def remember(folder: Path, facts: Mapping[str, Any], may_change: Sequence[str] = (), hint: str = _DELETE) -> None:
    """Record the settings of a step in its folder; raise ConfigError if the folder has other settings."""
    check_same(folder, facts, may_change, hint)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _NOTE).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def settings_of(recipe: dict[str, Any], step: str) -> SimpleNamespace:
    return SimpleNamespace(**recipe[step])
