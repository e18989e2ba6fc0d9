"""Which words can take the place of another."""

import pytest

from redraft.text.inflection import may_follow, may_share_part_of_speech


@pytest.mark.parametrize("before, word, target, may", [
    ("you", "consent", "permission", False),
    ("you", "consent", "agree", True),
    ("the", "consent", "permission", True),
    ("any", "remedy", "solve", False),
    ("to", "remedy", "solve", True),
    ("the", "liability", "liable", False),
    ("was", "amended", "changed", True),
    ("", "xyzzy", "change", True),  # not in the dictionary
    ("will", "commence", "get going", True),  # a phrase
])  # fmt: skip
def test_parts_of_speech(before, word, target, may):
    assert may_share_part_of_speech(word, target, before) is may


@pytest.mark.parametrize("target, before, good", [
    ("so", ",", True), ("so", "", True), ("so", "would", False), ("thus", "would", True),
    ("not available", "is", True), ("not available", "an", False),
])  # fmt: skip
def test_some_targets_have_their_places(target, before, good):
    assert may_follow(target, before) is good
