"""Greedy decoding with drafts writes what greedy search of transformers writes, whatever the draft."""

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redraft.decode.draft_verification import GreedyText, can_verify_drafts, write_greedily
from small_models import tiny_model_for
from tokenizers_in_memory import single_digits

SOURCES = ["the old man", "12 men are old", "a man of 7 and a man of 8 are men", "old"]


def greedy(model, inputs, row, limit):
    """Greedy search of transformers for one row, without the start token and padding."""
    one = {name: value[row : row + 1] for name, value in inputs.items()}
    found = model.generate(**one, do_sample=False, num_beams=1, max_new_tokens=limit)[0, 1:].tolist()
    end = model.generation_config.eos_token_id
    return found[: found.index(end) + 1] if end in found else found


@pytest.fixture(scope="module", params=["mbart", "t5"])
def model(request):
    found = tiny_model_for(request.param, single_digits()).eval()
    found.generation_config.forced_eos_token_id = None
    return found


@pytest.fixture(scope="module")
def inputs():
    return single_digits()(SOURCES, padding=True, return_tensors="pt")


@pytest.mark.parametrize("seed", range(12))
def test_texts_are_those_of_greedy_search(model, inputs, seed):
    inputs = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    rng = random.Random(seed)
    limits = [rng.randint(1, 12) for _ in SOURCES]
    expected = [greedy(model, inputs, row, limit) for row, limit in enumerate(limits)]
    drafts = []
    for tokens in expected:  # right drafts with errors, and arbitrary ones
        draft = [token for token in tokens if rng.random() > 0.2]
        draft = [rng.randrange(model.config.vocab_size) if rng.random() < 0.2 else token for token in draft]
        drafts.append(draft if rng.random() < 0.7 else [rng.randrange(model.config.vocab_size) for _ in range(6)])
    found = write_greedily(model, inputs, drafts, limits)
    assert [one.tokens for one in found] == expected
    for row, one in enumerate(found):
        assert one.log_prob == pytest.approx(log_prob(model, inputs, row, one.tokens), abs=1e-3)
        assert one.ended == (one.tokens[-1] == model.generation_config.eos_token_id)


@torch.inference_mode()
def log_prob(model, inputs, row, tokens):
    start = model.generation_config.decoder_start_token_id
    one = {name: value[row : row + 1] for name, value in inputs.items()}
    logits = model(**one, decoder_input_ids=torch.tensor([[start, *tokens[:-1]]])).logits[0].log_softmax(-1)
    return float(sum(logits[place, token] for place, token in enumerate(tokens)))


def test_a_right_draft_needs_one_pass(model, inputs, monkeypatch):
    inputs = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    expected = [greedy(model, inputs, row, 10) for row in range(len(SOURCES))]
    calls, forward = [], type(model).forward
    monkeypatch.setattr(type(model), "forward", lambda *args, **named: calls.append(1) or forward(*args, **named))
    found = write_greedily(model, inputs, expected, [10] * len(SOURCES))
    assert [one.tokens for one in found] == expected
    # One more where the end token is not part of the draft: drafts are texts.
    assert len(calls) == 1


@given(st.lists(st.integers(3, 9), max_size=12), st.lists(st.integers(2, 9), min_size=1, max_size=12))
def test_whatever_the_model_writes_is_taken_up_to_the_first_difference(draft, best):
    text = GreedyText(list(draft), limit=20)
    text.extend(best, [-1.0] * len(best), frozenset([2]))
    same = 0
    while same < len(best) and same < len(draft) and best[same] == draft[same] and best[same] != 2:
        same += 1
    assert text.tokens == best[: same + 1]
    assert text.ended == (2 in text.tokens)
    assert len(text.draft) <= len(draft)


def test_models_with_forced_tokens_are_not_written_greedily():
    plain = tiny_model_for("mbart", single_digits())
    assert can_verify_drafts(plain)
    plain.generation_config.forced_bos_token_id = 3
    assert not can_verify_drafts(plain)
    assert not can_verify_drafts(tiny_model_for("gpt2", single_digits()))
