"""Where an edit applies in its source, and how many occurrences satisfy it."""

import pytest

from operation_count import operations
from redraft import Edit, EditPlan
from redraft.errors import PlanError
from redraft.plan.phrases import check_spans, occurrence_thresholds, occurrences
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
def test_occurrences_in_the_source(edit: Edit, strict: list[str], loose: list[str]) -> None:
    source = "The WAR left the big  town Old and OLD."
    assert [source[slice(*span)] for span in occurrences(source, edit)] == strict
    assert [source[slice(*span)] for span in occurrences(source, edit, any_case=True)] == loose


def test_counting_equal_edits_is_linear() -> None:
    def plan(count: int) -> EditPlan:
        return EditPlan("w " * count, tuple(Edit.insert(f"w{number // 2}") for number in range(count)))

    small, large = plan(500), plan(2_000)
    assert occurrence_thresholds(large) == [1, 2] * 1_000
    assert operations(lambda: occurrence_thresholds(large)) < 5 * operations(lambda: occurrence_thresholds(small))


def test_judging_equal_edits_is_at_most_quadratic() -> None:
    def plan(count: int) -> EditPlan:
        deleted = [Edit.delete("a", span=(2 * at, 2 * at + 1)) for at in range(count)]
        return EditPlan("a " * (2 * count), (*deleted, *[Edit.insert("a a")] * count))

    small, large = plan(60), plan(120)
    assert {verdict.status for verdict in judge(large, large.source)} == {"satisfied"}
    ratio = operations(lambda: judge(large, large.source)) / operations(lambda: judge(small, small.source))
    assert ratio < 5  # 7, if the occurrences were searched again for every edit


def test_thousands_of_equal_edits_do_not_hang() -> None:
    plan = EditPlan("The old men .", (Edit.delete("old"),) * 10_000 + (Edit.insert("Old men"),) * 10_000)
    with within(60):  # comparing all pairs would take minutes
        found = occurrence_thresholds(plan)
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
    pytest.param(Edit.delete("old", span=(0, 3)), r"\[0, 3\] covers \"The\", but .*at \[4, 7\]", id="another-word"),
    pytest.param(Edit.substitute("old", "aged", span=(8, 11)), "covers .men.", id="substitution"),
    pytest.param(Edit.split("old", span=(8, 11)), "covers .men.", id="split-elsewhere"),
    pytest.param(Edit.delete("ol", span=(4, 6)), "not a whole word", id="inside-a-word"),
    pytest.param(Edit.insert("ld", span=(5, 7)), "not a whole word", id="insertion-inside-a-word"),
    pytest.param(Edit.delete("old", span=(3, 4)), "not a whole word", id="a-space"),
]


@pytest.mark.parametrize("edit, problem", SPANS)
def test_spans_contain_their_phrases(edit, problem):
    plan = EditPlan("The old men .", (Edit.insert("men"), edit))
    if problem is None:
        check_spans(plan)
        return
    with pytest.raises(PlanError, match=f"(?s)edits\\[1\\].span: .*{problem}"):
        check_spans(plan)
