"""Suggestions as the answer of LanguageTool to /v2/check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from redraft import __version__
from redraft.serve.languagetool.annotated_text import AnnotatedText
from redraft.serve.languagetool.check_request import LANGUAGES, CheckRequest
from redraft.serve.suggestions import Suggestion, SuggestionKind

_CONTEXT = 40  # characters on each side of a match
_API_VERSION = 1
# LibreOffice underlines this category in blue, and others in colours of mistakes.
_CATEGORY = {"id": "STYLE", "name": "Style"}


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    title: str  # the short message
    description: str


RULES: dict[SuggestionKind, Rule] = {
    "simpler words": Rule("REDRAFT_SIMPLER_WORDS", "Simpler words", "Words with simpler ones of the same meaning"),
    "unnecessary words": Rule("REDRAFT_UNNECESSARY_WORDS", "Unnecessary words", "Words that can be left out"),
    "new sentence": Rule("REDRAFT_NEW_SENTENCE", "New sentence", "Sentences that can be divided"),
    "hard word": Rule("REDRAFT_HARD_WORD", "Hard word", "Rare and difficult words"),
    "long sentence": Rule("REDRAFT_LONG_SENTENCE", "Long sentence", "Sentences that are too long"),
}


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence of the plain text, and its suggestions."""

    start: int
    source: str
    suggestions: tuple[Suggestion, ...]


def check_answer(request: CheckRequest, sentences: Iterable[CheckedSentence]) -> dict[str, Any]:
    language = language_object(request.language)
    return {
        "software": {
            "name": "redraft", "version": __version__, "buildDate": "", "apiVersion": _API_VERSION, "premium": False,
            "premiumHint": "", "status": "",
        },
        "warnings": {"incompleteResults": False},
        "language": {**language, "detectedLanguage": language},
        "matches": [match for sentence in sentences for match in _matches(request, sentence)],
    }  # fmt: skip


def language_object(code: str) -> dict[str, str]:
    return {"name": LANGUAGES[code], "code": code}


def languages_answer() -> list[dict[str, str]]:
    return [{"name": name, "code": "en", "longCode": code} for code, name in LANGUAGES.items()]


def _matches(request: CheckRequest, sentence: CheckedSentence) -> Iterator[dict[str, Any]]:
    text = request.text
    for suggestion in sentence.suggestions:
        rule = RULES[suggestion.kind]
        place = text.sent_range(sentence.start + suggestion.start, sentence.start + suggestion.end)
        if place is None or not request.reports(rule.id, _CATEGORY["id"]):
            continue
        # A replacement must not remove mark-up that opens or closes outside its range.
        texts = () if text.has_markup(*place) else suggestion.replacements
        offset, length = _units(text, *place)
        yield {
            "message": suggestion.message,
            "shortMessage": rule.title,
            "replacements": [{"value": value} for value in texts],
            "offset": offset,
            "length": length,
            "context": _context(text, *place),
            "sentence": sentence.source,
            "type": {"typeName": "Hint"},
            "rule": {"id": rule.id, "description": rule.description, "issueType": "style", "category": _CATEGORY},
            "ignoreForIncompleteSentence": False,
            "contextForSureMatch": 0,
        }


def _units(text: AnnotatedText, start: int, end: int) -> tuple[int, int]:
    """Offset and length of a range of the sent text, in UTF-16 units."""
    return text.utf16(start), text.utf16(end) - text.utf16(start)


def _context(text: AnnotatedText, start: int, end: int) -> dict[str, Any]:
    """The text around a match on one line; its offset and length are in UTF-16 units too."""
    first, last = max(0, start - _CONTEXT), min(len(text.sent), end + _CONTEXT)
    before, after = "..." if first else "", "..." if last < len(text.sent) else ""
    shown = text.sent[first:last]
    for white_space in "\r\n\t":
        shown = shown.replace(white_space, " ")
    _, offset = _units(text, first, start)
    _, length = _units(text, start, end)
    return {"text": before + shown + after, "offset": len(before) + offset, "length": length}
