"""Fixtures of all tests: the device, the command; transformers is silent and offline."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # models are tiny, and the suite runs in two processes


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """Tests with this fixture run on the CPU, and again on a GPU if there is one."""
    import torch

    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return str(request.param)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run `redraft` in an empty folder; returns its status, standard output and standard error."""
    from redraft import cli

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REDRAFT_DATA", raising=False)

    def run(*argv: object, stdin: bytes = b"") -> tuple[Any, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        try:
            status: Any = cli.main([str(word) for word in argv])
        except SystemExit as exit:
            status = exit.code
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run
