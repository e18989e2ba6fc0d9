"""Where an edit applies in its source, and how many occurrences meet it."""

import time
from collections.abc import Callable

import pytest

from redraft import Edit, EditPlan
from redraft.errors import PlanError
from redraft.plan.phrases import check_spans, needs, places
from redraft.plan.verdicts import judge
from time_limit import within


@pytest.mark.parametrize("edit, strict, loose", [
    pytest.param(Edit.delete("war"), [], ["WAR"], id="another-case"),
    pytest.param(Edit.delete("old"), ["Old"], ["Old", "OLD"], id="capitalised"),
    pytest.param(Edit.delete("The"), ["The", "the"], ["The", "the"], id="begins-the-source"),
    pytest.param(Edit.delete("big town"), [], ["big  town"], id="more-white-space"),
    pytest.param(Edit.delete("tow"), [], [], id="part-of-a-word"),
    pytest.param(Edit.delete("town", span=(0, 3)), ["The"], ["The"], id="its-span"),
    pytest.param(Edit.split(), [], [], id="a-split-anywhere"),
])  # fmt: skip
def test_places(edit: Edit, strict: list[str], loose: list[str]) -> None:
    source = "The WAR left the big  town Old and OLD."
    assert [source[slice(*span)] for span in places(source, edit)] == strict
    assert [source[slice(*span)] for span in places(source, edit, any_case=True)] == loose


def seconds(done: Callable[[], object]) -> float:
    began = time.process_time()
    done()
    return time.process_time() - began


def test_time_to_count_equal_edits_grows_as_they_do() -> None:
    def plan(count: int) -> EditPlan:
        return EditPlan("w " * count, tuple(Edit.insert(f"w{number // 2}") for number in range(count)))

    small, large = plan(500), plan(2_000)
    assert needs(large) == [1, 2] * 1_000
    assert seconds(lambda: needs(large)) < 10 * seconds(lambda: needs(small)) + 0.1


def test_time_to_judge_equal_edits_grows_as_they_do() -> None:
    source = "a " * 600
    deleted = [Edit.delete("a", span=(2 * at, 2 * at + 1)) for at in range(300)]
    plan = EditPlan(source, (*deleted, *[Edit.insert("a a")] * 300))
    assert {verdict.status for verdict in judge(plan, source)} == {"satisfied"}
    assert seconds(lambda: judge(plan, source)) < 5  # minutes, if every edit looked at every place anew


def test_thousands_of_equal_edits_take_no_longer_than_different_ones():
    plan = EditPlan("The old men .", (Edit.delete("old"),) * 10_000 + (Edit.insert("Old men"),) * 10_000)
    with within(10):  # pair by pair it would be minutes
        found = needs(plan)
        judged = judge(plan, "old men " * 50)
    assert (found[0], found[10_000], found[-1]) == (0, 1, 10_000)
    assert len(judged) == 20_000


SPANS = [
    pytest.param(Edit.delete("old", span=(4, 7)), None, id="right"),
    pytest.param(Edit.delete("OLD", span=(4, 7)), None, id="case"),
    pytest.param(Edit.delete("old", span=(3, 8)), None, id="spaces-around"),
    pytest.param(Edit.insert("older", span=(4, 7)), None, id="another-form"),
    pytest.param(Edit.split("old", span=(4, 7)), None, id="split"),
    pytest.param(Edit.delete("old"), None, id="none"),
    pytest.param(Edit.delete("old", span=(0, 3)), r"\[0, 3\] holds \"The\", and .*at \[4, 7\]", id="another-word"),
    pytest.param(Edit.substitute("old", "aged", span=(8, 11)), "holds .men.", id="substitution"),
    pytest.param(Edit.split("old", span=(8, 11)), "holds .men.", id="split-elsewhere"),
    pytest.param(Edit.delete("ol", span=(4, 6)), "no whole word", id="inside-a-word"),
    pytest.param(Edit.insert("ld", span=(5, 7)), "no whole word", id="insertion-inside-a-word"),
    pytest.param(Edit.delete("old", span=(3, 4)), "no whole word", id="a-space"),
]


@pytest.mark.parametrize("edit, problem", SPANS)
def test_spans_hold_their_phrases(edit, problem):
    plan = EditPlan("The old men .", (Edit.insert("men"), edit))
    if problem is None:
        check_spans(plan)
        return
    with pytest.raises(PlanError, match=f"(?s)edits\\[1\\].span: .*{problem}"):
        check_spans(plan)
