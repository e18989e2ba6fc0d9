"""The bundled model: small, fast to load, and correct. Skipped if the source tree lacks its weights."""

from pathlib import Path

import pytest

from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.constrain.compiler import compiler_for
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.evaluate.corpora import load_corpus
from redraft.evaluate.measures import Texts
from redraft.evaluate.sari import Sari
from redraft.models import bundled
from redraft.simplify.long_inputs import pieces_of

pytestmark = pytest.mark.skipif(not holds_eight_bit_model(bundled("rewriter")), reason="the tree has no weights")

EVALUATION = Path(__file__).resolve().parents[2] / "shared" / "data" / "eval"
SOURCE = "The artisans commenced the construction of the cathedral in 1245, and 11,000 people resided in the town."


@pytest.fixture(scope="module")
def redrafter():
    return Redrafter(config=DecodeConfig(beams=4), device="cpu")


def test_size_and_model_card():
    files = {path.name: path.stat().st_size for path in bundled("rewriter").iterdir()}
    assert files["model.8bit.safetensors"] <= 34_000_000
    assert sum(files.values()) <= 34_500_000
    assert {"README.md", "settings.json", "training.log", "held_out.json"} <= files.keys()


def test_documented_architecture(redrafter):
    config = redrafter.model.config
    assert (config.d_model, config.encoder_layers, config.decoder_layers) == (448, 6, 3)
    assert (config.vocab_size, config.max_position_embeddings) == (len(redrafter.tokenizer), 320)
    assert 30e6 < redrafter.model.num_parameters() < 33e6
    assert config.reads_plans


def test_every_digit_is_a_token(redrafter):
    tokens = redrafter.tokenizer.convert_ids_to_tokens(redrafter.tokenizer("In 1990, 11").input_ids)
    assert tokens == ["In", "Ġ1", "9", "9", "0", ",", "Ġ1", "1", "</s>"]
    clauses = compiler_for(redrafter.tokenizer).compile([EditPlan("any", (Edit.insert("1990"),))])[0].clauses
    assert all(len(variant.tokens) == 4 for clause in clauses for variant in clause.variants)


def test_it_writes_a_sentence_about_the_same_thing(redrafter):
    found = redrafter(SOURCE)
    assert not found.truncated
    assert "1245" in found.text
    assert 5 <= len(found.text.split()) <= 25


def test_edits_are_satisfied(redrafter):
    plan = EditPlan(SOURCE, (Edit.delete("commenced"), Edit.insert("1245"), Edit.insert("town")))
    assert [verdict.status for verdict in redrafter(plan).verdicts] == ["satisfied"] * 3


def test_a_paragraph_is_rewritten_in_pieces(redrafter):
    pieces = pieces_of(redrafter, f"{SOURCE} " * 12)
    assert 1 < len(pieces) <= 12
    assert all(found.text for found in redrafter.stream(pieces, max_tokens=4))


@pytest.mark.skipif(not EVALUATION.is_dir(), reason="the evaluation sets are not here")
@pytest.mark.parametrize("name, least", [("turk", 39.0), ("asset", 36.0)])
def test_documented_quality(redrafter, name, least):
    """On the first 40 test sentences with 4 beams, so thresholds are below the figures of the card."""
    corpus = load_corpus(name, "test", data=EVALUATION)
    sources, sari = corpus.sources[:40], Sari()
    outputs = [found.text for found in redrafter.stream(sources)]
    counts = sari.count(Texts(sources, outputs, [reference[:40] for reference in corpus.references]))
    assert sari.figures(counts.sum(0))["sari"] > least


def test_it_reads_its_plan(redrafter):
    """With plain beam search, which ignores edits, so the edits can only come from the marks."""
    source = "The engine, which was built in 1923, propels the ship at a speed of 20 knots."
    plan = EditPlan(source, (Edit.split(), Edit.substitute("propels", "drives")))
    found = redrafter(plan, method="beam", beams=4)
    assert [verdict.status for verdict in found.verdicts] == ["satisfied"] * 2
    without_marks = redrafter(plan, method="beam", beams=4, tell=False)
    assert "unmet" in {verdict.status for verdict in without_marks.verdicts}
