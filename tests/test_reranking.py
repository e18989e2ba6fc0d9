"""Reranking: requested edits first, then protected text, likelihood and faults; the literal candidate last."""

from __future__ import annotations

from dataclasses import replace

import pytest

from redraft import Edit, EditPlan
from redraft.decode.result import Candidate, Result
from redraft.plan.verdicts import judge
from redraft.simplify.reranking import FaultCounter, rerank
from redraft.text.word_frequency import WordFrequency, WordStatistics

KNOWN = (
    "it may make worse well is the a old new bought house home not what they won an easy victory over by was them very"
)
COMMON = WordFrequency({word: WordStatistics(5.0) for word in KNOWN.split()})


def candidate(plan: EditPlan, text: str, log_prob: float = -0.1) -> Candidate:
    return Candidate(text, log_prob, 0.0, tuple(judge(plan, text)), (0,) * len(text.split()), False)


def best(plan: EditPlan | str, *texts: str | tuple[str, float], keep: int = 5, intact=lambda text: True) -> list[str]:
    plan = EditPlan(plan) if isinstance(plan, str) else plan
    pairs = [(text, -0.1) if isinstance(text, str) else text for text in texts]
    found = Result(plan.source, tuple(candidate(plan, *pair) for pair in pairs))
    return [one.text for one in rerank(found, plan, COMMON, intact).candidates[:keep]]


def faults(plan: EditPlan | str, text: str) -> int:
    plan = EditPlan(plan) if isinstance(plan, str) else plan
    return FaultCounter(plan, COMMON).count(candidate(plan, text))


@pytest.mark.parametrize(
    "source, text, count",
    [
        pytest.param("It is well.", "It is well.", 0, id="nothing"),
        pytest.param("It may exacerbate.", "it mayacerbate", 1, id="an-invented-word"),
        pytest.param("It's well.", "It's well'ssworse", 1, id="glued-to-an-apostrophe"),
        pytest.param("It's well.", "It'll make", 0, id="an-ending-is-no-word"),
        pytest.param("The xyzzy may.", "It's well-xyzzy", 0, id="parts-of-words-of-the-source"),
        pytest.param("The old make may.", "The make may make it.", 1, id="said-again"),
        pytest.param("It is well.", "well well well", 2, id="said-three-times"),
        pytest.param("The old house is not new.", "The old house is new.", 1, id="a-negation-is-lost"),
        pytest.param("The old house is new.", "The old house is not new.", 1, id="a-negation-is-new"),
        pytest.param("The 12 houses.", "The houses.", 1, id="a-number-is-lost"),
        pytest.param("The houses.", "The 12 houses.", 1, id="a-number-is-made-up"),
        pytest.param("The 12 houses.", "The 12 houses is 12.", 1, id="a-number-is-said-again"),
        pytest.param("It is in Rome.", "It is.", 1, id="a-name-is-lost"),
    ],
)
def test_faults_of_words_and_meaning(source: str, text: str, count: int) -> None:
    assert faults(source, text) == count


@pytest.mark.parametrize(
    "edit, text, count",
    [
        pytest.param(Edit.substitute("purchased", "bought", probability=0.5), "It bought a house.", 0, id="done"),
        pytest.param(Edit.substitute("purchased", "bought", probability=0.5), "It purchased a house.", 0, id="left"),
        pytest.param(Edit.substitute("purchased", "bought", probability=0.5), "It is a house.", 1, id="a-third-word"),
        pytest.param(Edit.insert("house", probability=0.9), "It purchased a home.", 1, id="was-to-stay"),
        pytest.param(Edit.insert("house", probability=0.9), "It purchased a house.", 0, id="stays"),
        pytest.param(Edit.delete("purchased", probability=0.9), "It purchased a house.", 0, id="only-a-guess"),
    ],
)
def test_faults_of_predicted_edits(edit: Edit, text: str, count: int) -> None:
    assert faults(EditPlan("It purchased a house.", (edit,)), text) == count


def test_changes_of_the_plan_are_no_faults() -> None:
    plan = EditPlan("It is not 12.", (Edit.delete("not"), Edit.substitute("12", "14")))
    assert faults(plan, "It is 14.") == 0
    assert faults(plan, "It is 15.") == 1


@pytest.mark.parametrize("text, count", [
    ("They won an easy victory over the champions.", 0),
    ("An easy victory over the champions was won by them.", 3),  # they, them, by
    ("They won an easy victory by the champions.", 2),
    ("They won a very easy victory over the old champions.", 1),
])  # fmt: skip
def test_where_a_plan_names_every_content_word_small_words_count_too(text: str, count: int) -> None:
    source = "They won an effortless victory over the champions."
    kept = [Edit.insert(word, probability=0.9) for word in ("won", "victory", "champions")]
    plan = EditPlan(source, (*kept, Edit.substitute("effortless", "easy", probability=0.9)))
    assert faults(plan, text) == count
    assert faults(replace(plan, edits=plan.edits[1:]), "They make an easy victory by the champions.") == 0


def test_a_plan_that_keeps_every_content_word_and_asks_for_no_more_changes_nothing() -> None:
    plan = EditPlan("They won an old house.", tuple(Edit.insert(word) for word in ("won", "old", "house")))
    assert faults(plan, "They won an old house.") == 0
    assert faults(plan, "They won a old house.") == 1


def test_punctuation_between_clauses_counts_too() -> None:
    plan = EditPlan(
        "It is old; bought new.", (Edit.insert("old"), Edit.insert("new"), Edit.substitute("bought", "won"))
    )
    assert faults(plan, "It is old; won new.") == 0
    assert faults(plan, "It is old, won new.") == 1


def test_fewer_faults_come_first_and_ties_stay_in_order() -> None:
    source = "It may exacerbate."
    found = best(source, "mayacerbate itx", "it mayacerbate", "it may make worse", "it may worse", keep=4)
    assert found == ["it may make worse", "it may worse", source, "it mayacerbate"]  # literal: the source
    assert best("It may.", "itx", "it", keep=1) == ["it"]


def test_requested_edits_have_precedence() -> None:
    plan = EditPlan("It purchased a house.", (Edit.substitute("purchased", "bought"),))
    assert best(plan, "It purchased a house.", "It bought zzx a house.")[:2] == [
        "It bought a house.", "It bought zzx a house."
    ]  # fmt: skip


def test_the_literal_candidate_comes_after_equally_good_texts() -> None:
    plan = EditPlan("It purchased a house.", (Edit.substitute("purchased", "bought"),))
    assert best(plan, "A house is what it bought.")[0] == "A house is what it bought."


def test_garbled_texts_come_after_the_literal_candidate() -> None:
    plan = EditPlan("It purchased a house.", (Edit.substitute("purchased", "bought"),))
    assert best(plan, ("A house it bought is it.", -9.0))[0] == "It bought a house."


def test_predicted_deletions_are_not_in_the_literal_candidate() -> None:
    plan = EditPlan("It is old.", (Edit.delete("old", probability=0.6),))
    assert best(plan, "it zzx")[0] == "It is old."
    assert best(EditPlan("It is old.", (Edit.delete("old"),)), "it zzx")[0] == "It is."


def test_protected_text_must_be_kept() -> None:
    assert best("It is a@b.org.", "It is a@b", "It is a@b.org.", intact=lambda text: "a@b.org" in text)[0] == (
        "It is a@b.org."
    )


def test_unlikely_texts_come_last_unless_requested() -> None:
    guess = Edit.substitute("old", "new", probability=0.3)
    plan = EditPlan("It is old.", (guess,))
    assert best(plan, ("It is new.", -5.9), ("It may is old.", -0.1))[0] != "It is new."
    asked = EditPlan("It is old.", (Edit.substitute("old", "new"),))
    assert best(asked, ("It is new.", -1.9), ("It may is old.", -0.1))[0] == "It is new."
