"""Escaping of untrusted text for the log."""

from __future__ import annotations

import traceback


def escape_control(text: str) -> str:
    """Escape every character that could move the cursor, change colours or start a new line."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def traceback_lines(error: BaseException) -> str:
    """Indented, so that no line of a message can be mistaken for a log entry."""
    lines = "".join(traceback.format_exception(error)).split("\n")
    return "\n".join(f"  {escape_control(line)}" for line in lines if line)
