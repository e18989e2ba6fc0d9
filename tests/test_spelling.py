"""British and American spelling."""

from __future__ import annotations

import pytest

from redraft import EditPlan
from redraft.plan.prediction import with_spelling
from redraft.text.spelling import _ALSO_BRITISH, _AMERICAN, _BRITISH, in_spelling, spelling_of


@pytest.mark.parametrize("text, spelling", [
    ("The colour of the centre.", "british"),
    ("The COLOR of the center.", "american"),
    ("The colour of the center.", None),  # of both kinds
    ("They organize labour.", "british"),  # Oxford spelling
    ("They organize it.", None),
    ("Four hours for our tour, and the analyses were wise.", None),
])  # fmt: skip
def test_spelling_of_a_text(text: str, spelling: str | None) -> None:
    assert spelling_of(text) == spelling


def test_words_in_one_spelling() -> None:
    british, american = (
        "Colour, ORGANISATION — traveller’s “grey” cheque.",
        "Color, ORGANIZATION — traveler’s “gray” check.",
    )
    assert in_spelling(british, "american") == american
    assert in_spelling(american, "british") == british.replace("cheque", "check")  # a check may also be a test
    assert in_spelling("The parking meter and the computer program", "british").endswith(
        "meter and the computer program"
    )


def test_table_goes_both_ways() -> None:
    assert {_BRITISH[american] for american in _AMERICAN.values() if american not in _ALSO_BRITISH} <= _AMERICAN.keys()
    assert _AMERICAN.keys().isdisjoint(_BRITISH)


def test_predicted_targets_follow_the_source_and_requested_ones_do_not() -> None:
    plan = EditPlan.from_json({"source": "The conduct and hue at the centre.", "edits": [
        {"substitute": "conduct", "with": ["behavior", "behaviour"], "probability": 0.8},
        {"substitute": "hue", "with": ["color"]},
        {"insert": "centre", "probability": 0.9},
    ]})  # fmt: skip
    assert [edit.targets for edit in with_spelling(plan, "british").edits] == [("behaviour",), ("color",), ()]
    assert with_spelling(plan, None) == plan
