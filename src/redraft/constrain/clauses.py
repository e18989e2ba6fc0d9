"""A plan compiled to tokens, as plain data: input of both the tensor search and the reference search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from redraft.constrain.word_boundaries import BoundaryTables
from redraft.plan.edits import EditPlan

Role = Literal["insert", "delete", "source", "target"]


@dataclass(frozen=True, slots=True)
class Variant:
    """One token sequence of a phrase."""

    tokens: tuple[int, ...]
    starts: tuple[bool, ...]  # (state,) whether the phrase may start in each boundary state
    words: int


@dataclass(frozen=True, slots=True)
class Clause:
    """Alternative phrases for one side of one edit."""

    role: Role
    edit: int  # index in the plan
    threshold: int  # insert: occurrences required; delete and source: occurrences allowed
    variants: tuple[Variant, ...]
    place: int = -1  # character offset of the edit in the source; -1: unknown


@dataclass(frozen=True, eq=False)
class CompiledPlan:
    """The clauses of a plan for one tokenizer. An edit that cannot be tokenized has a reason instead of clauses."""

    plan: EditPlan
    clauses: tuple[Clause, ...]
    impossible: dict[int, str]  # edit index → reason
    tables: BoundaryTables
