"""Names, numbers and negations: words that a rewriting should neither lose nor invent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from unicodedata import category

from redraft.text.function_words import is_content
from redraft.text.words import APOSTROPHES, normalise, split_words

_QUOTES = '"“”„«»'
_DIGITS = re.compile(r"\d+")
_NUMBER_WORDS = """
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen
"""
_NEGATIONS = """
no not n't 't never none nobody nothing nowhere neither nor without cannot hardly barely scarcely rarely seldom
"""
_NUMBERS, _NEGATION_WORDS = (frozenset(words.split()) for words in (_NUMBER_WORDS, _NEGATIONS))


def names(text: str) -> list[str]:
    """Capitalised content words other than the first word; none if the whole text is in capitals."""
    words = [word.text for word in split_words(text) if any(map(str.isalpha, word.text))]
    return [] if text.isupper() else [word for word in words[1:] if word[0].isupper() and is_content(word)]


def numbers(text: str) -> list[str]:
    """Runs of digits: 11,000 has two."""
    return _DIGITS.findall(text)


def is_number(word: str) -> bool:
    """Whether a word contains digits or a number word: 1990, twenty-five."""
    return any(map(str.isdigit, word)) or not _NUMBERS.isdisjoint(normalise(word).split("-"))


def is_negation(word: str) -> bool:
    """Whether a word from `split_words` is a negation; it splits don't into "don" and "'t"."""
    return normalise(word) in _NEGATION_WORDS


def missing_names(source: str, output: str) -> list[str]:
    """Names and numbers of the source that the output lacks, ignoring case."""
    output_words = {word.text.casefold() for word in split_words(output)}
    digits = set(numbers(output))
    found = [name for name in names(source) if name.casefold() not in output_words]
    return found + [number for number in numbers(source) if number not in digits]


def invented_names(source: str, output: str) -> list[str]:
    """Names and numbers of the output that the source lacks; words at the start of a sentence are not names."""
    source_words, digits = {word.text.casefold() for word in split_words(source)}, set(numbers(source))
    starts = {match.group(1).casefold() for match in re.finditer(r"[.!?][\"')]* [\"'(]*(\w+)", output)}
    found = [name for name in names(output) if name.casefold() not in source_words | starts]
    return found + [number for number in numbers(output) if number not in digits]


def missing_negations(source: str, output: str) -> list[str]:
    """The last n negations of the source if the output has n fewer; which of them were lost is not known."""
    before, after = ([*_negations(text)] for text in (source, output))
    return before[len(after) :]


def missing_symbols(source: str, output: str) -> list[str]:
    """Emoji and currency symbols that the output lacks, and a quotation mark if one of a pair was lost."""
    lost = Counter(filter(_is_symbol, source)) - Counter(filter(_is_symbol, output))
    before, after = (sum(text.count(mark) for mark in _QUOTES) for text in (source, output))
    return [*lost.elements(), *(["”"] if before % 2 == 0 and after % 2 else [])]


def _is_symbol(character: str) -> bool:
    return category(character) in ("So", "Sc")


def _negations(text: str) -> Iterator[str]:
    """The negations as written, a contraction together with its verb."""
    last = None
    for word in split_words(text):
        if is_negation(word.text):
            contracted = last is not None and word.text[0] in APOSTROPHES and last.end == word.start
            yield text[last.start if contracted and last else word.start : word.end]
        last = word
