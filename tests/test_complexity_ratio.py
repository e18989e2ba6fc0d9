"""Log-ratios of word frequency in complex and simple text, and the thin plans of the paper."""

import pytest

from redraft.align.exact_aligner import ExactAligner
from redraft.align.sentence_pairs import SentencePair
from redraft.errors import ModelError
from redraft.fit.planner.lexicon_counts import count_complexity_ratios
from redraft.plan.complexity_ratio import ComplexityRatios, bundled_complexity_ratios
from redraft.plan.extraction import extract

PAIRS = [SentencePair.of("The physician commenced the old work .", "The doctor started the old work .")] * 5


def test_the_sign_of_the_log_ratio():
    sides = count_complexity_ratios(PAIRS)
    assert sides.log_ratio("Physician") > 0 > sides.log_ratio("doctor")
    assert sides.log_ratio("old") == pytest.approx(0, abs=0.01)
    assert sides.log_ratio("unheard") == 0.0
    assert len(count_complexity_ratios(PAIRS[:1])) == 0  # too rare


def test_tables_survive_saving_and_loading(tmp_path):
    sides = ComplexityRatios({"physician": 0.63, "old": 0.001})
    sides.save(tmp_path / "complexity_ratio.tsv.xz")
    again = ComplexityRatios.load(tmp_path / "complexity_ratio.tsv.xz")
    assert (again.log_ratio("physician"), len(again)) == (0.63, 1)
    (tmp_path / "bad.xz").write_bytes(b"none")
    with pytest.raises(ModelError, match=r"bad\.xz cannot be read"):
        ComplexityRatios.load(tmp_path / "bad.xz")


def test_the_bundled_table_separates_hard_and_easy_words():
    sides = bundled_complexity_ratios()
    assert min(map(sides.log_ratio, ("commenced", "numerous", "physician", "approximately"))) > 0.4
    assert max(map(sides.log_ratio, ("started", "many", "doctor", "big"))) < -0.2


def test_thin_plans_delete_hard_words_and_keep_easy_ones():
    pair = SentencePair.of("The big physician commenced numerous big works .", "The big doctor had works .")
    (links,) = ExactAligner().align([pair.words])
    plans = {
        selection: extract(pair.source, pair.target, pair.source_words, pair.target_words, links, selection=selection,
                       ratios=ComplexityRatios({"commenced": 1.0, "big": -1.0, "works": 0.5})).plan
        for selection in ("content", "thin")
    }  # fmt: skip
    thin = {(edit.kind, edit.phrase) for edit in plans["thin"].edits}
    assert thin == {("insert", "big"), ("delete", "commenced")}
    assert thin < {(edit.kind, edit.phrase) for edit in plans["content"].edits}
