"""Lets several processes compute on one GPU at the same time, by NVIDIA's multi-process service, instead of in turn."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from redraft.decode.redrafter import SHARED_GPU

_CONTROL = "nvidia-cuda-mps-control"
_PIPES, _LOGS = SHARED_GPU, "CUDA_MPS_LOG_DIRECTORY"
_USUAL_PIPES = Path("/tmp/nvidia-mps")  # where programs look for a service that somebody else has started
_SECONDS = 20  # for the service to start or end
# Ends the service when this process has ended, in whatever way: then its standard input is closed.
_WATCH = f'cat > /dev/null; echo quit -t {_SECONDS} | {_CONTROL} > /dev/null 2>&1; rm -rf "${_PIPES}"'
# The status is that of the CUDA driver when it connects to the service.
_PROBE = "import ctypes, sys; sys.exit(ctypes.CDLL('libcuda.so.1').cuInit(0))"


class SharedGpu:
    """A multi-process service for the processes that get `environment`; none if it is not available or already runs."""

    def __init__(self) -> None:
        self.environment: dict[str, str] = {}
        self._watch: subprocess.Popen[bytes] | None = None
        if shutil.which(_CONTROL) is None or _PIPES in os.environ or _USUAL_PIPES.exists():
            return
        folder = tempfile.mkdtemp(prefix="redraft-mps-")
        environment = {_PIPES: folder, _LOGS: folder}
        every = {**os.environ, **environment}
        started = _status([_CONTROL, "-d"], every) == 0
        self._watch = subprocess.Popen(
            ["/bin/sh", "-c", _WATCH], stdin=subprocess.PIPE, env=every, start_new_session=True
        )
        if started and _status([sys.executable, "-c", _PROBE], every) == 0:
            self.environment = environment
        else:
            self.close()

    def close(self) -> None:
        if self._watch is not None and self._watch.stdin is not None:
            self._watch.stdin.close()
            self._watch.wait()
            self._watch = None


def _status(command: list[str], environment: dict[str, str]) -> int | None:
    quiet = subprocess.DEVNULL
    try:
        return subprocess.run(
            command, env=environment, stdin=quiet, stdout=quiet, stderr=quiet, timeout=_SECONDS, check=False
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return None
