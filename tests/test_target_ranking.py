"""Targets are ranked by the model's likelihood of the sentence with each of them, and by word sense."""

import math

import pytest
import torch

from redraft import Edit, EditPlan, Redrafter
from redraft.check.meaning import Meaning
from redraft.plan.planner import Planner
from redraft.simplify import target_ranking as fitting
from redraft.simplify.target_ranking import JUDGED, NO_REPLACEMENT, log_probs, rank_targets
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


def test_the_most_likely_target_comes_first(redrafter):
    plan = EditPlan(SOURCE, (Edit.substitute("man", *TARGETS, span=(8, 11), probability=0.4), Edit.insert("old")))
    (found,) = rank_targets(redrafter, [plan], keep=2, gap=math.inf)
    scores = {target: by_hand(redrafter, SOURCE, f"The old {target} left the town.") for target in TARGETS}
    assert list(found.edits[0].targets) == sorted(TARGETS, key=scores.__getitem__, reverse=True)[:2]
    assert (found.edits[0].probability, found.edits[1]) == (0.4, plan.edits[1])


def test_a_target_far_behind_is_dropped(redrafter):
    plan = EditPlan(SOURCE, (Edit.substitute("man", *TARGETS, span=(8, 11)),))
    (found,) = rank_targets(redrafter, [plan], gap=0.0)
    assert len(found.edits[0].targets) == 1


def test_edits_without_a_span_or_a_choice_are_unchanged(redrafter):
    plan = EditPlan(SOURCE, (Edit.substitute("man", *TARGETS), Edit.substitute("town", "city", span=(21, 25))))
    assert list(rank_targets(redrafter, [plan])) == [plan]


def test_splits_and_strength_are_left_unchanged(redrafter):
    splits = Edit.split(), Edit.split("left", span=(12, 16))
    plan = EditPlan(SOURCE, (Edit.substitute("man", *TARGETS, span=(8, 11)), *splits), "light")
    (found,) = rank_targets(redrafter, [plan])
    assert (found.edits[1:], found.strength) == (splits, "light")


def test_targets_of_too_long_texts_keep_their_order(redrafter):
    source = "The old man left the town. " * 20
    plan = EditPlan(source, (Edit.substitute("man", *TARGETS, span=(8, 11)),))
    assert list(rank_targets(redrafter, [plan])) == [plan]


def test_a_scripted_model_has_no_likelihood_of_texts():
    plan = EditPlan("The artisans remain old .", (Edit.substitute("artisans", "craftsmen", "makers", span=(4, 12)),))
    assert list(rank_targets(Redrafter("scripted:examples/by_hand.json"), [plan])) == [plan]


@pytest.fixture(scope="module")
def planner():
    return Planner.load(device="cpu")


@pytest.fixture(scope="module")
def rewriter():
    return Redrafter(device="cpu")


def predicted(source, phrase, *targets, note="people replace it in 9 of 10 places"):
    start = source.index(phrase)
    edit = Edit.substitute(phrase, *targets, weight=0.07, span=(start, start + len(phrase)), probability=0.3, note=note)
    return EditPlan(source, (edit,), "medium")


@pytest.mark.parametrize("source, phrase, targets, left", [
    pytest.param(
        "The three towers were constructed along the coast.", "constructed", ("built",), ("built",), id="same-sense"
    ),
    pytest.param(
        "A study found three primary reasons for targeting others.", "targeting", ("eating", "voting"), (),
        id="all-of-another-sense",
    ),
    pytest.param(
        "Private gifts will play a vital role in reaching these goals.", "vital", ("song", "important"), ("important",),
        id="one-of-another-sense",
    ),
    pytest.param(
        "The judge was the only one to notice that they argue.", "argue", ("say", "think"), (), id="another-use",
    ),
])  # fmt: skip
def test_targets_of_another_sense_are_dropped(rewriter, planner, source, phrase, targets, left):
    plan = predicted(source, phrase, *targets)
    (found,) = rank_targets(rewriter, [plan], planner=planner)
    (edit,), (asked,) = found.edits, plan.edits
    assert edit.targets == left
    if not left:
        stays = Edit.insert(phrase, weight=0.07, span=asked.span, probability=0.7, note=NO_REPLACEMENT)
        assert edit == stays
    assert (found.source, found.strength) == (source, "medium")


@pytest.mark.parametrize("phrase, targets, note, left", [
    pytest.param("purchased", ("bought",), "plain English", ("bought",), id="passes"),
    pytest.param("purchased", ("sold", "bought"), "plain English", ("bought",), id="the-guard-refuses-one"),
    pytest.param("purchased", ("sold",), "plain English", (), id="the-guard-refuses-all"),
    pytest.param("purchased", ("banana",), "people replace it", (), id="the-same-word-by-counts"),
])  # fmt: skip
def test_common_names_pass_unless_the_guard_refuses_them(rewriter, planner, monkeypatch, phrase, targets, note, left):
    name = planner.common.entry(phrase)
    assert name is not None
    assert name.note == "plain English"
    if note == name.note:  # judged by their sense, none would pass
        monkeypatch.setattr(fitting, "_table_score", lambda *_: -math.inf)
    (found,) = rank_targets(
        rewriter, [predicted("They purchased a farm.", phrase, *targets, note=note)], planner=planner
    )
    assert found.edits[0].targets == left


def test_targets_with_an_alarm_are_dropped(rewriter, planner):
    class Suspicious:
        def check(self, pairs):
            for source, output in pairs:
                assert source == plan.source
                yield Meaning(0.9, "built" in output, "")

    plan = predicted("The three towers were constructed along the coast.", "constructed", "built", "erected")
    (without,) = rank_targets(rewriter, [plan], planner=planner)
    (found,) = rank_targets(rewriter, [plan], planner=planner, check=Suspicious())
    assert "built" in without.edits[0].targets
    assert found.edits[0].targets == tuple(target for target in without.edits[0].targets if target != "built")


def test_requested_targets_are_not_dropped(rewriter, planner):
    source = "The three towers were constructed along the coast."
    one = Edit.substitute("constructed", "eaten", span=(22, 33))
    two = Edit.substitute("coast", "banana", "shore", span=(44, 49))
    (found,) = rank_targets(rewriter, [EditPlan(source, (one, two))], planner=planner, gap=math.inf)
    assert found.edits[0] == one
    assert found.edits[1].targets == ("shore", "banana")


def test_features_are_computed_only_for_targets_that_could_be_safe(rewriter, planner, monkeypatch):
    """0: could not be saved by any likelihood. 1: needs it. The bar is `least` in both."""
    room = JUDGED.likely * JUDGED.likely_to
    known = {"huts": JUDGED.least - room - 0.01, "made": JUDGED.least - room + 0.01}
    asked = []

    def likelihoods(_, candidates):
        asked.extend(one.target for one in candidates)
        return [100.0] * len(candidates)  # counts as likely_to

    monkeypatch.setattr(fitting, "_table_score", lambda _, __, target: known[target])
    monkeypatch.setattr(fitting, "_similarities", lambda _, candidates: [0.0] * len(candidates))
    monkeypatch.setattr(fitting, "_likelihoods", likelihoods)
    plan = predicted("Three towers were constructed there.", "constructed", "huts", "made")
    (found,) = rank_targets(rewriter, [plan], planner=planner)
    assert (asked, found.edits[0].targets) == (["made"], ("made",))


def test_similarity_does_not_depend_on_the_batch(planner):
    """Batched with longer ones or not; a word is as like itself as can be."""
    sources = ["Three towers were constructed there.", "The report was constructed from many old letters of the king."]
    some = [
        fitting._Candidate(source, (at, at + 11), target, 0.0)
        for source in sources for at in [source.index("constructed")]
        for target in ("built", "eaten up", "constructed")
    ]  # fmt: skip
    together = fitting._similarities(planner, some)
    assert together == pytest.approx([fitting._similarities(planner, [one])[0] for one in some], abs=0.01)
    assert together[2::3] == pytest.approx([1.0, 1.0], abs=0.01)
    assert together[0] > together[1]


def test_likelihood_is_relative_to_the_source(redrafter):
    one = fitting._Candidate(SOURCE, (8, 11), "king", 0.0)
    wanted = by_hand(redrafter, SOURCE, "The old king left the town.") - by_hand(redrafter, SOURCE, SOURCE)
    assert fitting._likelihoods(redrafter, [one]) == pytest.approx([wanted], abs=1e-3)


def test_plans_come_in_order_with_all_their_edits(rewriter, planner):
    other = EditPlan("They left.", (Edit.insert("left", span=(5, 9)), Edit.split()))
    good = predicted("The three towers were constructed along the coast.", "constructed", "built")
    bad = predicted("A study found three primary reasons for targeting others.", "targeting", "eating")
    found = list(rank_targets(rewriter, [other, bad, good, other], planner=planner))
    assert (found[0], found[2], found[3]) == (other, good, other)
    assert [edit.kind for edit in found[1].edits] == ["insert"]


def test_plans_of_too_long_texts_are_unchanged(rewriter, planner):
    plan = predicted("The towers were constructed along the coast. " * 60, "constructed", "made", "built")
    assert list(rank_targets(rewriter, [plan], planner=planner)) == [plan]
