"""Common names for terms: extraction from text, review, and inflected forms."""

import lzma

import pytest

from redraft.errors import CorpusError, ModelError
from redraft.fit.planner.common_name_table import Review, common_names, main, mined_pairs, read_plain, with_forms
from redraft.models import bundled
from redraft.plan.common_names import CommonNames
from redraft.text.word_frequency import WordFrequency, WordStatistics

_COMMON = (
    "high blood pressure heart attack start begin started began begun starts begins attacks island group jaw lower"
)
_RARE = "hypertension myocardial infarction infarctions commence commenced commences commencing archipelago mandible"
WORDS = WordFrequency(
    {word: WordStatistics(5.0) for word in _COMMON.split()}
    | {word: WordStatistics(2.5) for word in _RARE.split()}
    | {"ill": WordStatistics(5.0, 1)}
)
SHIPPED = CommonNames.load()


@pytest.mark.parametrize(
    "line, pair",
    [
        ("Hypertension, also known as high blood pressure, is common.", ("hypertension", "high blood pressure")),
        ("Hypertension (commonly called high blood pressure) is common.", ("hypertension", "high blood pressure")),
        ("High blood pressure, medically known as hypertension, is common.", ("hypertension", "high blood pressure")),
        ("A heart attack, technically called myocardial infarction, hurts.", ("myocardial infarction", "heart attack")),
        ("He died of a myocardial infarction (heart attack) at home.", ("myocardial infarction", "heart attack")),
        ("The archipelago, or island group, is small.", ("archipelago", "island group")),
        ("The bone is the strong mandible (lower jaw) itself.", ("mandible", "lower jaw")),
    ],
)
def test_names_are_found(line, pair):
    assert mined_pairs([line], WORDS)[pair] == 1


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("High blood pressure, also known as island group, is common.", id="no-commoner"),
        pytest.param("He met Hypertension, also known as high blood pressure.", id="a-name"),
        pytest.param("The mandible is the lower jaw.", id="no-pattern"),
    ],
)
def test_text_without_names(line):
    assert not mined_pairs([line], WORDS)


def test_the_review_overrides_the_extraction(tmp_path):
    (tmp_path / "plain.tsv").write_text(
        "commence\tbegin\tsite\naddress\tdiscuss\tsite\nprior to\tbefore\tsite\n", encoding="utf-8"
    )
    review = Review(
        frozenset({("mandible", "lower jaw"), ("xylem", "wood")}), {"pyrexia": ("fever",)},
        {"commence": ("start", "begin")}, frozenset({"address"}), frozenset({"commences"}),
    )  # fmt: skip
    mined = [("mandible", "lower jaw"), ("axiom", "set")]
    assert common_names(mined, read_plain(tmp_path / "plain.tsv", review), review, WORDS) == {
        "mandible": (("lower jaw",), "wikipedia"), "prior to": (("before",), "site"), "pyrexia": (("fever",), "ours"),
        "commence": (("start", "begin"), "site"), "commenced": (("started", "began", "begun"), "site"),
        "commencing": (("starting", "beginning"), "site"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "phrase, targets, source, form, expected",
    [
        ("commence", ("start", "begin"), "site", "commences", ("starts", "begins")),
        ("myocardial infarction", ("heart attack",), "wikipedia", "myocardial infarctions", ("heart attacks",)),
        ("attack", ("start",), "site", "attacks", None),  # a noun or a verb
        ("attack", ("start",), "wikipedia", "attacks", ("starts",)),  # terms are nouns
        ("archipelago", ("island group",), "wikipedia", "archipelagos", None),  # a form that nobody uses
    ],
)
def test_forms(phrase, targets, source, form, expected):
    found = with_forms({phrase: (targets, source)}, WORDS)
    assert found.get(form, (None, ""))[0] == expected


@pytest.mark.parametrize(
    "phrase, target",
    [
        ("myocardial infarction", "heart attack"),
        ("hypertension", "high blood pressure"),
        ("in the event of", "if"),
        ("prior to", "before"),
        ("commence", "start"),
        ("Commenced", "started"),
        ("excipients", "inactive ingredients"),
        ("utilises", "uses"),
    ],
)
def test_entries_of_the_bundled_table(phrase, target):
    assert target in SHIPPED.entry(phrase).targets


@pytest.mark.parametrize("phrase", ["address", "attempts", "purchase", "whereas", "said", "extant"])
def test_phrases_missing_from_the_bundled_table(phrase):
    assert SHIPPED.entry(phrase) is None


def test_notes_of_the_bundled_table():
    assert SHIPPED.entry("hypertension").note == SHIPPED.entry("excipients").note == "a common name for it"
    assert SHIPPED.entry("prior to").note == "plain English"
    assert (bundled("planner") / "common_names.tsv.xz").stat().st_size <= 100_000


def test_the_command(tmp_path, capsys):
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("The mandible (lower jaw) is large.\n", encoding="utf-8")
    (tmp_path / "plain.tsv").write_text("prior to\tbefore\tsite\n", encoding="utf-8")
    out = tmp_path / "names.tsv.xz"
    flags = {"--text": tmp_path / "text", "--plain": tmp_path / "plain.tsv", "--out": out, "--found": tmp_path / "all"}
    main([str(part) for flag in flags.items() for part in flag])
    names = CommonNames.load(out)
    assert names.entry("mandible").targets == ("lower jaw",)
    assert names.entry("hypertension") is None  # not in this text
    assert "1\tmandible\tlower jaw" in (tmp_path / "all").read_text(encoding="utf-8")
    assert f"{len(names)} entries" in capsys.readouterr().out


def test_invalid_files(tmp_path):
    review = tmp_path / "review.tsv"
    review.write_text("skip\taddress\nmined\tx\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"review\.tsv, line 2"):
        Review.read(review)
    (tmp_path / "plain.tsv").write_text("prior to\tbefore\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="line 1: has 2 cells"):
        read_plain(tmp_path / "plain.tsv", Review.read())
    (tmp_path / "names.tsv.xz").write_bytes(lzma.compress(b"a\tb\n"))
    with pytest.raises(ModelError, match="line 1"):
        CommonNames.load(tmp_path / "names.tsv.xz")
