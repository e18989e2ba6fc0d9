"""What all commands share: exit statuses, messages on standard error, parsing of whole numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec

from redraft.errors import ConfigError, shown
from redraft.files import disk_full_errors, is_disk_full

OK, SKIPPED, MISTAKE, UNFINISHED, AT_RISK, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 3, 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM, for commands that have to save their state first."""


# Characters that a terminal interprets instead of displaying: control characters and changes of text direction.
_REPLACEMENTS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
_REPLACEMENTS |= dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)


def visible(text: str) -> str:
    """The text with every control character replaced by a visible one: input texts may contain terminal commands."""
    return text.translate(_REPLACEMENTS)


def say(message: object) -> None:
    print(f"redraft: {visible(str(message))}", file=sys.stderr)


@contextmanager
def explain_full_disk(
    out: str, consequence: str = "the same command resumes from the last checkpoint"
) -> Iterator[None]:
    """For commands that can be resumed: a full disk is reported together with how to continue."""
    try:
        with disk_full_errors(out):
            yield
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise ConfigError(
            f"{error.filename} cannot be written: {error.strerror}.", f"Free some disk space; {consequence}."
        ) from None


def require_package(package: str, command: str, extra: str) -> None:
    """Fail early, before slow imports, if a package is missing that an extra of redraft installs."""
    if find_spec(package) is None:
        raise ConfigError(
            f"{command} needs {package}, which is not installed.", f"Install it: pip install 'redraft[{extra}]'"
        )


_MOST_PARALLEL = 256  # threads or processes


def parallel_number(flag: str, text: str | None) -> int | None:
    """The number of threads or processes given for an option; None if none was given."""
    number = None if text is None else whole_number(flag, text, example=2)
    if number is not None and number > _MOST_PARALLEL:
        raise ConfigError(f"{flag} is {number:,}, and at most {_MOST_PARALLEL} are possible.", f"Example: {flag} 2.")
    return number


def whole_number(flag: str, text: str, *, least: int = 1, words: Sequence[str] = (), example: int = 8) -> int:
    """The number given for an option; `words` are the other values that the option accepts."""
    if not text.isdecimal() or len(text) > 9 or int(text) < least:
        others = f", nor one of: {', '.join(words)}" if words else ""
        raise ConfigError(
            f"{flag}: {shown(text)} is not a whole number of at least {least}{others}.",
            f"Example: {flag} {words[0] if words else max(least, example)}.",
        )
    return int(text)
