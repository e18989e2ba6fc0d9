"""A plan in tokens, as plain data: what the tensors of the search are packed from and what its slow twin reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from redraft.constrain.word_boundaries import BoundaryTables
from redraft.plan.edits import EditPlan

Role = Literal["insert", "delete", "source", "target"]


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to write a phrase in tokens."""

    tokens: tuple[int, ...]
    starts: tuple[bool, ...]  # (tail,) whether the phrase may start after each tail
    words: int


@dataclass(frozen=True, slots=True)
class Clause:
    """Phrases of which one is enough: one side of one edit."""

    role: Role
    edit: int  # its place in the plan
    need: int  # insert: the occurrence that meets it, from 1; delete and source: the occurrences that are free
    variants: tuple[Variant, ...]
    place: int = -1  # where the edit is in the source, in characters; -1: anywhere


@dataclass(frozen=True, eq=False)
class CompiledPlan:
    """A plan as the clauses of one tokenizer. An edit that cannot be written has no clauses but a reason."""

    plan: EditPlan
    clauses: tuple[Clause, ...]
    impossible: dict[int, str]
    tables: BoundaryTables
