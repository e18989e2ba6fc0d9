"""Texts that should not be rewritten: they are left as they are, and the reason is told."""

from __future__ import annotations

import re
import unicodedata

from redraft.text.function_words import is_content
from redraft.text.protected_spans import Span, is_address, overlaps, protected_spans
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import normal, split_words

_CODE = re.compile(r"[{}<>=]|\w\(|\)\s*:|::|//|&&|\|\||\w_\w|;\s*$")
_STATEMENT = re.compile(r"\s*(?:[\w.]+\(.*\);?|SELECT\b.+\bFROM\b.+|def \w+\(.*|import \w[\w.]*)\s*")
_CODE_SIGNS = 0.04  # signs of program text, for each character, at most
_SENTENCE = 3  # words, at least
_RARE = 1.5  # Zipf frequency under which a word is hardly English
# Words of the closed classes of other languages, without those that are English too or stand in names.
_CLOSED = """
der das und ist nicht ein eine dem den mit von zu auf für sich im aus bei nach wie über ich sie wir
les des est et une dans que qui pour pas sur avec au ce il elle nous vous je
una por con para se lo como más pero su al yo gli di che è non sono della nel anche io
het een niet dat zijn met voor naar ook ik os em uma não na nie się jest på och det att som är av til ikke
"""
_FOREIGN = frozenset(_CLOSED.split())


def ineligible_reason(text: str, word_frequency: WordFrequency) -> str | None:
    """Why a text is no English prose, in a few words; None if it is.

    What is in protected spans (addresses, codes, mark-up) does not count: the model never sees it.
    """
    if is_address(text.strip()):
        return "it is an address"
    hidden = protected_spans(text)
    found = [
        word for word in split_words(text)
        if any(map(str.isalpha, word.text)) and not overlaps((word.start, word.end), hidden)
    ]  # fmt: skip
    if not found:
        return "it has no words"
    words, shown = [normal(word.text) for word in found], _without(text, hidden)
    signs = len(_CODE.findall(shown))
    if _STATEMENT.fullmatch(text) or (signs >= 2 and signs > _CODE_SIGNS * len(shown)):
        return "it looks like program text"
    if not _is_english(shown, words, word_frequency):
        return "it does not look like English"
    if len(words) + bool(hidden) < _SENTENCE:
        return "it is too short to be a sentence"
    inside = found[-1].end == len(text.rstrip()) and not is_content(words[-1])  # Tell us if
    return "it stops in the middle of a sentence" if inside else None


def _without(text: str, hidden: list[Span]) -> str:
    """The text with a letter in the place of each span: what stands around an identifier is still a sign of code."""
    for start, end in reversed(hidden):
        text = f"{text[:start]}x{text[end:]}"
    return text


def _is_english(text: str, words: list[str], word_frequency: WordFrequency) -> bool:
    letters = [character for character in text if character.isalpha()]
    latin = sum(unicodedata.name(character, "").startswith("LATIN") for character in letters)
    if latin < len(letters) / 2:
        return False
    own, foreign = sum(not is_content(word) for word in words), sum(word in _FOREIGN for word in words)
    if foreign > own:
        return False
    rare = sum(word_frequency.zipf(word) < _RARE for word in words)
    return own > 0 or len(words) < 4 or rare < len(words) / 2
