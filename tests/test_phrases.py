"""Where an edit applies in its source, and how many occurrences meet it."""

import time
from collections.abc import Callable

import pytest

from redraft import Edit, EditPlan
from redraft.constrain.phrases import needs, places
from redraft.constrain.verdicts import judge


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
