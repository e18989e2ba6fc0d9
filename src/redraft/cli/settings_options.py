"""Command-line options generated from a settings class: a field added there becomes an option."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from redraft.decode.config import DecodeConfig, read_config
from redraft.errors import ConfigError, shown

_METAVARS = {int: "N", float: "X", str: "TEXT"}
_MAX_METAVAR = 16  # characters; longer lists of choices go into the help text, which would otherwise be too narrow


@dataclass(frozen=True)
class SettingOption:
    """How one field of a settings class appears on the command line.

    The text given for it is parsed later, by `parse_setting`, so that all entry points give the same errors.
    """

    name: str
    metavar: str
    help: str
    choices: tuple[str, ...]
    default: Any
    is_switch: bool

    @classmethod
    def of(cls, name: str, settings_class: Any = DecodeConfig) -> SettingOption:
        hint = setting_types(settings_class)[name]
        help = settings_class.__dataclass_fields__[name].metadata["help"]
        default = _default(name, settings_class)
        if hint is bool:
            return cls(name, "", help, (), default, is_switch=True)
        if default is not None:  # otherwise the help says what "not given" means
            help = f"{help} (default {default_of(name, settings_class)})"
        choices = choices_of(hint)
        numbers = [metavar for kind, metavar in _METAVARS.items() if kind in _types_in(hint)]
        metavar = "I,D,R" if get_origin(hint) is tuple else "|".join([*numbers, *choices])
        metavar = numbers[0] if numbers and choices == ("none",) and default is None else metavar
        if len(metavar) > _MAX_METAVAR:
            metavar = "NAME"
            if not all(choice in help for choice in choices):
                help = f"{', '.join(choices[:-1])} or {choices[-1]}: {help}"
        return cls(name, metavar, help, choices, default, is_switch=False)


def config_from_flags(flags: Mapping[str, str], path: str | None = None) -> DecodeConfig:
    """Settings given as text, by the names of DecodeConfig: {"beams": "4", "lambdas": "1,2,1", "delta": "none"}.

    They override those of the file at `path`.
    """
    from_file = read_config(path) if path is not None else {}
    return DecodeConfig(**{**from_file, **{name: parse_setting(name, text) for name, text in flags.items()}})


def parse_setting(name: str, text: str, settings_class: Any = DecodeConfig) -> Any:
    """The value of one setting, parsed by its type in the settings class."""
    hint = setting_types(settings_class)[name]
    types = _types_in(hint)
    choices = choices_of(hint)
    word = text.strip()
    if word in choices:
        return word if _is_literal(hint) else {"true": True, "false": False, "none": None}.get(word, word)
    if get_origin(hint) is tuple:
        return tuple(_parse_number(float, name, part, settings_class) for part in word.split(","))
    for kind in (int, float):
        if kind in types:
            return _parse_number(kind, name, word, settings_class)
    if str in types:
        return text
    raise ConfigError(f"{flag_of(name)} {shown(text)} is not known.", f"Use one of {', '.join(choices)}.")


def _parse_number(kind: Callable[[str], Any], name: str, text: str, settings_class: Any) -> Any:
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        none = ", or none" if "none" in choices_of(setting_types(settings_class)[name]) else ""
        value = default_of(name, settings_class) if _default(name, settings_class) is not None else 40
        raise ConfigError(
            f"{flag_of(name)}: {shown(text)} is not {what}{none}.", f"Example: {flag_of(name)} {value}."
        ) from None


@cache
def setting_types(settings_class: Any) -> dict[str, Any]:
    """The type hints of all settings of a class, in order."""
    return get_type_hints(settings_class)


def _types_in(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the type itself."""
    return (hint,) if hint in (int, float, bool, str) or get_origin(hint) in (tuple, Literal) else get_args(hint)


def _is_literal(hint: Any) -> bool:
    """Whether the type is a Literal alone, so that "true", "false" and "none" are ordinary words."""
    return get_origin(hint) is Literal


def choices_of(hint: Any) -> tuple[str, ...]:
    """The words that may be given for a setting, besides numbers."""
    words: tuple[str, ...] = ()
    for kind in _types_in(hint):
        if get_origin(kind) is Literal:
            words += get_args(kind)
        elif kind is bool:
            words += ("true", "false")
        elif kind is NoneType:
            words += ("none",)
    return words


def flag_of(name: str) -> str:
    return "--" + name.replace("_", "-")


def default_of(name: str, settings_class: Any = DecodeConfig) -> str:
    """The default value, as it is given on the command line."""
    return setting_text(_default(name, settings_class))


def setting_text(value: Any) -> str:
    """The value of a setting, as it is given on the command line."""
    if isinstance(value, tuple):
        return ",".join(f"{part:g}" for part in value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _default(name: str, settings_class: Any) -> Any:
    return settings_class.__dataclass_fields__[name].default
