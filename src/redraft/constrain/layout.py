"""One plan's clauses laid out as flat arrays, ready to be stacked with others into a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redraft.constrain.clauses import Clause, CompiledPlan, Variant

ALWAYS = -1  # in `offers`: the other side stood there complete


@dataclass(frozen=True, eq=False)
class Cover:
    """An occurrence of `clause` that ended `age` tokens ago lies inside a longer phrase that has come to `position`."""

    clause: int
    age: int
    position: int


@dataclass(frozen=True, eq=False)
class Layout:
    """Every token of every variant has a *position*; the tokens of a variant stand side by side.

    The automaton of a row is one bit a position: "the row ends with this variant's tokens up to here". A token moves every
    bit to the next position or clears it, so matching resumes by itself at every prefix that still fits.
    """

    tokens: list[int]  # (position,)
    first: list[bool]  # (position,) starts a variant
    starts: list[tuple[bool, ...]]  # (position, tail) where a variant may start; only read where `first`
    clause_of: list[int]  # (position,)
    offers: list[list[int]]  # (position, …) positions of the other side that part here, or ALWAYS
    finals: list[int]  # (variant,) position of its last token
    final_clause: list[int]  # (variant,)
    late: list[list[int]]  # (variant, …) positions of longer variants of the other side, tested one token later
    covers: list[Cover]
    final_covers: list[Cover]  # the same where the longer phrase is complete


def lay_out(compiled: CompiledPlan) -> Layout:
    clauses = compiled.clauses
    begin: dict[tuple[int, int], int] = {}  # (clause, variant) → first position
    layout = Layout([], [], [], [], [], [], [], [], [], [])
    for number, clause in enumerate(clauses):
        for index, variant in enumerate(clause.variants):
            begin[number, index] = len(layout.tokens)
            layout.tokens.extend(variant.tokens)
            layout.first.extend([True] + [False] * (len(variant.tokens) - 1))
            layout.starts.extend([variant.starts] * len(variant.tokens))
            layout.clause_of.extend([number] * len(variant.tokens))
            layout.finals.append(len(layout.tokens) - 1)
            layout.final_clause.append(number)
            layout.late.append([])
    layout.offers.extend([] for _ in layout.tokens)
    variant_of = {place: row for row, place in enumerate(begin)}
    for left in range(len(clauses) - 1):  # the two sides of a substitution are neighbours
        if clauses[left].role == "source":
            for own, other in ((left, left + 1), (left + 1, left)):
                _add_offers(layout, clauses, own, other, begin, variant_of)
    _add_covers(layout, clauses, begin)
    return layout


def _add_offers(
    layout: Layout,
    clauses: Sequence[Clause],
    own: int,
    other: int,
    begin: dict[tuple[int, int], int],
    variant_of: dict[tuple[int, int], int],
) -> None:
    """Where each variant of one side parts from each of the other, and which token would have been the other's."""
    for i, x in enumerate(clauses[own].variants):
        for j, y in enumerate(clauses[other].variants):
            k = _parting(x.tokens, y.tokens)
            if k == len(y.tokens):
                layout.offers[begin[own, i] + k].append(ALWAYS)
            elif k == len(x.tokens):
                layout.late[variant_of[own, i]].append(begin[other, j] + k)
            else:
                layout.offers[begin[own, i] + k].append(begin[other, j] + k)


def _parting(left: Sequence[int], right: Sequence[int]) -> int:
    """The first index at which two sequences differ, or the length of the shorter."""
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return index
    return min(len(left), len(right))


def _add_covers(layout: Layout, clauses: Sequence[Clause], begin: dict[tuple[int, int], int]) -> None:
    longer = [
        (begin[number, index], variant)
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
                    for end in _ends_inside(inner, outer):
                        _add_cover(layout, number, place, end, len(outer.tokens) - 1)


def _ends_inside(inner: Variant, outer: Variant) -> list[int]:
    """The indices in the outer variant's tokens at which the inner one ends."""
    if inner.words >= outer.words:
        return []
    size = len(inner.tokens)
    return [at + size - 1 for at in range(len(outer.tokens) - size + 1) if outer.tokens[at : at + size] == inner.tokens]


def _add_cover(layout: Layout, clause: int, place: int, end: int, last: int) -> None:
    for index in range(end, last):
        layout.covers.append(Cover(clause, index - end, place + index))
    layout.final_covers.append(Cover(clause, last - end, place + last))
