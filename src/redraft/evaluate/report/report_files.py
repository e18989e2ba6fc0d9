"""Write reports to files; the suffix selects the format."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from redraft.errors import ConfigError
from redraft.evaluate.report.columns import better_system
from redraft.evaluate.report.page import to_html
from redraft.evaluate.report.score_tables import to_latex, to_markdown
from redraft.evaluate.scores import Comparison, Scores
from redraft.files import atomic_write

Writer = Callable[[Sequence[Scores], Sequence[Comparison]], str]

WRITERS: dict[str, Writer] = {
    ".html": to_html,
    ".md": to_markdown,
    ".tex": to_latex,
    ".json": lambda systems, comparisons: json_text(to_json(systems, comparisons), indent=1) + "\n",
}


def check_report(path: str, inputs: Iterable[str] = ()) -> None:
    """Refuse, before any scoring, a report path that cannot be written or is also an input."""
    if os.path.realpath(path) in map(os.path.realpath, inputs):
        raise ConfigError(f"--report {path} is also an input.", "Give another file name.")
    if os.path.splitext(path)[1] not in WRITERS:
        raise ConfigError(
            f"--report {path}: the report format is not known.", f"Use one of these suffixes: {', '.join(WRITERS)}."
        )
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path) or "."):
        raise ConfigError(f"--report {path} cannot be written.", "Give a file in an existing folder.")


def write_report(path: str, systems: Sequence[Scores], comparisons: Sequence[Comparison] = ()) -> None:
    check_report(path)
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        raise ConfigError(f"two systems have the same name: {', '.join(names)}.", "Give each system a different name.")
    write_report_text(path, WRITERS[os.path.splitext(path)[1]](systems, comparisons))


def write_report_text(path: str, text: str) -> None:
    with atomic_write(Path(os.path.realpath(path))) as file:
        file.write(text.encode("utf-8"))


def to_json(systems: Sequence[Scores], comparisons: Sequence[Comparison] = ()) -> list[dict[str, Any]]:
    """One object per system; the comparison with the first system is under `compared`."""
    objects = []
    for system in systems:
        obj = system.to_json()
        compared = {one.figure: _comparison_json(one) for one in comparisons if one.other == system.name}
        objects.append({**obj, "compared": compared} if compared else obj)
    return objects


def json_text(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


def _comparison_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "with": comparison.one,
        "difference": comparison.difference,
        "interval": [comparison.low, comparison.high],
        "p": comparison.p,
        "better": better_system(comparison),
        "test": comparison.test,
    }
