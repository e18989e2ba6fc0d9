"""Options of the command line made from DecodeConfig: a field added there is an option here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from redraft.decode.config import DecodeConfig
from redraft.errors import ConfigError, shown


def config_from_flags(flags: Mapping[str, str]) -> DecodeConfig:
    """Settings written as text, by the names of DecodeConfig: {"beams": "4", "lambdas": "1,2,1", "delta": "none"}."""
    return DecodeConfig(**{name: parse_setting(name, text) for name, text in flags.items()})


def parse_setting(name: str, text: str) -> Any:
    """One setting from its text, by the type that DecodeConfig gives it."""
    hint = HINTS[name]
    kinds = kinds_of(hint)
    choices = choices_of(hint)
    word = text.strip()
    if word in choices:
        return {"true": True, "false": False, "none": None}.get(word, word) if is_open(hint) else word
    if get_origin(hint) is tuple:
        return tuple(_number(float, name, part) for part in word.split(","))
    for kind in (int, float):
        if kind in kinds:
            return _number(kind, name, word)
    raise ConfigError(f"{flag_of(name)} {shown(text)} is not known.", f"Use one of {', '.join(choices)}.")


def _number(kind: Callable[[str], Any], name: str, text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        none = ", or none" if "none" in choices_of(HINTS[name]) else ""
        example = f"{flag_of(name)} {default_of(name)}" if DEFAULTS[name] is not None else f"{flag_of(name)} 40"
        raise ConfigError(
            f"{flag_of(name)}: {shown(text)} is not {what}{none}.", f"Write for example {example}."
        ) from None


HINTS = get_type_hints(DecodeConfig)
DEFAULTS = {field.name: field.default for field in fields(DecodeConfig)}


def kinds_of(hint: Any) -> tuple[Any, ...]:
    return (hint,) if hint in (int, float, bool) or get_origin(hint) in (tuple, Literal) else get_args(hint)


def is_open(hint: Any) -> bool:
    """Whether other things than words are allowed, so that true, false and none are not words."""
    return get_origin(hint) is not Literal


def choices_of(hint: Any) -> tuple[str, ...]:
    """The words that may be written for a setting; numbers aside."""
    words: tuple[str, ...] = ()
    for kind in kinds_of(hint):
        if get_origin(kind) is Literal:
            words += get_args(kind)
        elif kind is bool:
            words += ("true", "false")
        elif kind is NoneType:
            words += ("none",)
    return words


def flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")


def default_of(name: str) -> str:
    value = DEFAULTS[name]
    if isinstance(value, tuple):
        return ",".join(f"{part:g}" for part in value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
