"""Reads requests to /v2/check: a form in the body, a query, or a JSON object in the body."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from redraft.errors import ConfigError, shown
from redraft.plan.edits import DEFAULT_STRENGTH, Strength
from redraft.serve.languagetool.annotated_text import AnnotatedText, TextPart
from redraft.text.spelling import Spelling

LANGUAGES = {  # code → name
    "en": "English",
    "en-US": "English (US)",
    "en-GB": "English (GB)",
    "en-AU": "English (Australian)",
    "en-CA": "English (Canadian)",
    "en-NZ": "English (New Zealand)",
    "en-ZA": "English (South African)",
}
_DEFAULT_LANGUAGE = "en-US"
_SPELLINGS: dict[str, Spelling] = {
    "en-US": "american", "en-GB": "british", "en-AU": "british", "en-NZ": "british", "en-ZA": "british",
}  # fmt: skip
_STRENGTHS: dict[str, Strength] = {"default": DEFAULT_STRENGTH, "picky": "strong"}  # level → strength of the plans
_MAX_FIELDS = 100
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, kw_only=True)
class CheckRequest:
    """What to check, and which rules to report."""

    text: AnnotatedText
    language: str  # one of LANGUAGES
    strength: Strength
    spelling: Spelling | None  # of replacements; None: that of each sentence
    enabled: frozenset[str]  # identifiers of rules and categories
    disabled: frozenset[str]
    enabled_only: bool

    def reports(self, rule: str, category: str) -> bool:
        if self.enabled_only:
            return rule in self.enabled or category in self.enabled
        return rule not in self.disabled and category not in self.disabled


def parameters_of(body: bytes, query: str) -> dict[str, Any]:
    """The parameters by name. The body is read as its content shows: clients declare forms as JSON, or nothing."""
    try:
        if body.lstrip()[:1] == b"{":
            sent = json.loads(body)
        else:
            sent = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MAX_FIELDS))
        asked = dict(parse_qsl(query, keep_blank_values=True, errors="replace", max_num_fields=_MAX_FIELDS))
    except (ValueError, RecursionError):
        raise ConfigError("the body is neither a form nor a JSON object.", "Send text=… and language=….") from None
    return {**sent, **asked}


def read_check_request(parameters: Mapping[str, Any]) -> CheckRequest:
    """Other parameters of LanguageTool, such as `motherTongue`, are accepted and change nothing."""
    level = _string(parameters.get("level") or "default", "level")
    if level not in _STRENGTHS:
        raise ConfigError(f"'level' is {shown(level)}.", f"Use {' or '.join(_STRENGTHS)}.")
    enabled_only = str(parameters.get("enabledOnly", "")).lower() in ("true", "yes")
    enabled = _names(parameters, "enabledRules") | _names(parameters, "enabledCategories")
    disabled = _names(parameters, "disabledRules") | _names(parameters, "disabledCategories")
    if enabled_only and disabled:
        raise ConfigError("rules or categories are disabled, and 'enabledOnly' is true.", "Leave out one of them.")
    if enabled_only and not enabled:
        raise ConfigError("'enabledOnly' is true, and no rule or category is enabled.", "Set 'enabledRules'.")
    language = _language(parameters)
    return CheckRequest(
        text=_text(parameters),
        language=language,
        spelling=None if parameters.get("language") == "auto" else _SPELLINGS.get(language),
        strength=_STRENGTHS[level],
        enabled=enabled,
        disabled=disabled,
        enabled_only=enabled_only,
    )


def _names(parameters: Mapping[str, Any], field: str) -> frozenset[str]:
    """Names separated by commas; in JSON also a list."""
    value = parameters.get(field) or ""
    names = value if isinstance(value, list) else str(value).split(",")
    return frozenset(str(name).strip() for name in names if str(name).strip())


def _language(parameters: Mapping[str, Any]) -> str:
    """With "auto", the preferred variant of English. Unlisted variants, such as en-IN, are read as English."""
    code = _string(parameters.get("language") or "", "language")
    if not code:
        raise ConfigError("Missing 'language' parameter.", "Use a code such as en-US, or auto.")
    if code == "auto":
        preferred = _names(parameters, "preferredVariants")
        return next((known for known in LANGUAGES if known in preferred), _DEFAULT_LANGUAGE)
    if code in LANGUAGES:
        return code
    if code.lower().partition("-")[0] == "en":
        return next((known for known in LANGUAGES if known.lower() == code.lower()), "en")
    raise ConfigError(
        f"'{code[:20]}' is not a language code known to redraft.", f"Language codes are {', '.join(LANGUAGES)}."
    )


def _text(parameters: Mapping[str, Any]) -> AnnotatedText:
    if ("text" in parameters) == ("data" in parameters):
        given = "both" if "text" in parameters else "none"
        raise ConfigError(f"'text' or 'data' is required, and {given} of them was given.", "Set one of them.")
    if "text" in parameters:
        return AnnotatedText([TextPart(_string(parameters["text"], "text"))])
    data = parameters["data"]
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError):
            raise ConfigError("'data' is not JSON.", 'Write {"annotation": [{"text": "A house"}]}.') from None
    annotation = data.get("annotation") if isinstance(data, dict) else None
    if isinstance(data, dict) and annotation is None and "text" in data:
        return AnnotatedText([TextPart(_string(data["text"], "data.text"))])
    if not isinstance(annotation, list):
        raise ConfigError("'data' has no list 'annotation' and no 'text'.", "Set one of them.")
    return AnnotatedText(_part(item, f"data.annotation[{index}]") for index, item in enumerate(annotation))


def _part(item: object, place: str) -> TextPart:
    if not isinstance(item, dict) or ("text" in item) == ("markup" in item):
        raise ConfigError(f"{place} must have either 'text' or 'markup'.", "Correct the request.")
    if "text" in item:
        return TextPart(_string(item["text"], f"{place}.text"))
    return TextPart(
        _string(item["markup"], f"{place}.markup"), _string(item.get("interpretAs") or "", f"{place}.interpretAs")
    )


def _string(value: object, place: str) -> str:
    """Halves of surrogate pairs are replaced by a character of the same length in UTF-16."""
    if not isinstance(value, str):
        raise ConfigError(f"'{place}' is {shown(value)}.", "Give it as a string.")
    return _SURROGATE.sub("\ufffd", value)
