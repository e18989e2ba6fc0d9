"""The weights and tables that come with the package, each in a folder with its model card; names of models."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal

SCRIPTED = "scripted:"  # begins the name of a model that answers from a table: scripted:TABLE.json

Name = Literal["rewriter", "aligner", "planner", "checker"]


def bundled(name: Name) -> Path:
    """The folder of a model that comes with the package, or would: a copy of the source may lack the weights."""
    return Path(str(files("redraft.models").joinpath(name)))


def is_scripted(model: str) -> bool:
    return model.startswith(SCRIPTED)


def scripted_table(model: str) -> str:
    """The path of the table that a scripted model answers from."""
    return model.removeprefix(SCRIPTED)
