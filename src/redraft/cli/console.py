"""What every command says in the same way: exit statuses, messages, mistakes in numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from redraft.errors import ConfigError, shown
from redraft.files import is_full, writing

OK, SKIPPED, MISTAKE, UNFINISHED, AT_RISK, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 3, 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM, for commands that have something to put away first."""


# What a terminal obeys instead of showing it: control characters, and signs that turn the direction of a text.
_SHOWN = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
_SHOWN |= dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)


def visible(text: str) -> str:
    """The text with a sign to see in place of each that a terminal would obey: a source may hold anything."""
    return text.translate(_SHOWN)


def say(message: object) -> None:
    print(f"redraft: {visible(str(message))}", file=sys.stderr)


@contextmanager
def room_for(out: str, then: str = "the same command goes on from the last checkpoint") -> Iterator[None]:
    """For commands that go on with what they have done: a full disk is told with that."""
    try:
        with writing(out):
            yield
    except OSError as error:
        if not is_full(error):
            raise
        raise ConfigError(f"{error.filename} cannot be written: {error.strerror}.", f"Make room; {then}.") from None


def whole_number(flag: str, text: str, *, least: int = 1, words: Sequence[str] = (), example: int = 8) -> int:
    """The number of an option that came as text; `words` are what else may be written."""
    if not text.isdecimal() or len(text) > 9 or int(text) < least:
        others = "".join(f", nor {word}" for word in words)
        raise ConfigError(
            f"{flag}: {shown(text)} is not a whole number of at least {least}{others}.",
            f"Write for example {flag} {max(least, example) if not words else words[0]}.",
        )
    return int(text)
