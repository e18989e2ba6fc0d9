"""The search equals the reference search bit by bit in float64, on thousands of random plans, models and settings."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from torch import Tensor

from redraft.constrain.clauses import Clause, CompiledPlan, Variant
from redraft.constrain.compiler import compiler_for
from redraft.constrain.word_boundaries import allowed_start_states, boundary_tables
from redraft.decode.config import DecodeConfig
from redraft.decode.expand import top_tokens
from redraft.decode.reference_search import ReferenceHypothesis, ReferenceNode, reference_search
from redraft.decode.scripted_model import ScriptedModel
from redraft.decode.search import search
from redraft.decode.step import State, Step
from redraft.errors import PlanError
from redraft.plan.edits import Edit, EditPlan
from redraft.text.words import split_words

NEVER = -float("inf")


@dataclass(frozen=True)
class Case:
    """A batch to search, small enough to read when the two disagree."""

    model: Any
    plans: list[CompiledPlan]
    config: DecodeConfig
    max_tokens: list[int]

    def __repr__(self) -> str:
        edits = [plan.plan.edits for plan in self.plans]
        clauses = [plan.clauses for plan in self.plans]
        return f"Case({self.config}, max_tokens={self.max_tokens}, model={self.model!r}, {edits=}, {clauses=})"


def for_many(cases: Callable[..., st.SearchStrategy[Case]], examples: int, number: int, device: str) -> None:
    """Compare both searches on fixed random examples; `number` selects another set of examples."""

    if device == "cuda":  # hundreds of kernel launches per step: slower than the CPU at these sizes
        examples //= 20

    @seed(number)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(cases(device))
    def agree(case: Case) -> None:
        compare(case, watched=device == "cpu")  # on a GPU, unobserved steps are replayed from graphs

    agree()


def compare(case: Case, *, watched: bool) -> None:
    """Fail if the two differ: in their hypotheses and, if watched, in any node of any step that α leaves."""
    seen: list[list[set[Any]]] = [[] for _ in case.plans]

    def watch(_: State, step: Step, __: State) -> None:
        for nodes, sentence in zip(seen, nodes_left(step), strict=True):
            nodes.append(sentence)

    found = search(
        case.model, ["s"] * len(case.plans), case.plans, case.config, case.max_tokens, watch if watched else None
    )
    for plan, limit, hypotheses, nodes in zip(case.plans, case.max_tokens, found, seen, strict=True):
        expected, steps = slowly(case, plan, limit)
        if watched:  # finished sentences continue until the whole batch is finished
            assert nodes[: len(steps)] == [
                {(n.row, n.token, n.log_prob, n.E, n.E_plus) for n in step if n.outcome not in ("end-rule", "alpha")}
                for step in steps
            ]
        assert [(h.tokens, h.log_prob, h.edit_score, not h.truncated) for h in hypotheses] == [
            (h.tokens, h.log_prob, h.edit_score, h.ended) for h in expected[: case.config.beams]
        ]


def slowly(case: Case, plan: CompiledPlan, limit: int) -> tuple[list[ReferenceHypothesis], list[list[ReferenceNode]]]:
    """The hypotheses of the reference search for one sentence, and the nodes of its steps."""
    steps: list[list[ReferenceNode]] = []
    found = reference_search(
        case.model.next_log_probs,
        plan,
        case.config,
        end_tokens=case.model.end_tokens,
        max_tokens=limit,
        observe=lambda _, nodes: steps.append(nodes),
    )
    return found, steps


def nodes_left(step: Step) -> list[set[Any]]:
    """Row, token, L, E and E⁺ of the nodes of each sentence that the end rule and α leave."""
    columns = step.siblings.token.shape[2]
    facts = (step.siblings.token.flatten(1), step.nodes.log_prob, step.nodes.score, step.nodes.score_plus)
    found = []
    for sentence, (order, kept) in enumerate(zip(step.selection.order, step.selection.in_alpha, strict=True)):
        nodes = order[kept]
        values = [fact[sentence, nodes].tolist() for fact in facts]
        found.append(set(zip((nodes // columns).tolist(), *values, strict=True)))
    return found


@st.composite
def configs(draw: st.DrawFn) -> DecodeConfig:
    def one_of(*values: Any) -> Any:
        return draw(st.sampled_from(values))

    return DecodeConfig(
        method=one_of("edit", "edit", "edit", "edit", "edit", "neurologic", "neurologic", "negative", "beam"),
        beams=one_of(1, 2, 3, 4),
        width=one_of(None, 2, 3, 5),
        alpha=one_of(3, 8, 200),
        lambdas=one_of((1, 1, 1), (0.5, 1, 0.3), (0, 1, 1)),
        scale=one_of("edit", "edit", "kind"),
        delta=one_of(None, 2, 1, 0.3, 0),
        group_by=one_of("all", "positive"),
        end=one_of("always", "likeliest", "met", "either"),
        strict=one_of(True, True, False),
        begun=one_of(False, False, True),
        forbid=one_of(False, False, True),
        choose=one_of("edits", "sum"),
        stop=one_of("open", "exact"),
        admit_unmet=one_of(False, False, True),
        admit_gap=one_of(2, 5, 30),
        beta=one_of(0, 1, 2),
        ban=one_of("word", "token"),
        length_penalty=one_of(1.0, 0.0, 2.0, 0.5, -1.0),
        early_stopping=one_of(False, True, "never"),
        min_tokens=one_of(0, 0, 3),
        no_repeat_ngram=one_of(0, 0, 2, 3),
        ahead=one_of(None, None, 0, 1),
    )


# Whole words

WORDS = ("the", "a", "old", "house", "er", "make", "up", "for", "x", ".")


def word_model(words: Sequence[str], number: int, device: str) -> ScriptedModel:
    """Random rows by the last word, a tenth of it at the floor."""
    rng = random.Random(number)

    def row() -> dict[str, float]:
        return {word: -rng.expovariate(0.7) for word in (*words, "</s>") if rng.random() < 0.9}

    return ScriptedModel(words, {"": row()}, {word: row() for word in words}, -rng.uniform(5, 12), device)


def tied_model(words: Sequence[str], number: int, device: str) -> ScriptedModel:
    """Every token is as likely as every other, everywhere, or has the floor's likelihood."""
    rng = random.Random(number)

    def row() -> dict[str, float]:
        return {word: -1.0 for word in (*words, "</s>") if rng.random() < 0.8}

    return ScriptedModel(words, {"": row()}, {word: row() for word in words}, -2.0, device)


def edits_of(words: Sequence[str]) -> st.SearchStrategy[Edit]:
    def phrase(draw: st.DrawFn) -> str:
        return " ".join(draw(st.sampled_from(words)) for _ in range(draw(st.sampled_from([1, 1, 1, 2, 2, 3]))))

    @st.composite
    def edits(draw: st.DrawFn) -> Edit | None:
        weight = draw(st.sampled_from([1, 1, 0.5, 2, 0]))
        kind = draw(st.sampled_from(["insert", "delete", "substitute"]))
        targets = [phrase(draw) for _ in range(draw(st.integers(1, 2)))] if kind == "substitute" else []
        try:
            return Edit(kind, phrase(draw), tuple(targets), weight=weight)
        except PlanError:  # a word substituted by itself
            return None

    return edits()


def plan_of(edits: Sequence[Edit | None]) -> EditPlan:
    """As many of the edits as do not conflict."""
    plan = EditPlan("s")
    for edit in edits:
        if edit is not None:
            try:
                plan = EditPlan("s", (*plan.edits, edit))
            except PlanError:  # contradicts an earlier one
                continue
    return plan


@st.composite
def at_places(draw: st.DrawFn, plan: CompiledPlan) -> CompiledPlan:
    """The plan with its edits anywhere in the source."""
    places = [draw(st.sampled_from([-1, 0, 2, 4, 7])) for _ in plan.plan.edits]
    return replace(plan, clauses=tuple(replace(clause, place=places[clause.edit]) for clause in plan.clauses))


def word_cases(model_of: Callable[..., ScriptedModel]) -> Callable[[str], st.SearchStrategy[Case]]:
    @st.composite
    def cases(draw: st.DrawFn, device: str) -> Case:
        words = WORDS[: draw(st.integers(4, len(WORDS)))]
        model = model_of(words, draw(st.integers(0, 10**9)), device)
        batch = draw(st.integers(1, 3))
        plans = [plan_of(draw(st.lists(edits_of(words), max_size=6))) for _ in range(batch)]
        limits = [draw(st.integers(1, 8)) for _ in plans]
        compiled = [draw(at_places(plan)) for plan in compiler_for(model.tokenizer).compile(plans)]
        return Case(model, compiled, draw(configs()), limits)

    return cases


@st.composite
def with_splits(draw: st.DrawFn, case: Case) -> Case:
    """The same batch with splits among its edits."""
    plans = []
    for plan in case.plans:
        edits = list(plan.plan.edits)
        for _ in range(draw(st.integers(1, 3))):
            phrase = draw(st.sampled_from(["", *WORDS]))
            edits.insert(draw(st.integers(0, len(edits))), Edit.split(phrase, weight=draw(st.sampled_from([0, 1, 5]))))
        plans.append(EditPlan("s", tuple(edits)))
    compiled = [
        replace(new, clauses=tuple(
            replace(clause, place=old.place) for clause, old in zip(new.clauses, plan.clauses, strict=True)
        ))
        for new, plan in zip(compiler_for(case.model.tokenizer).compile(plans), case.plans, strict=True)
    ]  # fmt: skip
    return replace(case, plans=compiled)


def test_both_searches_ignore_splits(device: str) -> None:
    @seed(0)
    @settings(max_examples=300 if device == "cpu" else 15, deadline=None, database=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.data())
    def same(data: st.DataObject) -> None:
        plain = data.draw(word_cases(word_model)(device))
        split = data.draw(with_splits(plain))
        found, expected = (
            search(case.model, ["s"] * len(case.plans), case.plans, case.config, case.max_tokens)
            for case in (split, plain)
        )
        assert [[(h.tokens, h.log_prob, h.edit_score, h.satisfied) for h in one] for one in found] == [
            [(h.tokens, h.log_prob, h.edit_score, h.satisfied) for h in one] for one in expected
        ]
        slow, expected_slow = (
            [reference_search(case.model.next_log_probs, plan, case.config, end_tokens=case.model.end_tokens,
                              max_tokens=limit) for plan, limit in zip(case.plans, case.max_tokens, strict=True)]
            for case in (split, plain)
        )  # fmt: skip
        assert [[(h.tokens, h.log_prob, h.edit_score) for h in one] for one in slow] == [
            [(h.tokens, h.log_prob, h.edit_score) for h in one] for one in expected_slow
        ]

    same()


@pytest.mark.parametrize("number", range(3))
def test_search_equals_reference_on_whole_words(number: int, device: str) -> None:
    for_many(word_cases(word_model), 400, number, device)


def test_search_equals_reference_with_ties_everywhere(device: str) -> None:
    for_many(word_cases(tied_model), 300, 0, device)


# Banned words inside requested phrases


@st.composite
def banning_configs(draw: st.DrawFn) -> DecodeConfig:
    """Settings with bans, and few others that take nodes away: a ban shows where there is something left to ban."""
    method = draw(st.sampled_from(["edit", "edit", "edit", "negative", "neurologic"]))
    return draw(configs()).with_changes(
        method=method,
        forbid=True,
        ban=draw(st.sampled_from(["word", "word", "word", "token"])),
        width=draw(st.sampled_from([1, 2, 3])),  # fewer tokens mean fewer offers
        admit_unmet=draw(st.booleans()),
        admit_gap=30,
        alpha=draw(st.sampled_from([3, 200, 200])),
        delta=draw(st.sampled_from([None, None, 2, 0])),
        no_repeat_ngram=draw(st.sampled_from([0, 0, 0, 2])),
    )


@st.composite
def nested_plans(draw: st.DrawFn, words: Sequence[str]) -> EditPlan:
    """Requested phrases, some of them twice, and bans on parts of them, some of which are also requested."""

    def one_of(*values: Any) -> Any:
        return draw(st.sampled_from(values))

    def phrase(least: int) -> str:
        return " ".join(draw(st.sampled_from(words)) for _ in range(one_of(least, least, least + 1)))

    edits: list[Edit | None] = []
    for _ in range(one_of(1, 1, 2)):
        outer = phrase(2)
        inner = part_of(draw, outer.split())
        edits += [Edit.insert(outer)] * one_of(0, 1, 1, 2, 3)
        for _ in range(one_of(1, 1, 2)):
            banned = " ".join(one_of(inner, inner, inner, phrase(1).split()))
            targets = [one_of(outer, phrase(1), phrase(1)) for _ in range(one_of(1, 1, 2))]
            edits.append(substitution(banned, targets) if one_of(True, True, False) else Edit.delete(banned))
        if one_of(True, False, False):
            edits.append(Edit.insert(" ".join(inner), span=(0, 1)))  # free, then: the ban has no span
    return plan_of(draw(st.permutations(edits)))


def part_of(draw: st.DrawFn, whole: Sequence[Any]) -> Sequence[Any]:
    """A proper slice; rarely the end, since only occurrences before the end have to wait."""
    whole = draw(st.sampled_from([whole[:-1], whole[:-1], whole[:-1], whole[1:]]))
    size = draw(st.integers(1, len(whole)))
    start = draw(st.integers(0, len(whole) - size))
    return whole[start : start + size]


def substitution(phrase: str, targets: Sequence[str]) -> Edit | None:
    try:
        return Edit.substitute(phrase, *targets)
    except PlanError:  # a word substituted by itself
        return None


@st.composite
def nested_cases(draw: st.DrawFn, device: str) -> Case:
    words = WORDS[: draw(st.integers(3, 4))]
    model = word_model(words, draw(st.integers(0, 10**9)), device)
    plans = [draw(nested_plans(words)) for _ in range(draw(st.integers(1, 2)))]
    limits = [draw(st.integers(1, 6)) for _ in plans]
    compiled = [draw(at_places(plan)) for plan in compiler_for(model.tokenizer).compile(plans)]
    return Case(model, compiled, draw(banning_configs()), limits)


@pytest.mark.parametrize("number", range(2))
def test_search_equals_reference_on_banned_words_inside_insertions(number: int, device: str) -> None:
    for_many(nested_cases, 400, number, device)


BANS = {
    "forbid": {"forbid": True},
    "forbid-not-strict": {"forbid": True, "strict": False},
    "forbid-last-token": {"forbid": True, "ban": "token"},
    "negative": {"method": "negative"},
    "neurologic": {"method": "neurologic"},
}
each_ban = pytest.mark.parametrize("ban", BANS.values(), ids=list(BANS))


@each_ban
@pytest.mark.parametrize(
    "edits",
    [
        pytest.param([Edit.insert("the the")] * 3 + [Edit.substitute("the", "a")], id="source-in-a-repeated-insertion"),
        pytest.param([Edit.insert("the a old"), Edit.substitute("a", "old")], id="source-in-the-middle"),
        pytest.param([Edit.insert("the a"), Edit.insert("a the"), Edit.delete("a")], id="between-two-insertions"),
        pytest.param([Edit.substitute("the", "the a", "old")], id="source-begins-its-target"),
        pytest.param([Edit.insert("the old a"), Edit.insert("the", span=(0, 1)), Edit.delete("the")], id="one-is-free"),
    ],
)
def test_nothing_breaks_off_a_phrase_that_begins_with_a_banned_word(edits: list[Edit], ban: dict[str, Any]) -> None:
    """An earlier version tracked a waiting source only if it was offered, so a row could leave it in the text."""
    for number in range(10):
        model = word_model(WORDS[:4], number, "cpu")
        plan = compiler_for(model.tokenizer).compile([EditPlan("s", tuple(edits))])
        for limit in (3, 6):
            compare(Case(model, plan, DecodeConfig(beams=1, alpha=3, delta=None, **ban), [limit]), watched=True)


@each_ban
@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("edit", [Edit.delete("old"), Edit.substitute("old", "aged")], ids=["deleted", "substituted"])
def test_an_insertion_with_a_banned_word_is_written_in_the_middle(edit: Edit, beams: int, ban: dict[str, Any]) -> None:
    after = {
        "the": {"old": -0.1, "new": -3.0},
        "old": {"house": -0.1, "town": -2.0},  # the model would rather leave "old" alone
        "new": {"house": -0.1},
        "house": {"is": -0.1},
        "town": {"is": -0.1},
        "is": {"here": -0.1},
        "here": {"</s>": -0.1},
        "aged": {"</s>": -9.0},
    }
    model = ScriptedModel(list(after), {"": {"the": -0.1}}, after, -20.0)
    plan = compiler_for(model.tokenizer).compile([EditPlan("s", (Edit.insert("old town"), edit))])
    config = DecodeConfig(beams=beams, width=3, **ban)
    compare(Case(model, plan, config, [9]), watched=True)
    best = search(model, ["s"], plan, config, [9])[0][0]
    written = " ".join(model.tokenizer.words[token] for token in best.tokens)
    # With ban="token" the phrase may be interrupted before "town", and a single row does not start it again.
    noun = "house" if config.ban == "token" and beams == 1 else "town"
    assert written.startswith(f"the old {noun} is here")


# Pieces of words

LEAD, CONTINUATIONS = b"\xe2\x80", (b"\x9c", b"\x99")  # “ and ’ are two tokens each
PIECES = (b" old", b"old", b"er", b" x", b"'", b"s", b",", b"1", b"11", b" ", b"-", b".", b" a", b"a", b"b")


class PieceModel:
    """Random rows by the last two tokens. Only whole characters are written, as by a trained model."""

    def __init__(self, texts: Sequence[bytes], number: int, device: str) -> None:
        self.texts: list[bytes | None] = [*texts, None]
        self.end_tokens = [len(texts)]
        self.tables = boundary_tables(self.texts)
        self._number = number
        self._device = device
        self._known: dict[tuple[int, ...], list[float]] = {}

    def __repr__(self) -> str:
        return f"PieceModel({self.texts[:-1]}, {self._number})"

    def next_log_probs(self, prefix: tuple[int, ...]) -> list[float]:
        key = prefix[-2:]
        if key not in self._known:
            rng = random.Random(f"{self._number} {key}")
            inside = bool(prefix) and self.texts[prefix[-1]] == LEAD
            self._known[key] = [
                score if (text in CONTINUATIONS) == inside else NEVER
                for text in self.texts
                for score in [-rng.expovariate(0.7) if rng.random() < 0.95 else NEVER]
            ]
        return self._known[key]

    def start(self, sources: Sequence[str], beams: int) -> Tensor:
        self._rows: list[list[tuple[int, ...]]] = [[()] * beams for _ in sources]
        return self._scores()

    def step(self, tokens: Tensor) -> Tensor:
        self._rows = [
            [(*row, token) for row, token in zip(rows, sentence, strict=True)]
            for rows, sentence in zip(self._rows, tokens.tolist(), strict=True)
        ]
        return self._scores()

    def reorder(self, parent: Tensor) -> None:
        self._rows = [[rows[row] for row in order] for rows, order in zip(self._rows, parent.tolist(), strict=True)]

    def _scores(self) -> Tensor:
        scores = [[self.next_log_probs(row) for row in rows] for rows in self._rows]
        return torch.tensor(scores, dtype=torch.float64, device=self._device)


def variant_of(tokens: tuple[int, ...], model: PieceModel) -> Variant | None:
    """The tokens as a variant if they are a phrase: whole characters, without trailing white space."""
    try:
        text = b"".join(model.texts[token] or b"" for token in tokens).decode("utf-8")
    except UnicodeDecodeError:
        return None
    shown = text.strip()
    if not shown or not text.endswith(shown):
        return None
    return Variant(tokens, allowed_start_states(text[: -len(shown)], shown), len(split_words(shown)))


@st.composite
def clause_variants(draw: st.DrawFn, model: PieceModel, *, one_phrase: bool = False) -> tuple[Variant, ...]:
    token = st.integers(0, len(model.texts) - 2)
    found: dict[tuple[int, ...], Variant] = {}
    for _ in range(1 if one_phrase else draw(st.integers(1, 3))):
        tokens = tuple(draw(st.lists(token, min_size=1, max_size=3)))
        variant = variant_of(tokens, model)
        if variant is not None:
            found[tokens] = variant
    if one_phrase and found:  # a second spelling of it, with or without the space in front
        (tokens,) = found
        first = (model.texts[tokens[0]] or b"").strip()
        for other, text in enumerate(model.texts):
            if text is not None and first and text.strip() == first and other != tokens[0]:
                again = variant_of((other, *tokens[1:]), model)
                if again is not None:
                    found[again.tokens] = again
    return tuple(found.values())


@st.composite
def piece_plans(draw: st.DrawFn, model: PieceModel) -> CompiledPlan:
    edits: list[Edit] = []
    clauses: list[Clause] = []
    for number in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(["insert", "delete", "substitute"]))
        weight = draw(st.sampled_from([1, 2, 0.5]))
        if kind == "substitute":
            edits.append(Edit.substitute(f"w{number}", f"t{number}", weight=weight))
            target = draw(clause_variants(model))
            wanted = {variant.tokens for variant in target}
            source = tuple(variant for variant in draw(clause_variants(model)) if variant.tokens not in wanted)
            if target:
                free = draw(st.sampled_from([0, 0, 1]))
                clauses += [Clause("source", number, free, source), Clause("target", number, 0, target)]
        elif kind == "insert":
            edits.append(Edit.insert(f"w{number}", weight=weight))
            threshold = draw(st.sampled_from([1, 1, 2]))
            variants = draw(clause_variants(model, one_phrase=threshold > 1))
            clauses += [Clause("insert", number, threshold, variants)] if variants else []
        else:
            edits.append(Edit.delete(f"w{number}", weight=weight))
            variants = draw(clause_variants(model))
            clauses += [Clause("delete", number, draw(st.sampled_from([0, 0, 1])), variants)] if variants else []
    return CompiledPlan(EditPlan("s", tuple(edits)), tuple(clauses), {}, model.tables)


@st.composite
def piece_cases(draw: st.DrawFn, device: str) -> Case:
    texts = draw(st.lists(st.sampled_from(PIECES), min_size=5, max_size=11, unique=True))
    if draw(st.booleans()):
        texts += [LEAD, *CONTINUATIONS]
    model = PieceModel(texts, draw(st.integers(0, 10**9)), device)
    plans = [draw(at_places(draw(piece_plans(model)))) for _ in range(draw(st.integers(1, 2)))]
    return Case(model, plans, draw(configs()), [draw(st.integers(1, 8)) for _ in plans])


@pytest.mark.parametrize("number", range(3))
def test_search_equals_reference_on_pieces_of_words(number: int, device: str) -> None:
    for_many(piece_cases, 400, number, device)


@st.composite
def nested_piece_plans(draw: st.DrawFn, model: PieceModel) -> CompiledPlan:
    """As nested_plans, in tokens: the longer phrase and the one within may both wait for their word to close."""

    def one_of(*values: Any) -> Any:
        return draw(st.sampled_from(values))

    def variants(*phrases: Sequence[int]) -> tuple[Variant, ...]:
        found = [variant_of(tuple(tokens), model) for tokens in phrases]
        return tuple({variant.tokens: variant for variant in found if variant is not None}.values())

    def some(least: int) -> list[int]:
        token = st.sampled_from([*range(len(model.texts) - 1), 0, 1, 0, 1])  # the words, then
        return draw(st.lists(token, min_size=least, max_size=least + 2))

    edits: list[Edit] = []
    clauses: list[Clause] = []
    for _ in range(one_of(1, 1, 2)):
        outer = some(2)
        for threshold in range(1, 1 + one_of(0, 1, 1, 2)):
            clauses += [Clause("insert", len(edits), threshold, found) for found in [variants(outer)] if found]
            edits.append(Edit.insert(f"w{len(edits)}"))
        for _ in range(one_of(1, 1, 2)):
            banned = variants(part_of(draw, outer), *one_of([], [some(1)]))
            number, free = len(edits), one_of(0, 0, 1)
            if one_of(True, False):
                target = variants(*one_of([outer], [some(1)], [outer, some(1)]))
                wanted = {variant.tokens for variant in target}
                banned = tuple(variant for variant in banned if variant.tokens not in wanted)
                if target:
                    clauses += [Clause("source", number, free, banned), Clause("target", number, 0, target)]
                edits.append(Edit.substitute(f"w{number}", f"t{number}"))
            else:
                clauses += [Clause("delete", number, free, banned)] if banned else []
                edits.append(Edit.delete(f"w{number}"))
    return CompiledPlan(EditPlan("s", tuple(edits)), tuple(clauses), {}, model.tables)


@st.composite
def nested_piece_cases(draw: st.DrawFn, device: str) -> Case:
    words, others = PIECES[:1] + PIECES[3:4], PIECES[1:3] + PIECES[4:]  # most phrases are to have more than one word
    texts = [*words, *draw(st.lists(st.sampled_from(others), min_size=1, max_size=3, unique=True))]
    model = PieceModel(texts, draw(st.integers(0, 10**9)), device)
    plans = [draw(at_places(draw(nested_piece_plans(model)))) for _ in range(draw(st.integers(1, 2)))]
    return Case(model, plans, draw(banning_configs()), [draw(st.integers(1, 6)) for _ in plans])


def test_search_equals_reference_on_banned_pieces_inside_insertions(device: str) -> None:
    for_many(nested_piece_cases, 400, 0, device)


@each_ban
@pytest.mark.parametrize(
    "texts, inserted, deleted, free",
    [
        pytest.param((b" old", b"er", b" x"), (2, 2), [(0,), (0, 1)], 1, id="one-goes-on-from-the-other"),
        pytest.param((b",", b"b", b"er"), (0, 1, 2), [(0, 1, 2), (2,)], 0, id="one-is-letters-of-the-insertion"),
    ],
)
def test_two_forms_of_a_banned_word(
    texts: tuple[bytes, ...],
    inserted: tuple[int, ...],
    deleted: list[tuple[int, ...]],
    free: int,
    ban: dict[str, Any],
) -> None:
    for number in range(10):
        model = PieceModel(texts, number, "cpu")
        insertion, *forms = (variant_of(tokens, model) for tokens in (inserted, *deleted))
        assert insertion is not None
        assert None not in forms
        clauses = (Clause("insert", 0, 1, (insertion,)), Clause("delete", 1, free, tuple(filter(None, forms))))
        plan = CompiledPlan(EditPlan("s", (Edit.insert("w0"), Edit.delete("w1"))), clauses, {}, model.tables)
        compare(Case(model, [plan], DecodeConfig(beams=3, **ban), [4]), watched=True)


@pytest.mark.parametrize("vocab", [50, 5000, 5003], ids=["few-tokens", "many-tokens", "many-tokens-and-a-rest"])
def test_ties_in_a_rows_list_go_to_the_lower_id(vocab: int, device: str) -> None:
    torch.manual_seed(0)
    log_prob = torch.randint(-40, 0, (2, 3, vocab), device=device).double()
    log_prob[0, 0] = -1.0
    log_prob[1, 2, 7:] = NEVER
    lists = top_tokens(log_prob, 12, torch.tensor([12, 8], device=device))
    for sentence, allowed in enumerate([12, 8]):
        for row in range(3):
            values = log_prob[sentence, row].tolist()
            likeliest = sorted(
                (token for token in range(vocab) if values[token] > NEVER), key=lambda t: (-values[t], t)
            )
            expected = sorted(likeliest[:allowed])
            expected += [vocab] * (12 - len(expected))
            assert lists.token[sentence, row].tolist() == expected
