"""Targets that would change the meaning, and those that would not."""

import lzma
import os

import pytest

from redraft.errors import CorpusError, ModelError
from redraft.fit.planner import wordnet_tables
from redraft.models import bundled
from redraft.plan.target_guard import TargetGuard, same_spelling

GUARD = TargetGuard.load()
WORDNET = "/usr/share/wordnet"


@pytest.mark.parametrize(
    "phrase, target, reason",
    [
        ("unable", "able", "the opposite"),
        ("unable to", "able to", "the opposite"),
        ("asymptomatic", "symptomatic", "the opposite"),
        ("careful", "careless", "the opposite"),
        ("preceding", "following", "the opposite"),
        ("Unacceptable", "acceptable", "the opposite"),
        ("hypertension", "hypotension", "the opposite"),
        ("rapidly", "slow", "the opposite"),
        ("polite", "rude", "the opposite"),
        ("affordable", "expensive", "the other direction"),
        ("inversely", "directly", "the other direction"),
        ("purchased", "sold", "the other direction"),
        ("lent", "borrowed", "the other direction"),
        ("imports", "exports", "the other direction"),
        ("arrived", "left", "the other direction"),
        ("rising", "falling", "the other direction"),
        ("increase", "decrease", "the other direction"),
        ("doctors", "nurses", "the other direction"),
        ("monday", "tuesday", "the other direction"),
        ("son", "daughter", "the other direction"),
        ("asymptomatic", "asymptotic", "a different word that looks alike"),
        ("principle", "principal", "a different word that looks alike"),
        ("prostrate", "prostate", "a different word that looks alike"),
        ("conscientiousness", "consciousness", "a different word that looks alike"),
        ("cheetah", "leopard", "another thing of the same kind"),
        ("almonds", "walnuts", "another thing of the same kind"),
        ("kilometres", "miles", "another unit"),
        ("decades", "years", "another unit"),
        ("third", "second", "another number"),
        ("all", "some", "another quantity"),
        ("occasionally", "often", "another quantity"),
        ("must", "may", "another modality"),
        ("suggests", "shows", "another modality"),
        ("at least", "about", "another bound"),
        ("more", "less", "another bound"),
        ("denied", "said", "removes a negation"),
        ("ever", "never", "adds a negation"),
        ("worsened", "made", "too vague"),
        ("praised", "said", "too vague"),
        ("koffi", "kofi", "another name"),
        ("rdx", "mdx", "another name"),
    ],
)
def test_refused(phrase, target, reason):
    assert GUARD.refusal_reason(phrase, target) == reason


@pytest.mark.parametrize(
    "phrase, target",
    [
        ("utilised", "used"),
        ("advise", "advice"),
        ("colour", "color"),
        ("façade", "facade"),
        ("aesthetic", "esthetic"),
        ("physician", "doctor"),
        ("commenced", "started"),
        ("purchased", "bought"),
        ("illness", "disease"),
        ("numerous", "many"),
        ("multiple", "several"),
        ("prior to", "before"),
        ("approximately", "about"),
        ("unable", "not able"),
        ("lacks", "does not have"),
        ("refused to", "did not"),
        ("shall", "must"),
        ("produced", "made"),
        ("announced", "said"),
        ("invaluable", "valuable"),
        ("photograph", "picture"),
        ("received", "given"),
        ("gizmo", "thing"),
        ("same", "same"),
    ],
)
def test_passed(phrase, target):
    assert GUARD.refusal_reason(phrase, target) is None


@pytest.mark.parametrize("text, terms", [
    ("she has multiple sclerosis", ["multiple sclerosis"]),
    ("two primary schools and a school", ["primary schools"]),
    ("the intensive care unit", ["intensive care", "intensive care unit"]),
    ("the minor injuries unit", ["minor injuries unit"]),
    ("your significant other", ["significant other"]),
    ("they were handing over the film starring him", []),
    ("multiple school", []),
    ("a professional footballer", []),
    ("some enlisted men", ["enlisted men"]),
])  # fmt: skip
def test_fixed_terms(text, terms):
    words = text.split()
    assert [" ".join(words[place.start : place.stop]) for place in GUARD.fixed_terms(words)] == terms


def test_invalid_tables(tmp_path):
    path = tmp_path / "wordnet_relations.tsv.xz"
    path.write_bytes(lzma.compress(b"nothing\n"))
    with pytest.raises(ModelError, match="line 1"):
        TargetGuard.load(path)


def test_the_table_is_small():
    assert (bundled("planner") / "wordnet_relations.tsv.xz").stat().st_size <= 400_000


def small_wordnet(folder):
    """Two nouns below a third, one of them with an antonym that is derived from it, and an irregular plural."""
    licence = "  1 a line of the licence  \n"
    (folder / "data.noun").write_text(licence + (
        "00000001 03 n 01 thing 0 000 | what there is  \n"
        "00000002 03 n 02 cat 0 puss 0 002 @ 00000001 n 0000 ! 00000003 n 0101 | meows  \n"
        "00000003 03 n 01 dog 0 002 @ 00000001 n 0000 + 00000002 n 0102 | barks  \n"
        "00000004 03 n 05 cat_dog 0 Puss_Dog 0 dog_in 0 dog_cat-dog 0 rare_dog 0 000 | terms  \n"
    ))  # fmt: skip
    (folder / "index.noun").write_text(licence + (
        "thing n 1 0 1 0 00000001  \ncat n 1 0 1 0 00000002  \npuss n 3 0 3 0 00000009 00000008 00000002  \n"
        "dog n 1 0 1 0 00000003  \n"
    ))  # fmt: skip
    (folder / "noun.exc").write_text("dogen dog\n")
    for kind in ("verb", "adj", "adv"):
        for name in (f"data.{kind}", f"index.{kind}", f"{kind}.exc"):
            (folder / name).write_text(licence if "." in name[:6] else "")


def test_relations_of_a_small_wordnet(tmp_path):
    small_wordnet(tmp_path)
    rows = list(wordnet_tables.relations(tmp_path, {"thing", "cat", "puss", "dog", "dogen"}))
    assert rows == [
        ("n", "0", "thing+"), ("n", "1", "cat+ puss"), ("n", "1", "dog+"),
        ("!", "cat", "dog"), ("=", "dog puss"), ("~", "dog", "dogen"),
        ("_", "cat-dog", "dog"), ("_", "dog", "cat"),
    ]  # fmt: skip
    without = list(wordnet_tables.relations(tmp_path, {"dog"}))
    assert without == [("n", "0", ""), ("n", "1", "dog+")]


def test_a_folder_without_wordnet(tmp_path):
    with pytest.raises(CorpusError, match="wordnet-base"):
        list(wordnet_tables.relations(tmp_path, {"dog"}))


@pytest.mark.skipif(not os.path.isdir(WORDNET), reason="the Debian package wordnet-base is not installed")
def test_the_bundled_table_is_what_the_command_writes(tmp_path):
    table = bundled("planner") / "wordnet_relations.tsv.xz"
    wordnet_tables.main(["--wordnet", WORDNET, "--out", str(tmp_path / "wordnet_relations.tsv.xz")])
    assert lzma.decompress((tmp_path / "wordnet_relations.tsv.xz").read_bytes()) == lzma.decompress(table.read_bytes())


@pytest.mark.parametrize("phrase, target", [
    ("defendant", "person"), ("harmful", "bad"), ("eligible", "able"), ("consumed", "eaten"), ("coffins", "places"),
])  # fmt: skip
def test_words_for_nearly_everything_are_too_vague(phrase, target):
    assert GUARD.refusal_reason(phrase, target) == "too vague"


@pytest.mark.parametrize("phrase, target", [("individuals", "people"), ("inclement", "bad"), ("site", "place")])
def test_general_words_may_replace_listed_words(phrase, target):
    assert GUARD.refusal_reason(phrase, target) is None


@pytest.mark.parametrize("one, other, close", [
    pytest.param("Purchased", "bought", True, id="one-synset"),
    pytest.param("cheetah", "leopard", True, id="one-synset-above"),
    pytest.param("purchased", "house", False, id="nothing-shared"),
    pytest.param("qwertz", "qwertz", False, id="unknown"),
])  # fmt: skip
def test_close_senses(one, other, close):
    assert GUARD.have_close_senses(one, other) is close
    assert bool(GUARD.synsets(one)) is (one != "qwertz")


def test_spelling_variants():
    assert same_spelling("Apologised", "apologized")
    assert not same_spelling("practice", "exercise")
