"""Headings and items of lists: a full stop is lent to them, and taken back. Signs that got lost are told."""

import pytest

from redraft import Edit, EditPlan
from redraft.align.addresses import missing_addresses
from redraft.align.names import missing_signs
from redraft.constrain.verdicts import judge
from redraft.decode.decoded import Candidate, Decoded
from redraft.decode.endings import closed, reopened


def written(plan, *texts):
    return Decoded(plan.source, tuple(Candidate(text, 0.0, 0.0, tuple(judge(plan, text)), (), False) for text in texts))


@pytest.mark.parametrize("source, word", [("Before use", "use"), ("Take 2", "2"), ("Before use ", "use")])
def test_a_full_stop_is_lent_and_taken_back(source, word):
    plan = EditPlan(source, (Edit.insert(word),))
    lent = closed(plan)
    assert lent.source == f"{source.strip()}."
    assert lent.edits == plan.edits
    found = reopened(plan, written(lent, "Before you use it.", "Before use", "Before use ."))
    assert found.source == source
    assert [one.output for one in found.candidates] == ["Before you use it", "Before use", "Before use"]


@pytest.mark.parametrize("source", ["They left.", "Did they?", "“They left.”", "They left ...", ""])
def test_what_has_an_end_is_as_it_was(source):
    plan = EditPlan(source)
    assert closed(plan) is plan
    found = written(plan, "They went.")
    assert reopened(plan, found) is found


@pytest.mark.parametrize(
    "source, output, lost",
    [
        ("Take 💊 for £5.", "Take 💊 for £5.", []),
        ("Take 💊 and 💊 for £5.", "Take 💊 for 5.", ["💊", "£"]),
        ("“I can’t,” he said.", "“I can’t, he said.", ["”"]),
        ('He said "no".', "He said no.", []),
        ('A 5" pipe.', 'A 5" pipe.', []),
    ],
)
def test_signs_that_got_lost_are_told(source, output, lost):
    assert missing_signs(source, output) == lost


def test_addresses_that_were_changed_are_told():
    source = "See https://example.org/a?b=1, or write to me@example.org."
    assert missing_addresses(source, "See https://example.org/a?b=1 or write to me@example.org.") == []
    assert missing_addresses(source, "See https:///example.org/a?b =1 or me@example.org.") == [
        "https://example.org/a?b=1"
    ]
