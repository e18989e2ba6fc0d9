"""The clauses of one plan as flat arrays, ready to be stacked into a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redraft.constrain.clauses import Clause, CompiledPlan, Variant
from redraft.constrain.word_boundaries import BoundaryTables

ALWAYS = -1  # in `offers`: the other side was complete at this point


@dataclass(frozen=True, eq=False)
class Cover:
    """An occurrence of `clause` that ended `age` tokens ago is inside a longer phrase matched up to `position`."""

    clause: int
    age: int
    position: int


@dataclass(frozen=True, eq=False)
class ClauseArrays:
    """Every token of every variant has a *position*; the positions of a variant are consecutive.

    A bit-parallel (Shift-And) automaton has one bit for each position: "the text ends with this variant's tokens up to
    here". Each new token moves every bit to the next position or clears it, so after a mismatch the matching continues
    with every shorter prefix that still fits.
    """

    tokens: list[int]  # (position,)
    first: list[bool]  # (position,) is the first token of a variant
    starts: list[tuple[bool, ...]]  # (position, state) whether a variant may start; read only where `first`
    clause_of: list[int]  # (position,)
    offers: list[tuple[int, ...]]  # (position, …) alternative positions of the other side at a divergence, or ALWAYS
    finals: list[int]  # (variant,) position of its last token
    final_clause: list[int]  # (variant,)
    late: list[tuple[int, ...]]  # (variant, …) positions that extend it to a variant of the other side
    covers: list[Cover]
    final_covers: list[Cover]  # the same for complete longer phrases


def layout_plan(compiled: CompiledPlan) -> ClauseArrays:
    clauses = compiled.clauses
    layout = ClauseArrays([], [], [], [], [], [], [], [], [], [])
    first_positions: list[list[int]] = []  # (clause, variant)
    for number, clause in enumerate(clauses):
        first_positions.append([])
        for variant in clause.variants:
            size = len(variant.tokens)
            first_positions[-1].append(len(layout.tokens))
            layout.tokens.extend(variant.tokens)
            layout.first.append(True)
            layout.first.extend([False] * (size - 1))
            layout.starts.extend([variant.starts] * size)
            layout.clause_of.extend([number] * size)
            layout.finals.append(len(layout.tokens) - 1)
            layout.final_clause.append(number)
    layout.offers.extend([()] * len(layout.tokens))
    layout.late.extend([()] * len(layout.finals))
    for left in range(len(clauses) - 1):  # the two sides of a substitution are adjacent
        if clauses[left].role == "source":
            _add_offers(layout, clauses[left], clauses[left + 1], first_positions[left], first_positions[left + 1])
    _add_covers(layout, clauses, first_positions, compiled.tables)
    return layout


def _add_offers(
    layout: ClauseArrays, left: Clause, right: Clause, left_starts: list[int], right_starts: list[int]
) -> None:
    """For each pair of variants of the two sides: where they diverge, and the token that continues the other side."""
    left_row = layout.final_clause.index(layout.clause_of[left_starts[0]]) if left_starts else 0
    right_row = left_row + len(left_starts)
    for i, (x, x_start) in enumerate(zip(left.variants, left_starts, strict=True)):
        for j, (y, y_start) in enumerate(zip(right.variants, right_starts, strict=True)):
            k = _first_difference(x.tokens, y.tokens)
            if k == len(x.tokens):
                layout.offers[y_start + k] += (ALWAYS,)
                layout.late[left_row + i] += (y_start + k,)
            elif k == len(y.tokens):
                layout.offers[x_start + k] += (ALWAYS,)
                layout.late[right_row + j] += (x_start + k,)
            else:
                layout.offers[x_start + k] += (y_start + k,)
                layout.offers[y_start + k] += (x_start + k,)


def _first_difference(left: Sequence[int], right: Sequence[int]) -> int:
    """The first index at which two sequences differ, or the length of the shorter."""
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return index
    return min(len(left), len(right))


def _add_covers(
    layout: ClauseArrays, clauses: Sequence[Clause], first_positions: list[list[int]], tables: BoundaryTables
) -> None:
    longer = [
        (first_positions[number][index], variant)
        for number, clause in enumerate(clauses)
        if clause.role in ("insert", "target")
        for index, variant in enumerate(clause.variants)
        if variant.words > 1
    ]
    if not longer:
        return
    for number, clause in enumerate(clauses):
        if clause.role in ("delete", "source"):
            for inner in clause.variants:
                for place, outer in longer:
                    for end in _ends_inside(inner, outer, tables):
                        _add_cover(layout, number, place, end, len(outer.tokens) - 1)


def _ends_inside(inner: Variant, outer: Variant, tables: BoundaryTables) -> list[int]:
    """The token indices of the outer variant at which an occurrence of the inner one ends."""
    if inner.words >= outer.words:
        return []
    size = len(inner.tokens)
    return [
        at + size - 1
        for at in range(len(outer.tokens) - size + 1)
        if outer.tokens[at : at + size] == inner.tokens and _may_start(inner, outer, at, tables)
    ]


def _may_start(inner: Variant, outer: Variant, at: int, tables: BoundaryTables) -> bool:
    """Whether a word boundary allows the inner variant to start here, unlike "art" in "start up"."""
    states = {state for state, may in enumerate(outer.starts) if may}
    for token in outer.tokens[:at]:
        states = {int(tables.next_state[state, token]) for state in states}
    return any(inner.starts[state] for state in states)


def _add_cover(layout: ClauseArrays, clause: int, place: int, end: int, last: int) -> None:
    for index in range(end, last):
        layout.covers.append(Cover(clause, index - end, place + index))
    layout.final_covers.append(Cover(clause, last - end, place + last))
