"""Compiled plans: occurrences found in tokens are those in the decoded text."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.constrain.clause_arrays import ALWAYS, layout_plan
from redraft.constrain.clauses import Clause, CompiledPlan, Variant
from redraft.constrain.compiler import Compiler, compile_plans, compiler_for
from redraft.constrain.packed_plans import pack_plans
from redraft.constrain.vocabulary import TokenizerVocabulary, WordVocabulary, vocabulary_of
from redraft.constrain.word_boundaries import STATES, boundary_tables
from redraft.decode.reference_search import reference_occurrences
from redraft.errors import ModelError, PlanError
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.phrases import find_spans
from tokenizers_in_memory import TOKENIZERS

every_tokenizer = pytest.mark.parametrize("name", TOKENIZERS)


def inserting(*phrases: str, source: str = "any") -> EditPlan:
    return EditPlan(source, tuple(Edit.insert(phrase) for phrase in phrases))


def ends_in_tokens(compiler: Compiler, tokens: list[int], plan: EditPlan) -> set[int]:
    """Where the first edit's phrase ends in the decoded text, going by tokens alone."""
    compiled = compiler.compile([plan])[0]
    found = reference_occurrences(tuple(tokens), compiled, final=True)
    ends = [one.end for one in found if one.clause == 0 and one.state == "settled"]
    return {len(compiler.vocabulary.decode(tokens[: end + 1])) for end in ends}


def ends_in_text(compiler: Compiler, tokens: list[int], plan: EditPlan) -> set[int]:
    text = compiler.vocabulary.decode(tokens)
    return {end for _, end in find_spans(text, compiler.forms_in_text(plan, plan.edits[0].phrase))}


# Words, not substrings


@every_tokenizer
@pytest.mark.parametrize("phrase, text, count", [
    pytest.param("old", "an old man", 1, id="after-a-space"),
    pytest.param("old", "old men", 1, id="at-the-start"),
    pytest.param("old", "Old men", 1, id="capitalised"),
    pytest.param("old", 'the "old" man', 1, id="after-a-quote"),
    pytest.param("old", "the “old” man", 1, id="after-a-curly-quote"),
    pytest.param("old", 'the "Old" man', 1, id="capitalised-after-a-quote"),
    pytest.param("old", "a man (old)", 1, id="in-brackets"),
    pytest.param("old", "a man [old]", 1, id="in-square-brackets"),
    pytest.param("old", "'old'", 1, id="in-single-quotes"),
    pytest.param("so", "'so do we'", 1, id="in-single-quotes-like-a-contraction"),
    pytest.param("old", "old, old. old", 3, id="three-times"),
    pytest.param("old", "an older man", 0, id="not-in-older"),
    pytest.param("art", "the artisans", 0, id="not-in-artisans"),
    pytest.param("art", "art of artisans", 1, id="beside-artisans"),
    pytest.param("dog", "the dog's bowl", 1, id="before-an-apostrophe"),
    pytest.param("'s", "the dog's bowl", 1, id="an-apostrophe-s"),
    pytest.param("don't", "I don't know", 1, id="a-contraction"),
    pytest.param("well-known", "a well-known man", 1, id="a-hyphen"),
    pytest.param("11,000", "about 11,000 men", 1, id="a-number"),
    pytest.param("2011", "(2011), 2011.", 2, id="a-year-with-signs"),
    pytest.param("an old man", "an old man and an old man", 2, id="a-phrase"),
    pytest.param("old old man", "old old old man", 1, id="overlaps-itself"),
    pytest.param("naïve", "a naïve man", 1, id="an-accent"),
])  # fmt: skip
def test_a_phrase_is_found_as_words(name, phrase, text, count):
    compiler = compiler_for(TOKENIZERS[name]())
    tokens = compiler.vocabulary.encode([text])[0]
    plan = inserting(phrase)
    assert len(ends_in_tokens(compiler, tokens, plan)) == count
    assert ends_in_tokens(compiler, tokens, plan) == ends_in_text(compiler, tokens, plan)


@pytest.mark.parametrize("name", ["byte-level", "unigram", "characters"])
@pytest.mark.parametrize("phrase, text", [
    pytest.param("11", "11,000 men", id="not-in-a-number"),
    pytest.param("000", "11,000 men", id="not-at-the-end-of-a-number"),
    pytest.param("known", "well-known men", id="not-behind-a-hyphen"),
    pytest.param("t", "they don't", id="not-in-a-contraction"),
])  # fmt: skip
def test_parts_of_words_are_not_found(name, phrase, text):
    """WordPiece writes "11, 000" and "well - known", where they are words."""
    compiler = compiler_for(TOKENIZERS[name]())
    assert not ends_in_tokens(compiler, compiler.vocabulary.encode([text])[0], inserting(phrase))


# Properties

WORDS = ["old", "older", "Old", "art", "artisans", "remain", "remained", "dog", "dog's", "don't", "well-known", "well"]
WORDS += ["11", "11,000", "2011", "5", "the", "The", "naïve", "I", "a"]
GLUE = [" ", " ", " ", ", ", ". ", " (", ") ", ' "', '" ', " “", "” ", " [", "] ", " '", "' ", ": ", "; ", "-", "/"]
GLUE += [" – ", "...", ",", ".", "'", '"', "(", ")", "  ", "\n", "? ", "!", ' ("', '")', "‘", "’"]
PHRASES = [*WORDS, "'s", "U.S"]

some_text = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GLUE)), min_size=1, max_size=8).map(
    lambda pairs: "".join(word + glue for word, glue in pairs)
)
some_phrase = st.lists(st.sampled_from(PHRASES), min_size=1, max_size=3).map(" ".join)


@every_tokenizer
@given(glue=st.sampled_from(["", *GLUE]), text=some_text, phrase=some_phrase)
@settings(max_examples=150)
def test_equal_to_brute_force_on_every_encoded_text(name, glue, text, phrase):
    compiler = compiler_for(TOKENIZERS[name]())
    tokens = compiler.vocabulary.encode([glue + text])[0]
    plan = inserting(phrase)
    if compiler.vocabulary.unknown in tokens:  # left out of the decoded text, where a phrase may then bridge the gap
        assert ends_in_tokens(compiler, tokens, plan) <= ends_in_text(compiler, tokens, plan)
    else:
        assert ends_in_tokens(compiler, tokens, plan) == ends_in_text(compiler, tokens, plan)


@every_tokenizer
@given(data=st.data(), phrase=some_phrase)
@settings(max_examples=150)
def test_never_a_false_match_on_any_tokens(name, data, phrase):
    compiler = compiler_for(TOKENIZERS[name]())
    plan = inserting(phrase)
    variants = [list(one.tokens) for one in compiler.compile([plan])[0].clauses[0].variants]
    size = len(compiler.vocabulary.texts)
    near = compiler.vocabulary.encode([f"{word}{glue}" for word in WORDS[:6] for glue in GLUE])
    chunk = st.sampled_from(variants) | st.sampled_from(near) | st.integers(0, size - 1).map(lambda token: [token])
    tokens = [token for chunk in data.draw(st.lists(chunk, max_size=8)) for token in chunk]
    assert ends_in_tokens(compiler, tokens, plan) <= ends_in_text(compiler, tokens, plan)


@given(words=st.lists(st.sampled_from(["a", "old", "older", "11", ",", ".", "man"]), max_size=10), phrase=some_phrase)
def test_whole_words_are_exact(words, phrase):
    compiler = compiler_for(WordVocabulary(["a", "old", "older", "11", ",", ".", "man", "Old"]))
    plan = inserting(phrase)
    tokens = compiler.vocabulary.encode([" ".join(words)])[0]
    if not compiler.compile([plan])[0].impossible:
        assert ends_in_tokens(compiler, tokens, plan) == ends_in_text(compiler, tokens, plan)


# Counting


@pytest.mark.parametrize("edits, variants, expected", [
    pytest.param([Edit.insert("old"), Edit.insert("man"), Edit.insert("old")], "case", [1, 1, 2],
                 id="the-second-needs-two"),
    pytest.param([Edit.delete("old")], "case", [0], id="nothing-is-free"),
    pytest.param([Edit.insert("old", span=(0, 3)), Edit.delete("old", span=(4, 7))], "case", [1, 1],
                 id="what-is-inserted-is-free"),
    pytest.param([Edit.substitute("big", "old", "Old"), Edit.delete("old")], "case", [0, 1],
                 id="a-target-is-free-once"),
    pytest.param([Edit.insert("big"), Edit.substitute("big", "old")], "case", [1, 1], id="a-source-that-is-inserted"),
    pytest.param([Edit.insert("war"), Edit.insert("War")], "case", [2, 1], id="a-name-is-also-the-word"),
    pytest.param([Edit.insert("War"), Edit.insert("war")], "case", [1, 2], id="a-name-is-also-the-word-in-any-order"),
    pytest.param([Edit.insert("war", span=(0, 1)), Edit.delete("War", span=(2, 3))], "case", [1, 0],
                 id="the-word-does-not-free-the-name"),
    pytest.param([Edit.insert("old"), Edit.insert("Old")], "exact", [1, 1], id="exact-ones-differ-by-case"),
    pytest.param([Edit.insert("run"), Edit.insert("runs")], "lemma", [1, 2], id="inflections-count-as-the-same"),
    pytest.param([Edit.insert("The"), Edit.insert("the")], "case", [1, 2], id="the-first-word-of-the-source"),
])  # fmt: skip
def test_which_occurrence_counts(edits, variants, expected):
    plan = EditPlan("The source", tuple(edits))
    compiled = compiler_for(TOKENIZERS["byte-level"](), variants).compile([plan])[0]
    assert [clause.threshold for clause in compiled.clauses if clause.role != "target"] == expected


# Variants


def texts_of(clause: Clause) -> list[str]:
    vocabulary = vocabulary_of(TOKENIZERS["byte-level"]())
    return [b"".join(vocabulary.texts[token] or b"" for token in one.tokens).decode() for one in clause.variants]


@pytest.mark.parametrize("variants, phrase, source, forms", [
    pytest.param("exact", "old", "any", "old", id="exact"),
    pytest.param("case", "old", "any", "old Old", id="case"),
    pytest.param("case", "Old", "any", "Old", id="a-name-keeps-its-capital"),
    pytest.param("case", "Old", "Old men", "old Old", id="the-source-begins-with-it"),
    pytest.param("case", "Old", "Older men", "Old", id="the-source-begins-with-a-longer-word"),
    pytest.param("case", "II", "II men", "II", id="capitals-stay"),
    pytest.param("lemma", "remain", "any",
                 "remain remains remained remaining Remain Remains Remained Remaining", id="lemma"),
])  # fmt: skip
def test_variants(variants, phrase, source, forms):
    compiled = compile_plans(inserting(phrase, source=source), TOKENIZERS["byte-level"](), variants=variants)[0]
    assert {text.strip(" '") for text in texts_of(compiled.clauses[0])} == set(forms.split())


def test_a_quote_joined_to_the_word_is_a_variant_of_its_own():
    """Byte-level BPE takes 't for a contraction, so 'tall is written as 't and all."""
    compiled = compile_plans(inserting("tall"), TOKENIZERS["byte-level"]())[0]
    assert "'tall" in texts_of(compiled.clauses[0])


def test_a_target_that_inflects_its_source_is_removed_from_the_source():
    plan = EditPlan("any", (Edit.substitute("remains", "remain"),))
    source, target = compile_plans(plan, TOKENIZERS["byte-level"](), variants="lemma")[0].clauses
    assert not {one.tokens for one in source.variants} & {one.tokens for one in target.variants}


# Phrases that cannot be written


@every_tokenizer
@pytest.mark.parametrize("edit", [
    pytest.param(Edit.insert("old </s>"), id="insertion"),
    pytest.param(Edit.delete("<pad>"), id="deletion"),
    pytest.param(Edit.substitute("old", "<s>"), id="target"),
    pytest.param(Edit.substitute("old", "big", "<s> big"), id="one-target-of-two"),
    pytest.param(Edit.substitute("</s>", "old"), id="source"),
])  # fmt: skip
def test_special_tokens_are_refused(name, edit):
    plan = EditPlan("any", (Edit.insert("old"), edit))
    compiler = Compiler(vocabulary_of(TOKENIZERS[name]()))
    for _ in range(2):  # also if the plan is cached
        with pytest.raises(PlanError, match=r"plan 2: the phrase of edit 2 contains a special token") as caught:
            compiler.compile([inserting("old"), plan])
        assert caught.value.field == "edits[1]"


@every_tokenizer
def test_special_tokens_are_impossible_on_request(name):
    plan = EditPlan("any", (Edit.insert("old </s>"), Edit.insert("old"), Edit.substitute("old", "<s>", "art")))
    compiled = Compiler(vocabulary_of(TOKENIZERS[name]())).compile([plan], on_special="impossible")[0]
    assert compiled.impossible == {0: "contains a special token"}
    assert {clause.edit for clause in compiled.clauses} == {1, 2}


@every_tokenizer
def test_splits_have_no_clauses_and_do_not_change_others(name):
    source, others = "any old man, who was old", (Edit.insert("old"), Edit.insert("ż"), Edit.delete("who"))
    splits = Edit.split(), Edit.split("old"), Edit.split("who", span=(13, 16)), Edit.split("old </s>")
    mixed = [splits[0], others[0], splits[1], others[1], splits[2], others[2], splits[3]]
    compiler = Compiler(vocabulary_of(TOKENIZERS[name]()))
    compiler.compile([inserting("old </s>")], on_special="impossible")  # from here on it looks for special tokens
    plain, found = compiler.compile([EditPlan(source, others), EditPlan(source, tuple(mixed))])
    places = {mixed.index(edit): number for number, edit in enumerate(others)}
    assert [replace(clause, edit=places[clause.edit]) for clause in found.clauses] == list(plain.clauses)
    assert {places[number]: reason for number, reason in found.impossible.items()} == plain.impossible


@pytest.mark.parametrize("name", ["word-piece", "characters"])
def test_phrases_that_cannot_be_encoded_are_impossible(name):
    plan = EditPlan(
        "any", (Edit.insert("ż"), Edit.substitute("old", "ż"), Edit.substitute("ż", "old"), Edit.delete("żż"))
    )
    compiled = compile_plans(plan, TOKENIZERS[name]())[0]
    assert compiled.impossible == {0: "cannot be encoded", 1: "cannot be encoded", 3: "cannot be encoded"}
    assert [(clause.role, clause.edit, bool(clause.variants)) for clause in compiled.clauses] == [
        ("source", 2, False), ("target", 2, True),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["byte-level", "unigram"])
def test_bytes_encode_everything(name):
    compiler = compiler_for(TOKENIZERS[name]())
    plan = inserting("ż 😀")
    assert not compiler.compile([plan])[0].impossible
    tokens = compiler.vocabulary.encode(["an ż 😀 here"])[0]
    assert len(ends_in_tokens(compiler, tokens, plan)) == 1


def test_an_end_token_that_is_also_the_unknown_token_is_special():
    """As in GPT-2, whose bytes never need an unknown token."""
    tokenizer = TOKENIZERS["byte-level"]().__class__(
        tokenizer_object=TOKENIZERS["byte-level"]().backend_tokenizer, eos_token="</s>", unk_token="</s>"
    )
    with pytest.raises(PlanError, match="contains a special token"):
        compile_plans(inserting("old </s>"), tokenizer)


def test_objects_other_than_tokenizers_are_refused():
    with pytest.raises(ModelError, match="str is not a tokenizer"):
        compile_plans(inserting("old"), "bert-base-cased")


# Caching


class CountedVocabulary(TokenizerVocabulary):
    def __init__(self, tokenizer):
        super().__init__(tokenizer)
        self.calls: list[list[str]] = []

    def encode(self, texts):
        self.calls.append(list(texts))
        return super().encode(texts)


def test_each_phrase_is_encoded_once_and_each_plan_compiled_once():
    vocabulary = CountedVocabulary(TOKENIZERS["byte-level"]())
    compiler = Compiler(vocabulary)
    compiler.compile([inserting("first")])  # determines once in which contexts the tokenizer splits words differently
    vocabulary.calls.clear()
    first = compiler.compile([inserting("old"), inserting("old", "art"), inserting("old")])
    assert first[0] is first[2]
    assert len(vocabulary.calls) == 1  # all phrases together
    assert len(vocabulary.calls[0]) == len(set(vocabulary.calls[0]))
    again = compiler.compile([inserting("old", "art"), inserting("art"), inserting("old")])
    assert again[0] is first[1]
    assert again[2] is first[0]
    compiler.forms_in_text(inserting("old"), "old")
    assert len(vocabulary.calls) == 1
    compiler.compile([inserting("town")])
    assert len(vocabulary.calls) == 2


def test_a_tokenizer_keeps_its_compilers():
    tokenizer = TOKENIZERS["byte-level"]()
    assert compiler_for(tokenizer) is compiler_for(tokenizer)
    assert compiler_for(tokenizer, "exact") is not compiler_for(tokenizer, "case")


# ClauseArrays


def clause(role, edit, *phrases: tuple[int, ...], threshold: int = 0) -> Clause:
    return Clause(role, edit, threshold, tuple(Variant(tokens, (True,) * STATES, len(tokens)) for tokens in phrases))


def laid_out(*clauses: Clause):
    edits = [Edit.insert(f"word{number}") for number in range(1 + max(one.edit for one in clauses))]
    return layout_plan(CompiledPlan(EditPlan("any", tuple(edits)), clauses, {}, boundary_tables([b" a"] * 8)))


def test_layout_of_tokens():
    layout = laid_out(clause("insert", 0, (1, 2), (3,), threshold=1), clause("delete", 1, (4, 5, 6)))
    assert layout.tokens == [1, 2, 3, 4, 5, 6]
    assert layout.first == [True, False, True, True, False, False]
    assert layout.clause_of == [0, 0, 0, 1, 1, 1]
    assert layout.finals == [1, 2, 5]
    assert layout.final_clause == [0, 0, 1]
    assert not any(layout.offers)
    assert not any(layout.late)
    assert not layout.covers
    assert not layout.final_covers


def offers_and_late(*clauses: Clause):
    layout = laid_out(*clauses)
    return [sorted(places) for places in layout.offers], [sorted(places) for places in layout.late]


@pytest.mark.parametrize("source, target, offers, late", [
    pytest.param((1,), (2,), [[1], [0]], [[], []], id="one-token-each"),
    pytest.param((1, 2), (1, 3), [[], [3], [], [1]], [[], []], id="part-at-the-second-token"),
    pytest.param((1,), (1, 3), [[], [], [ALWAYS]], [[2], []], id="source-begins-the-target"),
    pytest.param((1, 3), (1,), [[], [ALWAYS], []], [[], [1]], id="target-begins-the-source"),
])  # fmt: skip
def test_offers(source, target, offers, late):
    assert offers_and_late(clause("source", 0, source), clause("target", 0, target)) == (offers, late)


def test_every_variant_is_compared_with_every_variant_of_the_other_side():
    before = clause("insert", 0, (9,), threshold=1)
    offers, late = offers_and_late(before, clause("source", 1, (1,), (2, 3)), clause("target", 1, (2,), (1, 4)))
    # positions: 9 | 1 | 2 3 | 2 | 1 4
    assert offers == [[], [4], [5], [ALWAYS], [1], [2], [ALWAYS]]
    assert late == [[], [6], [], [3], []]


def test_a_source_without_variants_offers_nothing():
    assert offers_and_late(clause("insert", 0, (9,), threshold=1), clause("source", 1), clause("target", 1, (2,))) == (
        [[], []],
        [[], []],
    )


def test_covers():
    layout = laid_out(
        clause("insert", 0, (1, 2, 3), threshold=1), clause("delete", 1, (2,)), clause("delete", 2, (1, 2, 3))
    )
    assert [(one.clause, one.age, one.position) for one in layout.covers] == [(1, 0, 1)]
    assert [(one.clause, one.age, one.position) for one in layout.final_covers] == [(1, 1, 2)]


# Tensors


def test_packed_tensors_have_the_stated_shapes():
    plans = compile_plans(
        [
            EditPlan("any", (Edit.insert("old town"), Edit.delete("old"), Edit.substitute("big", "large", "larger"))),
            EditPlan("any"),
            inserting("art"),
        ],
        TOKENIZERS["byte-level"](),
    )
    packed = pack_plans(plans, lambda plan, clause: 7, 700, torch.device("cpu"))
    layouts = [layout_plan(plan) for plan in plans]
    batch, positions = 3, max(len(layout.tokens) for layout in layouts)
    variants, clauses = max(len(layout.finals) for layout in layouts), 4
    for field in ("tokens", "first", "clause_of", "unique_of"):
        assert getattr(packed, field).shape == (batch, positions), field
    for field in ("finals", "final_tokens", "final_clause"):
        assert getattr(packed, field).shape == (batch, variants), field
    for field in ("insert", "delete", "source", "target", "threshold", "value"):
        assert getattr(packed, field).shape == (batch, clauses), field
    assert packed.starts.shape == (batch, positions, STATES)
    assert packed.offers.shape[:2] == (batch, positions)
    assert packed.late is None  # no variant is a prefix of the other side
    assert packed.waits is None
    assert packed.bit.shape == (batch, clauses, 1)
    assert packed.unique.shape == (batch, 2 + max(len(set(layout.tokens)) for layout in layouts))
    assert packed.tokens[1].eq(-1).all()
    assert packed.final_clause[1].eq(clauses).all()
    assert packed.value[0].tolist() == [7, 7, 7, 7]
    assert packed.value[1].tolist() == [0, 0, 0, 0]
    assert packed.nested is not None
    assert packed.nested.clause.tolist() == [[1], [clauses], [clauses]]
    assert packed.nested.final.shape == packed.nested.final_waits.shape
    assert packed.nested.cover.shape[:3] == packed.nested.final.shape[:3]
    assert packed.tables.next_state.shape == packed.tables.boundary.shape == (STATES, 701)
    assert packed.tables.next_state[:, 650].tolist() == list(range(STATES))  # beyond the tokenizer: writes nothing


def test_more_than_62_edits_take_a_second_word():
    plans = compile_plans([inserting(*("abcdefghijklmnopqrstuvwxyz"[number % 26] for number in range(70)))],
                    TOKENIZERS["byte-level"]())  # fmt: skip
    packed = pack_plans(plans, lambda plan, clause: 1, 600, torch.device("cpu"))
    assert packed.bit.shape == (1, 70, 2)
    assert (packed.bit != 0).sum().item() == 70


def test_thousands_of_plans():
    random_ = random.Random(0)
    words = sorted({"".join(random_.choices("abcdefgh", k=random_.randint(2, 7))) for _ in range(3_000)})
    plans = []
    for _ in range(2_000):
        chosen = random_.sample(words, 12)
        edits = [Edit.insert(word) for word in chosen[:5]] + [Edit.delete(word) for word in chosen[5:8]]
        plans.append(EditPlan(" ".join(chosen), (*edits, Edit.substitute(chosen[8], *chosen[9:11]))))
    compiled = compile_plans(plans, TOKENIZERS["byte-level"]())
    assert [one.plan for one in compiled] == plans
    assert not any(one.impossible for one in compiled)
