"""The bundled weights and tables, each in a folder with its model card; names of models."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal

SCRIPTED = "scripted:"  # prefix of the name of a scripted model: scripted:TABLE.json

Name = Literal["rewriter", "aligner", "planner", "checker"]


def bundled(name: Name) -> Path:
    """The folder of a bundled model. It may not exist: a source checkout may lack the weights."""
    return Path(str(files("redraft.models").joinpath(name)))


def is_bundled(path: str | Path) -> bool:
    """Whether a file comes with the package."""
    return Path(path).resolve().is_relative_to(Path(str(files("redraft.models"))).resolve())


def is_scripted(model: str) -> bool:
    return model.startswith(SCRIPTED)


def scripted_table(model: str) -> str:
    """The path of the table of a scripted model."""
    return model.removeprefix(SCRIPTED)
