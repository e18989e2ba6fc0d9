"""Known bugs of other constrained decoders, one test for each."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList

import redraft
from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.constrain.clauses import CompiledPlan
from redraft.constrain.compiler import compiler_for
from redraft.decode.scripted_model import ScriptedModel
from redraft.decode.search import read_hypotheses, search
from redraft.decode.step import State, Stepper
from redraft.errors import PlanError
from redraft.text.words import split_words
from small_models import FAMILIES, WritingModel, tiny_model_for
from tokenizers_in_memory import TOKENIZERS

METHODS = ("edit", "beam", "negative", "neurologic")
EDITING = ("edit", "negative", "neurologic")

SOURCES = (
    "the old man remains here",
    "they remain",
    "the craftsmen are old and the artisans remain",
    "he is here",
    "words",
    "the artisans are here and they are old",
    "simple words stay",
)


@cache
def tokenizer_of(kind: str) -> Any:
    return TOKENIZERS[kind]()


@cache
def model_of(family: str, kind: str) -> Any:
    return tiny_model_for(family, tokenizer_of(kind))


KINDS = list(TOKENIZERS)
# Each family with its own kind of tokenizer: four models see all four.
PAIRS = list(zip(FAMILIES, KINDS, strict=True))
each_family = pytest.mark.parametrize("family, kind", PAIRS, ids=list(FAMILIES))
each_kind = pytest.mark.parametrize("kind", KINDS)


def redrafter(family: str, kind: str, **settings: Any) -> Redrafter:
    return Redrafter(model_of(family, kind), tokenizer_of(kind), config=DecodeConfig(beams=4, **settings))


def some_plans() -> list[EditPlan]:
    """Plans of all kinds, some of them empty."""
    edits = (
        (Edit.insert("old"), Edit.delete("remains"), Edit.substitute("man", "he")),
        (),
        (Edit.insert("are"), Edit.insert("old"), Edit.delete("the"), Edit.substitute("artisans", "men", "they")),
        (Edit.delete("he"),),
        (),
        (Edit.insert("are"), Edit.insert("are", weight=2), Edit.delete("here")),
        (Edit.substitute("stay", "remain"),),
    )
    return [EditPlan(source, some) for source, some in zip(SOURCES, edits, strict=True)]


# n-best lists


@torch.no_grad()
def teacher_forced(redraft_: Redrafter, source: str, tokens: Sequence[int], limit: int) -> float:
    """The model's log-probability of a text in one forward pass; BART's forced end counts 0."""
    model, tokenizer = redraft_.model, redraft_.tokenizer
    inputs = tokenizer([source], return_tensors="pt")
    if model.config.is_encoder_decoder:
        written = torch.tensor([[model.generation_config.decoder_start_token_id, *tokens]])
        logits = model(**{k: inputs[k] for k in ("input_ids", "attention_mask")}, decoder_input_ids=written).logits
        logits = logits[0, : len(tokens)]
    else:
        prompt = inputs["input_ids"]
        logits = model(input_ids=torch.cat([prompt, torch.tensor([tokens])], 1)).logits[0, prompt.shape[1] - 1 : -1]
    each = torch.log_softmax(logits, -1).gather(1, torch.tensor(tokens)[:, None])[:, 0]
    forced = model.generation_config.forced_eos_token_id is not None and len(tokens) == limit
    return float(each[:-1].sum() if forced else each.sum())


@each_family
@pytest.mark.parametrize("method", METHODS)
def test_candidates_differ_as_text_and_carry_the_models_own_score(family: str, kind: str, method: str) -> None:
    redraft_ = redrafter(family, kind, method=method, max_tokens=10, candidates=4)
    for plan in some_plans()[:3]:
        candidates = redraft_(plan).candidates
        texts = [candidate.text for candidate in candidates]
        assert len(set(texts)) == len(texts)
        for candidate in candidates:
            expected = teacher_forced(redraft_, plan.source, candidate.tokens, 10)
            assert candidate.log_prob == pytest.approx(expected, abs=1e-4)


def test_candidates_with_equal_text_are_merged() -> None:
    """Two tokens, one text: a model may spell a word in more ways than one."""
    tokenizer = tokenizer_of(KINDS[0])
    tokens = {text: token for token, text in enumerate(compiler_for(tokenizer).vocabulary.texts) if text}
    whole = next(text for text in tokens if len(text) == 2 and text.isalpha())
    a, b, ab, end = tokens[whole[:1]], tokens[whole[1:]], tokens[whole], tokenizer.eos_token_id
    model = WritingModel(len(tokenizer), {(a, b, end): -0.1, (ab, end): -0.2, (a, end): -0.4}, [end])
    found = Redrafter(model, tokenizer, config=DecodeConfig(beams=4, candidates=2, max_tokens=4))("s")
    assert [candidate.text for candidate in found.candidates] == [whole.decode(), whole[:1].decode()]


# Batches


def seen(found: Sequence[redraft.Result]) -> list[Any]:
    return [
        [(c.text, c.tokens, c.edit_score, c.truncated, [v.status for v in c.verdicts]) for c in one.candidates]
        for one in found
    ]


@each_family
@pytest.mark.parametrize("method", METHODS)
def test_a_batch_gives_the_results_of_single_sentences(family: str, kind: str, method: str) -> None:
    """Shuffled, of mixed length and so padded, with empty plans between."""
    redraft_ = redrafter(family, kind, method=method, candidates=3)
    plans = some_plans()
    alone = redraft_.rewrite(plans, batch_size=1)
    order = list(range(len(plans)))
    random.Random(0).shuffle(order)
    for batch_size in (3, len(plans)):
        together = redraft_.rewrite([plans[place] for place in order], batch_size=batch_size)
        assert [one.source for one in together] == [plans[place].source for place in order]
        assert seen(together) == seen([alone[place] for place in order])
        for one, place in zip(together, order, strict=True):
            assert one.log_prob == pytest.approx(alone[place].log_prob, abs=1e-4)


@pytest.mark.parametrize("end", ["always", "likeliest", "met"])
def test_edits_that_cannot_be_encoded_do_not_depend_on_the_batch(end: str) -> None:
    """Alone in a batch, they left the search without clauses, and the end rule was not applied."""
    model = DreamingModel(["the", "old", "house"], 1)
    redraft_ = Redrafter(model, config=DecodeConfig(beams=3, candidates=3, max_tokens=8, end=end))
    hopeless, other = EditPlan("a", (Edit.insert("unheard"),)), EditPlan("b", (Edit.insert("old house"),))
    alone = redraft_(hopeless)
    assert seen(redraft_.rewrite([hopeless, other])[:1]) == seen([alone])
    assert [c.text for c in alone.candidates] == [c.text for c in redraft_("a").candidates]
    assert alone.verdicts[0].status == "impossible"


# A long phrase


def long_phrase_model(first: float) -> tuple[ScriptedModel, str]:
    """Continues the phrase once it has begun; before that, other words are more likely than its first word."""
    words = [f"w{number}" for number in range(60)]
    talk = {"so": -1.2, "it": -1.9, "is": -2.0, "</s>": -2.1, "w0": first}
    rows: dict[str, dict[str, float]] = dict.fromkeys(("so", "it", "is"), talk)
    rows[words[-1]] = {"</s>": -0.3, "so": -1.5}
    rows |= {word: {following: -0.05} for word, following in itertools.pairwise(words)}
    return ScriptedModel(["so", "it", "is", *words], {"": talk}, rows, -30.0), " ".join(words)


@pytest.mark.parametrize(
    "first, settings",
    [
        pytest.param(-1.0, {}, id="the-model-likes-it"),
        pytest.param(-2.5, {"admit_unmet": True, "width": 4}, id="admitted-though-not-in-the-list"),
        pytest.param(-2.5, {"method": "neurologic", "width": 4}, id="neurologic"),
    ],
)
def test_a_phrase_of_sixty_tokens_comes_out_once_and_whole(first: float, settings: dict[str, Any]) -> None:
    model, phrase = long_phrase_model(first)
    config = DecodeConfig(**{"beams": 6, "max_tokens": 80, "stop": "exact", **settings})
    found = Redrafter(model, config=config)(EditPlan("s", (Edit.insert(phrase),)))
    assert found.verdicts[0].status == "satisfied"
    assert found.text.count(phrase) == 1
    assert all(found.text.split().count(f"w{number}") == 1 for number in range(60))
    assert not found.truncated


# Overlapping phrases

ALTERNATIVES = ("1 2 3 4", "2 3 5", "3 6", "7")


def counting_model() -> ScriptedModel:
    """Prefers to write 1 2 3 5, with 9 among the siblings everywhere."""
    likes = {"": "1", "1": "2", "2": "3", "3": "5", "5": "</s>"}
    rows = {last: {word: -0.1, "8": -3.0, "9": -4.0} for last, word in likes.items()}
    start = rows.pop("")
    rows |= {last: {"</s>": -0.2, "8": -3.0, "9": -4.0} for last in "46789"}
    return ScriptedModel([str(number) for number in range(1, 10)], {"": start}, rows, -12.0)


@pytest.mark.parametrize("method", ["edit", "neurologic"])
def test_of_overlapping_alternatives_the_one_that_is_written_counts(method: str) -> None:
    plan = EditPlan("s", (Edit.substitute("9", *ALTERNATIVES),))
    found = Redrafter(counting_model(), config=DecodeConfig(method=method, beams=3, max_tokens=8))(plan)
    assert found.text == "1 2 3 5"
    assert found.edit_score == 1
    assert found.verdicts[0].status == "satisfied"
    assert found.verdicts[0].chosen_over is (True if method == "edit" else None)


def test_of_overlapping_deletions_the_one_that_is_written_counts() -> None:
    plan = EditPlan("s", tuple(Edit.delete(phrase) for phrase in ALTERNATIVES))
    redraft_ = Redrafter(counting_model(), config=DecodeConfig(method="negative", beams=3, max_tokens=8))
    assert redraft_(plan, method="beam").text == "1 2 3 5"
    assert [verdict.status for verdict in redraft_(plan, method="beam").verdicts].count("violated") == 1
    found = redraft_(plan)
    assert found.text != "1 2 3 5"
    assert {verdict.status for verdict in found.verdicts} == {"satisfied"}


# Position of a phrase


@pytest.mark.parametrize("words", range(1, 6))
@pytest.mark.parametrize("method", ["edit", "neurologic"])
def test_a_phrase_lands_mid_sentence_where_it_is_likeliest(method: str, words: int) -> None:
    """It may be anywhere, also at the start or end, but is most likely after "man"."""
    phrase = [f"p{number}" for number in range(words)]
    sentence = ["the", "man", "is", "here", "."]
    rows = {
        last: {following: -0.2, phrase[0]: -1.5 if last == "man" else -3.5}
        for last, following in zip(["", *sentence], [*sentence, "</s>"], strict=True)
    }
    rows |= {last: {following: -0.1} for last, following in itertools.pairwise(phrase)}
    rows[phrase[-1]] = dict.fromkeys(sentence, -2.0) | {"is": -0.3}
    model = ScriptedModel([*sentence, *phrase], {"": rows.pop("")}, rows, -9.0)
    config = DecodeConfig(method=method, beams=5, max_tokens=14)
    found = Redrafter(model, config=config)(EditPlan("s", (Edit.insert(" ".join(phrase)),)))
    assert found.text == " ".join(["the", "man", *phrase, "is", "here", "."])


# State that follows its hypothesis


def permuted(value: Any, order: Tensor) -> Any:
    """Everything a row knows, in another order of the rows."""
    if value is None:
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: permuted(getattr(value, f.name), order) for f in fields(value)})
    shape = (*order.shape, *[1] * (value.dim() - 2))
    return value.gather(1, order.view(shape).expand(*order.shape, *value.shape[2:]))


class DreamingModel(ScriptedModel):
    """Random log-probabilities after each prefix, so that no two rows are ever tied."""

    def __init__(self, words: Sequence[str], seed: int) -> None:
        super().__init__(words)
        self._seed = seed

    def next_log_probs(self, prefix: tuple[int, ...]) -> list[float]:
        rng = random.Random(f"{self._seed} {prefix}")
        return [-rng.expovariate(0.7) for _ in self.tokenizer.words]


def shaken_search(model: ScriptedModel, plans: Sequence[CompiledPlan], config: DecodeConfig, limit: int) -> Any:
    """The search with its rows put in another order after each step."""
    run = Stepper(plans, config, [limit] * len(plans), model.end_tokens)
    log_prob = model.start([""] * len(plans), config.beams)
    run.set_up(log_prob)
    state = run.initial_state(log_prob)
    generator = torch.Generator().manual_seed(0)
    for length in range(1, limit + 1):
        order = torch.rand(len(plans), config.beams, generator=generator).argsort(1)
        model.reorder(order)
        moved = {name: permuted(getattr(state, name), order) for name in ("trail", "log_prob", "progress")}
        state = State(**{**vars(state), **moved})
        state, step = run.step(state, log_prob.gather(1, order[..., None].expand_as(log_prob)), may_cut=length == limit)
        if length == limit or bool(state.finished.all()):
            break
        model.reorder(step.parent)
        log_prob = model.step(step.token)
    return read_hypotheses(state.pool)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(8))
def test_permuting_the_beam_at_each_step_changes_nothing(seed: int, method: str) -> None:
    model = DreamingModel(["the", "old", "house", "is", "up", "there", "."], seed)
    plans = [
        EditPlan("s", (Edit.insert("old house"), Edit.delete("house"), Edit.delete("is up"))),
        EditPlan("s", (Edit.substitute("up there", "old", "up ."), Edit.insert("the"), Edit.insert("the"))),
        EditPlan("s"),
    ]
    compiled = compiler_for(model.tokenizer).compile(plans)
    config = DecodeConfig(method=method, beams=4, admit_unmet=bool(seed % 2))
    found = [
        [[(h.tokens, h.log_prob, h.edit_score, h.satisfied) for h in hypotheses] for hypotheses in sentences]
        for sentences in (
            search(model, ["s"] * 3, compiled, config, [8] * 3),
            shaken_search(model, compiled, config, 8),
        )
    ]
    assert found[0] == found[1]


# Banned words


def model_that_likes(kind: str, *texts: str) -> WritingModel:
    """The first text a little more than the second, and so on."""
    tokenizer = tokenizer_of(kind)
    encoded = compiler_for(tokenizer).vocabulary.encode(texts)
    end = tokenizer.eos_token_id
    likes = {(*tokens, end): -0.1 * (place + 1) for place, tokens in enumerate(encoded)}
    return WritingModel(len(tokenizer), likes, [end])


def written_by(kind: str, method: str, plan: EditPlan, *texts: str, **settings: Any) -> str:
    model = model_that_likes(kind, *texts)
    config = DecodeConfig(method=method, beams=4, max_tokens=60, **settings)
    return Redrafter(model, tokenizer_of(kind), config=config)(plan).text


def plain(text: str) -> str:
    """Without the spaces that some tokenizers put around signs."""
    return "".join(text.split())


@each_kind
@pytest.mark.parametrize("method", EDITING)
@pytest.mark.parametrize(
    "liked, other",
    [
        pytest.param("remain here", "stay here", id="at-the-start"),
        pytest.param("they remain here", "they stay here", id="after-a-space"),
        pytest.param('the "remain" stays', 'the "word" stays', id="after-a-quote"),
        pytest.param("he (remain) is", "he (stay) is", id="after-a-bracket"),
        pytest.param("Remain here", "Stay here", id="capitalised"),
        pytest.param("they remain", "they stay", id="at-the-end"),
        pytest.param("they remain, here", "they stay, here", id="before-a-comma"),
    ],
)
def test_a_banned_word_is_blocked_wherever_it_stands(kind: str, method: str, liked: str, other: str) -> None:
    plan = EditPlan("they remain", (Edit.delete("remain"),))
    assert plain(written_by(kind, "beam", plan, liked, other)) == plain(liked)
    output = written_by(kind, method, plan, liked, other)
    assert plain(output) == plain(other)
    assert "remain" not in [word.text.lower() for word in split_words(output)]


@each_kind
@pytest.mark.parametrize("method", EDITING)
@pytest.mark.parametrize("liked", ["they remained here", "Remained here", "the remains", 'he said "remained"'])
def test_a_longer_word_may_still_be_written(kind: str, method: str, liked: str) -> None:
    plan = EditPlan("they remain", (Edit.delete("remain"),))
    assert plain(written_by(kind, method, plan, liked, "they stay here")) == plain(liked)


@each_kind
def test_ban_token_forbids_the_last_token_even_of_a_longer_word(kind: str) -> None:
    """The original rule of Kajiwara (2019), kept for comparison; it is the reason for `ban="word"`."""
    tokens = compiler_for(tokenizer_of(kind)).vocabulary.encode(["they remain", "they remained here"])
    if tokens[1][: len(tokens[0])] != tokens[0]:
        pytest.skip("remained does not go on from remain in these tokens")
    plan = EditPlan("they remain", (Edit.delete("remain"),))
    output = written_by(kind, "negative", plan, "they remained here", "they stay here", ban="token")
    assert plain(output) == "theystayhere"


@each_kind
@pytest.mark.parametrize(
    "liked", ["they left in 1990, then", "they left in 1990.", "they left in 1990-95 and in 1990: so"]
)
def test_a_deletion_inside_an_insertion_is_not_charged_when_both_wait_for_their_word_to_close(
    kind: str, liked: str
) -> None:
    """A comma after a digit may be inside a number, so the token after it decides for both at once."""
    plan = EditPlan("s", (Edit.insert("in 1990"), Edit.delete("1990")))
    model = model_that_likes(kind, liked)
    found = Redrafter(model, tokenizer_of(kind), config=DecodeConfig(beams=2, max_tokens=60))(plan)
    assert plain(found.text) == plain(liked)
    assert found.edit_score == 1.0
    assert [verdict.status for verdict in found.verdicts] == ["satisfied", "satisfied"]


# Ends and lengths

END_MODEL = ScriptedModel(
    ["a", "old", "b"],
    {"": {"a": -0.1}},
    {"a": {"old": -0.2, "b": -1.0}, "old": {"</s>": -0.1}, "b": {"</s>": -0.1}},
    -9.0,
)


@pytest.mark.parametrize("method", METHODS)
def test_end_of_text_on_the_very_last_allowed_step(method: str) -> None:
    plan = EditPlan("s", (Edit.insert("old"), Edit.delete("b")))
    redraft_ = Redrafter(END_MODEL, config=DecodeConfig(method=method, beams=2))
    ended = redraft_(plan, max_tokens=3)
    assert (ended.text, ended.truncated) == ("a old", False)
    assert [verdict.status for verdict in ended.verdicts] == ["satisfied", "satisfied"]
    cut = redraft_(plan, max_tokens=2)
    assert (cut.text, cut.truncated) == ("a old", True)


@each_kind
def test_a_pending_word_is_settled_by_the_end_on_the_last_step(kind: str) -> None:
    tokens = compiler_for(tokenizer_of(kind)).vocabulary.encode(["they remain"])[0]
    model = model_that_likes(kind, "they remain", "they stay")
    plan = EditPlan("they remain", (Edit.insert("remain"),))
    config = DecodeConfig(beams=2, max_tokens=len(tokens) + 1)
    found = Redrafter(model, tokenizer_of(kind), config=config)(plan)
    assert (found.text, found.edit_score, found.truncated) == ("they remain", 1.0, False)


@pytest.mark.parametrize("method", METHODS)
def test_ids_of_zero(method: str) -> None:
    """A pad id of 0 in one vocabulary, a word of the plan with id 0 in the other: the answer is the same."""
    rows = {"": {"old": -0.5, "big": -0.4}, "old": {"man": -0.1}, "big": {"man": -0.1}, "man": {"</s>": -0.1}}
    plans = [EditPlan("s", (Edit.insert("old"),)), EditPlan("s"), EditPlan("s", (Edit.delete("old"),))]
    outputs = []
    for vocab in (["<pad>", "old", "big", "man"], ["old", "big", "man"], ["man", "big", "old", "<pad>"]):
        start, after = {"": rows[""]}, {word: row for word, row in rows.items() if word}
        model = ScriptedModel(vocab, start, after, -9.0)
        found = Redrafter(model, config=DecodeConfig(method=method, beams=2, max_tokens=6)).rewrite(plans)
        outputs.append([one.text for one in found])
    assert outputs[0] == outputs[1] == outputs[2]
    wants = "old man" if method in ("edit", "neurologic") else "big man"
    assert outputs[0] == [wants, "big man", "big man"]


@pytest.mark.parametrize("method", EDITING)
def test_more_edits_than_beams(method: str) -> None:
    words = [f"w{number}" for number in range(12)]
    rows = {last: {word: -0.1, "x": -0.1 - 0.5} for last, word in zip(["", *words], [*words, "</s>"], strict=True)}
    rows["x"] = {"</s>": -0.1, "w5": -2.0}
    model = ScriptedModel([*words, "x"], {"": rows.pop("")}, rows, -9.0)
    edits = [Edit.insert(word) for word in words] + [
        Edit.delete("x"),
        Edit.delete("w3 x"),
        Edit.substitute("x w5", "w7"),
    ]
    found = Redrafter(model, config=DecodeConfig(method=method, beams=2, max_tokens=20))(EditPlan("s", tuple(edits)))
    assert found.text == " ".join(words)
    assert [verdict.status for verdict in found.verdicts] == ["satisfied"] * len(edits)


def test_more_edits_than_bits_in_a_word() -> None:
    """Groups are exact bit sets, also of 70 edits."""
    words = [f"w{number}" for number in range(70)]
    rows = {last: {word: -0.1} for last, word in zip(["", *words], [*words, "</s>"], strict=True)}
    model = ScriptedModel(words, {"": rows.pop("")}, rows, -9.0)
    plan = EditPlan("s", tuple(Edit.insert(word) for word in words))
    found = Redrafter(model, config=DecodeConfig(beams=2, max_tokens=80))(plan)
    assert found.text == " ".join(words)
    assert found.edit_score == 70


# Special tokens


@each_kind
@pytest.mark.parametrize("place", ["alone", "inside"])
@pytest.mark.parametrize("edit", [Edit.insert, Edit.delete, lambda phrase: Edit.substitute("old", phrase)])
def test_special_tokens_in_a_phrase_are_an_error(kind: str, place: str, edit: Any) -> None:
    tokenizer = tokenizer_of(kind)
    phrase = tokenizer.eos_token if place == "alone" else f"old {tokenizer.eos_token} man"
    with pytest.raises(PlanError, match="special token"):
        redraft.compile_plans([EditPlan("s"), EditPlan("s", (edit(phrase),))], tokenizer)
    model = WritingModel(len(tokenizer), {(tokenizer.eos_token_id,): -0.1}, [tokenizer.eos_token_id])
    with pytest.raises(PlanError, match="special token"):
        Redrafter(model, tokenizer)(EditPlan("s", (edit(phrase),)))


# Logits processors of the user


class Forbid(LogitsProcessor):
    """A logits processor that forbids these tokens."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens = list(tokens)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        scores = scores.clone()
        scores[:, self.tokens] = -torch.inf
        return scores


@each_family
def test_logits_processors_of_the_user_are_applied(family: str, kind: str) -> None:
    model, tokenizer, plan = model_of(family, kind), tokenizer_of(kind), some_plans()[2]
    plain_ = redrafter(family, kind, max_tokens=10)
    usual = {token for candidate in plain_(plan, candidates=4).candidates for token in candidate.tokens}
    usual.discard(model.generation_config.eos_token_id)
    processors = LogitsProcessorList([Forbid(sorted(usual))])
    config = DecodeConfig(beams=4, max_tokens=10, candidates=4)
    forbidden = Redrafter(model, tokenizer, config=config, processors=processors)
    for method in METHODS:
        found = forbidden(plan, method=method, admit_unmet=True)
        assert usual.isdisjoint(token for candidate in found.candidates for token in candidate.tokens)
    inputs = encoded(tokenizer, [plan], family)
    theirs = model.generate(**inputs, num_beams=4, max_new_tokens=10, logits_processor=processors)
    assert forbidden(plan, method="beam").text == texts_of(tokenizer, theirs, inputs, family)[0]
    ours = model.generate(
        **inputs,
        num_beams=4,
        max_new_tokens=10,
        logits_processor=processors,
        custom_generate=redraft.generate,
        edit_constraints=redraft.compile_plans(plan, tokenizer),
    )
    assert texts_of(tokenizer, ours, inputs, family)[0] == forbidden(plan).text


# Through model.generate


def encoded(tokenizer: Any, plans: Sequence[EditPlan], family: str) -> dict[str, Tensor]:
    side = "left" if family in ("gpt2", "llama") else "right"
    inputs = tokenizer([plan.source for plan in plans], padding=True, return_tensors="pt", padding_side=side)
    return {name: inputs[name] for name in ("input_ids", "attention_mask")}


def texts_of(tokenizer: Any, sequences: Tensor, inputs: dict[str, Tensor], family: str) -> list[str]:
    if family in ("gpt2", "llama"):
        sequences = sequences[:, inputs["input_ids"].shape[1] :]
    decode = compiler_for(tokenizer).vocabulary.decode
    return [decode(row).strip() for row in sequences.tolist()]


@each_family
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="edit"),
        pytest.param({"method": "negative"}, id="negative"),
        pytest.param({"method": "neurologic"}, id="neurologic"),
        pytest.param({"admit_unmet": True, "group_by": "positive", "choose": "sum", "stop": "exact"}, id="options"),
    ],
)
def test_through_generate_of_transformers(family: str, kind: str, settings: dict[str, Any]) -> None:
    model, tokenizer, plans = model_of(family, kind), tokenizer_of(kind), some_plans()
    redraft_ = redrafter(family, kind, max_tokens=12, candidates=4, **settings)
    inputs = encoded(tokenizer, plans, family)
    found = model.generate(
        **inputs,
        num_beams=4,
        num_return_sequences=4,
        max_new_tokens=12,
        custom_generate=redraft.generate,
        edit_constraints=redraft.compile_plans(plans, tokenizer),
        edit_config=DecodeConfig(**settings),
        return_dict_in_generate=True,
        output_scores=True,
    )
    texts = texts_of(tokenizer, found.sequences, inputs, family)
    for place, decoded in enumerate(redraft_.rewrite(plans, batch_size=len(plans))):
        assert texts[4 * place] == decoded.text
        distinct = list(dict.fromkeys(texts[4 * place : 4 * place + 4]))
        assert distinct == [candidate.text for candidate in decoded.candidates]
        length = len(decoded.candidates[0].tokens)
        assert float(found.sequences_scores[4 * place]) * length == pytest.approx(decoded.log_prob, abs=1e-4)


@each_family
def test_plans_that_are_not_compiled_are_refused_there(family: str, kind: str) -> None:
    model, tokenizer, plans = model_of(family, kind), tokenizer_of(kind), some_plans()[:1]
    inputs = encoded(tokenizer, plans, family)
    with pytest.raises(PlanError, match=r"not compiled.*\n.*redraft\.compile"):
        model.generate(
            **inputs, num_beams=2, max_new_tokens=5, custom_generate=redraft.generate, edit_constraints=plans
        )
    with pytest.raises(PlanError, match="2 plans for 1 inputs"):
        model.generate(
            **inputs,
            num_beams=2,
            max_new_tokens=5,
            custom_generate=redraft.generate,
            edit_constraints=redraft.compile_plans(plans * 2, tokenizer),
        )
