"""What every command says in the same way: exit statuses, messages, mistakes in numbers."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from redraft.errors import ConfigError, shown

OK, SKIPPED, MISTAKE, UNFINISHED, AT_RISK, INTERRUPTED = 0, 1, 2, 3, 3, 130


def say(message: object) -> None:
    print(f"redraft: {message}", file=sys.stderr)


def whole_number(flag: str, text: str, *, least: int = 1, words: Sequence[str] = (), example: int = 8) -> int:
    """The number of an option that came as text; `words` are what else may be written."""
    if not text.isdecimal() or len(text) > 9 or int(text) < least:
        others = "".join(f", nor {word}" for word in words)
        raise ConfigError(
            f"{flag}: {shown(text)} is not a whole number of at least {least}{others}.",
            f"Write for example {flag} {max(least, example) if not words else words[0]}.",
        )
    return int(text)
