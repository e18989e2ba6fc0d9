"""The multi-process service of a GPU: started for the workers, ended with them, and left alone where it is not ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from redraft.simplify import gpu_sharing
from redraft.simplify.gpu_sharing import SharedGpu

CONTROL = """#!/bin/sh
if [ "$1" = -d ]; then echo "start $CUDA_MPS_PIPE_DIRECTORY" >> {log}; exit {status}; fi
echo "$(cat)" >> {log}
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the control program, which writes down what it is told."""
    return install(tmp_path, monkeypatch, status=0)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> Path:
    program, log = folder / "nvidia-cuda-mps-control", folder / "log"
    program.write_text(CONTROL.format(log=log, status=status))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_MPS_PIPE_DIRECTORY", raising=False)
    monkeypatch.setattr(gpu_sharing, "_USUAL_PIPES", folder / "no-such-folder")
    monkeypatch.setattr(gpu_sharing, "_PROBE", "pass")
    return log


def test_service_runs_as_long_as_it_is_used(log: Path) -> None:
    shared = SharedGpu()
    folder = Path(shared.environment["CUDA_MPS_PIPE_DIRECTORY"])
    assert log.read_text() == f"start {folder}\n"
    assert folder.is_dir()
    shared.close()
    assert log.read_text().splitlines()[1:] == ["quit -t 20"]
    assert not folder.exists()


def test_service_ends_with_a_process_that_was_killed(log: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from redraft.simplify import gpu_sharing\n"
        f"gpu_sharing._PROBE, gpu_sharing._USUAL_PIPES = 'pass', Path({str(log.parent / 'none')!r})\n"
        "shared = gpu_sharing.SharedGpu(); print(len(shared.environment), flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "2\n"
        process.send_signal(signal.SIGKILL)
    end = time.monotonic() + 20
    while "quit" not in log.read_text() and time.monotonic() < end:
        time.sleep(0.05)
    assert log.read_text().splitlines()[1:] == ["quit -t 20"]


@pytest.mark.parametrize("probe", ["raise SystemExit(805)", "import time; time.sleep(60)"])
def test_service_that_cannot_be_used_is_ended(log: Path, monkeypatch: pytest.MonkeyPatch, probe: str) -> None:
    monkeypatch.setattr(gpu_sharing, "_PROBE", probe)
    monkeypatch.setattr(gpu_sharing, "_SECONDS", 1)
    shared = SharedGpu()
    assert not shared.environment
    assert "quit -t 20" in log.read_text()


def test_service_that_does_not_start_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, status=1)
    assert not SharedGpu().environment


@pytest.mark.parametrize("reason", ["no program", "own service", "usual service"])
def test_other_services_are_left_alone(log: Path, monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    if reason == "no program":
        monkeypatch.setenv("PATH", "")
    elif reason == "own service":
        monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", "elsewhere")
    else:
        monkeypatch.setattr(gpu_sharing, "_USUAL_PIPES", log.parent)
    assert not SharedGpu().environment
    assert not log.exists()
