"""The bundled aligner: small, fast to load, and as accurate as documented."""

from pathlib import Path

import pytest

from redraft.align.gold_alignments import read_gold
from redraft.align.links import format_links
from redraft.align.sentence_pairs import SentencePair
from redraft.align.trained_aligner import TrainedAligner
from redraft.evaluate.alignment_scores import score_links, score_non_identical
from redraft.models import bundled
from redraft.plan.extraction import extract

SHIPPED = bundled("aligner")
GOLD = Path(__file__).resolve().parents[2] / "shared" / "data" / "alignment"


@pytest.fixture(scope="module")
def aligner():
    return TrainedAligner.load(device="cpu")


def test_size_and_model_card():
    assert (SHIPPED / "aligner.safetensors").stat().st_size <= 24_000_000
    assert {"README.md", "training.json", "training.log"} <= {path.name for path in SHIPPED.iterdir()}


PAIRS = [
    ("The artisans remain old .", "The craftsmen stay old .", "0-0 1-1 2-2 3-3 4-4"),
    ("He purchased the residence in 1990 .", "He bought the house in 1990 .", "0-0 1-1 2-2 3-3 4-4 5-5 6-6"),
    ("The cat sat on the mat .", "The cat sat on the mat .", "0-0 1-1 2-2 3-3 4-4 5-5 6-6"),
]


@pytest.mark.parametrize("source, target, expected", PAIRS)
def test_links_of_an_example(aligner, source, target, expected):
    (links,) = aligner.align([(source.split(), target.split())])
    assert format_links(links) == expected


def test_plan_of_an_example(aligner):
    pair = SentencePair.of("He purchased a lot of residences.", "He bought many houses.")
    (links,) = aligner.align([pair.words])
    plan = extract(pair.source, pair.target, pair.source_words, pair.target_words, links, selection="content").plan
    assert [(edit.phrase, *edit.targets) for edit in plan.edits if edit.kind == "substitute"] == [
        ("purchased", "bought"), ("a lot of", "many"), ("residences", "houses"),
    ]  # fmt: skip


@pytest.mark.skipif(not GOLD.is_dir(), reason="the gold alignments are not here")
@pytest.mark.parametrize("name, f1, different", [("wiki-test", 97.0, 55), ("mtref-dev", 88.0, 73)])
def test_documented_quality(aligner, name, f1, different):
    """On the first 150 pairs, so thresholds are below the figures of docs/align.md."""
    gold = read_gold(GOLD / f"{name}.tsv")[:150]
    found = list(aligner.align((pair.source, pair.target) for pair in gold))
    assert score_links(found, gold).f1 > f1
    assert score_non_identical(found, gold).f1 > different
