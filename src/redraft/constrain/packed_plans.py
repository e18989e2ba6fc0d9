"""A batch of compiled plans as padded tensors: the only form in which the search sees edits."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from redraft.constrain.clause_arrays import ALWAYS, ClauseArrays, Cover, lay_out
from redraft.constrain.clauses import Clause, CompiledPlan
from redraft.constrain.word_boundaries import STATES, BoundaryTables
from redraft.text.words import Closes

_WORD = 62  # bits of a group key kept in one int64
Price = Callable[[CompiledPlan, Clause], int]


@dataclass(frozen=True, eq=False)
class Tables:
    """The tail tables of a tokenizer on a device, widened to the model's vocabulary."""

    next_tail: Tensor  # (tail, vocab) int64
    closes: Tensor  # (tail, vocab) uint8
    always_closes: Tensor  # (tail,)


@dataclass(frozen=True, eq=False)
class Nesting:
    """Deletions and sources that may occur inside a longer phrase of the plan; positions as in ClauseArrays."""

    clause: Tensor  # (batch, inner) the clause, padded by the number of clauses
    cover: Tensor  # (batch, inner, age, n) positions of unfinished longer phrases
    final: Tensor  # (batch, inner, age, n) positions of finished ones
    final_waits: Tensor  # (batch, inner, age, n) … that are settled with the next token only


@dataclass(frozen=True, eq=False)
class PackedPlans:
    """Axes: position, variant and clause of ClauseArrays, and the distinct tokens of a plan, all padded.

    The last two of the distinct tokens stand for one that is never on offer and one that always is. A padded position
    or variant belongs to the clause one past the end.
    """

    tokens: Tensor  # (batch, position) -1 where padded
    first: Tensor  # (batch, position)
    starts: Tensor  # (batch, position, tail)
    clause_of: Tensor  # (batch, position)
    deletes: Tensor  # (batch, position) belongs to a deletion
    offers: Tensor  # (batch, position, n) distinct tokens of the other side that part here
    finals: Tensor  # (batch, variant) position of its last token
    final_tokens: Tensor  # (batch, variant) -1 where padded
    final_clause: Tensor  # (batch, variant)
    late: Tensor | None  # (batch, variant, n) distinct tokens tested one token later; None: nowhere in the batch
    waits: Tensor | None  # (batch, variant) has such tokens, so it is settled with the next token only
    unique: Tensor  # (batch, distinct) each token once, -1 where padded
    unique_of: Tensor  # (batch, position)
    insert: Tensor  # (batch, clause)
    delete: Tensor  # (batch, clause)
    source: Tensor  # (batch, clause)
    target: Tensor  # (batch, clause)
    need: Tensor  # (batch, clause)
    place: Tensor  # (batch, clause) where in the source; -1: anywhere
    value: Tensor  # (batch, clause) λ in whole 1e-6
    bit: Tensor  # (batch, clause, word) the bit of its edit in a group key; 0 for sources
    nesting: Nesting | None
    tables: Tables

    @property
    def positions(self) -> int:
        return self.tokens.shape[1]

    @property
    def clauses(self) -> int:
        return self.need.shape[1]


_LAYOUTS: weakref.WeakKeyDictionary[CompiledPlan, ClauseArrays] = weakref.WeakKeyDictionary()


def layout_of(compiled: CompiledPlan) -> ClauseArrays:
    if compiled not in _LAYOUTS:
        _LAYOUTS[compiled] = lay_out(compiled)
    return _LAYOUTS[compiled]


def pack(
    plans: Sequence[CompiledPlan], price: Price, vocab: int, device: torch.device, *, roomy: bool = False
) -> PackedPlans:
    """Stack plans that share a tokenizer. `price` gives the λ of a clause.

    `roomy` rounds every size up, so that batches of like plans have equal shapes and a captured step fits them all.
    """
    layouts = [layout_of(plan) for plan in plans]

    def size(needed: int, step: int) -> int:
        return -(-max(1, needed) // step) * step if roomy else max(1, needed)

    positions = size(max(len(layout.tokens) for layout in layouts), 64)
    clauses = size(max(len(plan.clauses) for plan in plans), 16)

    def pad(rows: Sequence[Sequence[int]], fill: int, width: int | None = None) -> Tensor:
        wide = width if width is not None else size(max(len(row) for row in rows), 64)
        array = np.full((len(rows), wide), fill, dtype=np.int64)
        for place, row in enumerate(rows):
            array[place, : len(row)] = row
        return torch.from_numpy(array).to(device)

    def pad_lists(rows: Sequence[Sequence[Sequence[int]]], fill: int, width: int) -> Tensor:
        deep = size(max((len(cell) for row in rows for cell in row), default=0), 4)
        array = np.full((len(rows), width, deep), fill, dtype=np.int64)
        for place, row in enumerate(rows):
            for column, cell in enumerate(row):
                if cell:
                    array[place, column, : len(cell)] = cell
        return torch.from_numpy(array).to(device)

    def role(name: str) -> Tensor:
        return pad([[int(clause.role == name) for clause in plan.clauses] for plan in plans], 0, clauses).bool()

    uniques = [{token: place for place, token in enumerate(dict.fromkeys(layout.tokens))} for layout in layouts]
    tokens = size(2 + max(len(unique) for unique in uniques), 64)
    never, always = tokens - 2, tokens - 1

    def asked(layout: ClauseArrays, unique: dict[int, int], places: Sequence[int]) -> list[int]:
        """The distinct tokens at these positions."""
        if not places:
            return []
        return list({always if place == ALWAYS else unique[layout.tokens[place]] for place in places})

    known = list(zip(layouts, uniques, strict=True))
    waits = any(places for layout in layouts for places in layout.late)
    variants = size(max(len(layout.finals) for layout in layouts), 64)
    starts = np.zeros((len(plans), positions, STATES), dtype=bool)
    for place, layout in enumerate(layouts):
        if layout.starts:
            starts[place, : len(layout.starts)] = layout.starts
    words = max(1, -(-max((len(plan.plan.edits) for plan in plans), default=1) // _WORD))
    return PackedPlans(
        tokens=pad([layout.tokens for layout in layouts], -1, positions),
        first=pad([[int(bit) for bit in layout.first] for layout in layouts], 0, positions).bool(),
        starts=torch.from_numpy(starts).to(device),
        clause_of=pad([layout.clause_of for layout in layouts], clauses, positions),
        deletes=pad(
            [
                [deleting[clause] for clause in layout.clause_of]
                for plan, layout in zip(plans, layouts, strict=True)
                for deleting in [[int(clause.role == "delete") for clause in plan.clauses]]
            ],
            0,
            positions,
        ).bool(),
        offers=pad_lists([[asked(*both, places) for places in both[0].offers] for both in known], never, positions),
        finals=pad([layout.finals for layout in layouts], 0, variants),
        final_tokens=pad([[layout.tokens[place] for place in layout.finals] for layout in layouts], -1, variants),
        final_clause=pad([layout.final_clause for layout in layouts], clauses, variants),
        late=pad_lists([[asked(*both, places) for places in both[0].late] for both in known], never, variants)
        if waits
        else None,
        waits=pad([[int(bool(places)) for places in layout.late] for layout in layouts], 0, variants).bool()
        if waits
        else None,
        unique=pad([list(unique) for unique in uniques], -1, tokens),
        unique_of=pad([[unique[token] for token in layout.tokens] for layout, unique in known], never, positions),
        insert=role("insert"),
        delete=role("delete"),
        source=role("source"),
        target=role("target"),
        need=pad([[clause.need for clause in plan.clauses] for plan in plans], 0, clauses),
        place=pad([[clause.place for clause in plan.clauses] for plan in plans], -1, clauses),
        value=pad([[price(plan, clause) for clause in plan.clauses] for plan in plans], 0, clauses),
        bit=torch.stack(
            [
                pad([[_bit(clause, word) for clause in plan.clauses] for plan in plans], 0, clauses)
                for word in range(words)
            ],
            dim=-1,
        ),
        nesting=_pack_nesting(layouts, positions, clauses, device, size),
        tables=tables_on(plans[0].tables, vocab, device),
    )


def _bit(clause: Clause, word: int) -> int:
    own, place = divmod(clause.edit, _WORD)
    return 1 << place if own == word and clause.role != "source" else 0


def _pack_nesting(
    layouts: Sequence[ClauseArrays], positions: int, clauses: int, device: torch.device, size: Callable[[int, int], int]
) -> Nesting | None:
    inner = [sorted({cover.clause for cover in layout.final_covers}) for layout in layouts]
    if not any(inner):
        return None
    ages = size(2 + max(cover.age for layout in layouts for cover in layout.final_covers), 4)
    wide = size(max(len(row) for row in inner), 4)

    def table(covers: Sequence[Sequence[Cover]]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        cells: dict[tuple[int, int, int], list[int]] = {}
        for place, row in enumerate(covers):
            for cover in row:
                cells.setdefault((place, inner[place].index(cover.clause), cover.age), []).append(cover.position)
        deep = size(max((len(cell) for cell in cells.values()), default=0), 4)
        array = np.full((len(layouts), wide, ages, deep), positions, dtype=np.int64)
        for (place, row_, age), cell in cells.items():
            array[place, row_, age, : len(cell)] = cell
        return array

    final = table([layout.final_covers for layout in layouts])
    waits = np.zeros(final.shape, dtype=bool)
    for place, layout in enumerate(layouts):
        late = {position for position, places in zip(layout.finals, layout.late, strict=True) if places}
        waits[place] = np.isin(final[place], sorted(late))
    clause = np.full((len(layouts), wide), clauses, dtype=np.int64)
    for place, row in enumerate(inner):
        clause[place, : len(row)] = row
    return Nesting(
        clause=torch.from_numpy(clause).to(device),
        cover=torch.from_numpy(table([layout.covers for layout in layouts])).to(device),
        final=torch.from_numpy(final).to(device),
        final_waits=torch.from_numpy(waits).to(device),
    )


_TABLES: weakref.WeakKeyDictionary[BoundaryTables, dict[tuple[int, str], Tables]] = weakref.WeakKeyDictionary()


def tables_on(tables: BoundaryTables, vocab: int, device: torch.device) -> Tables:
    """The tables on a device, once. Ids beyond the tokenizer's (padded output layers) never close a word."""
    known = _TABLES.setdefault(tables, {})
    key = (vocab, str(device))
    if key not in known:
        size = tables.closes.shape[1]
        # One column more than the model can choose: the last stands for "no token".
        after = np.tile(np.arange(STATES, dtype=np.int64)[:, None], max(vocab, size) + 1)
        closes = np.full((STATES, max(vocab, size) + 1), Closes.LATER, dtype=np.uint8)
        after[:, :size], closes[:, :size] = tables.next_tail, tables.closes
        known[key] = Tables(
            torch.from_numpy(after).to(device),
            torch.from_numpy(closes).to(device),
            torch.from_numpy(tables.always_closes).to(device),
        )
    return known[key]
