"""Names, numbers and negations: the words of a sentence that a rewriting should not lose or make up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from unicodedata import category

from redraft.text.function_words import is_content
from redraft.text.words import APOSTROPHES, normal, split_words

_QUOTES = '"“”„«»'
_DIGITS = re.compile(r"\d+")
_NUMBER_WORDS = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen
"""
_NEGATIONS = """
no not n't 't never none nobody nothing nowhere neither nor without cannot hardly barely scarcely rarely seldom
"""
_IS_NUMBER, _IS_NEGATION = (frozenset(words.split()) for words in (_NUMBER_WORDS, _NEGATIONS))


def names(text: str) -> list[str]:
    """Capitalised content words that are not at the start; in a text of nothing but capitals there are none."""
    words = [word.text for word in split_words(text) if any(map(str.isalpha, word.text))]
    return [] if text.isupper() else [word for word in words[1:] if word[0].isupper() and is_content(word)]


def numbers(text: str) -> list[str]:
    """Strings of digits: 11,000 has two."""
    return _DIGITS.findall(text)


def is_number(word: str) -> bool:
    """Whether a word has digits or names a number: 1990, twenty-five."""
    return any(map(str.isdigit, word)) or not _IS_NUMBER.isdisjoint(normal(word).split("-"))


def is_negation(word: str) -> bool:
    """Of a word as `split_words` has it: don't is "don" and "'t"."""
    return normal(word) in _IS_NEGATION


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


def missing_negations(source: str, output: str) -> list[str]:
    """Negations of the source beyond as many as the output has; which of them is gone cannot be told, so the last."""
    before, after = ([*_negations(text)] for text in (source, output))
    return before[len(after) :]


def missing_signs(source: str, output: str) -> list[str]:
    """Emoji and signs of currency that the output lacks, and a quotation mark where one of a pair is gone."""
    lost = Counter(filter(_is_sign, source)) - Counter(filter(_is_sign, output))
    before, after = (sum(text.count(mark) for mark in _QUOTES) for text in (source, output))
    return [*lost.elements(), *(["”"] if before % 2 == 0 and after % 2 else [])]


def _is_sign(character: str) -> bool:
    return category(character) in ("So", "Sc")


def _negations(text: str) -> Iterator[str]:
    """As they stand, a contraction with its verb."""
    last = None
    for word in split_words(text):
        if is_negation(word.text):
            held = last is not None and word.text[0] in APOSTROPHES and last.end == word.start
            yield text[last.start if held and last else word.start : word.end]
        last = word
