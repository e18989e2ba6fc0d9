"""Without edits the search equals that of transformers: the same tokens, scores and beams for all settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch

import redraft
from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.constrain.vocabulary import vocabulary_of
from small_models import FAMILIES, tiny_model, tiny_model_for
from tokenizers_in_memory import TOKENIZERS

VOCAB = 24
ENCODER_DECODER = ("bart", "t5")


@pytest.fixture(scope="module", params=list(FAMILIES))
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model(family: str) -> Any:
    return tiny_model(family, VOCAB)


def random_inputs(family: str, seed: int, batch: int = 6) -> dict[str, torch.Tensor]:
    """Sentences of mixed length, padded on the side that the model's kind is padded on."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(3, VOCAB, (batch, 8), generator=generator)
    lengths = torch.randint(2, 9, (batch,), generator=generator)
    lengths[0] = 8
    place = torch.arange(8)
    mask = place < lengths[:, None] if family in ENCODER_DECODER else place >= 8 - lengths[:, None]
    return {"input_ids": torch.where(mask, tokens, 0), "attention_mask": mask.long()}


def assert_equal_output(model: Any, inputs: dict[str, torch.Tensor], **settings: Any) -> int:
    """Both calls of `generate` give the same output; returns how many texts ended before the maximum."""
    settings = {"num_return_sequences": 2, "max_new_tokens": 9, **settings}
    settings |= {"return_dict_in_generate": True, "output_scores": True}
    theirs = model.generate(**inputs, **settings)
    ours = model.generate(**inputs, **settings, custom_generate=redraft.generate)
    assert type(ours) is type(theirs)
    torch.testing.assert_close(ours.sequences, theirs.sequences, rtol=0, atol=0)
    torch.testing.assert_close(ours.sequences_scores, theirs.sequences_scores, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(ours.beam_indices, theirs.beam_indices, rtol=0, atol=0)
    steps_of_both = [
        model.compute_transition_scores(found.sequences, found.scores, found.beam_indices, normalize_logits=False)
        for found in (ours, theirs)
    ]
    torch.testing.assert_close(*steps_of_both, rtol=1e-5, atol=1e-5)
    written = (ours.beam_indices >= 0).sum(1)
    return int((written < settings["max_new_tokens"]).sum())


# Settings that are combined with every length penalty and stopping rule.
SETTINGS: tuple[dict[str, Any], ...] = (
    {"num_beams": 5},
    {"num_beams": 3, "eos_token_id": [2, 3, 5]},
    {"num_beams": 2, "no_repeat_ngram_size": 2, "min_new_tokens": 3},
)


@pytest.mark.parametrize("early_stopping", [False, True, "never"])
@pytest.mark.parametrize("length_penalty", [1.0, 0.0, 2.0, -1.0])
def test_tokens_scores_and_beams_are_those_of_transformers(
    family: str, model: Any, length_penalty: float, early_stopping: bool | str
) -> None:
    """3 × 6 sentences for each of the 12 pairs: 216 for a family of models."""
    early = 0
    for turn, settings in enumerate(SETTINGS):
        inputs = random_inputs(family, seed=turn + 10 * int(2 * length_penalty + 2))
        early += assert_equal_output(
            model, inputs, **settings, length_penalty=length_penalty, early_stopping=early_stopping
        )
    assert early or length_penalty > 0, "no text ended early, so little was tested"


@pytest.mark.parametrize("padding", ["left", "right"])
def test_padding_on_either_side(family: str, model: Any, padding: str) -> None:
    """Encoder-decoder models accept both; a decoder-only model continues its last token, even if it is padding."""
    inputs = random_inputs("gpt2" if padding == "left" else "bart", seed=1)
    assert_equal_output(model, inputs, num_beams=4)


def test_one_token_at_most(family: str, model: Any) -> None:
    assert_equal_output(model, random_inputs(family, seed=2), num_beams=3, max_new_tokens=1, num_return_sequences=1)


def test_one_beam_that_stops_at_its_first_end_is_the_greedy_search(family: str) -> None:
    model = tiny_model(family, VOCAB, pad_token_id=7)  # with 0, only the beam search pads with end tokens
    inputs = random_inputs(family, seed=3)
    greedy = model.generate(**inputs, num_beams=1, max_new_tokens=9, do_sample=False)
    ours = model.generate(
        **inputs, num_beams=1, max_new_tokens=9, early_stopping=True, custom_generate=redraft.generate
    )
    assert ours.tolist() == greedy.tolist()


def test_no_cache(family: str, model: Any) -> None:
    assert_equal_output(model, random_inputs(family, seed=4), num_beams=3, use_cache=False)


def test_plain_tensors_without_return_dict(family: str, model: Any) -> None:
    inputs = random_inputs(family, seed=5)
    theirs = model.generate(**inputs, num_beams=3, max_new_tokens=9)
    ours = model.generate(**inputs, num_beams=3, max_new_tokens=9, custom_generate=redraft.generate)
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("pad", [0, 7])
def test_pad_ids(family: str, pad: int) -> None:
    """transformers pads with the end token if the pad id is 0; our output equals theirs."""
    model = tiny_model(family, VOCAB, pad_token_id=pad)
    assert_equal_output(model, random_inputs(family, seed=6), num_beams=3)


# The same through Redrafter, in text

SENTENCES = (
    "the old man remains here",
    "they remain",
    "the craftsmen are old and the artisans remain",
    "he is here",
    "words",
)


@pytest.fixture(scope="module")
def tokenizer(family: str) -> Any:
    return TOKENIZERS[dict(zip(FAMILIES, TOKENIZERS, strict=True))[family]]()


@pytest.fixture(scope="module")
def writer(family: str, tokenizer: Any) -> Any:
    return tiny_model_for(family, tokenizer)


def texts_of_transformers(writer: Any, tokenizer: Any, sources: Sequence[str], **settings: Any) -> list[str]:
    decoder_only = not writer.config.is_encoder_decoder
    side = "left" if decoder_only else "right"
    inputs = tokenizer(list(sources), padding=True, return_tensors="pt", padding_side=side)
    inputs = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    found = writer.generate(**inputs, **settings)
    if decoder_only:
        found = found[:, inputs["input_ids"].shape[1] :]
    decode = vocabulary_of(tokenizer).decode
    return [decode(row).strip() for row in found.tolist()]


@pytest.mark.parametrize("method", ["edit", "beam", "negative", "neurologic"])
def test_without_edits_every_method_equals_transformers(writer: Any, tokenizer: Any, method: str) -> None:
    config = DecodeConfig(method=method, beams=4, max_tokens=12)
    found = Redrafter(writer, tokenizer, config=config).rewrite(SENTENCES)
    expected = texts_of_transformers(writer, tokenizer, SENTENCES, num_beams=4, max_new_tokens=12)
    assert [one.text for one in found] == expected


def test_beam_ignores_edits(writer: Any, tokenizer: Any) -> None:
    edits = (Edit.insert("old"), Edit.delete("the"), Edit.substitute("here", "there"))
    found = Redrafter(writer, tokenizer, config=DecodeConfig(method="beam", beams=4, max_tokens=12)).rewrite(
        [EditPlan(source, edits) for source in SENTENCES]
    )
    expected = texts_of_transformers(writer, tokenizer, SENTENCES, num_beams=4, max_new_tokens=12)
    assert [one.text for one in found] == expected


@pytest.mark.parametrize(
    "ours, theirs",
    [
        pytest.param({"min_tokens": 7}, {"min_new_tokens": 7}, id="minimum-length"),
        pytest.param({"length_penalty": -2.0}, {"length_penalty": -2.0}, id="short-is-better"),
        pytest.param({"early_stopping": True}, {"early_stopping": True}, id="early-stopping"),
        pytest.param({"max_tokens": 3}, {"max_new_tokens": 3}, id="maximum-length"),  # where BART forces its end
        pytest.param({"max_tokens": 40}, {"max_new_tokens": 40}, id="long"),
    ],
)
def test_settings_mean_what_they_mean_in_transformers(
    writer: Any, tokenizer: Any, ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    redrafter = Redrafter(writer, tokenizer, config=DecodeConfig(beams=3, max_tokens=12))
    found = redrafter.rewrite(SENTENCES, **ours)
    settings = {"num_beams": 3, "max_new_tokens": 12, **theirs}
    assert [one.text for one in found] == texts_of_transformers(writer, tokenizer, SENTENCES, **settings)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("family", ["bart", "t5"], scope="module")
def test_repeated_ngrams_are_blocked_as_in_transformers(
    writer: Any, tokenizer: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an encoder-decoder model; in others theirs also counts the prompt, ours only what is written.

    Theirs counts the start token too, which is T5's pad: no trained model writes it, and here it is suppressed.
    """
    monkeypatch.setattr(writer.generation_config, "suppress_tokens", [tokenizer.pad_token_id])
    config = DecodeConfig(beams=3, max_tokens=25, no_repeat_ngram=size)
    found = Redrafter(writer, tokenizer, config=config).rewrite(SENTENCES)
    settings = {"num_beams": 3, "max_new_tokens": 25}
    expected = texts_of_transformers(writer, tokenizer, SENTENCES, **settings, no_repeat_ngram_size=size)
    assert [one.text for one in found] == expected
    assert expected != texts_of_transformers(writer, tokenizer, SENTENCES, **settings)


@pytest.mark.parametrize("family", ["bart"], scope="module")
def test_a_forced_end_comes_at_each_sentences_own_maximum(writer: Any, tokenizer: Any) -> None:
    """2 · source tokens + 10, which differ within the batch."""
    found = Redrafter(writer, tokenizer, config=DecodeConfig(beams=3)).rewrite(SENTENCES)
    for source, one in zip(SENTENCES, found, strict=True):
        limit = 2 * len(tokenizer(source)["input_ids"]) + 10
        (expected,) = texts_of_transformers(writer, tokenizer, [source], num_beams=3, max_new_tokens=limit)
        assert one.text == expected
        assert one.candidates[0].tokens[-1] == tokenizer.eos_token_id
        assert not one.truncated
