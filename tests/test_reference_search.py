"""The reference search, on cases worked out by hand from docs/search.md."""

from __future__ import annotations

import math

import pytest

from redraft.constrain.clauses import Clause, CompiledPlan, Variant
from redraft.constrain.word_boundaries import STATES, boundary_tables
from redraft.decode.config import DecodeConfig
from redraft.decode.reference_search import (
    Judgement,
    ReferenceNode,
    Weights,
    judge,
    reference_occurrences,
    reference_search,
)
from redraft.plan.edits import Edit, EditPlan

# Whole words: only occurrences that wait for their offer are pending.
THE, OLD, MAN, BIG, END = range(5)
WORDS = [b" the", b" old", b" man", b" big", None]

# Pieces of words and numbers.
S_OLD, S_ER, S_X, S_FIVE, S_DOT, S_SEVEN, S_END = range(7)
PIECES = [b" old", b"er", b" x", b" 5", b".", b"7", None]

NOTHING = -math.inf


def variant(*tokens: int, words: int | None = None) -> Variant:
    return Variant(tokens, (True,) * STATES, len(tokens) if words is None else words)


def inserts(edit: int, *tokens: int, threshold: int = 1) -> Clause:
    return Clause("insert", edit, threshold, (variant(*tokens),))


def deletes(edit: int, *tokens: int, free: int = 0) -> Clause:
    return Clause("delete", edit, free, (variant(*tokens),))


def source(edit: int, *tokens: int, free: int = 0) -> Clause:
    return Clause("source", edit, free, (variant(*tokens),))


def target(edit: int, *phrases: tuple[int, ...]) -> Clause:
    return Clause("target", edit, 0, tuple(variant(*tokens) for tokens in phrases))


def compiled(*clauses: Clause, texts: list[bytes | None] = WORDS, weight: float = 1.0) -> CompiledPlan:
    """Clauses as a plan; the edits themselves only tell their kind, so any phrases do."""
    kinds = {clause.edit: clause.role for clause in clauses}
    edits = []
    for index in range(len(kinds)):
        role = kinds[index]
        if role == "insert":
            edits.append(Edit.insert(f"i{index}", weight=weight))
        elif role == "delete":
            edits.append(Edit.delete(f"d{index}", weight=weight))
        else:
            edits.append(Edit.substitute(f"s{index}", f"t{index}", weight=weight))
    return CompiledPlan(EditPlan("any", tuple(edits)), clauses, {}, boundary_tables(texts))


def judged(plan: CompiledPlan, *steps: tuple[int, str] | int, cut: bool = False, end: int = END) -> Judgement:
    """Judge a row, 1 for every edit; a step is its token, or (token, other siblings as digits)."""
    tokens, siblings = [], []
    for step in steps:
        token, others = step if isinstance(step, tuple) else (step, "")
        tokens.append(token)
        siblings.append(frozenset({token, *map(int, others)}))
    ones = (1,) * len(plan.plan.edits)
    return judge(tuple(tokens), tuple(siblings), plan, Weights(ones, ones), end_tokens=[end], cut=cut)


# Judging a row


@pytest.mark.parametrize(
    "steps, score, satisfied",
    [
        pytest.param((THE, MAN), 0, set(), id="absent"),
        pytest.param((THE, OLD), 0, set(), id="begun"),
        pytest.param((THE, OLD, MAN), 1, {0}, id="written"),
        pytest.param((OLD, MAN, OLD, MAN), 1, {0}, id="paid-once"),
        pytest.param((OLD, OLD, MAN), 1, {0}, id="starts-again-on-its-first-word"),
    ],
)
def test_insertion(steps, score, satisfied):
    result = judged(compiled(inserts(0, OLD, MAN)), *steps)
    assert (result.score, result.score_plus, set(result.satisfied)) == (score, score, satisfied)


def test_insertions_of_one_phrase_share_its_occurrences():
    plan = compiled(inserts(0, OLD), inserts(1, OLD, threshold=2))
    assert judged(plan, OLD, THE).satisfied == {0}
    assert judged(plan, OLD, THE, OLD).satisfied == {0, 1}
    assert judged(plan, OLD, THE, OLD).score == 2


@pytest.mark.parametrize(
    "steps, score, avoided, violated",
    [
        pytest.param((THE, MAN), 0, False, False, id="never-on-offer"),
        pytest.param(((THE, "1"),), 0, True, False, id="first-word-refused"),
        pytest.param((OLD, (THE, "2")), 0, True, False, id="second-word-refused"),
        pytest.param((OLD, (END, "2")), 0, True, False, id="refused-by-ending"),
        pytest.param((THE, (THE, "2")), 0, False, False, id="second-word-alone-is-no-offer"),
        pytest.param((OLD, MAN), -1, False, True, id="written"),
        pytest.param(((THE, "1"), OLD, MAN, OLD, MAN), -2, True, True, id="charged-each-time"),
        pytest.param((OLD, MAN, (THE, "1")), -1, True, True, id="violated-is-final"),
    ],
)
def test_deletion(steps, score, avoided, violated):
    result = judged(compiled(deletes(0, OLD, MAN)), *steps)
    assert result.score == result.score_plus == score
    assert (bool(result.avoided), bool(result.violated)) == (avoided, violated)
    assert bool(result.satisfied) == (avoided and not violated)


def test_the_plan_s_own_insertions_are_free():
    plan = compiled(deletes(0, OLD, free=1), inserts(1, OLD))
    assert judged(plan, OLD).score == 1
    assert judged(plan, OLD, OLD).score == 0
    assert judged(plan, OLD, OLD).violated == {0}


@pytest.mark.parametrize(
    "sides, steps, score",
    [
        pytest.param(((OLD,), (BIG,)), (THE, (BIG, "1")), 1, id="target-over-source"),
        pytest.param(((OLD,), (BIG,)), ((THE, "1"), BIG), 0, id="source-on-offer-elsewhere"),
        pytest.param(((OLD,), (BIG,)), ((OLD, "3"),), -1, id="source-over-target"),
        pytest.param(((OLD,), (BIG,)), (OLD,), 0, id="source-without-a-choice"),
        pytest.param(((OLD,), (BIG,)), (BIG, (BIG, "1"), (BIG, "1")), 1, id="rewarded-once"),
        pytest.param(((OLD,), (BIG,)), ((OLD, "3"), (OLD, "3")), -2, id="charged-each-time"),
        pytest.param(((THE, OLD), (THE, BIG)), (THE, (BIG, "1")), 1, id="shared-prefix"),
        pytest.param(((THE, OLD), (THE, BIG)), ((THE, "1"), BIG), 0, id="shared-prefix-is-where-they-have-not-parted"),
        pytest.param(((THE, OLD), (BIG,)), ((BIG, "0"),), 1, id="first-word-of-a-longer-source"),
        pytest.param(((OLD, MAN), (OLD,)), (OLD,), 0, id="target-begins-source-and-is-untested"),
        pytest.param(((OLD, MAN), (OLD,)), (OLD, (THE, "2")), 1, id="target-begins-source-which-was-refused"),
        pytest.param(((OLD, MAN), (OLD,)), (OLD, (END, "2")), 1, id="target-begins-source-refused-by-ending"),
        pytest.param(((OLD, MAN), (OLD,)), (OLD, THE), 0, id="target-begins-source-which-was-not-on-offer"),
        pytest.param(((OLD, MAN), (OLD,)), (OLD, MAN), 0, id="source-goes-on-from-target"),
        pytest.param(((OLD,), (OLD, MAN)), (OLD, MAN), 1, id="source-within-target-costs-nothing"),
        pytest.param(((OLD,), (OLD, MAN)), (OLD, (THE, "2")), -1, id="target-broken-off"),
        pytest.param(((OLD,), (OLD, MAN)), (OLD, THE), 0, id="target-never-on-offer"),
    ],
)
def test_substitution(sides, steps, score):
    from_, to = sides
    result = judged(compiled(source(0, *from_), target(0, to)), *steps)
    assert result.score == score
    if score > 0:
        assert result.satisfied == {0}


def test_an_offer_after_the_cut_was_none():
    plan = compiled(source(0, OLD, MAN), target(0, (OLD,)))
    assert judged(plan, THE, OLD, cut=True).score == 0
    assert reference_occurrences((THE, OLD), plan, final=False)[0].state == "pending"
    assert reference_occurrences((THE, OLD), plan, final=True)[0].state == "settled"


def test_any_pair_of_variants_is_an_offer():
    plan = compiled(source(0, OLD), target(0, (MAN,), (BIG,)))
    assert judged(plan, (OLD, "3")).score == -1
    assert judged(plan, (BIG, "1")).score == 1


@pytest.mark.parametrize(
    "steps, score",
    [
        pytest.param((MAN,), -1, id="alone"),
        pytest.param((OLD, MAN), 0, id="waits-while-the-longer-phrase-is-written"),
        pytest.param((OLD, MAN, BIG), 1, id="covered"),
        pytest.param((OLD, MAN, THE), -1, id="charged-when-the-longer-phrase-breaks-off"),
        pytest.param((OLD, MAN, END), -1, id="charged-when-the-text-ends"),
        pytest.param((OLD, MAN, BIG, MAN), 0, id="covered-ones-count-but-excuse-no-other"),
    ],
)
def test_covered_by_a_longer_phrase(steps, score):
    plan = compiled(inserts(0, OLD, MAN, BIG), deletes(1, MAN))
    assert judged(plan, *steps).score == score


def test_the_number_of_an_occurrence_counts_covered_ones():
    plan = compiled(inserts(0, OLD, MAN), deletes(1, MAN, free=1))
    assert judged(plan, OLD, MAN, THE, MAN).score == 0  # the covered one was the free one


@pytest.mark.parametrize(
    "clause, steps, score, score_plus, violated",
    [
        pytest.param(inserts(0, S_OLD), (S_OLD,), 0, 1, False, id="reward-pending"),
        pytest.param(inserts(0, S_OLD), (S_OLD, S_X), 1, 1, False, id="reward-settled"),
        pytest.param(inserts(0, S_OLD), (S_OLD, S_ER), 0, 0, False, id="reward-void"),
        pytest.param(inserts(0, S_OLD), (S_OLD, S_END), 1, 1, False, id="reward-settled-by-the-end"),
        pytest.param(deletes(0, S_OLD), (S_OLD,), 0, 0, False, id="penalty-pending-is-in-neither"),
        pytest.param(deletes(0, S_OLD), (S_OLD, S_X), -1, -1, True, id="penalty-settled"),
        pytest.param(deletes(0, S_OLD), (S_OLD, S_ER, S_X), 0, 0, False, id="penalty-void"),
        pytest.param(inserts(0, S_FIVE), (S_FIVE, S_DOT), 0, 1, False, id="number-sign-undecided"),
        pytest.param(inserts(0, S_FIVE), (S_FIVE, S_DOT, S_SEVEN), 0, 0, False, id="number-goes-on"),
        pytest.param(inserts(0, S_FIVE), (S_FIVE, S_DOT, S_X), 1, 1, False, id="number-over"),
        pytest.param(inserts(0, S_FIVE), (S_FIVE, S_DOT, S_END), 1, 1, False, id="number-over-with-the-text"),
    ],
)
def test_words_that_may_continue(clause, steps, score, score_plus, violated):
    result = judged(compiled(clause, texts=PIECES), *steps, end=S_END)
    assert (result.score, result.score_plus, bool(result.violated)) == (score, score_plus, violated)


def test_a_pending_target_counts_only_where_it_is_already_offered():
    plan = compiled(source(0, S_X), target(0, (S_OLD,)), texts=PIECES)
    assert judged(plan, S_OLD, end=S_END).score_plus == 0
    offered = judged(plan, (S_OLD, str(S_X)), end=S_END)
    assert (offered.score, offered.score_plus, offered.satisfied, offered.satisfied_plus) == (0, 1, frozenset(), {0})


def test_a_pending_longer_phrase_keeps_the_penalty_waiting():
    plan = compiled(inserts(0, S_X, S_OLD), deletes(1, S_X), texts=PIECES)
    assert judged(plan, S_X, S_OLD, end=S_END).score_plus == 1
    assert judged(plan, S_X, S_OLD, S_X, end=S_END).score == 1  # covered; the second x is pending
    assert judged(plan, S_X, S_OLD, S_ER, end=S_END).score == -1


# Searching


class Scripted:
    """Log-probabilities by prefix; where there is none, the same for every step."""

    def __init__(self, default: dict[int, float], **by_prefix: dict[int, float]) -> None:
        self.default = default
        self.by_prefix = {tuple(int(c) for c in name.strip("_")): table for name, table in by_prefix.items()}

    def __call__(self, prefix: tuple[int, ...]) -> list[float]:
        table = self.by_prefix.get(prefix, self.default)
        return [table.get(token, NOTHING) for token in range(5)]


def searched(model, plan, *, max_tokens=4, **settings):
    seen: list[list[ReferenceNode]] = []
    config = DecodeConfig(**{"beams": 2, "width": 5, **settings})
    found = reference_search(
        model, plan, config, end_tokens=[END], max_tokens=max_tokens, observe=lambda step, nodes: seen.append(nodes)
    )
    return found, seen


def outcomes(nodes: list[ReferenceNode]) -> dict[tuple[int, int], str]:
    return {(node.row, node.token): node.outcome for node in nodes}


def test_the_most_likely_node_of_each_group_comes_first():
    model = Scripted({THE: -1.0, MAN: -1.5, OLD: -4.0, END: -9.0})
    _, steps = searched(model, compiled(inserts(0, OLD)))
    # groups {}: the, man, end; {0}: old
    assert outcomes(steps[0]) == {(0, THE): "row", (0, OLD): "row", (0, MAN): "unselected", (0, END): "unselected"}
    assert [node.E for node in steps[1] if node.row == 1] == [1_000_000] * 4  # the, man, old, end after "old"


def test_alpha_is_applied_before_delta():
    model = Scripted({THE: -1.0, MAN: -1.5, OLD: -4.0})
    plan = compiled(inserts(0, OLD))
    _, steps = searched(model, plan, alpha=2, delta=0.5)
    assert outcomes(steps[0]) == {(0, THE): "row", (0, MAN): "row", (0, OLD): "alpha"}
    _, steps = searched(model, plan, alpha=3, delta=0.5)
    assert outcomes(steps[0]) == {(0, THE): "delta", (0, MAN): "delta", (0, OLD): "row"}
    _, steps = searched(model, plan, alpha=3, delta=1.0)
    assert outcomes(steps[0])[0, THE] == "row"


def test_groups_by_all_edits_or_by_positive_ones():
    # The list has both; a row that takes "the" has avoided "old".
    model = Scripted({THE: -1.0, MAN: -1.5, OLD: -4.0})
    plan = compiled(deletes(0, OLD))
    assert outcomes(searched(model, plan)[1][0])[0, OLD] == "row"
    assert outcomes(searched(model, plan, group_by="positive")[1][0])[0, OLD] == "unselected"


def test_lambdas_weights_and_scale():
    model = Scripted({OLD: -1.0})
    plan = compiled(inserts(0, OLD), inserts(1, MAN), weight=0.5)
    settings = {"lambdas": (3.0, 1.0, 2.0), "max_tokens": 1}
    assert searched(model, plan, **settings)[1][0][0].E == 1_500_000
    assert searched(model, plan, scale="kind", **settings)[1][0][0].E == 125_000
    assert searched(model, plan, scale="kind", lambdas=(0.0, 0.0, 0.0))[1][0][0].E == 0


@pytest.mark.parametrize(
    "end, first, after_old",
    [("always", "pool", "pool"), ("likeliest", "end-rule", "pool"), ("met", "end-rule", "pool")],
)
def test_when_a_sentence_may_end(end, first, after_old):
    model = Scripted({OLD: -1.0, END: -2.0}, _1={END: -1.0, OLD: -2.0})
    _, steps = searched(model, compiled(inserts(0, OLD)), end=end, max_tokens=2)
    assert outcomes(steps[0])[0, END] == first
    assert outcomes(steps[1])[0, END] == after_old


def test_finished_sentences_rank_by_edits_first_or_by_the_sum():
    model = Scripted({}, _={OLD: -6.0, END: -0.5}, _1={END: -0.5})
    plan = compiled(inserts(0, OLD))
    found, _ = searched(model, plan)
    assert [(h.tokens, h.edit_score, h.satisfied) for h in found] == [
        ((OLD, END), 1_000_000, {0}),
        ((END,), 0, frozenset()),
    ]
    found, _ = searched(model, plan, choose="sum")  # 1 - 6.5 / 2 against -0.5
    assert [h.tokens for h in found] == [(END,), (OLD, END)]


def test_cut_sentences_rank_behind_ended_ones():
    model = Scripted({OLD: -0.1, END: -5.0}, _1={OLD: -0.1})
    found, steps = searched(model, compiled(inserts(0, OLD)), max_tokens=2)
    assert [(h.tokens, h.ended) for h in found] == [((END,), True), ((OLD, OLD), False)]
    assert outcomes(steps[1]) == {(0, OLD): "cut"}


def test_stop_waits_for_rows_that_score_more_or_are_likelier():
    plan = compiled(inserts(0, OLD))
    # After "the" the end is sure; the other row's likelihood is far below.
    model = Scripted({THE: -3.0, END: -2.0}, _={END: -0.1, THE: -0.2}, _0={END: -0.1, THE: -3.0})
    assert len(searched(model, plan, max_tokens=6)[1]) == 2
    assert len(searched(model, plan, max_tokens=6, stop="exact")[1]) == 6  # "old" could still be written
    model = Scripted({THE: -3.0, END: -2.0}, _={END: -0.1, THE: -0.2}, _0={END: -0.1, OLD: -3.0})
    assert (
        len(searched(model, plan, max_tokens=6)[1]) == 3
    )  # the row with "old" scores more than the pool: until it ends


def test_without_edits_cut_sentences_enter_the_pool_too():
    model = Scripted({OLD: -0.1, THE: -3.0, END: -4.0})
    found, steps = searched(model, compiled(), max_tokens=2, width=1, alpha=1)
    assert len(steps[0]) == 3  # beams + ends, for any width and α
    assert [(h.tokens, h.ended) for h in found] == [((OLD, OLD), False), ((OLD, THE), False)]
    found, steps = searched(model, compiled(deletes(0, OLD)), max_tokens=2, method="beam")
    assert found[0].tokens == (OLD, OLD)
    assert found[0].edit_score == 0


@pytest.mark.parametrize("early_stopping, steps_taken", [(True, 2), (False, 3), ("never", 6)])
def test_stop_without_edits(early_stopping, steps_taken):
    # The pool is full after two steps, its worst -0.7 / 2 = -0.35. The row then: -0.6 / 2 = -0.3, -1.08 / 3 = -0.36;
    # with six tokens to come at most, "never" divides by 6, and -2.04 / 6 = -0.34 after five steps.
    model = Scripted({THE: -0.48, END: -9.0}, _={END: -0.2, THE: -0.3}, _0={END: -0.4, THE: -0.3})
    _, steps = searched(model, compiled(), early_stopping=early_stopping, max_tokens=6)
    assert len(steps) == steps_taken


def allowed(model, plan, **settings) -> list[list[int]]:
    """Tokens listed for the first row of each step."""
    _, steps = searched(model, plan, method="negative", beams=1, **settings)
    return [sorted(node.token for node in nodes if node.row == 0) for nodes in steps]


class Pieces(Scripted):
    def __call__(self, prefix: tuple[int, ...]) -> list[float]:
        table = self.by_prefix.get(prefix, self.default)
        return [table.get(token, NOTHING) for token in range(7)]


def test_banned_words_may_begin_longer_words():
    model = Pieces({S_OLD: -0.1, S_ER: -1.0, S_X: -0.5})
    plan = compiled(deletes(0, S_OLD), texts=PIECES)
    config = {"method": "negative", "beams": 3}

    def lists(ban: str) -> list[set[tuple[int, int]]]:
        seen: list[set[tuple[int, int]]] = []
        reference_search(
            model,
            plan,
            DecodeConfig(ban=ban, **config),
            end_tokens=[S_END],
            max_tokens=3,
            observe=lambda step, nodes: seen.append({(node.row, node.token) for node in nodes}),
        )
        return seen

    word = lists("word")
    assert word[0] == {(0, S_OLD), (0, S_X), (0, S_ER)}
    assert {token for row, token in word[1] if row == 0} == {S_ER}  # after "old" only "er"
    assert lists("token")[0] == {(0, S_X), (0, S_ER)}


def test_a_ban_waits_for_the_longer_phrase():
    model = Scripted({MAN: -0.1, THE: -1.0, END: -2.0}, _={OLD: -0.1})
    plan = compiled(inserts(0, OLD, MAN), deletes(1, OLD))
    assert allowed(model, plan, max_tokens=2) == [[OLD], [MAN]]
    assert allowed(model, plan, max_tokens=1) == [[]]  # no room for "man"


def test_waiting_occurrences_are_banned_even_if_not_on_offer():
    """With `forbid`, a source costs E only if its target was on offer; the ban applies in any case."""
    model = Scripted({MAN: -2.0, THE: -0.1, OLD: -0.3, END: -0.2}, _={OLD: -0.1})
    plan = compiled(inserts(0, OLD, MAN), source(1, OLD), target(1, (BIG,)))  # "big" is never on offer
    _, steps = searched(model, plan, beams=1, forbid=True, max_tokens=3)
    assert [[node.token for node in nodes] for nodes in steps] == [[OLD], [MAN], [THE, END, MAN]]
    assert steps[1][0].E == 1_000_000
    _, steps = searched(model, plan, beams=1, forbid=True, ban="token", max_tokens=3)
    assert [node.token for node in steps[1]] == [THE, END, OLD, MAN]  # "old" is in the text, and may stay
    _, steps = searched(model, plan, beams=1, forbid=True, max_tokens=1)
    assert steps == [[]]


def test_a_word_that_continues_is_no_occurrence():
    plan = compiled(Clause("delete", 0, 1, (variant(S_OLD), variant(S_OLD, S_ER, words=1))), texts=PIECES)
    model = Pieces({S_X: -0.5}, _={S_OLD: -0.1}, _0={S_ER: -0.1})
    for ban in ("word", "token"):
        found = reference_search(
            model, plan, DecodeConfig(method="negative", ban=ban, beams=1), end_tokens=[S_END], max_tokens=3
        )
        assert [h.tokens for h in found] == [(S_OLD, S_ER, S_X)]


def test_banned_beyond_the_free_ones_only():
    model = Scripted({OLD: -0.1, THE: -1.0})
    plan = compiled(inserts(0, OLD), deletes(1, OLD, free=1))
    for ban in ("word", "token"):
        assert allowed(model, plan, ban=ban, max_tokens=3) == [[THE, OLD], [THE], [THE]]


def test_neurologic_admits_bans_and_counts_clauses():
    model = Scripted({THE: -0.1, BIG: -2.0, OLD: -30.0, END: -0.2})
    plan = compiled(source(0, BIG), target(0, (OLD,)), inserts(1, MAN))
    _, steps = searched(model, plan, method="neurologic", width=1)
    assert [(node.token, node.E) for node in steps[0]] == [(THE, 0), (OLD, 1_000_000)]  # "man" is impossible
    only_bans = compiled(deletes(0, THE))
    _, steps = searched(model, only_bans, method="neurologic")
    assert {node.token for node in steps[0]} == {BIG, OLD, END}


def test_admit_unmet_within_its_gap():
    model = Scripted({THE: -0.1, MAN: -3.0, OLD: -5.0})
    plan = compiled(inserts(0, OLD, MAN), inserts(1, BIG, THE))
    settings = {"width": 1, "beams": 2, "admit_unmet": True}
    _, steps = searched(model, plan, admit_gap=5.0, **settings)
    assert [node.token for node in steps[0]] == [THE, OLD]
    assert [node.token for node in steps[1] if node.row == 1] == [THE, MAN, OLD]  # the next word, or its start again
    _, steps = searched(model, plan, admit_gap=4.0, **settings)
    assert [node.token for node in steps[0]] == [THE]


def test_forbidden_tokens_are_neither_nodes_nor_siblings():
    model = Scripted({THE: -0.1, OLD: -0.2, END: -0.3})
    _, steps = searched(model, compiled(deletes(0, OLD)), no_repeat_ngram=1, min_tokens=1, max_tokens=3)
    assert outcomes(steps[0]).keys() == {(0, THE), (0, OLD)}
    assert {(n.row, n.token): n.key for n in steps[1]} == {
        (0, OLD): frozenset(),  # "the" had avoided it, then it was written
        (0, END): {0},
        (1, THE): frozenset(),  # "old" was on offer no more
        (1, END): frozenset(),
    }


def test_ties_go_to_the_lower_row_then_the_lower_token():
    model = Scripted(dict.fromkeys(range(5), -1.0))
    found, steps = searched(model, compiled(), max_tokens=2)
    assert outcomes(steps[0]) == {(0, THE): "row", (0, OLD): "row", (0, MAN): "unselected"}
    assert [h.tokens for h in found] == [(THE, THE), (THE, OLD)]
