"""Full stops are added to headings and list items and removed again; missing symbols and addresses."""

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
def test_a_full_stop_is_added_and_removed(source, word):
    plan = EditPlan(source, (Edit.insert(word),))
    terminated = add_full_stop(plan)
    assert terminated.source == f"{source.strip()}."
    assert terminated.edits == plan.edits
    found = remove_full_stop(plan, written(terminated, "Before you use it.", "Before use", "Before use ."))
    assert found.source == source
    assert [one.text for one in found.candidates] == ["Before you use it", "Before use", "Before use"]


@pytest.mark.parametrize("source", ["They left.", "Did they?", "“They left.”", "They left ...", ""])
def test_terminated_text_is_unchanged(source):
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
def test_missing_symbols(source, output, lost):
    assert missing_symbols(source, output) == lost


def test_changed_addresses_count_as_missing():
    source = "See https://example.org/a?b=1, or write to me@example.org."
    assert missing_addresses(source, "See https://example.org/a?b=1 or write to me@example.org.") == []
    assert missing_addresses(source, "See https:///example.org/a?b =1 or me@example.org.") == [
        "https://example.org/a?b=1"
    ]
