"""Addresses of the web, of mailboxes and of files: words that stay as they are."""

from __future__ import annotations

import re

_ADDRESS = re.compile(
    r"\w+://\S+|www\.\S+|[^\s@]+@[^\s@]+\.\w+|[A-Za-z]:\\\S*|[\w-]+(?:\.[\w-]+)+/\S*"
    r"|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|info|io|eu|uk|de|fr|it|es|nl|ch|at|jp|cn|ru|br|ca|au)"
)
_AROUND = "()[]<>.,;!?\"'"  # signs that may stand around one


def is_address(text: str) -> bool:
    """Whether a text without white space is an address of the web, of a mailbox or of a file."""
    return _ADDRESS.fullmatch(text.strip(_AROUND)) is not None


def missing_addresses(source: str, output: str) -> list[str]:
    """Addresses of the source that do not stand in the output as they are."""
    words = (word.strip(_AROUND) for word in source.split())
    return [word for word in words if is_address(word) and word not in output]
