"""Networks and tokenizers without transformers, against those of transformers."""

import subprocess
import sys

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertModel, MBartConfig, MBartForConditionalGeneration

from redraft.align.bert_encoder import BertEncoder, BertShape, states_after_layer
from redraft.decode.eight_bit_model import holds_eight_bit_model, load_rewriter_network, save_eight_bit_model
from redraft.decode.encoder_decoder import IGNORED, TransformersEncoderDecoder
from redraft.decode.model_loading import load_model
from redraft.decode.rewriter_network import RewriterNetwork, RewriterShape
from redraft.decode.rewriter_steps import RewriterSteps
from redraft.decode.token_rows import padded
from redraft.eight_bit_linear import EIGHT_BIT, EightBitEmbedding, has_eight_bit_arithmetic
from redraft.eight_bit_weights import EightBitFile, save_eight_bit
from redraft.light_tokenizer import LightTokenizer, is_light
from redraft.models import bundled
from small_models import tiny_model_for
from tokenizers_in_memory import single_digits

needs_weights = pytest.mark.skipif(not holds_eight_bit_model(bundled("rewriter")), reason="the tree has no weights")
needs_vnni = pytest.mark.skipif(not has_eight_bit_arithmetic(), reason="this CPU has no 8-bit arithmetic")
ROWS = [[5, 9, 11, 2], [7, 2], [30, 31, 32, 33, 34, 2]]
OUTPUTS = torch.tensor([[2, 8, 9, 10], [2, 11, 12, 13], [2, 20, 21, 22]])


@pytest.fixture(scope="module")
def mbart():
    torch.manual_seed(0)
    config = MBartConfig(
        vocab_size=50, d_model=24, encoder_layers=2, decoder_layers=3, encoder_attention_heads=3, encoder_ffn_dim=40,
        decoder_attention_heads=4, decoder_ffn_dim=36, max_position_embeddings=20, decoder_start_token_id=2,
        pad_token_id=1, eos_token_id=2, init_std=0.5, tie_word_embeddings=True, forced_eos_token_id=None,
    )  # fmt: skip
    model = MBartForConditionalGeneration(config).eval()
    model.final_logits_bias.normal_()
    return model


@pytest.fixture(scope="module")
def network(mbart):
    stored = {**mbart.config.to_dict(), "architectures": ["MBartForConditionalGeneration"]}
    found = RewriterNetwork(RewriterShape.of(stored), (2,)).eval()
    names = found.state_dict().keys()
    found.load_state_dict({name: weight for name, weight in mbart.state_dict().items() if name in names})
    return found.requires_grad_(False)


@torch.inference_mode()
def test_the_rewriter_has_the_numbers_of_transformers(mbart, network):
    tokens, mask = padded(ROWS, 1)
    theirs = TransformersEncoderDecoder(mbart)
    expected = theirs.encode(tokens, mask)
    encoded = network.encode(tokens, mask)
    real = mask.bool()
    torch.testing.assert_close(encoded[real], expected[real], rtol=0, atol=1e-4)
    logits = network.logits(network.decode(encoded, mask, OUTPUTS))
    torch.testing.assert_close(logits, theirs.decode(expected, mask, OUTPUTS), rtol=0, atol=1e-4)


@torch.inference_mode()
def test_targets_are_read_after_the_start_token(mbart, network):
    tokens, mask = padded(ROWS, 1)
    targets, _ = padded([[8, 9, 2], [11, 2], [20, 21, 22, 2]], IGNORED)
    theirs = TransformersEncoderDecoder(mbart)
    expected = theirs.decode_targets(theirs.encode(tokens, mask), mask, targets)
    found = network.logits(network.decode_targets(network.encode(tokens, mask), mask, targets))
    torch.testing.assert_close(found[targets >= 0], expected[targets >= 0], rtol=0, atol=1e-4)


@torch.inference_mode()
def test_steps_have_the_numbers_of_whole_texts(network):
    """Rows that are reordered at each step, as in the search."""
    tokens, mask = padded(ROWS, 1)
    steps, beams = RewriterSteps(network, tokens, mask), 2
    found = steps.start(["a", "b", "c"], beams)
    written = torch.full((3, beams, 1), network.start_token)
    encoded, rows = network.encode(tokens, mask), torch.arange(3).repeat_interleave(beams)
    for step in range(5):
        whole = network.logits(network.decode(encoded[rows], mask[rows], written.flatten(0, 1))[:, -1]).log_softmax(-1)
        torch.testing.assert_close(found.flatten(0, 1), whole, rtol=0, atol=1e-4)
        parent = torch.tensor([[0, 0], [1, 0], [1, 1]]) if step % 2 else torch.tensor([[0, 1], [0, 0], [1, 0]])
        token = torch.randint(3, 50, (3, beams), generator=torch.Generator().manual_seed(step))
        steps.reorder(parent)
        found = steps.step(token)
        written = torch.cat([written.gather(1, parent[..., None].expand_as(written)), token[..., None]], 2)


@pytest.mark.parametrize("change", [{"activation_function": "relu"}, {"scale_embedding": True}, {"model_type": "bart"},
                                    {"tie_word_embeddings": False}, {"auto_map": {}}, {"d_model": "many"}])  # fmt: skip
def test_other_rewriters_are_left_to_transformers(mbart, change):
    stored = {**mbart.config.to_dict(), "architectures": ["MBartForConditionalGeneration"]}
    assert RewriterShape.of(stored) is not None
    assert RewriterShape.of({**stored, **change}) is None


@needs_vnni
def test_settings_of_the_search_are_left_to_transformers(tmp_path):
    model = tiny_model_for("bart", single_digits())
    save_eight_bit_model(model, single_digits(), tmp_path)
    assert load_rewriter_network(tmp_path) is None
    assert type(load_model(tmp_path, dtype=EIGHT_BIT, device="cpu")[0]) is type(model)


@needs_vnni
@needs_weights
@torch.inference_mode()
def test_the_bundled_rewriter_has_the_numbers_of_transformers_in_eight_bits():
    network, tokenizer = load_model(dtype=EIGHT_BIT, device="cpu")
    model, _ = load_model(dtype=EIGHT_BIT, device="cpu", needs_generate=True)
    theirs = TransformersEncoderDecoder(model)
    tokens, mask = padded(
        tokenizer(["The old man slept.", "They commenced it in 1990, and then left."])["input_ids"], 1
    )
    encoded = theirs.encode(tokens, mask)
    assert torch.equal(network.encode(tokens, mask), encoded)
    logits = network.logits(network.decode(encoded, mask, tokens))
    assert torch.equal(logits, theirs.decode(encoded, mask, tokens))


def test_an_embedding_in_eight_bits_has_the_stored_values(tmp_path):
    save_eight_bit(tmp_path / "w", {"table": torch.randn(30, 24)}, group=8)
    file, rows = EightBitFile(tmp_path / "w"), torch.tensor([[3, 0, 29], [7, 7, 1]])
    assert torch.equal(EightBitEmbedding(*file.quantised("table"))(rows), file["table"][rows])


@pytest.mark.parametrize("types", [None, "sides"])
@torch.inference_mode()
def test_the_encoder_has_the_numbers_of_transformers(types):
    torch.manual_seed(0)
    config = BertConfig(vocab_size=40, hidden_size=24, num_hidden_layers=3, num_attention_heads=4, intermediate_size=36,
                        max_position_embeddings=20, initializer_range=0.5)  # fmt: skip
    theirs = BertModel(config, add_pooling_layer=False).eval()
    stored = config.to_dict()
    shape = {name: stored[name] for name in BertShape.__dataclass_fields__ if name in stored}
    encoder = BertEncoder(BertShape(**shape)).eval()
    encoder.load_state_dict(theirs.state_dict())
    tokens, mask = padded([[5, 9, 11, 2], [7, 2], [30, 31, 32, 33, 34, 2]], 0)
    given = {"input_ids": tokens, "attention_mask": mask, "output_hidden_states": True}
    given |= {"token_type_ids": (tokens > 10).long()} if types else {}
    expected, found = theirs(**given), encoder(**given)
    real = mask.bool()
    assert len(found.hidden_states) == 4
    for one, other in zip(found.hidden_states, expected.hidden_states, strict=True):
        torch.testing.assert_close(one[real], other[real], rtol=0, atol=1e-4)
    last = encoder(**{**given, "output_hidden_states": False})
    assert last.hidden_states is None
    assert torch.equal(last.last_hidden_state, found.hidden_states[-1])


@torch.inference_mode()
def test_layers_above_the_one_that_is_read_are_not_computed():
    torch.manual_seed(0)
    config = BertConfig(vocab_size=40, hidden_size=24, num_hidden_layers=3, num_attention_heads=4, intermediate_size=36)
    theirs = BertModel(config, add_pooling_layer=False).eval()
    stored = config.to_dict()
    encoder = BertEncoder(
        BertShape(**{name: stored[name] for name in BertShape.__dataclass_fields__ if name in stored})
    )
    encoder.eval().load_state_dict(theirs.state_dict())
    tokens, mask = padded([[5, 9, 11, 2], [7, 2]], 0)
    expected = theirs(input_ids=tokens, attention_mask=mask, output_hidden_states=True).hidden_states
    real = mask.bool()
    for layer in (0, 2, 3, 9):
        found = states_after_layer(encoder, tokens, mask, layer)
        torch.testing.assert_close(found[real], expected[min(layer, 3)][real], rtol=0, atol=1e-4)
        assert torch.equal(states_after_layer(theirs, tokens, mask, layer), expected[min(layer, 3)])
    encoder.encoder["layer"][2].forward = None
    states_after_layer(encoder, tokens, mask, 2)


ODD_TEXTS = [
    "", " ", "The physician utilized a plethora of instruments.", "In 1990, 11,000 people", "naïve café — “quoted”…",
    "<|keep|> and <|with|>", "</s><s><pad><mask>", "[CLS] [MASK] [SEP]", "日本語 и русский ελληνικά",
    "👩‍👩‍👧 emoji \u200d",
    "tab\tand\nnewline\r\n", "\u00a0\u2009\ufeff", "e\u0301 \u212b ﬁ", "\ue000 \ue001", "a" * 300, "don't   can't",
]  # fmt: skip


@needs_weights
@pytest.mark.parametrize("name", ["rewriter", "aligner"])
def test_the_tokenizer_is_that_of_transformers(name):
    folder = bundled(name)
    assert is_light(folder)
    light, theirs = LightTokenizer(folder), AutoTokenizer.from_pretrained(folder)
    for special in (True, False):
        expected = theirs(ODD_TEXTS, add_special_tokens=special)["input_ids"]
        assert light(ODD_TEXTS, add_special_tokens=special)["input_ids"] == expected
        assert [light(text, add_special_tokens=special)["input_ids"] for text in ODD_TEXTS] == expected
        assert light(text_target=ODD_TEXTS, add_special_tokens=special)["input_ids"] == expected
    for row in light(ODD_TEXTS)["input_ids"]:
        for skip in (True, False):
            options = {"skip_special_tokens": skip, "clean_up_tokenization_spaces": False}
            assert light.decode(row, **options) == theirs.decode(row, **options)
    numbers = range(len(theirs))
    assert light.convert_ids_to_tokens(numbers) == theirs.convert_ids_to_tokens(list(numbers))
    assert light.get_vocab() == theirs.get_vocab()
    assert len(light) == len(theirs)
    assert sorted(light.all_special_ids) == sorted(theirs.all_special_ids)
    for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"):
        assert getattr(light, f"{name}_token_id") == getattr(theirs, f"{name}_token_id")
    assert light.padding_side == theirs.padding_side


@needs_vnni
@needs_weights
def test_the_defaults_do_not_import_transformers():
    code = (
        "import sys; from redraft import Simplifier; Simplifier(device='cpu')('The physician utilized many tools.');"
        "loaded = {'transformers', 'sympy', 'torch._dynamo', 'scipy'} & set(sys.modules); assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
