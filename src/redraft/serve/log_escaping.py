"""Texts from outside on their way into a log."""

from __future__ import annotations

import traceback


def escape_control(text: str) -> str:
    """With everything escaped that could move a cursor, colour a terminal or begin another line."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


def traceback_lines(error: BaseException) -> str:
    """Indented, so that no line of a message can pass for one of the log."""
    lines = "".join(traceback.format_exception(error)).split("\n")
    return "\n".join(f"  {escape_control(line)}" for line in lines if line)
