"""Builds a typer command from a dataclass: fields become options, the docstring becomes the help text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import MISSING, dataclass, fields
from functools import partial
from itertools import chain
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer
from rich.markup import escape
from typer.core import TyperCommand
from typer.models import OptionInfo

from redraft.cli.settings_options import SettingOption, flag_of, setting_types
from redraft.trust import trusting

Options = TypeVar("Options")
ADVANCED = "Advanced"  # the panel of the options that few people need
_SETTING_PREFIX = "setting_"  # parameter names of settings, so that they cannot clash with the names of fields
_NEGATED_PREFIX = "not_"  # parameter names of the --no-… flags


def option(help: str, metavar: str = "") -> Any:
    """Annotation of a field that becomes an option named after the field. The help text must state the default."""
    return typer.Option(metavar=metavar, help=escape(help), show_default=False)


def argument(help: str, metavar: str) -> Any:
    """Annotation of a field that becomes a positional argument."""
    return typer.Argument(metavar=metavar, help=escape(help), show_default=False)


@dataclass(frozen=True)
class SettingOptions:
    """Annotation of a field that collects settings as text, {"beams": "4"}: each field of the class is an option."""

    settings_class: type


def add_command(
    app: typer.Typer,
    name: str,
    run: Callable[[Options], int],
    options: type[Options],
    *,
    help: str,
    examples: str,
    main: Sequence[str] = (),
    panel: str | None = None,
) -> None:
    """Add `redraft NAME`. The class defines its options; `examples` are printed verbatim at the end of the help.

    Options named in `main` are listed first, in that order; all others go into the panel "Advanced". Without `main`
    there is one panel. `panel` is the command's own panel in `redraft --help`.

    Typer only parses: the parsed command is returned as a function that `redraft.cli.main.main` calls, so that errors,
    interrupts and closed pipes are handled in one place.
    """

    def parse(**values: Any) -> Callable[[], int]:
        return partial(_run_with_trust, run, _build_options(options, values))

    parse.__signature__ = inspect.Signature(_parameters(options, main))  # type: ignore[attr-defined]
    description = escape(inspect.getdoc(options) or "")
    app.command(name, cls=_Command, help=description, short_help=help, epilog=examples, rich_help_panel=panel)(parse)


def _run_with_trust(run: Callable[[Options], int], options: Options) -> int:
    with trust_of(options):
        return run(options)


def trust_of(options: object) -> AbstractContextManager[None]:
    """Applies --trust-remote-code and --pickled-weights to this process."""
    remote_code, pickled = (getattr(options, name, False) for name in ("trust_remote_code", "pickled_weights"))
    return trusting(remote_code=remote_code, pickled_weights=pickled)


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        multiple = [parameter for parameter in self.params if getattr(parameter, "multiple", False)]
        flags = {flag for parameter in multiple for flag in parameter.opts}
        return super().parse_args(ctx, list(_repeat_flags(args, flags)))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Typer's help, followed by the examples with their line breaks kept."""
        examples, self.epilog = self.epilog, None
        super().format_help(ctx, formatter)
        self.epilog = examples
        print(examples, end="")


def _repeat_flags(args: Sequence[str], multiple: set[str]) -> Iterator[str]:
    """`--outputs a b` as `--outputs a --outputs b`, the only form typer accepts; `multiple` are flags with many values.

    A flag without a value is passed on alone, so that typer reports it.
    """
    flag, needs_value = None, False
    for word in args:
        if word.startswith("-") and word != "-":
            name = word.split("=")[0]
            flag, needs_value = (name, "=" not in word) if name in multiple else (None, False)
        elif flag is not None:
            if not needs_value:
                yield flag
            needs_value = False
        yield word


def _parameters(options: type, main: Sequence[str]) -> list[inspect.Parameter]:
    """The signature that typer reads."""
    by_name: dict[str, list[inspect.Parameter]] = {}
    hints = get_type_hints(options, include_extras=True)
    for field in fields(options):
        settings = _setting_options(hints[field.name])
        if settings is None:
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            hint = _in_panel(hints[field.name], _panel(field.name, main))
            by_name[field.name] = [_parameter(field.name, flag_of(field.name), hint, default)]
            continue
        for name in setting_types(settings.settings_class):
            setting = SettingOption.of(name, settings.settings_class)
            by_name[name] = list(_setting_parameters(setting, _panel(name, main)))
    first = [by_name.pop(name) for name in main]
    return list(chain(*first, *by_name.values()))


def _panel(name: str, main: Sequence[str]) -> str | None:
    return ADVANCED if main and name not in main else None


def _in_panel(hint: Any, panel: str | None) -> Any:
    kind, info = get_args(hint)
    if isinstance(info, OptionInfo):
        info = copy(info)
        info.rich_help_panel = panel
    return Annotated[kind, info]


def _setting_parameters(setting: SettingOption, panel: str | None) -> Iterator[inspect.Parameter]:
    """One option. A switch has two flags, --NAME and --no-NAME; the help shows the one that changes the default."""
    help = f"turn off (on by default): {setting.help}" if setting.default is True else setting.help
    shared: Any = {"metavar": setting.metavar, "help": escape(help), "rich_help_panel": panel, "show_default": False}
    name, flag = _SETTING_PREFIX + setting.name, flag_of(setting.name)
    if not setting.is_switch:
        complete = (lambda: list(setting.choices)) if setting.choices else None
        yield _parameter(name, flag, Annotated[str | None, typer.Option(autocompletion=complete, **shared)], None)
        return
    for on, switch in ((True, flag), (False, f"--no-{flag.removeprefix('--')}")):
        hint = Annotated[bool, typer.Option(hidden=on is setting.default, **shared)]
        yield _parameter(name if on else _NEGATED_PREFIX + name, switch, hint, False)


def _parameter(name: str, flag: str, hint: Any, default: Any) -> inspect.Parameter:
    kind, info = get_args(hint)
    if isinstance(info, OptionInfo):
        info = copy(info)
        info.param_decls = (flag,)  # otherwise typer adds --no-json to --json
    empty = inspect.Parameter.empty
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[kind, info],
        default=empty if default is MISSING else default,
    )  # fmt: skip


def _build_options(options: type[Options], values: dict[str, Any]) -> Options:
    """The options object, from what typer has parsed."""
    own: dict[str, Any] = {}
    settings: dict[str, str] = {}
    for name, value in values.items():
        setting = name.removeprefix(_NEGATED_PREFIX).removeprefix(_SETTING_PREFIX)
        if setting == name:
            own[name] = value
        elif value is True:
            settings[setting] = str(not name.startswith(_NEGATED_PREFIX)).lower()
        elif value not in (None, False):
            settings[setting] = value
    for name, hint in get_type_hints(options, include_extras=True).items():
        if _setting_options(hint) is not None:
            own[name] = settings
    return options(**own)


def _setting_options(hint: Any) -> SettingOptions | None:
    return next((part for part in get_args(hint)[1:] if isinstance(part, SettingOptions)), None)
