"""The weights and tables that come with the package, each in a folder with its model card."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal

Name = Literal["rewriter", "aligner", "planner", "checker"]


def bundled(name: Name) -> Path:
    """The folder of a model that comes with the package, or would: a copy of the source may lack the weights."""
    return Path(str(files("redraft.models").joinpath(name)))
