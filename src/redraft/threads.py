"""CPU threads: as many as the process may use, and idle ones that do not keep a core busy."""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress
from pathlib import Path

MOST = 4  # more threads share too little work: a step of the search takes about a millisecond
# How long an idle thread of GNU OpenMP spins before it sleeps. The library's default keeps a core busy between
# operations, which makes everything several times as slow as soon as other programs need the cores.
_SPIN = "20000"


# Compiled kernels that oneDNN keeps, one for each shape of a product. With its default of 1,024, a process takes 240 MB
# more after 260 sentences, and is not faster.
_KERNELS = "64"


def set_library_limits() -> None:
    """Effective if torch has not been imported yet; the user's own settings are kept."""
    os.environ.setdefault("GOMP_SPINCOUNT", _SPIN)
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", _KERNELS)


def set_threads(count: int | None = None, *, spare: int = 0) -> int:
    """Let torch use `count` threads, by default one per available core but `spare`; returns the number."""
    if count is None and (given := os.environ.get("OMP_NUM_THREADS", "")).isdigit():
        return int(given)
    number = count or max(1, min(available_cores() - spare, MOST))
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(number)
    else:
        os.environ["OMP_NUM_THREADS"] = str(number)
    return number


def available_cores(group: Path = Path("/sys/fs/cgroup")) -> int:
    """The cores that this process may use: by its affinity, and by the quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = (group / "cpu.max").read_text(encoding="ascii").split()
        cores = min(cores, math.ceil(int(quota) / int(period)))  # "max" is no number: no quota
    return max(1, cores)
