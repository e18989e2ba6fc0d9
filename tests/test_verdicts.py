"""Verdicts on edits, judged on texts."""

from __future__ import annotations

import pytest

from redraft.constrain.compiler import compiler_for
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.verdicts import Verdict, judge
from tokenizers_in_memory import TOKENIZERS

insert, delete, substitute = Edit.insert, Edit.delete, Edit.substitute
FIRST, SECOND = (0, 1), (2, 3)  # spans, where a plan both keeps and deletes a word


@pytest.mark.parametrize("edits, text, statuses", [
    pytest.param([insert("old")], "An old man.", "satisfied", id="insertion-present"),
    pytest.param([insert("old")], "An older man.", "unmet", id="insertion-in-a-longer-word"),
    pytest.param([insert("old")], "", "unmet", id="empty-text"),
    pytest.param([insert("old")], "Old men.", "satisfied", id="insertion-capitalised"),
    pytest.param([insert("Old")], "an old man", "unmet", id="a-name-keeps-its-capital"),
    pytest.param([insert("Any")], "any man", "satisfied", id="but-not-the-first-word-of-the-source"),
    pytest.param([insert("old man")], "An old, man.", "unmet", id="insertion-interrupted"),
    pytest.param([insert("old")], 'The "old" man', "satisfied", id="insertion-in-quotes"),
    pytest.param([insert("dog")], "The dog's bowl", "satisfied", id="insertion-before-an-apostrophe"),
    pytest.param([insert("11")], "About 11,000.", "unmet", id="insertion-in-a-number"),
    pytest.param([delete("old")], "A man.", "satisfied", id="deletion-absent"),
    pytest.param([delete("old")], "An old man.", "violated", id="deletion-present"),
    pytest.param([delete("old")], "Old men.", "violated", id="deletion-present-capitalised"),
    pytest.param([delete("remain")], "They remained.", "satisfied", id="deletion-in-a-longer-word"),
    pytest.param([substitute("big", "large")], "A large man.", "satisfied", id="substitution-carried-out"),
    pytest.param([substitute("big", "large", "tall")], "A tall man.", "satisfied", id="by-any-target"),
    pytest.param([substitute("big", "large")], "A man.", "unmet", id="neither-source-nor-target"),
    pytest.param([substitute("big", "large")], "A big man.", "violated", id="source-present"),
    pytest.param([substitute("big", "large")], "A big, large man.", "violated", id="source-and-target-present"),
    pytest.param([insert("old"), insert("old")], "An old man.", "satisfied unmet", id="inserted-twice-written-once"),
    pytest.param([insert("old"), insert("old")], "Old, old man.", "satisfied satisfied",
                 id="inserted-twice-written-twice"),
    pytest.param([insert("war"), insert("War")], "the war, the War", "satisfied satisfied", id="a-word-and-a-name"),
    pytest.param([insert("war"), insert("War")], "the War", "unmet satisfied", id="only-the-name"),
    pytest.param([insert("old", span=FIRST), delete("old", span=SECOND)], "old", "satisfied satisfied",
                 id="one-is-free"),
    pytest.param([insert("old", span=FIRST), delete("old", span=SECOND)], "old old", "satisfied violated",
                 id="the-second-is-not"),
    pytest.param([substitute("big", "old"), delete("old")], "old", "satisfied satisfied", id="a-target-is-free"),
    pytest.param([insert("big"), substitute("big", "old")], "big old", "satisfied satisfied",
                 id="a-source-that-is-inserted"),
    pytest.param([insert("old man"), delete("old")], "The old man.", "satisfied satisfied",
                 id="inside-a-longer-insertion"),
    pytest.param([insert("old man"), delete("old")], "The old man is old.", "satisfied violated", id="and-outside-it"),
    pytest.param([substitute("elder", "old man"), delete("old")], "An old man.", "satisfied satisfied",
                 id="inside-a-longer-target"),
    pytest.param([substitute("old", "old man")], "An old man.", "satisfied", id="a-target-longer-than-its-source"),
    pytest.param([substitute("old man", "old")], "An old man.", "violated", id="a-target-shorter-than-its-source"),
    pytest.param([delete("old man"), insert("old")], "An old man.", "violated satisfied", id="a-longer-deletion"),
    pytest.param([], "An old man.", "", id="no-edits"),
])  # fmt: skip
def test_statuses(edits, text, statuses):
    plan = EditPlan("Any source", tuple(edits))
    assert [verdict.status for verdict in judge(plan, text)] == statuses.split()


split = Edit.split
WHO = split("who", span=(14, 17))
TOWN = "The artisans, who remain old, live in a town."
TWO = "Anna met a man, who likes cake. The man likes Anna."


@pytest.mark.parametrize("source, edits, text, statuses", [
    pytest.param(TOWN, [split()], TOWN, "unmet", id="anywhere-no-new-sentence"),
    pytest.param(TOWN, [split()], "The artisans remain old. They live in a town.", "satisfied", id="anywhere"),
    pytest.param(TOWN, [split(), split()], "They remain old. They live.", "satisfied unmet", id="two-asked-one-made"),
    pytest.param(TOWN, [split(), split()], "They are. They remain old. They live.", "satisfied satisfied",
                 id="two-asked-two-made"),
    pytest.param(TOWN, [split()], "Dr. Old lives in a town.", "unmet", id="the-project-s-own-splitter"),
    pytest.param(TWO, [split()], TWO, "unmet", id="a-source-of-two"),
    pytest.param(TWO, [split()], "Anna met a man. He likes cake. The man likes Anna.", "satisfied",
                 id="two-become-three"),
    pytest.param(TOWN, [WHO], "The artisans live in a town. They remain old.", "satisfied", id="at-the-place"),
    pytest.param(TOWN, [WHO], "The artisans remain old. They live in a town.", "unmet", id="elsewhere"),
    pytest.param(TOWN, [split("who")], "The artisans live. They remain old.", "satisfied", id="by-its-word-alone"),
    pytest.param(TOWN, [split("whom")], "Artisans remain. They live.", "satisfied", id="a-word-not-in-the-source"),
    pytest.param(TOWN, [WHO], "An ARTISAN lives there. It remained.", "satisfied", id="by-lemma-and-in-any-case"),
    pytest.param(TOWN, [WHO], "An ARTISAN remained there. It lives.", "unmet", id="by-lemma-and-elsewhere"),
    pytest.param(TOWN, [WHO], "Men live here. They remain old.", "satisfied", id="no-word-left-before-counts-anywhere"),
    pytest.param(TOWN, [WHO], "The artisans. Yes.", "satisfied", id="no-word-left-behind-counts-anywhere"),
    pytest.param(TOWN, [WHO, split()], "Men live here. They remain old.", "satisfied unmet",
                 id="and-is-counted-as-one"),
    pytest.param(TOWN, [WHO], "", "unmet", id="empty-text"),
    pytest.param(TOWN, [split("live", span=(30, 34))], "The artisans stay old. They live in a town.", "satisfied",
                 id="nearest-word-that-is-left"),
    pytest.param("Old men like old books, which old men read.", [split("which", span=(24, 29))],
                 "Old men like books. Old men read books.", "satisfied", id="any-pair-of-repeated-words"),
    pytest.param(TWO, [split("who", span=(16, 19))], TWO, "unmet", id="repeated-words-in-an-unchanged-text"),
    pytest.param(TOWN, [split("who remain", span=(14, 24)), delete("who")], "The artisans who remain live.",
                 "unmet violated", id="a-split-keeps-no-word"),
])  # fmt: skip
def test_statuses_of_splits(source, edits, text, statuses):
    assert [verdict.status for verdict in judge(EditPlan(source, tuple(edits)), text)] == statuses.split()


@pytest.mark.parametrize("variants, edit, text, status", [
    pytest.param("exact", insert("old"), "Old men", "unmet", id="exact"),
    pytest.param("case", insert("remain"), "They remained", "unmet", id="case"),
    pytest.param("lemma", insert("remain"), "They remained", "satisfied", id="lemma"),
    pytest.param("lemma", delete("remain"), "Remaining here", "violated", id="lemma-capitalised"),
    pytest.param("lemma", delete("remain"), "The remainder", "satisfied", id="lemma-keeps-to-words"),
])  # fmt: skip
def test_variants(variants, edit, text, status):
    assert judge(EditPlan("any", (edit,)), text, variants=variants)[0].status == status


@pytest.mark.parametrize("edit, text, status, reason", [
    pytest.param(insert("ż"), "A man.", "impossible", "cannot be encoded", id="insertion"),
    pytest.param(insert("ż"), "A ż.", "satisfied", None, id="that-is-there-all-the-same"),
    pytest.param(delete("ż"), "A man.", "satisfied", None, id="deletion-kept-by-itself"),
    pytest.param(substitute("man", "ż"), "A cat.", "impossible", "cannot be encoded", id="substitution"),
    pytest.param(substitute("man", "ż"), "A man.", "violated", None, id="substitution-whose-source-is-there"),
])  # fmt: skip
def test_impossible(edit, text, status, reason):
    verdict = judge(EditPlan("any", (edit,)), text, impossible={0: "cannot be encoded"})[0]
    assert (verdict.status, verdict.reason) == (status, reason)


@pytest.mark.parametrize("edits, source, statuses", [
    pytest.param([insert("11,000")], "about 11,000 men", "satisfied", id="a-number"),
    pytest.param([delete("11,000")], "about 11,000 men", "violated", id="a-number-deleted"),
    pytest.param([insert("don't")], "I don't know", "satisfied", id="a-contraction"),
    pytest.param([insert("well-known")], "a well-known man", "satisfied", id="a-hyphen"),
    pytest.param([insert("11,000"), delete("000")], "about 11,000 men", "satisfied satisfied", id="inside-the-longer"),
])  # fmt: skip
def test_forms_that_a_tokenizer_gives(edits, source, statuses):
    """WordPiece writes "11, 000", "don ' t" and "well - known"."""
    compiler = compiler_for(TOKENIZERS["word-piece"]())
    text = compiler.vocabulary.decode(compiler.vocabulary.encode([source])[0])
    assert text != source
    verdicts = judge(EditPlan("any", tuple(edits)), text, forms_of=compiler.forms_in_text)
    assert [verdict.status for verdict in verdicts] == statuses.split()


def test_json():
    assert Verdict(insert("old", weight=2), "satisfied", True).to_json() == {
        "insert": "old", "weight": 2.0, "status": "satisfied", "chosen_over": True,
    }  # fmt: skip
    assert Verdict(insert("ż"), "impossible", reason="cannot be encoded").to_json() == {
        "insert": "ż", "status": "impossible", "chosen_over": None, "reason": "cannot be encoded",
    }  # fmt: skip
