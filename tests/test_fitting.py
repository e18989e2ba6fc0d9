"""Targets are ranked by the model's own likelihood of the sentence with each of them."""

import math

import pytest
import torch

from redraft import Edit, EditPlan, Redrafter
from redraft.decode.fitting import fitted, log_probs
from small_models import tiny_model_for
from tokenizers_in_memory import single_digits

SOURCE = "The old man left the town."
TARGETS = ("king", "woman", "artisans")


@pytest.fixture(scope="module", params=["bart", "mbart", "gpt2"])
def redrafter(request):
    tokenizer = single_digits()
    return Redrafter(tiny_model_for(request.param, tokenizer), tokenizer, prompt="Simplify: {source}\n", device="cpu")


def by_hand(redrafter, source, text):
    """One text at a time, token by token."""
    model, tokenizer = redrafter.model, redrafter.tokenizer
    if model.config.is_encoder_decoder:
        wanted = tokenizer(text)["input_ids"]
        read = {"input_ids": torch.tensor([tokenizer(source)["input_ids"]])}
        before, name = [model.config.decoder_start_token_id], "decoder_input_ids"
    else:
        wanted = tokenizer(text, add_special_tokens=False)["input_ids"]
        read, name = {}, "input_ids"
        before = tokenizer(redrafter.prompt.replace("{source}", source))["input_ids"]
    total = 0.0
    for token in wanted:
        with torch.no_grad():
            logits = model(**read, **{name: torch.tensor([before])}).logits[0, -1]
        total += float(logits.log_softmax(-1)[token])
        before = [*before, token]
    return total


def test_likelihoods_are_those_of_the_model(redrafter):
    pairs = [(SOURCE, SOURCE), (SOURCE, "The king left."), ("The king ruled in 1720.", "The old king ruled.")]
    assert log_probs(redrafter, pairs) == pytest.approx([by_hand(redrafter, *pair) for pair in pairs], abs=1e-3)
    assert log_probs(redrafter, []) == []


def test_the_likeliest_target_comes_first(redrafter):
    plan = EditPlan(SOURCE, (Edit.substitute("man", *TARGETS, span=(8, 11), probability=0.4), Edit.insert("old")))
    (found,) = fitted(redrafter, [plan], keep=2, gap=math.inf)
    scores = {target: by_hand(redrafter, SOURCE, f"The old {target} left the town.") for target in TARGETS}
    assert list(found.edits[0].targets) == sorted(TARGETS, key=scores.__getitem__, reverse=True)[:2]
    assert (found.edits[0].probability, found.edits[1]) == (0.4, plan.edits[1])


def test_a_target_far_behind_is_dropped(redrafter):
    plan = EditPlan(SOURCE, (Edit.substitute("man", *TARGETS, span=(8, 11)),))
    (found,) = fitted(redrafter, [plan], gap=0.0)
    assert len(found.edits[0].targets) == 1


def test_edits_without_a_span_or_a_choice_are_let_be(redrafter):
    plan = EditPlan(SOURCE, (Edit.substitute("man", *TARGETS), Edit.substitute("town", "city", span=(21, 25))))
    assert list(fitted(redrafter, [plan])) == [plan]


def test_splits_and_strength_are_left_unchanged(redrafter):
    splits = Edit.split(), Edit.split("left", span=(12, 16))
    plan = EditPlan(SOURCE, (Edit.substitute("man", *TARGETS, span=(8, 11)), *splits), "light")
    (found,) = fitted(redrafter, [plan])
    assert (found.edits[1:], found.strength) == (splits, "light")


def test_what_is_too_long_keeps_its_order(redrafter):
    source = "The old man left the town. " * 20
    plan = EditPlan(source, (Edit.substitute("man", *TARGETS, span=(8, 11)),))
    assert list(fitted(redrafter, [plan])) == [plan]


def test_a_scripted_model_has_no_likelihood_of_texts():
    plan = EditPlan("The artisans remain old .", (Edit.substitute("artisans", "craftsmen", "makers", span=(4, 12)),))
    assert list(fitted(Redrafter("scripted:examples/by_hand.json"), [plan])) == [plan]
