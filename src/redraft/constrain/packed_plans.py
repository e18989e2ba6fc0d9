"""A batch of compiled plans as padded tensors, the representation that the search uses."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from redraft.constrain.clause_arrays import ALWAYS, ClauseArrays, Cover, layout_plan
from redraft.constrain.clauses import Clause, CompiledPlan
from redraft.constrain.word_boundaries import STATES, BoundaryTables
from redraft.text.words import Boundary

_KEY_BITS = 62  # bits of a group key in one int64
ClauseWeight = Callable[[CompiledPlan, Clause], int]


@dataclass(frozen=True, eq=False)
class DeviceTables:
    """The boundary tables of a tokenizer on a device, padded to the model's vocabulary."""

    next_state: Tensor  # (state, vocab) int64
    boundary: Tensor  # (state, vocab) uint8
    always_boundary: Tensor  # (state,)


@dataclass(frozen=True, eq=False)
class NestedPhrases:
    """Deleted and source phrases that may occur inside a longer phrase of the plan; positions as in ClauseArrays."""

    clause: Tensor  # (batch, inner) clause index, padded with the number of clauses
    cover: Tensor  # (batch, inner, age, n) positions in incomplete longer phrases
    final: Tensor  # (batch, inner, age, n) last positions of complete longer phrases
    final_waits: Tensor  # (batch, inner, age, n) whether the next token is needed to decide them


@dataclass(frozen=True, eq=False)
class PackedPlans:
    """Axes: position, variant and clause as in ClauseArrays, and the distinct tokens of a plan, all padded.

    The last two distinct tokens are dummies: one is never available, the other always. Padded positions and variants
    belong to the clause index one past the end.
    """

    tokens: Tensor  # (batch, position) -1 where padded
    first: Tensor  # (batch, position)
    starts: Tensor  # (batch, position, state)
    clause_of: Tensor  # (batch, position)
    deletes: Tensor  # (batch, position) is part of a deletion
    offers: Tensor  # (batch, position, n) distinct tokens with which the other side diverges here
    finals: Tensor  # (batch, variant) position of its last token
    final_tokens: Tensor  # (batch, variant) -1 where padded
    final_clause: Tensor  # (batch, variant)
    late: Tensor | None  # (batch, variant, n) distinct tokens checked one token later; None: none in the batch
    waits: Tensor | None  # (batch, variant) has such tokens, so the next token is needed to decide it
    unique: Tensor  # (batch, distinct) each token once, -1 where padded
    unique_of: Tensor  # (batch, position)
    insert: Tensor  # (batch, clause)
    delete: Tensor  # (batch, clause)
    source: Tensor  # (batch, clause)
    target: Tensor  # (batch, clause)
    threshold: Tensor  # (batch, clause)
    place: Tensor  # (batch, clause) character offset in the source; -1: unknown
    value: Tensor  # (batch, clause) λ in units of 1e-6
    bit: Tensor  # (batch, clause, word) the bit of its edit in a group key; 0 for sources
    nested: NestedPhrases | None
    tables: DeviceTables

    @property
    def positions(self) -> int:
        return self.tokens.shape[1]

    @property
    def clauses(self) -> int:
        return self.threshold.shape[1]


_LAYOUTS: weakref.WeakKeyDictionary[CompiledPlan, ClauseArrays] = weakref.WeakKeyDictionary()


def cached_layout(compiled: CompiledPlan) -> ClauseArrays:
    if compiled not in _LAYOUTS:
        _LAYOUTS[compiled] = layout_plan(compiled)
    return _LAYOUTS[compiled]


def pack_plans(
    plans: Sequence[CompiledPlan],
    weight_of: ClauseWeight,
    vocab: int,
    device: torch.device,
    *,
    round_up_sizes: bool = False,
) -> PackedPlans:
    """Stack plans that share a tokenizer. `weight_of` gives the λ of a clause.

    `round_up_sizes` rounds every size up, so that batches of similar plans have equal shapes and can share a captured
    CUDA graph.
    """
    layouts = [cached_layout(plan) for plan in plans]

    def size(needed: int, step: int) -> int:
        return -(-max(1, needed) // step) * step if round_up_sizes else max(1, needed)

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

    def distinct(layout: ClauseArrays, unique: dict[int, int], places: Sequence[int]) -> list[int]:
        """The distinct-token indices at these positions."""
        if not places:
            return []
        return list({always if place == ALWAYS else unique[layout.tokens[place]] for place in places})

    pairs = list(zip(layouts, uniques, strict=True))
    has_late = any(places for layout in layouts for places in layout.late)
    variants = size(max(len(layout.finals) for layout in layouts), 64)
    starts = np.zeros((len(plans), positions, STATES), dtype=bool)
    for place, layout in enumerate(layouts):
        if layout.starts:
            starts[place, : len(layout.starts)] = layout.starts
    words = max(1, -(-max((len(plan.plan.edits) for plan in plans), default=1) // _KEY_BITS))
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
        offers=pad_lists([[distinct(*both, places) for places in both[0].offers] for both in pairs], never, positions),
        finals=pad([layout.finals for layout in layouts], 0, variants),
        final_tokens=pad([[layout.tokens[place] for place in layout.finals] for layout in layouts], -1, variants),
        final_clause=pad([layout.final_clause for layout in layouts], clauses, variants),
        late=pad_lists([[distinct(*both, places) for places in both[0].late] for both in pairs], never, variants)
        if has_late
        else None,
        waits=pad([[int(bool(places)) for places in layout.late] for layout in layouts], 0, variants).bool()
        if has_late
        else None,
        unique=pad([list(unique) for unique in uniques], -1, tokens),
        unique_of=pad([[unique[token] for token in layout.tokens] for layout, unique in pairs], never, positions),
        insert=role("insert"),
        delete=role("delete"),
        source=role("source"),
        target=role("target"),
        threshold=pad([[clause.threshold for clause in plan.clauses] for plan in plans], 0, clauses),
        place=pad([[clause.place for clause in plan.clauses] for plan in plans], -1, clauses),
        value=pad([[weight_of(plan, clause) for clause in plan.clauses] for plan in plans], 0, clauses),
        bit=torch.stack(
            [
                pad([[_bit(clause, word) for clause in plan.clauses] for plan in plans], 0, clauses)
                for word in range(words)
            ],
            dim=-1,
        ),
        nested=_pack_nested(layouts, positions, clauses, device, size),
        tables=device_tables(plans[0].tables, vocab, device),
    )


def _bit(clause: Clause, word: int) -> int:
    own, place = divmod(clause.edit, _KEY_BITS)
    return 1 << place if own == word and clause.role != "source" else 0


def _pack_nested(
    layouts: Sequence[ClauseArrays], positions: int, clauses: int, device: torch.device, size: Callable[[int, int], int]
) -> NestedPhrases | None:
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
    return NestedPhrases(
        clause=torch.from_numpy(clause).to(device),
        cover=torch.from_numpy(table([layout.covers for layout in layouts])).to(device),
        final=torch.from_numpy(final).to(device),
        final_waits=torch.from_numpy(waits).to(device),
    )


_TABLES: weakref.WeakKeyDictionary[BoundaryTables, dict[tuple[int, str], DeviceTables]] = weakref.WeakKeyDictionary()


def device_tables(tables: BoundaryTables, vocab: int, device: torch.device) -> DeviceTables:
    """The cached tables on a device. Ids beyond the tokenizer's (padded output layers) never end a word."""
    cached = _TABLES.setdefault(tables, {})
    key = (vocab, str(device))
    if key not in cached:
        size = tables.boundary.shape[1]
        # One extra column, the last, for "no token".
        after = np.tile(np.arange(STATES, dtype=np.int64)[:, None], max(vocab, size) + 1)
        boundary = np.full((STATES, max(vocab, size) + 1), Boundary.UNDECIDED, dtype=np.uint8)
        after[:, :size], boundary[:, :size] = tables.next_state, tables.boundary
        cached[key] = DeviceTables(
            torch.from_numpy(after).to(device),
            torch.from_numpy(boundary).to(device),
            torch.from_numpy(tables.always_boundary).to(device),
        )
    return cached[key]
