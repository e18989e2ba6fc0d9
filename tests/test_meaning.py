"""The meaning check: results, weights, features, and training."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from redraft.check.meaning import SAME, Meaning
from redraft.check.meaning_check import MeaningCheck, Weights
from redraft.check.word_facts import WordFacts
from redraft.errors import ConfigError, CorpusError, ModelError
from redraft.fit.checker.checker_examples import (
    CheckExample,
    SafeEdits,
    faithfulness,
    read_inference,
    read_judged,
    with_additions,
    words_of,
)
from redraft.fit.checker.checker_training import CheckerTraining, ExampleSampler, train_checker
from redraft.fit.checker.omissions import modifier_lost, part_lost
from redraft.fit.tagged_pairs import TaggedPair
from redraft.plan.planner import Planner

REVERSED = [
    ("Patients are advised to abstain from alcohol.", "People should not abstain from alcohol."),
    ("The company purchased the shares.", "The company sold the shares."),
    ("You must not take more than 8 tablets.", "You must not take more than 80 tablets."),
    ("Any employee may apply.", "Every employee must apply."),
    ("Take 5 mg daily.", "Take 5 g daily."),
    ("Smith defeated Jones in 1990.", "Jones defeated Smith in 1990."),
    ("The tenant is liable unless the landlord agrees.", "The tenant is liable if the landlord agrees."),
]
KEPT = [
    ("The physician commenced the procedure.", "The doctor started the procedure."),
    ("Patients must refrain from smoking.", "Patients must not smoke."),
    (
        "The tenant shall pay no fewer than 30 days prior to departure.",
        "The tenant must pay at least 30 days before leaving.",
    ),
    ("Twelve men were unable to attend.", "12 men could not attend."),
]


@pytest.fixture(scope="module")
def planner():
    return Planner.load(device="cpu")


@pytest.fixture(scope="module")
def check(planner):
    return MeaningCheck.load(planner=planner)


@pytest.mark.parametrize("source, output", REVERSED)
def test_a_reversed_meaning_gives_an_alarm_with_words_and_a_reason(check, source, output):
    found = check(source, output)
    assert found.alarm
    assert found.why
    assert found.words
    assert all(source[start:end] in found.words for start, end in found.source)
    assert all(output[start:end] in found.words for start, end in found.output)


@pytest.mark.parametrize("source, output", KEPT)
def test_a_correct_simplification_gives_no_alarm(check, source, output):
    assert not check(source, output).alarm


@pytest.mark.parametrize(
    "source, output, risk, why",
    [
        pytest.param("It is so.", "It is so.", 0.0, "", id="same"),
        pytest.param("It  is so.", "It is so. ", 0.0, "", id="white space"),
        pytest.param("", "", 0.0, "", id="both empty"),
        pytest.param("It is so.", " ", 1.0, "the output is empty", id="output empty"),
        pytest.param("", "It is so.", 1.0, "the source is empty", id="source empty"),
    ],
)
def test_equal_and_empty_texts(check, source, output, risk, why):
    found = check(source, output)
    assert (found.risk, found.why) == (risk, why)
    assert found.alarm == bool(risk)


def test_a_text_too_long_is_judged_by_rules_and_says_so(check):
    words = " ".join(f"word{number}" for number in range(10_000))
    found = check(f"It is not {words}.", f"It is {words}.")
    assert "judged by rules alone: too long for the network" in found.why
    assert "not" in found.words


def test_values_other_than_strings_are_errors(check):
    with pytest.raises(ConfigError, match="a text to check is null"):
        check("It is so.", None)


def test_words_to_keep(check):
    found = check("The bank keeps the deposit here.", "The bank keeps the money here.", stays=["deposit", "loan"])
    assert found.alarm
    assert "“deposit” was to stay" in found.why
    assert "loan" not in found.why


def test_the_order_and_the_batch_change_nothing(check):
    pairs = [*REVERSED, KEPT[0], KEPT[1], ("It is so.", "It is so.")]
    together = [one.risk for one in check.check(pairs)]
    alone = [check(*pair).risk for pair in pairs]
    assert together == pytest.approx(alone, abs=0.03)  # bfloat16


def test_json_fields():
    found = Meaning(0.83456, True, "a reason", ((0, 2),), ((3, 5),), ("a", "b")).to_json()
    assert found == {"risk": 0.8346, "alarm": True, "words": ["a", "b"], "why": "a reason",
                     "spans": {"source": [[0, 2]], "output": [[3, 5]]}}  # fmt: skip
    assert json.dumps(SAME.to_json())


def test_the_risk_is_a_weighted_sum():
    weights = Weights({"altered": 2.0, "number": 1.0}, -1.0, 0.5)
    assert weights.risk({"altered": 0.5, "number": 0.0}) == pytest.approx(0.5)
    assert weights.risk({"altered": 0.5, "number": 1.0}) == pytest.approx(1 / (1 + math.exp(-1)))
    assert weights.risk({"question": 1.0}) > weights.risk({})  # a kind that no example had


def test_word_facts_explain_new_words(planner):
    facts = WordFacts.of_planner(planner)
    source, output = facts.of(["He", "purchased", "it", "."], ["He", "bought", "it", "."])
    assert source[1, :3].tolist() == [1, 1, 0]
    assert output[1, :3].tolist() == [1, 1, 0]
    source, output = facts.of(["He", "purchased", "it", "."], ["He", "sold", "it", "."])
    assert output[1, :3].tolist() == [1, 0, 1]
    assert facts.unexplained(["He", "purchased", "it", "."], ["He", "sold", "it", "."]) == ([1], [1])
    assert facts.shares(["He", "purchased", "it", "."], ["He", "sold", "it", "."]) == (1.0, 1.0)


def test_the_check_of_another_aligner_is_refused(check, planner, tmp_path: Path):
    check.trained.save(tmp_path, {"weights": {}, "bias": 0.0, "level": 0.5})
    about = json.loads((tmp_path / "checker.json").read_text())
    (tmp_path / "checker.json").write_text(json.dumps({**about, "above": "another"}))
    with pytest.raises(ModelError, match="another aligner"):
        MeaningCheck.load(tmp_path, planner=planner)
    with pytest.raises(ModelError, match="holds no meaning check"):
        MeaningCheck.load(tmp_path / "nothing", planner=planner)


def pair(source: str, target: str, tag: str = "distilled_medium") -> TaggedPair:
    return TaggedPair(tag, False, source, target)


@pytest.mark.parametrize(
    "one, sort",
    [
        pytest.param(pair("The man purchased a house near the river.", "The man bought a house near the river."),
                     "trusted", id="explained"),
        pytest.param(pair("He purchased a large house.", "He sold a big house."), None, id="refused"),
        pytest.param(pair("He purchased a house in 1990.", "He bought a house in 1991."), None, id="number"),
        pytest.param(pair("He did not buy the house.", "He did buy the house."), None, id="negation"),
        pytest.param(pair("The old man bought a large house near the quiet river.", "The man bought a house."),
                     "shortened", id="shortened"),
    ],
)  # fmt: skip
def test_pairs_are_classified(planner, one, sort):
    assert faithfulness(one, WordFacts.of_planner(planner)) == sort


def test_a_swapped_pair_adds_content():
    long, short = (
        words_of("The old man bought a large house near the quiet river."),
        words_of("The man bought a house."),
    )
    found = with_additions(long, short)
    assert found is not None
    assert found.altered
    assert {found.output[at] for at in found.wrong or ()} == {"old", "large", "quiet", "river"}
    assert with_additions(short, long) is None


def test_a_lost_part_is_named():
    words = words_of("The tenant must pay the rent before the first day of the month, if the landlord agrees.")
    made = part_lost(words, random.Random(1))
    assert made is not None
    rest = [word for at, word in enumerate(words) if at not in made.lost]
    assert [word.lower() for word in made.words] == [word.lower() for word in rest]
    assert part_lost(words_of("It is so."), random.Random(1)) is None


def test_a_lost_modifier_is_named():
    words = words_of("He is dismissed for gross misconduct.")
    made = modifier_lost(words, random.Random(1))
    assert made is not None
    assert made.words == words_of("He is dismissed for misconduct.")
    assert made.lost == {4}
    assert modifier_lost(words_of("It is so."), random.Random(1)) is None


def test_safe_edits_keep_the_rest(planner):
    made = SafeEdits(planner.reviewed, planner.common).make(
        "Prior to departure, notify the landlord.", random.Random(0)
    )
    assert made is not None
    assert "landlord" in made
    assert made != "Prior to departure, notify the landlord."


def test_labelled_inference_is_read(tmp_path: Path):
    path = tmp_path / "nli.tsv"
    path.write_text(
        "A\tentailment\tHe ran home.\tHe ran.\nA\tneutral\tHe ran.\tHe ran home.\nA\tentailment\ta b c d e f\ta\n"
        "B\tparaphrase\tHe ran.\tHe ran .\nB\tnot_paraphrase\tHe ran.\tHe sat.\n"
    )
    assert list(read_inference(path)) == [
        CheckExample("A", ("He", "ran", "home", "."), ("He", "ran", "."), None, 0.0),
        CheckExample("A", ("He", "ran", "."), ("He", "ran", "home", "."), None, 1.0),
        CheckExample("B", ("He", "ran", "."), ("He", "ran", "."), 0.0, 0.0),
        CheckExample("B", ("He", "ran", "."), ("He", "sat", "."), 1.0, 1.0),
    ]
    path.write_text("A\tperhaps\tHe ran.\tHe ran.\n")
    with pytest.raises(CorpusError, match="line 1"):
        list(read_inference(path))


def judged(output: str, altered: float, unsupported: float | None, lost: list[str], wrong: list[str]) -> str:
    row = {"altered": altered, "unsupported": unsupported, "lost": lost, "wrong": wrong}
    return json.dumps({"by": "toy", "source": "He purchased all of it.", "output": output, **row}) + "\n"


def test_judged_rewritings_are_read(tmp_path: Path):
    path = tmp_path / "judged.jsonl"
    path.write_text(
        judged("He bought it all.", 0.1, 0.1, [], [])
        + judged("He sold most of it.", 0.9, 0.9, ["purchased", "all"], ["sold", "most of"])
        + judged("He bought it.", 0.7, None, ["all of"], [])
        + judged("He bought that.", 0.4, 0.4, [], ["that"])
    )
    fine, sold, left_out, unsure = read_judged(path)
    assert (fine.altered, fine.unsupported, fine.lost, fine.wrong) == (0.1, 0.1, frozenset(), frozenset())
    assert (sold.altered, sold.unsupported, sold.lost, sold.wrong) == (0.9, 0.9, {1, 2}, {1, 2, 3})
    assert (left_out.altered, left_out.unsupported, left_out.lost) == (0.7, None, {2, 3})
    assert (unsure.altered, unsure.unsupported, unsure.lost, unsure.wrong) == (0.4, 0.4, None, None)
    path.write_text('{"by": "toy", "source": "It is so."}\n')
    with pytest.raises(CorpusError, match="line 1"):
        list(read_judged(path))


def toy_pairs(count: int) -> list[TaggedPair]:
    names = ("Anna", "Boris", "Clara", "David", "Emma", "Felix")
    return [
        pair(f"{names[at % 6]} purchased {at} large houses in the old town near the river.",
             f"{names[at % 6]} bought {at} big houses in the old town near the river.")
        for at in range(2, count + 2)
    ]  # fmt: skip


def toy_examples(count: int) -> list[CheckExample]:
    """Labelled inference or judged rewritings."""
    return [
        CheckExample(
            "toy", words_of(f"The man has {at} dogs."), words_of(f"The man has {at + at % 2} dogs."),
            float(at % 2), float(at % 2),
        )
        for at in range(count)
    ]  # fmt: skip


def test_each_origin_of_judged_rewritings_is_drawn_as_often():
    rows = [CheckExample(kind, ("a",), ("b",), 1.0) for kind in ["many"] * 98 + ["few"] * 2]
    drawn = ExampleSampler(None, [], rows, CheckerTraining(inference=0.0, judged=1.0)).sample(random.Random(0), 400)
    assert 150 < sum(row.kind == "few" for row in drawn) < 250


def test_training_can_start_from_an_earlier_check(planner, check, tmp_path: Path, monkeypatch):
    said: list[str] = []
    settings = CheckerTraining(steps=1, batch=4, held_out=40, learning_rate=0.0, head_learning_rate=0.0)
    examples = toy_pairs(900), toy_examples(200), toy_examples(200)
    later = train_checker(
        *examples, tmp_path, settings, planner=planner, start=check.trained, say=said.append
    )  # fmt: skip
    assert any(line.startswith("540 of them remain") for line in said), said
    pairs = [(words_of("He left the town."), words_of("He never left the town."))]
    (before,), (after,) = check.trained.judge(pairs), later.trained.judge(pairs)
    assert before.altered == pytest.approx(after.altered, abs=0.2)  # nothing learned, 8 bits and a mean lie between


def test_a_stopped_training_resumes(planner, tmp_path: Path, monkeypatch):
    from redraft.fit.checker import checker_training as checker

    monkeypatch.setattr(checker, "_SAVE_EVERY", 2)
    settings = CheckerTraining(steps=4, batch=4, held_out=40)
    train_checker(
        toy_pairs(900),
        toy_examples(200),
        toy_examples(200),
        tmp_path / "whole",
        settings,
        planner=planner,
        say=lambda line: None,
    )

    class Killed(Exception):
        pass

    def killed(line: str) -> None:
        if line.startswith("step 2"):
            raise Killed

    with pytest.raises(Killed):
        train_checker(
            toy_pairs(900),
            toy_examples(200),
            toy_examples(200),
            tmp_path / "two",
            settings,
            planner=planner,
            say=killed,
        )
    lines: list[str] = []
    train_checker(
        toy_pairs(900),
        toy_examples(200),
        toy_examples(200),
        tmp_path / "two",
        settings,
        planner=planner,
        say=lines.append,
    )
    assert any("resuming from step 2" in line for line in lines)
    assert (tmp_path / "whole/checker.safetensors").read_bytes() == (tmp_path / "two/checker.safetensors").read_bytes()
    found = MeaningCheck.load(tmp_path / "two", planner=planner)("The man has 3 dogs.", "The man has 4 dogs.")
    assert 0 <= found.risk <= 1


def test_too_few_examples_are_an_error(planner, tmp_path: Path):
    with pytest.raises(ConfigError, match="too few"):
        train_checker(toy_pairs(5), toy_examples(5), toy_examples(5), tmp_path, planner=planner, say=lambda line: None)
