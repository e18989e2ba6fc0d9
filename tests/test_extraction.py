"""Plans extracted from links: insertions, deletions, substitutions, splits; and the commands that use links."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from published_corpora import FOLDER, needs_corpora
from redraft import Edit, EditPlan, read_plans
from redraft.align.exact_aligner import align_exactly
from redraft.align.links import parse_links
from redraft.align.sentence_pairs import SentencePair, read_aligned, split_at_spaces
from redraft.errors import CorpusError
from redraft.evaluate.report.alignment_page import AlignmentEntry, alignment_html
from redraft.plan.extraction import extract
from redraft.plan.verdicts import judge


def plan(source, target, links, selection="all"):
    pair = SentencePair.of(source, target)
    found = extract(source, target, pair.source_words, pair.target_words, parse_links(links), selection=selection)
    for edit in found.plan.edits:
        start, end = edit.span
        assert edit.kind == "insert" or source[start:end] == edit.phrase
    return found


def shown(found):
    signs = {"insert": "+{0}", "delete": "-{0}", "substitute": "{0}>{1}"}
    return " ".join(
        signs[edit.kind].format(edit.phrase.replace(" ", "_"), *(target.replace(" ", "_") for target in edit.targets))
        for edit in found.plan.edits
    )


CASES = [
    ("WWE (W)'s head", "WWE's head", "0-0 4-1 5-1 6-2", "+WWE -( -W -) +'s +head"),  # two words here, one there
    ("They garrison towns", "They defend towns", "0-0 1-1 2-2", "+They garrison>defend +towns"),
    ("a lot of cats", "many cats", "0-0 1-0 2-0 3-1", "a_lot_of>many +cats"),
    ("many cats", "a lot of cats", "0-0 0-1 0-2 1-3", "many>a_lot_of +cats"),
    ("a very old cat", "a cat", "0-0 3-1", "+a -very -old +cat"),
    ("a very old cat", "an old cat", "0-0 1-1 2-1 3-2", "a>an -very +old +cat"),
    ("The cat", "the cat", "0-0 1-1", "+the +cat"),
    ("gave the plan up", "dropped the plan", "0-0 3-0 1-1 2-2", "gave>dropped +the +plan -up"),
    ("dropped it", "gave it up", "0-0 0-2 1-1", "dropped>gave +it"),
    ("a dog", "a dog . the dog", "0-0 1-1 1-4", "+a +dog +dog"),
    ("the cat saw the dog", "the cat", "0-0 1-1", "+the +cat -saw -the -dog"),
    ("-LRB- x -RRB- y", "( x ) y", "0-0 1-1 2-2 3-3", "+( +x +) +y"),
    ("it cost 11,000", "it cost 12,000", "0-0 1-1 2-2", "+it +cost 11,000>12,000"),
    ("the dog's well-known bone", "the dog's bone", "0-0 1-1 2-2 4-3", "+the +dog +'s -well-known +bone"),
    ("a b", "b a", "0-1 1-0", "+a +b"),
    ("", "a", "", ""),
    ("a b", "", "", "-a -b"),
]


@pytest.mark.parametrize("source, target, links, expected", CASES)
def test_edits_from_links(source, target, links, expected):
    assert shown(plan(source, target, links)) == expected


SPLITS = [
    pytest.param("He met a man , who is old .", "He met a man . He is old .",
                 "0-0 1-1 2-2 3-3 5-5 6-6 7-7", ["who"], id="relative-pronoun"),
    pytest.param("The king died and his sons fought .", "The king died . His sons fought .",
                 "0-0 1-1 2-2 4-4 5-5 6-6", ["and"], id="conjunction"),
    pytest.param("The old king , very ill , died .", "The old king died . He was very ill .",
                 "0-0 1-1 2-2 4-7 5-8 7-3", ["very"], id="behind-a-comma-and-out-of-order"),
    pytest.param("Kings died , men fought , and towns fell .", "Kings died . Men fought . Towns fell .",
                 "0-0 1-1 3-3 4-4 7-6 8-7", ["men", "and"], id="two"),
    pytest.param("They left very soon .", "They went . It was fast .", "0-0 1-1", [""], id="no-link"),
    pytest.param("The king died in town .", "The king died . The king was in town .", "0-4 1-5 2-2 3-7 4-8",
                 ["town"], id="the-first-word-again"),
    pytest.param("A king died . Men fought , who fell .", "A king died . Men fought . They fell .",
                 "0-0 1-1 2-2 4-4 5-5 8-8", ["who"], id="a-source-of-two"),
    pytest.param("He met a man , who is old .", "He met an old man .", "0-0 1-1 2-2 3-4 7-3", [], id="none"),
    pytest.param("A king died . Men fought .", "A king died and men fought .", "0-0 1-1 2-2 4-4 5-5", [], id="fewer"),
]  # fmt: skip


@pytest.mark.parametrize("source, target, links, places", SPLITS)
def test_splits_where_the_reference_has_more_sentences(source, target, links, places):
    pair = SentencePair.of(source, target)
    both = [extract(source, target, pair.source_words, pair.target_words, parse_links(links), selection="thin",
                    splits=splits) for splits in (False, True)]  # fmt: skip
    plain, found = (one.plan.edits for one in both)
    splits = [edit for edit in found if edit.kind == "split"]
    assert [edit.phrase for edit in splits] == places
    assert all(edit.span is None or source[slice(*edit.span)] == edit.phrase for edit in splits)
    assert tuple(edit for edit in found if edit.kind != "split") == plain
    assert both[0].kept_elsewhere == both[1].kept_elsewhere
    verdicts = judge(both[1].plan, target)
    assert {verdict.status for verdict in verdicts if verdict.edit.kind == "split"} <= {"satisfied"}


def test_splits_are_on_the_page():
    plan = EditPlan("a b", (Edit.split(), Edit.split("b", span=(2, 3))))
    page = alignment_html([AlignmentEntry(SentencePair.of("a b", "a . b"), frozenset(), plan)])
    assert '<li class="split">one more sentence</li><li class="split">new sentence at <b>b</b></li>' in page


def test_content_words_only():
    found = plan(
        "The artisans , who remain old , are many .", "The craftsmen are many .", "0-0 1-1 7-2 8-3 9-4", "content"
    )
    assert shown(found) == "artisans>craftsmen -remain -old +many"


def test_spans_distinguish_kept_and_deleted_occurrences():
    found = plan("the cat saw the dog", "the cat", "0-0 1-1")
    assert found.kept_elsewhere == 1
    assert [edit.span for edit in found.plan.edits if edit.phrase == "the"] == [(0, 3), (12, 15)]


def test_noncontiguous_links_are_counted():
    assert plan("gave the plan up", "dropped the plan", "0-0 3-0 1-1 2-2").noncontiguous == 1
    assert plan("dropped it", "gave it up", "0-0 0-2 1-1").noncontiguous == 1
    assert plan("a very old cat", "an old cat", "0-0 1-1 2-1 3-2").noncontiguous == 0


SIGNS = ["the", "The", "cat", "'s", "ran", ".", ",", "-LRB-", "(", "11,000", "well-known", "\x00", "“"]
WORDS = st.lists(st.sampled_from(SIGNS), max_size=10).map(" ".join)


@given(st.data(), WORDS, WORDS, st.sampled_from(["all", "content"]))
def test_plans_of_any_links_survive_the_round_trip(data, source, target, selection):
    pair = SentencePair.of(source, target)
    left, right = len(pair.source_words), len(pair.target_words)
    cells = st.tuples(st.integers(0, max(left - 1, 0)), st.integers(0, max(right - 1, 0)))
    links = data.draw(st.frozensets(cells, max_size=15)) if left and right else frozenset()
    found = extract(source, target, pair.source_words, pair.target_words, links, selection=selection)
    assert type(found.plan).from_json(json.loads(json.dumps(found.plan.to_json()))) == found.plan
    covered = {edit.span for edit in found.plan.edits}
    if selection == "all":
        for word in pair.source_words:
            assert any(start <= word.start and word.end <= end for start, end in covered)


def test_ten_thousand_words():
    source = " ".join(f"w{number % 97}" for number in range(10_000))
    pair = SentencePair.of(source, source)
    found = extract(source, source, pair.source_words, pair.target_words, align_exactly(*pair.words), selection="all")
    assert found.kinds == {"insert": 10_000}


@needs_corpora
@pytest.mark.parametrize(
    "name", ["asset/asset.test.orig asset/asset.test.simp.0", "automets/test.orig automets/test.simp"]
)
def test_the_reference_satisfies_its_own_plan(name):
    """A deleted word may still be in the reference without a link; all other edits must be satisfied."""
    source, target = (str(FOLDER / part) for part in name.split())
    met, total = 0, 0
    for pair in read_aligned(source, target):
        links = align_exactly(*pair.words)
        found = extract(pair.source, pair.target, pair.source_words, pair.target_words, links, selection="content").plan
        verdicts = judge(found, pair.target)
        assert all(verdict.status == "satisfied" for verdict in verdicts if verdict.edit.kind == "insert")
        met += sum(verdict.status == "satisfied" for verdict in verdicts)
        total += len(verdicts)
    assert met / total > 0.99


# ---- files and commands ----


def test_words_separated_by_spaces():
    text = "a  dog's 11 , 000"
    assert [text[word.start : word.end] for word in split_at_spaces(text)] == ["a", "dog's", "11", ",", "000"]


def test_align_prints_a_line_for_each_pair(command, tmp_path):
    rows = "The cats sat.\tA cat sat.\n\tx\nx\t\ndog's\tdogs\n"
    (tmp_path / "pairs.tsv").write_text(rows, encoding="utf-8")
    status, out, _ = command("align", "--input", "pairs.tsv", "--aligner", "exact")
    assert (status, out) == (0, "1-1 2-2 3-3\n\n\n0-0\n")
    _, out, _ = command("align", "--input", "-", "--aligner", "exact", "--tokenized", stdin=rows.encode())
    assert out == "1-1 2-2\n\n\n\n"


def test_align_scores_gold(command, tmp_path):
    (tmp_path / "g.tsv").write_text("i\ta b\t-\ta c\t-\t-\t-\t0-0 1-1\t\n", encoding="utf-8")
    status, out, _ = command("align", "--gold", "g.tsv", "--aligner", "exact")
    assert status == 0
    assert out == "g.tsv: 1 pairs  precision 100.0  recall 50.0  F1 66.7  different words F1 0.0\n"


def test_plan_extract(command, tmp_path):
    (tmp_path / "a.txt").write_text("The artisans remain old .\n\n<b>same</b>\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("The makers remained .\nx\n<b>same</b>\n", encoding="utf-8")
    argv = ["plan", "extract", "--source", "a.txt", "--reference", "b.txt", "--aligner", "exact"]
    status, out, err = command(*argv, "--html", "page.html")
    assert status == 0
    (tmp_path / "plans.jsonl").write_text(out, encoding="utf-8")
    plans = list(read_plans("plans.jsonl"))
    assert [one.source for one in plans] == ["The artisans remain old .", "", "<b>same</b>"]
    assert [edit.kind for edit in plans[0].edits] == ["delete", "substitute", "delete"]
    assert "3 plans; per sentence:" in err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<line" in page
    assert "&lt;" in page
    status, out, _ = command(*argv, "--words", "all")
    assert len(json.loads(out.splitlines()[0])["edits"]) == 5


MISTAKES = [
    (["align"], "one of --input and --gold is required"),
    (["align", "--input", "pairs.tsv", "--aligner", "magic"], '"magic" is not known'),
    (["align", "--input", "none.tsv", "--aligner", "exact"], "none.tsv does not exist"),
    (["align", "--input", "three.tsv", "--aligner", "exact"], "three.tsv, line 1: has 2 tabs"),
    (["align", "--input", "latin.tsv", "--aligner", "exact"], "latin.tsv, line 2: not UTF-8"),
    (["plan", "extract", "--source", "a.txt"], "Missing option '--reference'"),
    (["plan", "extract", "--source", "-", "--reference", "-", "--aligner", "exact"], "are both standard input"),
    (
        ["plan", "extract", "--source", "a.txt", "--reference", "b.txt", "--words", "some"],
        "Invalid value for '--words'",
    ),
    (["plan", "extract", "--source", "a.txt", "--reference", "b.txt", "--html", "b.txt"], "is also an input"),
    (["train-aligner", "--gold", "x"], "Missing option '--encoder'"),
    (["train-aligner", "--gold", "x", "--encoder", "y", "--out", "z"], "missing wiki-train.tsv"),
]


@pytest.mark.parametrize("argv, problem", MISTAKES)
def test_errors_are_reported(command, tmp_path, argv, problem):
    (tmp_path / "three.tsv").write_text("a\tb\tc\n", encoding="utf-8")
    (tmp_path / "latin.tsv").write_bytes(b"a\tb\ncaf\xe9\tb\n")
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("a\n", encoding="utf-8")
    status, _, err = command(*argv)
    assert status == 2
    assert problem in err


def test_files_of_different_length_keep_earlier_results(command, tmp_path):
    (tmp_path / "a.txt").write_text("a\nb\nc\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("a\nb\n", encoding="utf-8")
    status, out, err = command("plan", "extract", "--source", "a.txt", "--reference", "b.txt", "--aligner", "exact")
    assert status == 2
    assert len(out.splitlines()) == 2
    assert "b.txt ends after line 2, but a.txt has more lines" in err
    with pytest.raises(CorpusError, match="has more lines"):
        list(read_aligned("b.txt", "a.txt"))
