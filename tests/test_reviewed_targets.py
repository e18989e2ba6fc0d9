"""Targets judged by a reader: safe ones are written, possible ones checked in their sentence, wrong ones never."""

import pytest

from redraft import Planner
from redraft.errors import ModelError
from redraft.plan.lexicon import lookup_key
from redraft.plan.prediction import Levels
from redraft.plan.reviewed_targets import Reviewed, ReviewedTargets
from redraft.table_files import write_rows


@pytest.fixture(scope="module")
def reviewed():
    return ReviewedTargets.load()


@pytest.fixture(scope="module")
def planner():
    return Planner.load(device="cpu")


def targets(planner, source, phrase, **changes):
    return next((edit.targets for edit in planner(source, **changes).edits
                 if edit.kind == "substitute" and edit.phrase == phrase), ())  # fmt: skip


def test_every_target_is_in_one_list(reviewed):
    assert len(reviewed) > 4500
    for phrase in reviewed:
        entry = reviewed.entry(phrase)
        listed = [*entry.safe, *entry.possible, *entry.wrong]
        assert len({*listed}) == len(listed), phrase
        assert phrase == lookup_key(phrase), phrase
        assert phrase not in listed
        assert all(target == target.strip() for target in listed), phrase


def test_a_safe_target_is_written_alone(planner):
    assert targets(planner, "The council subsequently purchased the site.", "purchased") == ("bought",)
    assert planner.reviewed.is_safe("Purchased", "bought")
    assert not planner.reviewed.is_safe("recalled", "remembered")


@pytest.mark.parametrize("source, phrase, wrong", [
    ("The company recalled thousands of electric scooters.", "recalled", "remembered"),
    ("The safety of the product has not been established.", "established", "set up"),
    ("You are required to report any change.", "required", "needed"),
    ("The landlord is responsible for keeping it in repair.", "is responsible for", "handles"),
    ("It was the strongest hurricane of the year.", "strongest", "best"),
])  # fmt: skip
def test_a_wrong_target_is_never_written(planner, source, phrase, wrong):
    """Not even at full strength, nor by the table of common names."""
    everything = Levels(delete=1.0, substitute=0.0)
    assert wrong in planner.reviewed.entry(phrase).wrong
    assert wrong not in targets(planner, source, phrase, strength=everything)


def test_a_custom_table(tmp_path):
    path = tmp_path / "own.tsv.xz"
    write_rows(path, [("commence", "start; begin", "", "end"), ("run", "", "go; manage", "")])
    own = ReviewedTargets.load(path)
    assert own.entry("Commence") == Reviewed(("start", "begin"), (), ("end",))
    assert own.is_possible("run", "manage")
    assert not own.is_safe("run", "manage")
    write_rows(path, [("commence", "start")])
    with pytest.raises(ModelError, match=r"own\.tsv\.xz, line 1"):
        ReviewedTargets.load(path)
