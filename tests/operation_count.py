"""Counts operations instead of seconds, so that tests of linear growth do not depend on the speed of the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def operations(run: Callable[[], object]) -> int:
    """The number of bytecode instructions that `run` executes in the package redraft, without work inside C code."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        if not str(frame.f_globals.get("__name__", "")).startswith("redraft"):
            return None
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return count
