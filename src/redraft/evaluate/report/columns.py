"""How each figure is shown: its title, its digits, and which way is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from redraft.evaluate.scores import Comparison, Scores


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    digits: int = 2
    better: Literal["higher", "lower", ""] = "higher"
    words: tuple[str, str] = ("better", "worse")
    about: str = ""


COLUMNS: dict[str, Column] = {
    "sari": Column("SARI", about="words added, kept and deleted as people do"),
    "add": Column("add"),
    "keep": Column("keep"),
    "del": Column("del"),
    "bleu": Column("BLEU", about="n-grams shared with the references"),
    "bertscore": Column("BERTScore"),
    "bertscore_precision": Column("BERTScore P"),
    "bertscore_recall": Column("BERTScore R"),
    "fkgl": Column("FKGL", better="lower", words=("easier", "harder"), about="school grade needed to read it"),
    "len": Column("Len", better="", about="words a sentence"),
    "compression": Column("compression", better="", about="characters of the output for each of the source"),
    "copies": Column("copies %", 1, better="", about="outputs equal to their source"),
    "added": Column("added %", 1, better="", about="words that the source lacks"),
    "deleted": Column("deleted %", 1, better="", about="words of the source that are gone"),
    "satisfied_insert": Column("insertions %", 1, about="satisfied"),
    "satisfied_delete": Column("deletions %", 1, about="satisfied"),
    "satisfied_substitute": Column("substitutions %", 1, about="satisfied"),
    "satisfied_split": Column("splits %", 1, about="satisfied"),
    "satisfied": Column("edits %", 1, about="satisfied, of all kinds but splits"),
    "strict_insert": Column("insertions, strict %", 1),
    "strict_delete": Column("deletions, strict %", 1),
    "strict_substitute": Column("substitutions, strict %", 1),
    "strict": Column("edits, strict %", 1),
    "precision_insert": Column("insertions, precision %", 1),
    "precision_delete": Column("deletions, precision %", 1),
    "precision_substitute": Column("substitutions, precision %", 1),
    "recall_insert": Column("insertions, recall %", 1),
    "recall_delete": Column("deletions, recall %", 1),
    "recall_substitute": Column("substitutions, recall %", 1),
}


def shown_columns(systems: Sequence[Scores]) -> list[str]:
    """The figures that have a column, in the order of the table."""
    return [name for name in COLUMNS if any(name in system.figures for system in systems)]


def shown_value(system: Scores, name: str) -> str:
    value = system.figures[name].value if name in system.figures else None
    return "–" if value is None else f"{value:.{COLUMNS[name].digits}f}"


def shown_interval(system: Scores, name: str) -> str:
    ends = system.figures[name].interval if name in system.figures else None
    digits = COLUMNS[name].digits
    return "" if ends is None else f"[{ends[0]:.{digits}f}, {ends[1]:.{digits}f}]"


def best_of(systems: Sequence[Scores], name: str) -> set[str]:
    """The names of the systems that are best by a figure as it is shown."""
    shown = {system.name: shown_value(system, name) for system in systems}
    values = {system: float(value) for system, value in shown.items() if value != "–"}
    if len(values) < 2 or not COLUMNS[name].better:
        return set()
    best = max(values.values()) if COLUMNS[name].better == "higher" else min(values.values())
    return {system for system, value in values.items() if value == best}


def better(comparison: Comparison) -> str | None:
    """The system that is better, if the test says so and the figure has a better side."""
    column = COLUMNS.get(comparison.figure, Column(""))
    if not comparison.sure or not column.better:
        return None
    return comparison.other if (comparison.difference > 0) == (column.better == "higher") else comparison.one


def said(comparison: Comparison) -> str:
    """A comparison as a sentence."""
    column = COLUMNS[comparison.figure]
    p = f"p = {comparison.p:.4f}"
    numbers = (f"{number:+.{column.digits}f}" for number in (comparison.difference, comparison.low, comparison.high))
    change = "{} [{}, {}]".format(*numbers)
    gap = f"{change.replace('-', '−')}, {p}"
    if not comparison.sure:
        return f"{column.title}: {comparison.other} and {comparison.one} cannot be told apart here ({gap})."
    word = "higher" if comparison.difference > 0 else "lower"
    if column.better:
        word = column.words[better(comparison) != comparison.other]
    return f"{column.title}: {comparison.other} is {word} than {comparison.one} ({gap})."
