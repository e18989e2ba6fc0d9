"""Headings and items of lists: a full stop is lent to them, and taken back. Signs that got lost are told."""

import pytest

from redraft import Edit, EditPlan
from redraft.decode.result import Candidate, Result
from redraft.plan.verdicts import judge
from redraft.simplify.preparation import add_full_stop, remove_full_stop
from redraft.text.names import missing_symbols
from redraft.text.protected_spans import missing_addresses


def written(plan, *texts):
    return Result(plan.source, tuple(Candidate(text, 0.0, 0.0, tuple(judge(plan, text)), (), False) for text in texts))


@pytest.mark.parametrize("source, word", [("Before use", "use"), ("Take 2", "2"), ("Before use ", "use")])
def test_a_full_stop_is_lent_and_taken_back(source, word):
    plan = EditPlan(source, (Edit.insert(word),))
    lent = add_full_stop(plan)
    assert lent.source == f"{source.strip()}."
    assert lent.edits == plan.edits
    found = remove_full_stop(plan, written(lent, "Before you use it.", "Before use", "Before use ."))
    assert found.source == source
    assert [one.text for one in found.candidates] == ["Before you use it", "Before use", "Before use"]


@pytest.mark.parametrize("source", ["They left.", "Did they?", "“They left.”", "They left ...", ""])
def test_what_has_an_end_is_as_it_was(source):
    plan = EditPlan(source)
    assert add_full_stop(plan) is plan
    found = written(plan, "They went.")
    assert remove_full_stop(plan, found) is found


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
    assert missing_symbols(source, output) == lost


def test_addresses_that_were_changed_are_told():
    source = "See https://example.org/a?b=1, or write to me@example.org."
    assert missing_addresses(source, "See https://example.org/a?b=1 or write to me@example.org.") == []
    assert missing_addresses(source, "See https:///example.org/a?b =1 or me@example.org.") == [
        "https://example.org/a?b=1"
    ]
