"""Where an edit applies in its source."""

import pytest

from redraft import Edit
from redraft.constrain.phrases import places


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
