"""The reference implementation of the search, from docs/search.md: loops and lists, every node scored from scratch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from redraft.constrain.clauses import Clause, CompiledPlan, Variant
from redraft.constrain.word_boundaries import BoundaryTables
from redraft.decode.config import DecodeConfig
from redraft.plan.edits import KINDS
from redraft.text.words import Boundary, BoundaryState

MILLION = 1_000_000

NextLogProbs = Callable[[tuple[int, ...]], Sequence[float]]
Siblings = tuple[frozenset[int], ...]  # π of every step; one more than the tokens of the text if it has ended
Outcome = Literal["end-rule", "alpha", "delta", "row", "pool", "unselected", "cut"]


@dataclass(frozen=True)
class ReferenceHypothesis:
    """A finished sentence."""

    tokens: tuple[int, ...]  # with the end token where ended
    log_prob: float
    edit_score: int  # E, in units of 1e-6
    ended: bool  # False: cut at maximum length
    satisfied: frozenset[int]  # edits in S, by their number in the plan


@dataclass(frozen=True)
class ReferenceNode:
    """A node of a step with its scores and outcome, for an observer."""

    row: int
    token: int
    log_prob: float
    E: int
    E_plus: int
    key: frozenset[int]  # S⁺
    outcome: Outcome


@dataclass(frozen=True)
class Occurrence:
    """An occurrence of a clause: one for every token at which a variant of the clause ends."""

    clause: int  # its number in the plan's clauses
    end: int  # its last token
    matches: tuple[tuple[int, Variant], ...]  # first token and variant, of each that ends here
    state: Literal["settled", "pending", "void"]


@dataclass(frozen=True)
class Judgement:
    """The scores of a row, and the edits they come from."""

    score: int  # E
    score_plus: int  # E⁺
    satisfied: frozenset[int]  # S
    satisfied_plus: frozenset[int]  # S⁺
    begun: frozenset[int]  # those of satisfied_plus whose phrase is only partially written
    avoided: frozenset[int]  # deletions
    violated: frozenset[int]  # deletions


@dataclass(frozen=True)
class Weights:
    """Reward and penalty of each edit of the plan, in units of 1e-6."""

    gains: tuple[int, ...]
    losses: tuple[int, ...]
    every_side_offered: bool = False
    begun_counts: bool = False


@dataclass(frozen=True)
class _Row:
    tokens: tuple[int, ...]
    siblings: Siblings
    log_prob: float
    judged: Judgement


@dataclass(frozen=True)
class _Node:
    row: int
    token: int
    likeliest: bool  # first in the list of its row
    is_end: bool
    after: _Row  # the row with this token
    out_of_order: frozenset[int]  # edits of S⁺ that are out of source order


# Judging one row


def judge(
    tokens: tuple[int, ...],
    siblings: Siblings,
    plan: CompiledPlan,
    weights: Weights,
    *,
    end_tokens: Iterable[int] = (),
    cut: bool = False,
) -> Judgement:
    """Scores of a row from all its tokens and the siblings of each; an end or a cut settles everything."""
    ended = bool(tokens) and tokens[-1] in set(end_tokens)
    text = tokens[:-1] if ended else tokens
    final = ended or cut
    occurrences = reference_occurrences(text, plan, final)

    settled_reward: set[int] = set()
    pending_reward: set[int] = set()
    for index, clause in enumerate(plan.clauses):
        mine = [o for o in occurrences if o.clause == index and o.state != "void"]
        settled = [o for o in mine if o.state == "settled"]
        if clause.role == "insert":
            if len(settled) >= clause.threshold:
                settled_reward.add(clause.edit)
            if len(mine) >= clause.threshold:
                pending_reward.add(clause.edit)
        if clause.role == "target":
            for occurrence in mine:
                if weights.every_side_offered or _offered(occurrence, plan, siblings):
                    pending_reward.add(clause.edit)
                    if occurrence.state == "settled":
                        settled_reward.add(clause.edit)

    begun: set[int] = set()
    if weights.begun_counts and not final:
        begun = {c.edit for c in plan.clauses if c.role in ("insert", "target") and _is_begun(c, text, plan)}
        begun -= pending_reward | settled_reward
        pending_reward |= begun

    score = sum(weights.gains[edit] for edit in settled_reward)
    violated: set[int] = set()
    for occurrence in _charged(text, plan, final):
        clause = plan.clauses[occurrence.clause]
        if clause.role == "delete":
            violated.add(clause.edit)
            score -= weights.losses[clause.edit]
        elif weights.every_side_offered or _offered(occurrence, plan, siblings):
            score -= weights.losses[clause.edit]

    avoided = {c.edit for c in plan.clauses if c.role == "delete" and _was_avoided(c, tokens, text, siblings, plan)}
    kept_out = avoided - violated
    return Judgement(
        score=score,
        score_plus=score + sum(weights.gains[edit] for edit in pending_reward - settled_reward),
        satisfied=frozenset(settled_reward | kept_out),
        satisfied_plus=frozenset(pending_reward | settled_reward | kept_out),
        begun=frozenset(begun),
        avoided=frozenset(avoided),
        violated=frozenset(violated),
    )


def reference_occurrences(text: tuple[int, ...], plan: CompiledPlan, final: bool) -> list[Occurrence]:
    """All occurrences of all clauses, sorted by their ends. The text has no end token."""
    boundary_states = _boundary_states(text, plan.tables)
    found: list[Occurrence] = []
    for end in range(len(text)):
        for index, clause in enumerate(plan.clauses):
            matches: list[tuple[int, Variant]] = []
            for variant in clause.variants:
                start = end + 1 - len(variant.tokens)
                if start >= 0 and text[start : end + 1] == variant.tokens and variant.starts[boundary_states[start]]:
                    matches.append((start, variant))
            if not matches:
                continue
            state = _word_state(text, end, boundary_states, plan.tables, final)
            # Of several variants that end here, one that waits for its offer keeps the occurrence pending.
            if state == "settled" and not final and end == len(text) - 1:
                for _, variant in matches:
                    if any(_begins(other.tokens, variant.tokens) for other in _other_side(clause, plan)):
                        state = "pending"
            found.append(Occurrence(index, end, tuple(matches), state))
    return found


def _boundary_states(text: tuple[int, ...], tables: BoundaryTables) -> list[int]:
    """The tail before each token, and after the last."""
    boundary_states = [int(BoundaryState.EDGE)]
    for token in text:
        known = token < tables.next_state.shape[1]  # ids beyond the tokenizer's count as special tokens
        boundary_states.append(int(tables.next_state[boundary_states[-1], token]) if known else boundary_states[-1])
    return boundary_states


def _word_state(
    text: tuple[int, ...], end: int, boundary_states: list[int], tables: BoundaryTables, final: bool
) -> Literal["settled", "pending", "void"]:
    if tables.always_boundary[boundary_states[end + 1]]:
        return "settled"
    for at in range(end + 1, len(text)):
        known = text[at] < tables.boundary.shape[1]
        verdict = Boundary(int(tables.boundary[boundary_states[at], text[at]])) if known else Boundary.UNDECIDED
        if verdict is Boundary.YES:
            return "settled"
        if verdict is Boundary.NO:
            return "void"
    return "settled" if final else "pending"


def _begins(whole: tuple[int, ...], part: tuple[int, ...]) -> bool:
    """Whether `part` is a proper prefix of `whole`."""
    return len(part) < len(whole) and whole[: len(part)] == part


def _other_side(clause: Clause, plan: CompiledPlan) -> list[Variant]:
    other = {"source": "target", "target": "source"}.get(clause.role)
    return [variant for c in plan.clauses if c.edit == clause.edit and c.role == other for variant in c.variants]


def _offered(occurrence: Occurrence, plan: CompiledPlan, siblings: Siblings) -> bool:
    others = _other_side(plan.clauses[occurrence.clause], plan)
    for start, variant in occurrence.matches:
        for other in others:
            if _was_on_offer(variant.tokens, other.tokens, siblings[start:]):
                return True
    return False


def _was_on_offer(written: tuple[int, ...], other: tuple[int, ...], siblings: Siblings) -> bool:
    """Whether the other phrase was among the siblings where the two diverge; siblings: from the first token on."""
    for k in range(len(other)):
        if k == len(written) or written[k] != other[k]:
            return k < len(siblings) and other[k] in siblings[k]
    # The other phrase is a prefix, complete at that point. Equal phrases never diverge, so they are not on offer.
    return len(other) < len(written)


def _charged(text: tuple[int, ...], plan: CompiledPlan, final: bool) -> list[Occurrence]:
    """Settled occurrences of deletions and sources beyond the free ones, neither covered nor waiting."""
    occurrences = reference_occurrences(text, plan, final)
    found: list[Occurrence] = []
    for index, clause in enumerate(plan.clauses):
        if clause.role not in ("delete", "source"):
            continue
        settled = [o for o in occurrences if o.clause == index and o.state == "settled"]
        for number, occurrence in enumerate(settled, start=1):
            if number > clause.threshold and not _is_covered_or_waits(occurrence, occurrences, text, plan, final):
                found.append(occurrence)
    return found


def _is_covered_or_waits(
    occurrence: Occurrence, occurrences: list[Occurrence], text: tuple[int, ...], plan: CompiledPlan, final: bool
) -> bool:
    """Whether a longer phrase covers the occurrence or still may. One of several variants within is enough."""
    boundary_states = _boundary_states(text, plan.tables)
    for start, variant in occurrence.matches:
        for longer in occurrences:
            if plan.clauses[longer.clause].role not in ("insert", "target") or longer.state == "void":
                continue
            for longer_start, longer_variant in longer.matches:
                within = longer_start <= start and occurrence.end <= longer.end
                if within and longer_variant.words > variant.words:
                    return True  # covered if settled, waiting if pending
        if final:
            continue
        for clause in plan.clauses:
            if clause.role not in ("insert", "target"):
                continue
            for longer_variant in clause.variants:
                if longer_variant.words <= variant.words:
                    continue
                for begin in _places_in_progress(longer_variant, text, boundary_states):
                    if begin <= start:
                        return True
    return False


def _places_in_progress(variant: Variant, text: tuple[int, ...], boundary_states: list[int]) -> list[int]:
    """Places where the variant may have begun: the text ends with its first tokens; len(text): with none of them."""
    places: list[int] = []
    for k in range(len(variant.tokens)):
        begin = len(text) - k
        if begin >= 0 and text[begin:] == variant.tokens[:k] and variant.starts[boundary_states[begin]]:
            places.append(begin)
    return places


def _is_begun(clause: Clause, text: tuple[int, ...], plan: CompiledPlan) -> bool:
    """Whether the text ends with a non-empty prefix of a variant, or with all of it."""
    boundary_states = _boundary_states(text, plan.tables)
    for variant in clause.variants:
        size = len(variant.tokens)
        whole = text[-size:] == variant.tokens and variant.starts[boundary_states[len(text) - size]]
        if whole or any(begin < len(text) for begin in _places_in_progress(variant, text, boundary_states)):
            return True
    return False


def _next_tokens(variant: Variant, text: tuple[int, ...], boundary_states: list[int]) -> list[int]:
    return [variant.tokens[len(text) - begin] for begin in _places_in_progress(variant, text, boundary_states)]


def _was_avoided(
    clause: Clause, tokens: tuple[int, ...], text: tuple[int, ...], siblings: Siblings, plan: CompiledPlan
) -> bool:
    """Whether, at some step, the next token of the phrase was in the list but another one was taken, or the end."""
    boundary_states = _boundary_states(text, plan.tables)
    for step, taken in enumerate(tokens):
        for variant in clause.variants:
            for wanted in _next_tokens(variant, text[:step], boundary_states):
                if wanted in siblings[step] and taken != wanted:
                    return True
    return False


# One step


@dataclass(frozen=True)
class _Search:
    """The settings of one sentence."""

    plan: CompiledPlan
    config: DecodeConfig
    weights: Weights
    ends: frozenset[int]
    max_tokens: int
    plain: bool  # the search without edits

    @property
    def neurologic(self) -> bool:
        return self.config.method == "neurologic"

    @property
    def bans(self) -> bool:
        return self.config.method in ("negative", "neurologic") or (self.config.method == "edit" and self.config.forbid)

    @property
    def delta(self) -> int | None:
        if self.neurologic:
            return self.config.beta * MILLION
        if self.config.delta is None or math.isinf(self.config.delta):
            return None
        return round(self.config.delta * MILLION)

    @property
    def required(self) -> frozenset[int]:
        """Insertions and substitutions that have clauses."""
        return frozenset(clause.edit for clause in self.plan.clauses if clause.role != "delete")

    def judge(self, tokens: tuple[int, ...], siblings: Siblings) -> Judgement:
        if self.plain:  # no scores
            return Judgement(0, 0, *[frozenset[int]()] * 5)
        cut = len(tokens) == self.max_tokens
        return judge(tokens, siblings, self.plan, self.weights, end_tokens=self.ends, cut=cut)

    def normalised(self, log_prob: float, length: int) -> float:
        return log_prob / float(length**self.config.length_penalty)


def reference_search(
    next_log_probs: NextLogProbs,
    plan: CompiledPlan,
    config: DecodeConfig,
    *,
    end_tokens: Sequence[int],
    max_tokens: int,
    observe: Callable[[int, list[ReferenceNode]], None] | None = None,
) -> list[ReferenceHypothesis]:
    """Search one sentence; returns its hypotheses, best first: the pool, then the reserve of cut texts.

    next_log_probs: the log-probability of every token of the vocabulary after the tokens of a row; −inf: banned
    observe: called after each step with its number, from 0, and the outcome of every node
    """
    search = _Search(plan, config, _weights(plan, config), frozenset(end_tokens), max_tokens, _is_plain(plan, config))
    rows = [_Row((), (), 0.0, search.judge((), ()))]
    pool: list[ReferenceHypothesis] = []
    reserve: list[ReferenceHypothesis] = []
    for step in range(max_tokens):
        last = step + 1 == max_tokens
        nodes: list[_Node] = []
        for index, row in enumerate(rows):
            nodes.extend(_expand(index, row, next_log_probs(row.tokens), search))
        outcomes: dict[tuple[int, int], Outcome] = {}

        left = _prune(nodes, search, outcomes)
        ranked = _rank(left, search)
        rows = []
        for place, node in enumerate(ranked):
            name = (node.row, node.token)
            outcomes[name] = "unselected"
            if (node.is_end or (last and search.plain)) and place < config.beams:
                outcomes[name] = "pool"
                pool.append(_finished(node))
            elif last and not search.plain and not node.is_end and len(reserve) < config.beams:
                outcomes[name] = "cut"
                reserve.append(_finished(node))
            elif not last and not node.is_end and len(rows) < config.beams:
                outcomes[name] = "row"
                rows.append(node.after)
        pool = _best_of_pool(pool, search)

        if observe is not None:
            observe(step, [_observed(node, outcomes[node.row, node.token]) for node in nodes])
        if _may_stop(rows, pool, step + 1, search):
            break
    return pool + _best_of_pool(reserve, search)


def _is_plain(plan: CompiledPlan, config: DecodeConfig) -> bool:
    """Whether the sentence is searched as one without edits."""
    if not plan.clauses or config.method in ("beam", "negative"):
        return True
    return config.method == "neurologic" and not any(c.role in ("insert", "target") for c in plan.clauses)


def _weights(plan: CompiledPlan, config: DecodeConfig) -> Weights:
    edits = plan.plan.edits
    if config.method == "neurologic":
        return Weights((MILLION,) * len(edits), (0,) * len(edits), every_side_offered=True)
    values: list[int] = []
    for edit in edits:
        if edit.kind not in KINDS:  # a split has no clauses
            values.append(0)
            continue
        weight = config.lambdas[KINDS.index(edit.kind)]
        if config.scale == "kind":
            total = sum(config.lambdas)
            alike = sum(other.kind == edit.kind for other in edits)
            weight = weight / total / alike if total else 0.0
        values.append(round(weight * edit.weight * MILLION))
    return Weights(tuple(values), tuple(values), every_side_offered=not config.strict, begun_counts=config.begun)


def _expand(index: int, row: _Row, log_probs: Sequence[float], search: _Search) -> list[_Node]:
    """Steps 1 and 2: the list of a row as scored nodes."""
    allowed = [
        token
        for token, log_prob in enumerate(log_probs)
        if log_prob > -math.inf and not _is_forbidden(token, row.tokens, search)
    ]
    allowed.sort(key=lambda token: (-log_probs[token], token))
    width = search.config.beams + len(search.ends) if search.plain else search.config.row_width
    listed = allowed[:width]
    if not search.plain and (search.config.admit_unmet or search.neurologic):
        wanted = _unmet_tokens(row, search.plan)
        for token in allowed[width:]:
            near = search.neurologic or log_probs[token] >= log_probs[allowed[0]] - search.config.admit_gap
            if token in wanted and near:
                listed.append(token)
    siblings = (*row.siblings, frozenset(listed))
    nodes: list[_Node] = []
    for token in listed:
        tokens = (*row.tokens, token)
        after = _Row(tokens, siblings, row.log_prob + log_probs[token], search.judge(tokens, siblings))
        ends = token in search.ends
        final = ends or len(tokens) == search.max_tokens
        out_of_order = frozenset() if final else _out_of_order(after, search)
        nodes.append(_Node(index, token, token == listed[0], ends, after, out_of_order))
    return nodes


def _out_of_order(row: _Row, search: _Search) -> frozenset[int]:
    """Insertions and substitutions of S⁺ with too many unmet ones before them in the source."""
    if search.config.method != "edit" or search.config.ahead is None or search.plain:
        return frozenset()
    satisfied_plus = row.judged.satisfied_plus
    occurrences = reference_occurrences(row.tokens, search.plan, False)
    written = {o.clause for o in occurrences if o.state != "void"}
    places: dict[int, int] = {}
    met: set[int] = set()
    for index, clause in enumerate(search.plan.clauses):
        if clause.role in ("insert", "target") and clause.place >= 0:
            places[clause.edit] = clause.place
            if clause.edit in satisfied_plus or (clause.role == "target" and index in written):
                met.add(clause.edit)
    found: set[int] = set()
    for edit, place in places.items():
        unmet = [other for other, earlier in places.items() if earlier < place and other not in met]
        if edit in satisfied_plus and len(unmet) > search.config.ahead:
            found.add(edit)
    return frozenset(found)


def _is_forbidden(token: int, written: tuple[int, ...], search: _Search) -> bool:
    if token in search.ends:
        if len(written) < search.config.min_tokens:
            return True
    elif _repeats(token, written, search.config.no_repeat_ngram):
        return True
    return search.bans and _is_banned(token, written, search)


def _repeats(token: int, written: tuple[int, ...], n: int) -> bool:
    """Whether the token would repeat an n-gram."""
    if n == 0:
        return False
    earlier = [written[at : at + n] for at in range(len(written) - n + 1)]
    return (*written, token)[-n:] in earlier


def _is_banned(token: int, written: tuple[int, ...], search: _Search) -> bool:
    plan = search.plan
    ends = token in search.ends
    text = written if ends else (*written, token)
    final = ends or len(text) == search.max_tokens  # the last possible token settles everything, like the end
    if search.config.ban == "word":
        before, after = _charged(written, plan, False), _charged(text, plan, final)
        return any(_count(after, clause) > _count(before, clause) for clause in range(len(plan.clauses)))
    if ends:
        return False
    occurrences = reference_occurrences(text, plan, final)
    for occurrence in occurrences:
        clause = plan.clauses[occurrence.clause]
        if occurrence.end != len(text) - 1 or clause.role not in ("delete", "source"):
            continue
        number = sum(o.clause == occurrence.clause and o.state != "void" for o in occurrences)  # it ends last
        if number > clause.threshold and not _is_covered_or_waits(occurrence, occurrences, text, plan, final):
            return True
    return False


def _count(occurrences: list[Occurrence], clause: int) -> int:
    return sum(occurrence.clause == clause for occurrence in occurrences)


def _unmet_tokens(row: _Row, plan: CompiledPlan) -> set[int]:
    """The next token of every variant of every insertion and target whose reward is neither settled nor pending."""
    boundary_states = _boundary_states(row.tokens, plan.tables)
    wanted: set[int] = set()
    met = row.judged.satisfied_plus - row.judged.begun
    for clause in plan.clauses:
        if clause.role in ("insert", "target") and clause.edit not in met:
            for variant in clause.variants:
                wanted.update(_next_tokens(variant, row.tokens, boundary_states))
    return wanted


def _likelier_first(node: _Node) -> tuple[float, int, int]:
    return (-node.after.log_prob, node.row, node.token)


def _prune(nodes: list[_Node], search: _Search, outcomes: dict[tuple[int, int], Outcome]) -> list[_Node]:
    """Step 3: the end rule, then α, then δ. Returns the remaining nodes, likeliest first."""
    left = sorted(nodes, key=_likelier_first)
    if search.plain:
        return left
    for node in left:
        if node.is_end and not _may_end(node, search):
            outcomes[node.row, node.token] = "end-rule"
    left = [node for node in left if (node.row, node.token) not in outcomes]
    for node in left[search.config.alpha :]:
        outcomes[node.row, node.token] = "alpha"
    left = left[: search.config.alpha]
    if search.delta is None or not left:
        return left

    def withheld(node: _Node) -> int:
        return sum(search.weights.gains[edit] for edit in node.out_of_order)

    best = max(node.after.judged.score - withheld(node) for node in left)
    for node in left:
        if node.after.judged.score_plus - withheld(node) < best - search.delta:
            outcomes[node.row, node.token] = "delta"
    return [node for node in left if (node.row, node.token) not in outcomes]


def _may_end(node: _Node, search: _Search) -> bool:
    met = search.required <= node.after.judged.satisfied_plus
    if search.neurologic or search.config.end == "either":
        return met or node.likeliest
    if search.config.end == "likeliest":
        return node.likeliest
    return met or search.config.end == "always"


def _rank(left: list[_Node], search: _Search) -> list[_Node]:
    """Steps 4 and 5: sort by round, then likelihood. Expects the likeliest first."""
    positive = search.neurologic or search.config.group_by == "positive"
    kinds = [edit.kind for edit in search.plan.plan.edits]
    members: dict[frozenset[int], int] = {}
    ranked: list[tuple[int, _Node]] = []
    for node in left:
        key = node.after.judged.satisfied_plus
        if positive:
            key = frozenset(edit for edit in key if kinds[edit] != "delete")
        members[key] = members.get(key, 0) + 1
        ranked.append((members[key], node))
    ranked.sort(key=lambda pair: (pair[0], *_likelier_first(pair[1])))
    return [node for _, node in ranked]


def _finished(node: _Node) -> ReferenceHypothesis:
    after = node.after
    return ReferenceHypothesis(after.tokens, after.log_prob, after.judged.score, node.is_end, after.judged.satisfied)


def _best_of_pool(pool: list[ReferenceHypothesis], search: _Search) -> list[ReferenceHypothesis]:
    """The best hypotheses; of equal ones the earlier first, because the sort is stable."""

    def key(hypothesis: ReferenceHypothesis) -> tuple[float, float]:
        normalised = search.normalised(hypothesis.log_prob, len(hypothesis.tokens))
        if search.config.choose == "sum" and not search.neurologic:
            return (-(hypothesis.edit_score / MILLION + normalised), 0.0)
        return (-hypothesis.edit_score, -normalised)

    return sorted(pool, key=key)[: search.config.beams]


def _may_stop(rows: list[_Row], pool: list[ReferenceHypothesis], written: int, search: _Search) -> bool:
    config = search.config
    if not rows:
        return True
    if len(pool) < config.beams:
        return False
    worst = min(search.normalised(hypothesis.log_prob, len(hypothesis.tokens)) for hypothesis in pool)
    if search.plain:
        if config.early_stopping is True:
            return True
        use_limit = config.early_stopping == "never" and config.length_penalty > 0
        best = max(row.log_prob for row in rows)
        return search.normalised(best, search.max_tokens if use_limit else written) <= worst
    best_score = max(hypothesis.edit_score for hypothesis in pool)
    for row in rows:
        score = row.judged.score_plus
        if config.stop == "exact":  # edits without clauses have no reward
            score += sum(search.weights.gains[edit] for edit in search.required - row.judged.satisfied_plus)
        if score > best_score or search.normalised(row.log_prob, written) > worst:
            return False
    return True


def _observed(node: _Node, outcome: Outcome) -> ReferenceNode:
    after = node.after
    return ReferenceNode(
        row=node.row,
        token=node.token,
        log_prob=after.log_prob,
        E=after.judged.score,
        E_plus=after.judged.score_plus,
        key=after.judged.satisfied_plus,
        outcome=outcome,
    )
