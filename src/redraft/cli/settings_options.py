"""Options of the command line made from a class of settings: a field added there is an option here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from redraft.decode.config import DecodeConfig, read_config
from redraft.errors import ConfigError, shown

_METAVARS = {int: "N", float: "X", str: "TEXT"}
_WIDE = 16  # what may be chosen from stands in the help where it is longer, to leave room for that


@dataclass(frozen=True)
class SettingOption:
    """How one field of a class of settings stands on the command line.

    Its text is parsed later, by `parse_setting`, so that all doors give the same errors.
    """

    name: str
    metavar: str
    help: str
    choices: tuple[str, ...]
    default: Any
    is_switch: bool

    @classmethod
    def of(cls, name: str, settings: Any = DecodeConfig) -> SettingOption:
        hint, help = hints_of(settings)[name], settings.__dataclass_fields__[name].metadata["help"]
        default = _default(name, settings)
        if default is not None:  # the help says what no value means
            help = f"{help} (default {default_of(name, settings)})"
        if hint is bool:
            return cls(name, "", help, (), default, is_switch=True)
        words = choices_of(hint)
        numbers = [sign for kind, sign in _METAVARS.items() if kind in kinds_of(hint)]
        metavar = "I,D,R" if get_origin(hint) is tuple else "|".join([*numbers, *words])
        metavar = numbers[0] if numbers and words == ("none",) and default is None else metavar
        if len(metavar) > _WIDE:
            metavar, help = "NAME", f"{', '.join(words[:-1])} or {words[-1]}: {help}"
        return cls(name, metavar, help, words, default, is_switch=False)


def config_from_flags(flags: Mapping[str, str], path: str | None = None) -> DecodeConfig:
    """Settings written as text, by the names of DecodeConfig: {"beams": "4", "lambdas": "1,2,1", "delta": "none"}.

    They win over those of the file at `path`.
    """
    known = read_config(path) if path is not None else {}
    return DecodeConfig(**{**known, **{name: parse_setting(name, text) for name, text in flags.items()}})


def parse_setting(name: str, text: str, of: Any = DecodeConfig) -> Any:
    """One setting from its text, by the type that its class gives it."""
    hint = hints_of(of)[name]
    kinds = kinds_of(hint)
    choices = choices_of(hint)
    word = text.strip()
    if word in choices:
        return {"true": True, "false": False, "none": None}.get(word, word) if is_open(hint) else word
    if get_origin(hint) is tuple:
        return tuple(_number(float, name, part, of) for part in word.split(","))
    for kind in (int, float):
        if kind in kinds:
            return _number(kind, name, word, of)
    if str in kinds:
        return text
    raise ConfigError(f"{flag_of(name)} {shown(text)} is not known.", f"Use one of {', '.join(choices)}.")


def _number(kind: Callable[[str], Any], name: str, text: str, of: Any) -> Any:
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        none = ", or none" if "none" in choices_of(hints_of(of)[name]) else ""
        example = f"{flag_of(name)} {default_of(name, of) if _default(name, of) is not None else 40}"
        raise ConfigError(
            f"{flag_of(name)}: {shown(text)} is not {what}{none}.", f"Write for example {example}."
        ) from None


@cache
def hints_of(of: Any) -> dict[str, Any]:
    """The types of all settings of a class, in order."""
    return get_type_hints(of)


def kinds_of(hint: Any) -> tuple[Any, ...]:
    return (hint,) if hint in (int, float, bool, str) or get_origin(hint) in (tuple, Literal) else get_args(hint)


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


def default_of(name: str, of: Any = DecodeConfig) -> str:
    """A default as one would write it."""
    return setting_text(_default(name, of))


def setting_text(value: Any) -> str:
    """The value of a setting as one would write it."""
    if isinstance(value, tuple):
        return ",".join(f"{part:g}" for part in value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _default(name: str, of: Any) -> Any:
    return of.__dataclass_fields__[name].default
