"""From probabilities to plans, with probabilities given by hand: no network, no weights."""

import lzma
import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operation_count import operations
from redraft.errors import ConfigError, ModelError
from redraft.plan.common_names import CommonName, CommonNames
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.lexicon import Entry, Lexicon, lookup_key
from redraft.plan.prediction import Calibration, Levels, PlanPrediction, chunks
from redraft.plan.target_guard import TargetGuard
from redraft.plan.user_constraints import GLOSSARY_NOTE, KEEP_NOTE, UserConstraint, UserConstraints
from redraft.text.eligibility import ineligible_reason
from redraft.text.names import missing_negations
from redraft.text.protected_spans import is_address
from redraft.text.word_frequency import WordFrequency, WordStatistics
from redraft.text.words import normalise, split_words
from time_limit import within

LEXICON = Lexicon({
    "physician": Entry(69, 18, 16, (("doctor", 0.6), ("medical doctor", 0.1))),
    "commenced": Entry(23, 6, 10, (("started", 0.5), ("began", 0.3), ("first", 0.05), ("became", 0.04))),
    "prior to": Entry(40, 1, 30, (("before", 0.9),)),
    "prior": Entry(50, 5, 10, (("before", 0.5),)),
    "artisans": Entry(4, 2, 0, (("craftsmen", 0.5),)),
})  # fmt: skip
SURE = Calibration(1.0, 1.0, 0.0)


LEVELS = Levels(0.72, 0.2, 0.75)


def unfinished(source, words, probabilities, strength, *, lexicon=LEXICON, **more):
    levels = Levels.of(strength)
    return PlanPrediction(
        source=source, words=words, probabilities=probabilities, lexicon=lexicon, calibration=SURE, levels=levels,
        **more,
    )  # fmt: skip


def predicted(source, delete=(), substitute=(), strength=LEVELS, keep=0.7, lexicon=LEXICON):
    """A plan in which the given words have a high probability of that action, and all others of being kept."""
    words = split_words(source)
    probabilities = np.zeros((len(words), 3))
    for row, word in zip(probabilities, words, strict=True):
        row[:] = (0.05, 0.9, 0.05) if word.text in delete else (keep, (1 - keep) / 2, (1 - keep) / 2)
        if word.text in substitute:
            row[:] = (0.05, 0.05, 0.9)
    return unfinished(source, words, probabilities, strength, lexicon=lexicon).plan()


def by_kind(plan):
    return {
        kind: [edit.phrase for edit in plan.edits if edit.kind == kind] for kind in ("insert", "delete", "substitute")
    }


def test_a_word_with_targets_is_replaced_by_the_likeliest_three():
    plan = predicted("The physician commenced it .", substitute=("physician", "commenced"))
    first, second = plan.edits
    assert (first.phrase, first.targets, first.span) == ("physician", ("doctor", "medical doctor"), (4, 13))
    assert second.targets == ("started", "began", "first")
    assert first.note == "people replace it in 16 of 69 places"
    assert 0.8 < first.probability < 0.9  # log-odds of 0.9, and a share of 0.7


def test_targets_are_capitalised_like_the_word():
    (edit,) = predicted("Commenced it was .", substitute=("Commenced",)).edits
    assert edit.targets == ("Started", "Began", "First")


def test_a_word_without_targets_is_not_replaced():
    assert by_kind(predicted("The gizmo works .", substitute=("gizmo",)))["substitute"] == []


def test_nothing_is_predicted_for_protected_words():
    source = "It is at [old site](https://example.org/a#commenced) now ."
    found = by_kind(predicted(source, delete=("old", "site", "now"), substitute=("commenced",)))
    assert (found["delete"], found["substitute"]) == (["now"], [])


def test_the_note_of_a_target_without_counts():
    (edit,) = predicted("artisans it is", substitute=("artisans",)).edits
    assert edit.note == "its targets mean much the same"


def test_a_word_is_never_replaced_by_itself():
    lexicon = Lexicon({"\u00b5mol": Entry(3, 0, 2, (("\u03bcmol", 0.9),))})  # two letters that fold to one
    assert by_kind(predicted("5 \u00b5mol of it", substitute=("\u00b5mol",), lexicon=lexicon))["substitute"] == []


def test_a_phrase_has_precedence_over_its_words():
    (edit,) = predicted("Before that , prior to it , so .", substitute=("prior",)).edits
    assert (edit.phrase, edit.targets) == ("prior to", ("before",))


@pytest.mark.parametrize(
    "source, expected",
    [
        ("the artisans in the old town were known for fine work .",
         ["the artisans", "in the old town", "were known", "for fine work"]),
        ("big , red and old", ["big", "red", "and old"]),
        ("( now )", ["now"]),
        ("of the", ["of the"]),
        ("", []),
        (".", []),
    ],
)  # fmt: skip
def test_units(source, expected):
    words = split_words(source)
    found = [source[words[unit[0]].start : words[unit[-1]].end] for unit in chunks(words)]
    assert found == expected


@given(st.lists(st.sampled_from(["the", "in", "old", "town", ",", "known", "and", "."]), max_size=12))
def test_units_hold_every_word_once_and_in_order(texts):
    words = split_words(" ".join(texts))
    held = [at for unit in chunks(words) for at in unit]
    assert held == [at for at, word in enumerate(words) if word.text not in (",", ".")]


def test_phrases_are_deleted_as_a_whole():
    plan = predicted("he lived in the old town with friends", delete=("old", "town"))
    assert by_kind(plan)["delete"] == ["old", "town"]
    assert plan.edits[0].note == "people leave it out in 90% of such places, with all of “in the old town”"


def test_the_head_of_a_phrase_is_not_deleted_alone():
    assert by_kind(predicted("in the old town", delete=("town",)))["delete"] == []
    assert by_kind(predicted("in the old town", delete=("old",)))["delete"] == ["old"]


def test_names_numbers_and_negations_are_kept_whatever_is_predicted():
    source = "He never met Ada Lovelace in 1843 , and didn't write"
    words = [word.text for word in split_words(source)]
    plan = predicted(source, delete=words, strength=1.0)
    assert by_kind(plan)["insert"] == ["never", "Ada", "Lovelace", "1843", "didn't"]
    assert [edit.note for edit in plan.edits if edit.kind == "insert"] == [
        "a negation: it stays", "a name: it stays", "a name: it stays", "a number: it stays", "a negation: it stays",
    ]  # fmt: skip
    assert by_kind(plan)["delete"] == ["met", "write"]


def test_not_all_words_are_deleted():
    words = "old , big , red , new , long , short , warm , cold"
    plan = predicted(words, delete=words.split(" , "), strength=1.0)
    assert by_kind(plan)["delete"] == [
        "old",
        "big",
        "red",
        "new",
        "long",
        "short",
        "warm",
    ]  # of 15 words with the signs
    plan = predicted("gone", delete=("gone",), strength=1.0)
    assert by_kind(plan)["delete"] == []


def test_probable_keeps_are_in_the_plan():
    assert by_kind(predicted("the old town", keep=0.9))["insert"] == ["old", "town"]
    assert by_kind(predicted("the old town", keep=0.6))["insert"] == []


def test_a_more_probable_edit_has_a_higher_weight():
    light, sure = (predicted("the old town", keep=keep).edits[0].weight for keep in (0.76, 1.0))
    assert 0 < light < sure == 0.15


@pytest.mark.parametrize("kind", ["delete", "substitute"])
def test_higher_strength_adds_edits(kind):
    """A word that may be replaced or deleted may change from one to the other."""
    rng = np.random.default_rng(0)
    source = "the physician commenced some long and dull speeches prior to dinner"
    words = split_words(source)
    found = []
    for _ in range(200):
        probabilities = rng.dirichlet([1, 1, 1], len(words))
        plans = [unfinished(source, words, probabilities, strength).plan() for strength in (0.0, "light", 0.5, 1)]
        counts = [len(by_kind(plan)[kind]) for plan in plans]
        if kind == "substitute":
            assert counts == sorted(counts)
        found.append(counts)
    assert np.mean(found, 0)[-1] > np.mean(found, 0)[0] + 1


@pytest.mark.parametrize("strength", ["much", -0.1, 1.5, "0.5", float("nan")])
def test_invalid_strengths(strength):
    with pytest.raises(ConfigError, match="strength is"):
        Levels.of(strength)


def test_tables_survive_saving_and_loading(tmp_path):
    LEXICON.save(tmp_path / "lexicon.tsv.xz")
    again = Lexicon.load(tmp_path / "lexicon.tsv.xz")
    assert {phrase: again.entry(phrase) for phrase in again} == {phrase: LEXICON.entry(phrase) for phrase in LEXICON}
    assert again.longest == 2
    common = WordFrequency({"the": WordStatistics(7.73), "cat": WordStatistics(4.9, 1.25)})
    common.save(tmp_path / "words.tsv.xz")
    words = WordFrequency.load(tmp_path / "words.tsv.xz")
    assert (words.zipf("The cat"), words.difficulty("cat"), words.difficulty("the cat")) == (4.9, 1.25, None)
    assert (words.zipf("xyzzy"), words.zipf("")) == (0.0, 0.0)


@pytest.mark.parametrize("table", [Lexicon, WordFrequency])
@pytest.mark.parametrize(
    "content, message", [(b"nothing", "cannot be read"), (None, "cannot be read"), ("a\tb\tc", "line 1")]
)
def test_invalid_tables(tmp_path, table, content, message):
    path = tmp_path / "table.tsv.xz"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else lzma.compress(content.encode()))
    with pytest.raises(ModelError, match=message):
        table.load(path)


def test_phrases_are_looked_up_by_their_words():
    assert lookup_key("Dog’s  Well-Known") == "dog 's well-known"
    assert LEXICON.entry("Physician") is LEXICON.entry("physician") is not None
    assert LEXICON.entry("physicians") is None


def test_number_words_and_addresses_are_kept():
    source = "Some twenty-five dozen men visited www.example.org/commenced often"
    words = [word.text for word in split_words(source)]
    plan = predicted(source, delete=words, substitute=("commenced",), strength=1.0)
    assert by_kind(plan)["insert"] == ["Some", "twenty-five", "dozen", "www.example.org/commenced"]
    assert [edit.note for edit in plan.edits if edit.kind == "insert"][-1] == "an address: it stays"


_KNOWN = "idiopathic thrombocytopenic purpura necessitates splenectomy red green blue yellow"
COMMON = WordFrequency({word: WordStatistics(2.0) for word in _KNOWN.split()})


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "it has no words"),
        ("🎉🎉 — !!", "it has no words"),
        ("1,234 + 5", "it has no words"),
        ("https://example.org/a?b=c", "it is an address"),
        ("https://en.wikipedia.org/wiki/Foo_(bar)", "it is an address"),
        ("www.example.org.", "it is an address"),
        ("example.com", "it is an address"),
        ("someone@example.org", "it is an address"),
        ("C:\\Users\\name\\file.txt", "it is an address"),
        ("for (int i = 0; i < n; i++) { total += rows[i]; }", "it looks like program text"),
        ("def f(x): return x+1", "it looks like program text"),
        ("print('hello world')", "it looks like program text"),
        ("SELECT * FROM users WHERE id = 3;", "it looks like program text"),
        ("Der Himmel über Berlin ist heute ziemlich grau geworden", "it does not look like English"),
        ("Die Katze sitzt auf dem Tisch und der Hund schläft im Haus.", "it does not look like English"),
        ("Le chat est sur la table et il dort dans la maison.", "it does not look like English"),
        ("El gato duerme en la casa pero su perro no está con nosotros.", "it does not look like English"),
        ("De kat zit op een stoel en het is niet warm.", "it does not look like English"),
        ("Привет мир", "it does not look like English"),
        ("猫在桌子上睡觉", "it does not look like English"),
        ("It was in the house .", None),
        ("the end", "it is too short to be a sentence"),
        ("Tell your physician immediately if", "it stops in the middle of a sentence"),
        ("Hello", "it is too short to be a sentence"),
        ("U.S.", "it is too short to be a sentence"),
        ("and/or", "it is too short to be a sentence"),
        ("He ate; she slept; they left; we ran.", None),
        ("Red; green; blue; yellow.", None),
        ("Vasily Petrovich Zhukov was in the Komsomol and Narodny Komissariat .", None),
        ("Idiopathic thrombocytopenic purpura necessitates splenectomy.", None),
        ("The function f(x) was found by Euler (see the notes).", None),
        ("It is at https://example.org/a_b/c_d.php?id=12&lang=en_GB&sort=name_asc&page=2 now.", None),
        ("The committee approved it [here](https://example.org/?a=b&c=d_e&f=g).", None),
        ("Read the notes at https://example.org/a", None),
        ("<p>It was in the house.</p>", None),
        ("https://a.example/x_y https://b.example/x_y", "it has no words"),
        ("See https://example.org/a_b.", "it is too short to be a sentence"),
        ("for i in range(10): print(foo_bar)", "it looks like program text"),
        ("if (a_b == c_d) { return e_f; }", "it looks like program text"),
    ],
)
def test_ineligible_texts(text, why):
    assert ineligible_reason(text, COMMON) == why


def test_address_pattern_does_not_backtrack():
    with within(60):  # quadratic matching would take much longer
        assert not is_address("a." * 200_000 + "!?x!")


def test_a_negation_is_missed():
    assert missing_negations("He did not go, never.", "He never went.") == ["never"]
    assert missing_negations("He didn't go.", "He went.") == ["didn't"]
    assert missing_negations("There is no cure.", "It has not a cure.") == []


def user_constraints(tmp_path, keep="", glossary=""):
    (tmp_path / "keep.txt").write_text(keep, encoding="utf-8")
    (tmp_path / "glossary.tsv").write_text(glossary, encoding="utf-8")
    return UserConstraints.read(tmp_path / "keep.txt", tmp_path / "glossary.tsv")


def test_user_constraints_override_predictions(tmp_path):
    plan = EditPlan("The physician commenced it .", (
        Edit.delete("physician", span=(4, 13)), Edit.substitute("commenced", "began", span=(14, 23)),
    ))  # fmt: skip
    apply_to = user_constraints(tmp_path, keep="# names\nPHYSICIAN\n", glossary="commenced\tstarted\n").apply_to(plan)
    assert [(edit.kind, edit.phrase, edit.targets, edit.note) for edit in apply_to.edits] == [
        ("insert", "physician", (), KEEP_NOTE), ("substitute", "commenced", ("started",), GLOSSARY_NOTE),
        ("delete", "commenced", (), GLOSSARY_NOTE),
    ]  # fmt: skip
    assert {edit.weight for edit in apply_to.edits} == {1.5}


def test_user_constraints_change_neither_splits_nor_strength(tmp_path):
    splits = Edit.split(), Edit.split("physician", span=(4, 13)), Edit.split("commenced")
    plan = EditPlan("The physician commenced it .", splits, "strong")
    apply_to = user_constraints(tmp_path, keep="PHYSICIAN\n", glossary="commenced\tphysician\n").apply_to(plan)
    assert [edit for edit in apply_to.edits if edit.kind == "split"] == [splits[0], splits[2], splits[1]]
    assert apply_to.strength == "strong"


def test_patterns_match_whole_words(tmp_path):
    apply_to = user_constraints(tmp_path, keep=r"/[A-Z]{2}-\d+/" + "\nart").apply_to(
        EditPlan("Use AB-12 and AB-3 for artful art .")
    )
    assert [edit.phrase for edit in apply_to.edits] == ["AB-12", "AB-3", "art"]


def test_words_ignore_case_and_patterns_do_not(tmp_path):
    source = "The NASA probe is well-known , Alzheimer’s  disease and state-of-the-art art ."
    found = user_constraints(tmp_path, keep="nasa\nwell\nart\nalzheimer's disease\n/[A-Z]{2,}/").apply_to(
        EditPlan(source)
    )
    assert [edit.phrase for edit in found.edits] == ["NASA", "Alzheimer’s  disease", "art"]
    inside = user_constraints(tmp_path, keep=r"/\d+/").apply_to(EditPlan("Use AB-12 ."))
    assert [edit.phrase for edit in inside.edits] == ["AB-12"]


def test_the_longer_of_two_kept_phrases_has_precedence(tmp_path):
    apply_to = user_constraints(tmp_path, keep="heart\nheart attack").apply_to(EditPlan("A heart attack ."))
    assert [edit.phrase for edit in apply_to.edits] == ["heart attack"]


def test_the_glossary_has_precedence_over_kept_words(tmp_path):
    apply_to = user_constraints(tmp_path, keep="heart attack", glossary="heart\tpump").apply_to(
        EditPlan("A heart attack .")
    )
    assert [(edit.kind, edit.targets) for edit in apply_to.edits] == [("substitute", ("pump",)), ("delete", ())]


def test_targets_of_the_glossary_are_not_deleted_elsewhere(tmp_path):
    plan = EditPlan("He commenced , then began .", (Edit.delete("began", span=(20, 25)),))
    apply_to = user_constraints(tmp_path, glossary="commenced\tbegan").apply_to(plan)
    assert [(edit.kind, edit.phrase) for edit in apply_to.edits] == [
        ("substitute", "commenced"), ("delete", "commenced"),
    ]  # fmt: skip


def test_a_target_that_contains_its_source_adds_no_deletion(tmp_path):
    apply_to = user_constraints(tmp_path, glossary="doctor	family doctor").apply_to(EditPlan("The doctor went ."))
    assert [edit.kind for edit in apply_to.edits] == ["substitute"]


def test_a_word_that_is_its_own_target_is_kept(tmp_path):
    (edit,) = user_constraints(tmp_path, glossary="mmhg\tmmHg").apply_to(EditPlan("It is 120 mmhg .")).edits
    assert (edit.kind, edit.phrase) == ("insert", "mmHg")


def test_plans_without_constraints_are_unchanged(tmp_path):
    plan = EditPlan("He went .", (Edit.delete("went"),))
    assert user_constraints(tmp_path, keep="unheard").apply_to(plan) == plan


def reference_places(asked, source):
    """The reference: every constraint at every position, the glossary first, then longer ones first."""
    words = split_words(source)
    places = [
        (one.target is None, 0 if one.target else words[at].start - words[at + len(one.words) - 1].end, number, at,
         (words[at].start, words[at + len(one.words) - 1].end))
        for number, one in enumerate(asked)
        for at in range(len(words) - len(one.words) + 1)
        if one.words == tuple(normalise(word.text) for word in words[at : at + len(one.words)])
    ]  # fmt: skip
    won = []
    for *_, (start, end) in sorted(places):
        if not any(start < other[1] and other[0] < end for other in won):
            won.append((start, end))
    return sorted(won)


@pytest.mark.parametrize("seed", range(30))
def test_many_constraints_are_found_as_by_the_reference(seed):
    chance = random.Random(seed)
    phrases = [" ".join(chance.choices("abc", k=chance.randint(1, 4))) for _ in range(12)]
    asked = [UserConstraint.of(phrase, chance.choice((None, "x"))) for phrase in phrases]
    source = " ".join(chance.choices("abcd", k=30))
    assert sorted(edit.span for edit in UserConstraints(tuple(asked)).edits(source)) == reference_places(asked, source)


def test_applying_user_constraints_is_linear_in_the_text():
    asked = UserConstraints((UserConstraint.of("a"), *[UserConstraint.of(f"a a a b{number}") for number in range(499)]))

    def count(words):
        deleted = tuple(Edit.delete("a", span=(2 * at, 2 * at + 1)) for at in range(0, words, 20))
        plan = EditPlan("a " * words, deleted)
        assert [edit.kind for edit in asked.apply_to(plan).edits] == ["insert"] * words
        return operations(lambda: asked.apply_to(plan))

    assert count(1_000) < 5 * count(250)  # 16 times as many, if all pairs of edits were compared


@pytest.mark.parametrize(
    "files, message",
    [
        ({"glossary": "a b"}, "glossary.tsv, line 1: has no tab"),
        ({"glossary": "\n# x\na\t"}, "glossary.tsv, line 3: has an empty target"),
        ({"glossary": "= b"}, "glossary.tsv, line 1: has an empty source"),
        ({"glossary": "a\tb\tc"}, "glossary.tsv, line 1: has 2 tabs"),
        ({"glossary": "a = b\na = b = c"}, "glossary.tsv, line 2: has 2 equals signs"),
        ({"keep": "fine\n/(/"}, r"keep.txt, line 2: \"/\(/\" is not a regular expression"),
    ],
)
def test_invalid_files_of_user_constraints(tmp_path, files, message):
    with pytest.raises(ConfigError, match=message):
        user_constraints(tmp_path, **files)


def test_a_glossary_takes_a_tab_or_an_equals_sign(tmp_path):
    tab = user_constraints(tmp_path, keep="/[A-Z]{2,}/", glossary="physician\tfamily doctor\n")
    equals = user_constraints(tmp_path, keep="/[A-Z]{2,}/", glossary="# medicine\n physician = family doctor \n")
    given = UserConstraints.of(["/[A-Z]{2,}/"], {"physician": "family doctor"})
    plan = EditPlan("The physician of NASA went .")
    assert [(edit.kind, edit.phrase, edit.targets) for edit in tab.apply_to(plan).edits] == [
        ("substitute", "physician", ("family doctor",)), ("delete", "physician", ()), ("insert", "NASA", ()),
    ]  # fmt: skip
    assert tab.apply_to(plan) == equals.apply_to(plan) == given.apply_to(plan)


def test_a_tab_has_precedence_over_equals_signs(tmp_path):
    (constraint,) = user_constraints(tmp_path, glossary="a = b\tx = y").constraints
    assert (constraint.words, constraint.target) == (("a", "=", "b"), "x = y")


@pytest.mark.parametrize("keep, glossary, problem, hint", [
    pytest.param("physician", None, 'keep is "physician"', r"keep=\[", id="keep-string"),
    pytest.param(3, None, "keep is 3", r"keep=\[", id="keep-number"),
    pytest.param(None, None, "keep is null", r"keep=\[", id="keep-none"),
    pytest.param(["a", 3], None, r"keep\[1\] is 3", "Give a string", id="number-in-keep"),
    pytest.param(["a", None], None, r"keep\[1\] is null", "Give a string", id="none-in-keep"),
    pytest.param(["a", " "], None, r'keep\[1\] is " "', "Give a string", id="blank-in-keep"),
    pytest.param(["a", "/(/"], None, r'keep\[1\]: "/\(/" is not a regular expression', "slashes", id="pattern-in-keep"),
    pytest.param([], ["a", "b"], r'glossary is \["a", "b"\]', "glossary={", id="glossary-list"),
    pytest.param([], "a=b", 'glossary is "a=b"', "glossary={", id="glossary-string"),
    pytest.param([], {"a": 3}, r'glossary\["a"\] is 3', "Give a string", id="number-as-target"),
    pytest.param([], {"a": None}, r'glossary\["a"\] is null', "Give a string", id="none-as-target"),
    pytest.param([], {"a": ""}, r'glossary\["a"\] is ""', "Give a string", id="empty-target"),
    pytest.param([], {3: "a"}, "a key of glossary is 3", "Give a string", id="number-as-source"),
    pytest.param([], {"/(/": "a"}, r'glossary\["/\(/"\]: "/\(/" is not a regular expression', "slashes", id="pattern"),
])  # fmt: skip
def test_invalid_user_constraints_name_the_place_and_the_next_step(keep, glossary, problem, hint):
    with pytest.raises(ConfigError, match=problem) as caught:
        UserConstraints.of(keep, glossary)
    assert re.search(hint, caught.value.hint or "")


def test_a_missing_constraint_file(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.txt cannot be read"):
        UserConstraints.read(tmp_path / "none.txt")


def test_a_pattern_with_an_empty_match_makes_no_edit():
    assert list(UserConstraint.of("/x*/").edits("abc")) == []


def test_words_that_carry_the_meaning_have_higher_weights():
    plan = predicted("He met Ada in the old town", delete=("met",), keep=0.9)
    weights = {edit.phrase: edit.weight for edit in plan.edits}
    assert weights["met"] > weights["Ada"] == 0.2 > weights["old"]


def test_levels_can_be_given_separately():
    assert Levels.of(Levels(0.3, 0.1)) == Levels(0.3, 0.1, None)
    assert by_kind(predicted("the old town", strength=Levels(0.3, 0.1), keep=0.9))["insert"] == []
    with pytest.raises(ConfigError, match=r"3 is not a probability"):
        Levels(0.5, 3)


def test_lower_strength_keeps_more_words():
    kept = [
        by_kind(predicted("the old town", keep=0.85, strength=one))["insert"] for one in (0.0, "light", "medium", 1.0)
    ]
    assert kept == [["old", "town"], ["old", "town"], ["old", "town"], []]
    assert Levels.of("medium").keep == pytest.approx(0.9, abs=1e-3)


def test_up_to_medium_strength_every_content_word_has_an_edit():
    """Those below the level have the lowest weight; at higher strength they have no edit."""
    plan = predicted("the old physician went", substitute=("physician",), keep=0.6, strength="medium")
    assert [(edit.kind, edit.phrase) for edit in plan.edits] == [
        ("insert", "old"), ("substitute", "physician"), ("insert", "went"),
    ]  # fmt: skip
    assert {edit.weight for edit in plan.edits if edit.kind == "insert"} == {0.015}
    assert by_kind(predicted("the old town", keep=0.6, strength=Levels(0.72, 0.2, 0.9)))["insert"] == []


def test_qualifiers_are_kept_as_one_phrase():
    source = "Take no more than 3 unless told, and do not fail to rest"
    plan = predicted(source, delete=[word.text for word in split_words(source)], strength=1.0)
    notes = {edit.phrase: edit.note for edit in plan.edits if edit.kind == "insert"}
    assert notes == {
        "no more than": "a bound: it stays", "3": "a number: it stays", "unless": "a condition: it stays",
        "not": "a negation: it stays", "fail to": "a near-negation: it stays",
    }  # fmt: skip


OPPOSITES = Lexicon({
    "unable": Entry(50, 0, 40, (("able", 0.6), ("not able", 0.3))),
    "inversely": Entry(50, 0, 40, (("directly", 0.9),)),
    "atypical": Entry(50, 0, 40, (("typical", 0.89), ("unusual", 0.01))),
    "hypertension": Entry(50, 0, 40, (("stress", 0.9),)),
    "commenced": Entry(50, 0, 40, (("opened", 0.9),)),
})  # fmt: skip
NAMES = CommonNames({
    "hypertension": CommonName(("high blood pressure",), "a common name for it"),
    "in the event of": CommonName(("if",), "plain English"),
    "commenced": CommonName(("started", "began"), "plain English"),
    "as to": CommonName(("about",), "plain English"),
})  # fmt: skip
GUARD = TargetGuard.load()


def planned(source, strength=LEVELS):
    """With a guard and common names, where all words are likely to be replaced."""
    words = split_words(source)
    probabilities = np.tile([0.05, 0.05, 0.9], (len(words), 1))
    found = unfinished(source, words, probabilities, strength, lexicon=OPPOSITES, guard=GUARD, common=NAMES)
    return [(edit.phrase, edit.targets, edit.note) for edit in found.plan().edits if edit.kind == "substitute"]


REPLACED = "people replace it in 40 of 50 places"


@pytest.mark.parametrize(
    "source, expected",
    [
        pytest.param("They are unable", [("unable", ("not able",), REPLACED)], id="the-other-target-is-left"),
        pytest.param("It grows directly or inversely", [], id="no-target-is-left"),
        pytest.param("An atypical man", [], id="what-is-left-is-not-likely-enough"),
        pytest.param("He had hypertension", [("hypertension", ("high blood pressure",), "a common name for it")],
                     id="a-common-name-goes-before-the-lexicon"),
        pytest.param("In the event of fire", [("In the event of", ("If",), "plain English")], id="a-phrase"),
        pytest.param("He asked as to it", [("as to", ("about",), "plain English")], id="closed-class-words-alone"),
    ],
)  # fmt: skip
def test_targets_keep_the_meaning(source, expected):
    assert planned(source) == expected


TERMS = Lexicon({
    "primary": Entry(50, 0, 40, (("main", 0.9),)),
    "primary school": Entry(50, 0, 40, (("elementary school", 0.9),)),
    "film": Entry(50, 0, 40, (("picture", 0.5), ("movie", 0.4))),
    "period": Entry(50, 0, 40, (("era", 0.9),)),
    "for a period of": Entry(50, 0, 40, (("for", 0.9),)),
})  # fmt: skip
TERM_NAMES = CommonNames({
    "multiple": CommonName(("many",), "plain English"),
    "renal": CommonName(("kidney",), "a common name for it"),
})  # fmt: skip


@pytest.mark.parametrize("source, replaced, kept", [
    pytest.param("He had multiple sclerosis", {}, ["multiple sclerosis"], id="plain-english"),
    pytest.param("He had multiple cats", {"multiple": ("many",)}, [], id="no-term"),
    pytest.param("He was in primary care", {}, ["primary care"], id="the-lexicon"),
    pytest.param("He was in primary school", {"primary school": ("elementary school",)}, [], id="the-whole-term"),
    pytest.param("He was a film star", {"film": ("movie",)}, [], id="a-term-with-the-target-too"),
    pytest.param("He was there for a period of time", {}, ["period of time"], id="across-the-end-of-a-term"),
    pytest.param("He had renal failure", {"renal": ("kidney",)}, [], id="a-technical-term-has-one-sense"),
])  # fmt: skip
def test_a_word_of_a_fixed_term_is_not_replaced(source, replaced, kept):
    words = split_words(source)
    probabilities = np.tile([0.05, 0.05, 0.9], (len(words), 1))
    plan = unfinished(source, words, probabilities, LEVELS, lexicon=TERMS, guard=GUARD, common=TERM_NAMES).plan()
    assert {edit.phrase: edit.targets for edit in plan.edits if edit.kind == "substitute"} == replaced
    assert [edit.phrase for edit in plan.edits if edit.note == "a fixed term: it stays"] == kept


def test_no_word_of_a_fixed_term_is_deleted_alone():
    words = split_words(source := "He had a severe multiple sclerosis")
    probabilities = np.array([[0.9, 0.05, 0.05]] * 3 + [[0.05, 0.9, 0.05]] * 2 + [[0.9, 0.05, 0.05]])
    assert by_kind(unfinished(source, words, probabilities, LEVELS, guard=GUARD).plan())["delete"] == ["severe"]


@pytest.mark.parametrize("strength", [0.0, "light", "medium", "strong", 1.0])
def test_common_names_are_used_at_every_strength(strength):
    assert ("commenced", ("started", "began"), "plain English") in planned("He commenced it", strength)


def test_the_probability_of_common_names():
    assert planned("He commenced it", Levels(0.5, 0.7)) == [("commenced", ("opened",), REPLACED)]
