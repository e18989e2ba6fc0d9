"""A command from a class of options: its fields become what typer reads, its docstring the help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import MISSING, dataclass, fields
from functools import partial
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer
from rich.markup import escape
from typer.core import TyperCommand
from typer.models import OptionInfo

from redraft.cli.settings_options import SettingOption, flag_of
from redraft.trust import trusting

Options = TypeVar("Options")
_CHOSEN = "setting_"  # what the name of an option made from a setting begins with, not to clash with a field's
_NOT = "not_"  # and that of one that switches such a setting off


def option(help: str, metavar: str = "", *, panel: str | None = None) -> Any:
    """What stands at a field that is an option; its flag is the field's name. The help says its default itself."""
    return typer.Option(metavar=metavar, help=escape(help), rich_help_panel=panel, show_default=False)


def argument(help: str, metavar: str) -> Any:
    """What stands at a field that is given without a flag."""
    return typer.Argument(metavar=metavar, help=escape(help), show_default=False)


@dataclass(frozen=True)
class SettingOptions:
    """What stands at a field for settings given as text, {"beams": "4"}: each name in `panels` becomes an option."""

    of: type
    panels: dict[str, Sequence[str]]


def add_command(
    app: typer.Typer,
    name: str,
    run: Callable[[Options], int],
    options: type[Options],
    *,
    help: str,
    examples: str,
    panel: str | None = None,
) -> None:
    """`redraft NAME`: the class is the options, its docstring what they are for; `examples` end the help as they are.

    Typer is to parse, not to run: what it returns is a call that still waits for its turn, so that mistakes,
    interruptions and closed pipes meet one place, `main`.
    """

    def parsed(**given: Any) -> Callable[[], int]:
        return partial(_trusted, run, _made(options, given))

    parsed.__signature__ = inspect.Signature(list(_parameters(options)))  # type: ignore[attr-defined]
    about = escape(inspect.getdoc(options) or "")
    app.command(name, cls=_Command, help=about, short_help=help, epilog=examples, rich_help_panel=panel)(parsed)


def _trusted(run: Callable[[Options], int], options: Options) -> int:
    with trust_of(options):
        return run(options)


def trust_of(options: object) -> AbstractContextManager[None]:
    """What the options say about code and pickles of models, for this process."""
    remote_code, pickled = (getattr(options, name, False) for name in ("trust_remote_code", "pickled_weights"))
    return trusting(remote_code=remote_code, pickled_weights=pickled)


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        many = [parameter for parameter in self.params if getattr(parameter, "multiple", False)]
        several = {flag for parameter in many for flag in parameter.opts}
        return super().parse_args(ctx, list(_spelt_out(args, several)))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """As typer does it, with lines of examples left as they are."""
        examples, self.epilog = self.epilog, None
        super().format_help(ctx, formatter)
        self.epilog = examples
        print(examples, end="")


def _spelt_out(words: Sequence[str], several: set[str]) -> Iterator[str]:
    """`--outputs a b` as typer wants it, `--outputs a --outputs b`; `several` are the flags that take many words."""
    flag, empty = None, False
    for word in words:
        if word.startswith("-") and word != "-":
            flag, empty = (word.split("=")[0], "=" not in word) if word.split("=")[0] in several else (None, False)
        elif flag is not None:
            if not empty:
                yield flag
            empty = False
        yield word


def _parameters(options: type) -> Iterator[inspect.Parameter]:
    """The signature that typer reads."""
    hints = get_type_hints(options, include_extras=True)
    for field in fields(options):
        is_cached = _setting_options(hints[field.name])
        if is_cached is None:
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            yield _parameter(field.name, flag_of(field.name), hints[field.name], default)
            continue
        for panel, names in is_cached.panels.items():
            for name in names:
                yield from _setting(SettingOption.of(name, is_cached.of), panel)


def _setting(setting: SettingOption, panel: str) -> Iterator[inspect.Parameter]:
    """One option; for a switch two, of which the one that says what is the default anyway is not shown."""
    help = f"not: {setting.help}" if setting.default is True else setting.help
    shown: Any = {"metavar": setting.metavar, "help": escape(help), "rich_help_panel": panel, "show_default": False}
    name, flag = _CHOSEN + setting.name, flag_of(setting.name)
    if not setting.is_switch:
        complete = (lambda: list(setting.choices)) if setting.choices else None
        yield _parameter(name, flag, Annotated[str | None, typer.Option(autocompletion=complete, **shown)], None)
        return
    for on, to in ((True, flag), (False, f"--no-{flag.removeprefix('--')}")):
        hint = Annotated[bool, typer.Option(hidden=on is setting.default, **shown)]
        yield _parameter(name if on else _NOT + name, to, hint, False)


def _parameter(name: str, flag: str, hint: Any, default: Any) -> inspect.Parameter:
    kind, info = get_args(hint)
    if isinstance(info, OptionInfo):
        info = copy(info)
        info.param_decls = (flag,)  # by itself, typer would add --no-json to --json
    empty = inspect.Parameter.empty
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, info],
        default=empty if default is MISSING else default,
    )  # fmt: skip


def _made(options: type[Options], given: dict[str, Any]) -> Options:
    """The options of what typer has parsed."""
    own: dict[str, Any] = {}
    chosen: dict[str, str] = {}
    for name, value in given.items():
        setting = name.removeprefix(_NOT).removeprefix(_CHOSEN)
        if setting == name:
            own[name] = value
        elif value is True:
            chosen[setting] = str(not name.startswith(_NOT)).lower()
        elif value not in (None, False):
            chosen[setting] = value
    for name, hint in get_type_hints(options, include_extras=True).items():
        if _setting_options(hint) is not None:
            own[name] = chosen
    return options(**own)


def _setting_options(hint: Any) -> SettingOptions | None:
    return next((part for part in get_args(hint)[1:] if isinstance(part, SettingOptions)), None)
