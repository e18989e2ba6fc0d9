"""Names and numbers: the words of a sentence that a rewriting should not lose or make up."""

from __future__ import annotations

import re

from redraft.align.words import split_words

_DIGITS = re.compile(r"\d+")


def names(text: str) -> list[str]:
    """Capitalised words that are not at the start."""
    words = [word.text for word in split_words(text) if any(map(str.isalpha, word.text))]
    return [word for word in words[1:] if word[0].isupper()]


def numbers(text: str) -> list[str]:
    """Strings of digits: 11,000 has two."""
    return _DIGITS.findall(text)


def missing(source: str, output: str) -> list[str]:
    """Names and numbers of the source that the output does not have, whatever their case."""
    there = {word.text.casefold() for word in split_words(output)}
    digits = set(numbers(output))
    lost = [name for name in names(source) if name.casefold() not in there]
    return lost + [number for number in numbers(source) if number not in digits]


def made_up(source: str, output: str) -> list[str]:
    """Names and numbers of the output that the source lacks; words that start a sentence are no names."""
    there, digits = {word.text.casefold() for word in split_words(source)}, set(numbers(source))
    starts = {match.group(1).casefold() for match in re.finditer(r"[.!?][\"')]* [\"'(]*(\w+)", output)}
    found = [name for name in names(output) if name.casefold() not in there | starts]
    return found + [number for number in numbers(output) if number not in digits]
