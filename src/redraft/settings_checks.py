"""Checks of settings: known names, the types that a class declares, and bounds."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from redraft.errors import ConfigError, did_you_mean, shown

_LARGEST = sys.float_info.max  # an int may be larger than any float


def check_setting(name: str, value: Any, hint: Any, *, least: float = -math.inf, most: float = math.inf) -> None:
    """Raise a ConfigError unless the value has the type and bounds of the setting.

    `hint` is a type hint: a type, a Literal of words, or a union of these. NaN is refused; infinity is accepted if
    `most` allows it.
    """
    kinds = (hint,) if hint in (int, float, bool, str) or get_origin(hint) is Literal else get_args(hint)
    words = tuple(word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind))
    if value is None:
        fits = NoneType in kinds
    elif isinstance(value, bool):
        fits = bool in kinds
    elif isinstance(value, str):
        fits = value in words or str in kinds
    else:
        typed = (isinstance(value, int) and int in kinds) or (isinstance(value, int | float) and float in kinds)
        fits = typed and least <= value <= most and not _LARGEST < abs(value) < math.inf
    if not fits:
        only_words = bool(words) and not {int, float, bool, str} & set(kinds)
        problem = f"{name} {shown(value)} is not known." if only_words else f"{name} is {shown(value)}."
        near = only_words and isinstance(value, str)
        raise ConfigError(problem, did_you_mean(value, words) if near else _wanted(kinds, words, least, most))


def check_names(names: Iterable[str], known: Sequence[str]) -> None:
    """Raise a ConfigError for the first unknown name of a setting."""
    for name in names:
        if name not in known:
            raise ConfigError(f"there is no setting {name!r}.", did_you_mean(name, known))


def _wanted(kinds: tuple[Any, ...], words: tuple[str, ...], least: float, most: float) -> str:
    bounds = [f"at least {least:,g}"] if math.isfinite(least) else []
    bounds += [f"at most {most:,g}"] if most < sys.maxsize else []
    of = f" of {' and '.join(bounds)}" if bounds else ""
    wanted = ["true", "false"] if bool in kinds else []
    wanted += ["a whole number" + of] if int in kinds else []
    wanted += ["a number" + of] if float in kinds else []
    wanted += ["a string"] if str in kinds else []
    wanted += [f'"{word}"' for word in words]
    return f"Give {', '.join(wanted[:-1])}{' or ' if wanted[1:] else ''}{wanted[-1]}."
