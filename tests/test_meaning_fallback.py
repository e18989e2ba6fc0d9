"""The text that is returned if the first candidate has an alarm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from redraft import Edit, EditPlan
from redraft.check.meaning import SAME, Meaning
from redraft.decode.result import Candidate, Result
from redraft.plan.verdicts import judge
from redraft.simplify.long_inputs import join_meanings
from redraft.simplify.meaning_fallback import prefer_safe_candidates


class Suspicious:
    """A check that gives an alarm for every output with one of these words; it records the checked texts."""

    def __init__(self, *words: str, source: tuple[tuple[int, int], ...] = ()) -> None:
        self.words, self.source, self.asked = words, source, []

    def check(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Meaning]:
        for pair in pairs:
            self.asked.append(pair)
            bad = [word for word in self.words if word in pair[1] and word not in pair[0]]
            yield Meaning(0.9, True, f"{bad[0]} is wrong", self.source) if bad else SAME


def predicted(phrase: str, target: str, probability: float) -> Edit:
    return Edit.substitute(phrase, target, probability=probability)


def rerank(plan: EditPlan, *texts: str) -> Result:
    return Result(plan.source, tuple(Candidate(text, -0.1, 0.0, tuple(judge(plan, text)), (), False) for text in texts))


def given(check: Suspicious, plan: EditPlan, *texts: str) -> Result:
    (found,) = prefer_safe_candidates(check, [(plan, rerank(plan, *texts))])
    return found


PLAN = EditPlan("They begin the big task.", (predicted("begin", "end", 0.9), predicted("big", "large", 0.2)))


def test_the_first_text_without_an_alarm_stays_first():
    found = given(Suspicious("end"), PLAN, "They start the large task.", "They end it.")
    assert found.text == "They start the large task."
    assert found.meaning == SAME
    assert found.unchanged is None


def test_the_next_text_without_an_alarm_is_given():
    found = given(Suspicious("end"), PLAN, "They end the large task.", "They start the large task.")
    assert found.text == "They start the large task."
    assert [one.text for one in found.candidates] == ["They start the large task.", "They end the large task."]


def test_predicted_edits_are_dropped_at_the_words_concerned_first():
    check = Suspicious("end", source=((5, 10),))  # begin
    assert given(check, PLAN, "They end the large task.").text == "They begin the large task."
    check = Suspicious("end")  # no word is blamed, so the less probable edit is dropped first
    assert given(check, PLAN, "They end the large task.").text == "They begin the big task."


def test_the_source_is_the_last_resort():
    found = given(Suspicious("end", "large"), PLAN, "They end the large task.")
    assert found.text == PLAN.source
    assert found.unchanged == "what the model wrote may not say the same: end is wrong"
    assert found.meaning == SAME


def test_requested_edits_are_kept_and_cause_no_alarm():
    plan = EditPlan(PLAN.source, (Edit.substitute("begin", "end"), predicted("big", "large", 0.2)))
    check = Suspicious("end", "large")
    found = given(check, plan, "They end the large task.")
    assert found.text == "They end the big task."
    assert not found.not_done
    assert check.asked[0] == ("They end the big task.", "They end the large task.")


def test_a_safe_text_must_satisfy_the_requests():
    plan = EditPlan(PLAN.source, (Edit.substitute("begin", "end"),))
    found = given(Suspicious("finally"), plan, "They finally end the big task.", "They begin the big task.")
    assert found.text == "They end the big task."


def test_the_alarm_remains_if_every_text_has_one():
    class Always(Suspicious):
        def check(self, pairs):
            yield from (Meaning(0.8, True, "who knows") for _ in pairs)

    plan = EditPlan(PLAN.source, (Edit.substitute("begin", "end"),))
    found = given(Always(), plan, "They end the big task.")
    assert found.text == "They end the big task."
    assert found.meaning == Meaning(0.8, True, "who knows")


@pytest.mark.parametrize(
    "risks, alarm, why",
    [
        pytest.param([0.1, 0.2], False, "", id="none"),
        pytest.param([0.1, 0.9], True, "wrong 0.9", id="one"),
        pytest.param([0.8, 0.9], True, "wrong 0.8; wrong 0.9", id="both"),
    ],
)
def test_the_piece_with_the_highest_risk_counts(risks: list[float], alarm: bool, why: str):
    plan = EditPlan("It is.")
    parts = []
    for risk in risks:
        meaning = Meaning(risk, risk > 0.5, f"wrong {risk}" if risk > 0.5 else "", words=("it",))
        parts.append(
            Result("It is.", (Candidate("It is.", 0.0, 0.0, tuple(judge(plan, "It is.")), (), False, False, meaning),))
        )
    found = join_meanings(parts)
    assert found == Meaning(max(risks), alarm, why, words=("it",))


def test_pieces_that_were_not_checked_have_no_meaning():
    assert join_meanings([Result("It is.", (Candidate("It is.", 0.0, 0.0, (), (), False),))]) is None
