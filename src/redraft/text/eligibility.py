"""Detects texts that should not be rewritten, with the reason: addresses, program code, other languages."""

from __future__ import annotations

import re
import unicodedata

from redraft.text.function_words import is_content
from redraft.text.protected_spans import Span, is_address, overlaps, protected_spans
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import normalise, split_words

_CODE = re.compile(r"[{}<>=]|\w\(|\)\s*:|::|//|&&|\|\||\w_\w|;\s*$")
_STATEMENT = re.compile(r"\s*(?:[\w.]+\(.*\);?|SELECT\b.+\bFROM\b.+|def \w+\(.*|import \w[\w.]*)\s*")
_MAX_CODE_DENSITY = 0.04  # matches of _CODE per character
_MIN_WORDS = 3
_RARE_ZIPF = 1.5  # words below this Zipf frequency are unlikely to be English
# Function words of other languages, without those that are also English words or parts of names.
_FOREIGN_WORDS = """
der das und ist nicht ein eine dem den mit von zu auf für sich im aus bei nach wie über ich sie wir
les des est et une dans que qui pour pas sur avec au ce il elle nous vous je
una por con para se lo como más pero su al yo gli di che è non sono della nel anche io
het een niet dat zijn met voor naar ook ik os em uma não na nie się jest på och det att som är av til ikke
"""
_FOREIGN = frozenset(_FOREIGN_WORDS.split())


def ineligible_reason(text: str, word_frequency: WordFrequency) -> str | None:
    """Why a text is not English prose, in a few words; None if it is.

    Protected spans (addresses, codes, mark-up) are ignored: the model never sees them.
    """
    if is_address(text.strip()):
        return "it is an address"
    protected = protected_spans(text)
    found = [
        word for word in split_words(text)
        if any(map(str.isalpha, word.text)) and not overlaps((word.start, word.end), protected)
    ]  # fmt: skip
    if not found:
        return "it has no words"
    words, visible = [normalise(word.text) for word in found], _mask(text, protected)
    matches = len(_CODE.findall(visible))
    if _STATEMENT.fullmatch(text) or (matches >= 2 and matches > _MAX_CODE_DENSITY * len(visible)):
        return "it looks like program text"
    if not _is_english(visible, words, word_frequency):
        return "it does not look like English"
    if len(words) + bool(protected) < _MIN_WORDS:
        return "it is too short to be a sentence"
    truncated = found[-1].end == len(text.rstrip()) and not is_content(words[-1])  # "Tell us if"
    return "it stops in the middle of a sentence" if truncated else None


def _mask(text: str, protected: list[Span]) -> str:
    """The text with one letter for each span, so that punctuation around an identifier still counts as code."""
    for start, end in reversed(protected):
        text = f"{text[:start]}x{text[end:]}"
    return text


def _is_english(text: str, words: list[str], word_frequency: WordFrequency) -> bool:
    letters = [character for character in text if character.isalpha()]
    latin = sum(unicodedata.name(character, "").startswith("LATIN") for character in letters)
    if latin < len(letters) / 2:
        return False
    function_words = sum(not is_content(word) for word in words)
    if sum(word in _FOREIGN for word in words) > function_words:
        return False
    rare = sum(word_frequency.zipf(word) < _RARE_ZIPF for word in words)
    return function_words > 0 or len(words) < 4 or rare < len(words) / 2
