"""The options of every command that predicts plans."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from redraft.errors import ConfigError, shown

if TYPE_CHECKING:
    from redraft.constrain.planner import Planner

_NAMES = ("strength", "style", "keep", "glossary", "predictor")


def add_planner_options(parser: Any) -> None:
    for name, metavar, text in (
        ("strength", "HOW", "how much is changed: light, medium (default), strong, or a number from 0 to 1"),
        ("style", "NAME", "edit as people did in this corpus: turk, onestopenglish, automets, …; any if not given"),
        (
            "keep",
            "FILE",
            "words that must stay: a word, a phrase or /a regular expression/ on each line; # begins a remark",
        ),
        ("glossary", "FILE", "what to write for what: source ⇥ target on each line; # begins a remark"),
        ("predictor", "DIR", "a folder of redraft train-predictor; if not given, what comes with the package"),
    ):
        parser.add_argument(f"--{name}", metavar=metavar, help=text)


def given_planner_option(options: argparse.Namespace) -> str | None:
    """The first of these options that was given, for commands where they need not make sense."""
    return next((f"--{name}" for name in _NAMES if getattr(options, name) is not None), None)


def load_planner(options: argparse.Namespace) -> tuple[Planner, dict[str, Any]]:
    """The planner, and what its `plans` is told. Mistakes in files and numbers are found before weights are loaded."""
    from redraft.constrain.predicted import Levels
    from redraft.constrain.wishes import Wishes

    strength = _strength(options.strength)
    Levels.of(strength)
    wishes = Wishes.read(options.keep, options.glossary) if (options.keep, options.glossary) != (None, None) else None
    from redraft.constrain.planner import ANY, Planner

    planner = Planner.load(options.predictor, device=options.device)
    style = ANY if options.style is None else options.style
    planner.check_style(style)
    return planner, {"strength": strength, "style": style, "wishes": wishes}


def _strength(text: str | None) -> Any:
    if text is None:
        return "medium"
    try:
        return float(text)
    except ValueError:
        if text in ("light", "medium", "strong"):
            return text
        raise ConfigError(
            f"--strength {shown(text)} is not known.", "Use light, medium, strong or a number from 0 to 1."
        ) from None
