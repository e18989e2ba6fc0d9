"""Where the published corpora are, for the tests that need them; none is part of the project."""

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "eval"
FOLDER = Path(os.environ.get("REDRAFT_DATA") or _BESIDE)

needs_corpora = pytest.mark.skipif(
    not (FOLDER / "asset").is_dir(), reason="the published corpora are not here; REDRAFT_DATA names their folder"
)
