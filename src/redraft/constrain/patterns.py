"""Regular expressions that users write: compiled or refused, and matched within a time."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from redraft.align.protected import Span
from redraft.errors import ConfigError, shown

_LONGEST = 1_000  # characters of an expression
_SECONDS = 1.0  # of the processor, for one expression in one sentence


@dataclass(frozen=True)
class Pattern:
    """A regular expression, and where it was written."""

    expression: regex.Pattern[str]
    place: str = ""

    @classmethod
    def of(cls, inside: str, place: str = "") -> Pattern:
        """An expression of Python's, or an error that says what is wrong with it."""
        written = shown(f"/{inside}/")
        if len(inside) > _LONGEST:
            raise ConfigError(f"{place}{written} has more than {_LONGEST:,} characters.", "Part it into several.")
        try:
            with warnings.catch_warnings(action="ignore"):  # of what may mean something else some day
                re.compile(inside)  # what `regex` knows beyond Python's is not offered: recursion, for one
                return cls(regex.compile(inside), place)
        except (re.error, regex.error, OverflowError, RecursionError) as error:
            raise ConfigError(
                f"{place}{written} is no regular expression: {error}.",
                "Between the slashes stands one of Python's; leave them out to find the words as they are.",
            ) from None

    def spans(self, source: str) -> Iterator[Span]:
        """Where it is found; an error where that takes too long, as with (a|aa)+b in a long row of a's."""
        try:
            found = self.expression.finditer(source, timeout=_SECONDS)
            yield from (match.span() for match in found if match.group())
        except (TimeoutError, MemoryError):
            raise ConfigError(
                f"{self.place}/{self.expression.pattern}/ takes more than {_SECONDS:g} s, or all memory, "
                f"in {shown(source)}.",
                "Write it without repetitions inside repetitions, such as (a|aa)+, or name the words themselves.",
            ) from None
