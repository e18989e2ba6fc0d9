"""Checks of what callers pass to Redrafter and Simplifier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from redraft.decode.config import DecodeConfig
from redraft.errors import ConfigError, shown
from redraft.plan.edits import EditPlan


def check_text(text: object, place: str) -> str | EditPlan:
    """The text itself, or a ConfigError that names its place."""
    if isinstance(text, str | EditPlan):
        return text
    raise ConfigError(
        f"{place} is {shown(text)}, which is neither a string nor an EditPlan.",
        'Give a string such as "The old man slept.", or an EditPlan.',
    )


def check_texts(texts: object, name: str = "texts") -> Iterator[str | EditPlan]:
    """The texts, each checked when it is read; a ConfigError at once unless this is a list or another iterable."""
    if isinstance(texts, str | bytes | Mapping | EditPlan) or not isinstance(texts, Iterable):
        raise ConfigError(f"{name} is {shown(texts)}.", "Give a list or another iterable of strings or plans.")
    items = cast("Iterable[object]", texts)
    return (check_text(text, f"{name}[{number}]") for number, text in enumerate(items))


def check_config(config: object) -> DecodeConfig | None:
    """The config itself, or a ConfigError if it is of another type."""
    if isinstance(config, DecodeConfig | None):
        return config
    raise ConfigError(f"config is {shown(config)}.", "Give a DecodeConfig, such as DecodeConfig(beams=4).")
