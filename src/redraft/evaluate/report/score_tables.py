"""Score tables as plain text, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence

from redraft.evaluate.report.columns import (
    COLUMNS,
    best_systems,
    describe_comparison,
    figure_columns,
    format_interval,
    format_value,
)
from redraft.evaluate.scores import Comparison, Scores

_PAPER = ("sari", "add", "keep", "del", "bleu", "bertscore", "fkgl", "len")  # the columns that papers report


def to_text(systems: Sequence[Scores], comparisons: Sequence[Comparison] = ()) -> str:
    """For a terminal: one score per row, with its interval."""
    rows = [["", *(system.name for system in systems)]]
    for name in figure_columns(systems):
        rows.append([COLUMNS[name].title, *(_with_interval(system, name) for system in systems)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [f"{heading(systems)}, 95 % intervals"] if _has_intervals(systems) else [heading(systems)]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines += [describe_comparison(comparison) for comparison in comparisons]
    return "\n".join([*lines, *signatures(systems)])


def to_markdown(systems: Sequence[Scores], comparisons: Sequence[Comparison] = ()) -> str:
    """For a README: one system per row, the best score of each column in bold."""
    names = figure_columns(systems)
    lines = [f"{heading(systems)}", "", "| " + " | ".join(["", *(COLUMNS[name].title for name in names)]) + " |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for system in systems:
        cells = [_markdown(system.name)]
        for name in names:
            value = format_value(system, name)
            value = f"**{value}**" if system.name in best_systems(systems, name) else value
            cells.append(f"{value} {format_interval(system, name)}".strip())
        lines.append("| " + " | ".join(cells) + " |")
    if comparisons:
        lines += ["", *(f"* {_markdown(describe_comparison(comparison))}" for comparison in comparisons)]
    return "\n".join([*lines, "", *(f"`{line}`" for line in signatures(systems)), ""])


def to_latex(systems: Sequence[Scores], comparisons: Sequence[Comparison] = ()) -> str:
    """The layout of tables in papers, for `booktabs`. A dagger marks a significant difference from the first system."""
    names = [name for name in figure_columns(systems) if name in _PAPER] or figure_columns(systems)
    significant = {(one.other, one.figure) for one in comparisons if one.significant}
    arrows = {"higher": r" $\uparrow$", "lower": r" $\downarrow$", "": ""}
    head = " & ".join(_latex(COLUMNS[name].title) + arrows[COLUMNS[name].better] for name in names)
    lines = [f"% {line}" for line in signatures(systems)]
    lines += [r"\begin{tabular}{l" + "r" * len(names) + "}", r"\toprule"]
    lines += [rf" & \multicolumn{{{len(names)}}}{{c}}{{{_latex(heading(systems))}}} \\", f" & {head} \\\\", r"\midrule"]
    for system in systems:
        cells = [_latex(system.name)]
        for name in names:
            value = format_value(system, name)
            value = rf"\textbf{{{value}}}" if system.name in best_systems(systems, name) else value
            cells.append(value + (r"$^\dagger$" if (system.name, name) in significant else ""))
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def heading(systems: Sequence[Scores]) -> str:
    corpus = systems[0].corpus
    which = {"first": "the first reference", "all": _counted(len(corpus.references), "reference")}
    references = (
        f", {which.get(corpus.reference_choice, f'reference {corpus.reference_choice}')}" if corpus.references else ""
    )
    return f"{corpus.name}/{corpus.split}: {_counted(len(corpus), 'sentence')}{references}"


def signatures(systems: Sequence[Scores]) -> list[str]:
    """The distinct signatures. Systems scored with the same settings share one."""
    return list(dict.fromkeys(system.signature for system in systems))


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _with_interval(system: Scores, name: str) -> str:
    return f"{format_value(system, name)} {format_interval(system, name)}".strip()


def _has_intervals(systems: Sequence[Scores]) -> bool:
    return any(format_interval(system, name) for system in systems for name in figure_columns(systems))


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", text)


def _latex(text: str) -> str:
    replacements = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    escaped = "".join(replacements.get(sign, f"\\{sign}" if sign in "&%$#_{}" else sign) for sign in text)
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped  # else LaTeX reads it as an argument
