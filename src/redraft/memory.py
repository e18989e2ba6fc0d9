"""Available memory, and recognition of out-of-memory errors."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

_MESSAGES = ("DefaultCPUAllocator", "not enough memory", "std::bad_alloc")  # RuntimeErrors of torch on a CPU


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of Python, numpy or torch reports that memory could not be allocated."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _MESSAGES)


def free_memory(device: Any) -> int | None:
    """Bytes available on a torch device; None if the system does not report it."""
    if device.type == "cuda":
        import torch

        return int(torch.cuda.mem_get_info(device)[0])
    found = []
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]))
    with suppress(OSError, ValueError):  # a container's limit; "max" if it has none
        group = Path("/sys/fs/cgroup")
        most, used = (int((group / name).read_text()) for name in ("memory.max", "memory.current"))
        found.append(max(most - used, 0))
    return min(found, default=None)


def return_freed_memory() -> None:
    """Give freed memory back to the system, which glibc would keep for later allocations. Takes half a millisecond."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """glibc's function; None with another C library."""
    import ctypes

    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
