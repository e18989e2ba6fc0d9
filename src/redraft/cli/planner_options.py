"""Loads the planner according to the options of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from redraft.errors import ConfigError, shown

if TYPE_CHECKING:
    from redraft.plan.planner import Planner

_NAMES = ("strength", "style", "keep", "glossary", "planner")


class PlannerOptions(Protocol):
    """The options of every command that predicts plans."""

    @property
    def strength(self) -> str | None: ...
    @property
    def style(self) -> str | None: ...
    @property
    def keep(self) -> str | None: ...
    @property
    def glossary(self) -> str | None: ...
    @property
    def planner(self) -> str | None: ...
    @property
    def device(self) -> str | None: ...


def given_planner_option(options: PlannerOptions) -> str | None:
    """The first planner option that was given, for runs in which they have no effect."""
    return next((f"--{name}" for name in _NAMES if getattr(options, name) is not None), None)


def load_planner(options: PlannerOptions) -> tuple[Planner, dict[str, Any]]:
    """The planner and the arguments of its `plans`. Files and numbers are validated before weights are loaded."""
    from redraft.plan.prediction import Levels
    from redraft.plan.user_constraints import UserConstraints

    strength = _strength(options.strength)
    Levels.of(strength)
    user_constraints = (
        UserConstraints.read(options.keep, options.glossary)
        if (options.keep, options.glossary) != (None, None)
        else None
    )
    from redraft.plan.planner import Planner

    planner = Planner.load(options.planner, device=options.device)
    if options.style is not None:
        planner.check_style(options.style)
    return planner, {"strength": strength, "style": options.style, "constraints": user_constraints}


def _strength(text: str | None) -> Any:
    from redraft.plan.edits import DEFAULT_STRENGTH, STRENGTHS
    from redraft.plan.prediction import Levels

    if text is None:
        return DEFAULT_STRENGTH
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) in (2, 3):
        return Levels(numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else None)
    if len(numbers) == 1:
        return numbers[0]
    if text in STRENGTHS:
        return text
    raise ConfigError(f"--strength {shown(text)} is not known.", "Use light, medium, strong or a number from 0 to 1.")
