"""How each score is displayed: title, digits, and whether higher or lower is better."""

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
    "sari": Column("SARI", about="n-grams added, kept and deleted as in the references"),
    "add": Column("add"),
    "keep": Column("keep"),
    "del": Column("del"),
    "bleu": Column("BLEU", about="n-grams shared with the references"),
    "bertscore": Column("BERTScore"),
    "bertscore_precision": Column("BERTScore P"),
    "bertscore_recall": Column("BERTScore R"),
    "fkgl": Column("FKGL", better="lower", words=("easier", "harder"), about="US school grade needed to read the text"),
    "len": Column("Len", better="", about="words per sentence"),
    "compression": Column("compression", better="", about="output characters / source characters"),
    "copies": Column("copies %", 1, better="", about="outputs equal to their source"),
    "added": Column("added %", 1, better="", about="words of the output that are not in the source"),
    "deleted": Column("deleted %", 1, better="", about="words of the source that are not in the output"),
    "satisfied_insert": Column("insertions %", 1, about="satisfied"),
    "satisfied_delete": Column("deletions %", 1, about="satisfied"),
    "satisfied_substitute": Column("substitutions %", 1, about="satisfied"),
    "satisfied_split": Column("splits %", 1, about="satisfied"),
    "satisfied": Column("edits %", 1, about="satisfied, all kinds except splits"),
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


def figure_columns(systems: Sequence[Scores]) -> list[str]:
    """The scores that have a column, in the order of the table."""
    return [name for name in COLUMNS if any(name in system.figures for system in systems)]


def format_value(system: Scores, name: str) -> str:
    value = system.figures[name].value if name in system.figures else None
    return "–" if value is None else f"{value:.{COLUMNS[name].digits}f}"


def format_interval(system: Scores, name: str) -> str:
    ends = system.figures[name].interval if name in system.figures else None
    digits = COLUMNS[name].digits
    return "" if ends is None else f"[{ends[0]:.{digits}f}, {ends[1]:.{digits}f}]"


def best_systems(systems: Sequence[Scores], name: str) -> set[str]:
    """The names of the systems with the best displayed value."""
    shown = {system.name: format_value(system, name) for system in systems}
    values = {system: float(value) for system, value in shown.items() if value != "–"}
    if len(values) < 2 or not COLUMNS[name].better:
        return set()
    best = max(values.values()) if COLUMNS[name].better == "higher" else min(values.values())
    return {system for system, value in values.items() if value == best}


def better_system(comparison: Comparison) -> str | None:
    """The better system, if the difference is significant and the score has a better direction."""
    column = COLUMNS.get(comparison.figure, Column(""))
    if not comparison.significant or not column.better:
        return None
    return comparison.other if (comparison.difference > 0) == (column.better == "higher") else comparison.one


def describe_comparison(comparison: Comparison) -> str:
    """The comparison as a sentence."""
    column = COLUMNS[comparison.figure]
    p = f"p = {comparison.p:.4f}"
    values = (f"{number:+.{column.digits}f}" for number in (comparison.difference, comparison.low, comparison.high))
    change = "{} [{}, {}]".format(*values)
    details = f"{change.replace('-', '−')}, {p}"
    if not comparison.significant:
        return f"{column.title}: {comparison.other} and {comparison.one} do not differ significantly ({details})."
    word = "higher" if comparison.difference > 0 else "lower"
    if column.better:
        word = column.words[better_system(comparison) != comparison.other]
    return f"{column.title}: {comparison.other} is {word} than {comparison.one} ({details})."
