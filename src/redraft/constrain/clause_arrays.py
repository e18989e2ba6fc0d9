"""One plan's clauses laid out as flat arrays, ready to be stacked with others into a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redraft.constrain.clauses import Clause, CompiledPlan, Variant
from redraft.constrain.word_boundaries import BoundaryTables

ALWAYS = -1  # in `offers`: the other side stood there complete


@dataclass(frozen=True, eq=False)
class Cover:
    """An occurrence of `clause` that ended `age` tokens ago lies inside a longer phrase that has come to `position`."""

    clause: int
    age: int
    position: int


@dataclass(frozen=True, eq=False)
class ClauseArrays:
    """Every token of every variant has a *position*; the tokens of a variant stand side by side.

    The automaton of a row is one bit a position: "the row ends with this variant's tokens up to here". A token moves
    every bit to the next position or clears it, so matching resumes by itself at every prefix that still fits.
    """

    tokens: list[int]  # (position,)
    first: list[bool]  # (position,) starts a variant
    starts: list[tuple[bool, ...]]  # (position, tail) where a variant may start; only read where `first`
    clause_of: list[int]  # (position,)
    offers: list[tuple[int, ...]]  # (position, …) positions of the other side that part here, or ALWAYS
    finals: list[int]  # (variant,) position of its last token
    final_clause: list[int]  # (variant,)
    late: list[tuple[int, ...]]  # (variant, …) positions of longer variants of the other side, tested one token later
    covers: list[Cover]
    final_covers: list[Cover]  # the same where the longer phrase is complete


def lay_out(compiled: CompiledPlan) -> ClauseArrays:
    clauses = compiled.clauses
    layout = ClauseArrays([], [], [], [], [], [], [], [], [], [])
    begins: list[list[int]] = []  # (clause, variant) first position
    for number, clause in enumerate(clauses):
        begins.append([])
        for variant in clause.variants:
            size = len(variant.tokens)
            begins[-1].append(len(layout.tokens))
            layout.tokens.extend(variant.tokens)
            layout.first.append(True)
            layout.first.extend([False] * (size - 1))
            layout.starts.extend([variant.starts] * size)
            layout.clause_of.extend([number] * size)
            layout.finals.append(len(layout.tokens) - 1)
            layout.final_clause.append(number)
    layout.offers.extend([()] * len(layout.tokens))
    layout.late.extend([()] * len(layout.finals))
    for left in range(len(clauses) - 1):  # the two sides of a substitution are neighbours
        if clauses[left].role == "source":
            _add_offers(layout, clauses[left], clauses[left + 1], begins[left], begins[left + 1])
    _add_covers(layout, clauses, begins, compiled.tables)
    return layout


def _add_offers(
    layout: ClauseArrays, left: Clause, right: Clause, left_begins: list[int], right_begins: list[int]
) -> None:
    """Where each variant of one side parts from each of the other, and which token would have been the other's."""
    left_row = layout.final_clause.index(layout.clause_of[left_begins[0]]) if left_begins else 0
    right_row = left_row + len(left_begins)
    for i, (x, x_begin) in enumerate(zip(left.variants, left_begins, strict=True)):
        for j, (y, y_begin) in enumerate(zip(right.variants, right_begins, strict=True)):
            k = _parting(x.tokens, y.tokens)
            if k == len(x.tokens):
                layout.offers[y_begin + k] += (ALWAYS,)
                layout.late[left_row + i] += (y_begin + k,)
            elif k == len(y.tokens):
                layout.offers[x_begin + k] += (ALWAYS,)
                layout.late[right_row + j] += (x_begin + k,)
            else:
                layout.offers[x_begin + k] += (y_begin + k,)
                layout.offers[y_begin + k] += (x_begin + k,)


def _parting(left: Sequence[int], right: Sequence[int]) -> int:
    """The first index at which two sequences differ, or the length of the shorter."""
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return index
    return min(len(left), len(right))


def _add_covers(
    layout: ClauseArrays, clauses: Sequence[Clause], begins: list[list[int]], tables: BoundaryTables
) -> None:
    longer = [
        (begins[number][index], variant)
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
    """The indices in the outer variant's tokens at which the inner one ends."""
    if inner.words >= outer.words:
        return []
    size = len(inner.tokens)
    return [
        at + size - 1
        for at in range(len(outer.tokens) - size + 1)
        if outer.tokens[at : at + size] == inner.tokens and _may_start(inner, outer, at, tables)
    ]


def _may_start(inner: Variant, outer: Variant, at: int, tables: BoundaryTables) -> bool:
    """Whether the inner variant can start here, or only its tokens stand here: "art" in "start up"."""
    tails = {tail for tail, may in enumerate(outer.starts) if may}
    for token in outer.tokens[:at]:
        tails = {int(tables.next_tail[tail, token]) for tail in tails}
    return any(inner.starts[tail] for tail in tails)


def _add_cover(layout: ClauseArrays, clause: int, place: int, end: int, last: int) -> None:
    for index in range(end, last):
        layout.covers.append(Cover(clause, index - end, place + index))
    layout.final_covers.append(Cover(clause, last - end, place + last))
