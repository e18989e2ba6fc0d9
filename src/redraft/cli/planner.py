"""The options of every command that predicts plans."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, get_args

from redraft.errors import ConfigError, shown

if TYPE_CHECKING:
    from redraft.constrain.planner import Planner

_NAMES = ("strength", "style", "keep", "glossary", "predictor")


def add_planner_options(parser: Any) -> None:
    for name, metavar, text in (
        (
            "strength",
            "HOW",
            "how much is changed: light, medium (default), strong, a number from 0 to 1, or from which probability on "
            "words are left out, replaced and, if you like, asked to stay: 0.25,0.13 or 0.12,0.1,0.65",
        ),
        ("style", "NAME", "edit as people did in this corpus: turk, onestopenglish, automets, …; any: in all of them"),
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
    from redraft.constrain.planner import Planner

    planner = Planner.load(options.predictor, device=options.device)
    if options.style is not None:
        planner.check_style(options.style)
    return planner, {"strength": strength, "style": options.style, "wishes": wishes}


def _strength(text: str | None) -> Any:
    from redraft.constrain.predicted import Levels, Strength

    if text is None:
        return "medium"
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) in (2, 3):
        return Levels(*numbers)
    if len(numbers) == 1:
        return numbers[0]
    if text in get_args(Strength):
        return text
    raise ConfigError(f"--strength {shown(text)} is not known.", "Use light, medium, strong or a number from 0 to 1.")
