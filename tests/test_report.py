"""Reports in HTML, Markdown, LaTeX and JSON have the same scores; text is always escaped."""

import json
import re
from html.parser import HTMLParser

import pytest

from redraft.errors import ConfigError
from redraft.evaluate import Corpus, compare, score, write_report
from redraft.evaluate.report.columns import describe_comparison
from redraft.evaluate.report.page import to_html
from redraft.evaluate.report.plots import Scale
from redraft.evaluate.report.report_files import to_json
from redraft.evaluate.report.score_tables import to_latex, to_markdown, to_text
from redraft.evaluate.scores import Comparison
from redraft.text.word_diff import diff_words

EVIL = '<script>alert("x")</script> & "quoted"'
SOURCES = ["The artisans remain old .", EVIL, "A big cat sat on the mat .", "It is raining ."]
REFERENCES = [["The makers are old .", EVIL, "A cat sat .", "It rains ."]]
CORPUS = Corpus("made_up", "test", SOURCES, REFERENCES, notices=("file: odd <b>",))


@pytest.fixture(scope="module")
def two():
    one = score(SOURCES, CORPUS, name="copy_<1>.txt", samples=50)
    other = score(["The makers are old .", "x", "A cat sat .", ""], CORPUS, name="mine & 50%.txt", samples=50)
    return [one, other], list(compare(one, other, samples=50, trials=200).values())


class Page(HTMLParser):
    """Collects tags, attributes and text of a page, and checks that tags are closed."""

    VOID = ("meta", "line", "rect", "circle", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in self.VOID[:1]:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("count", [1, 2])
def test_the_page_is_well_formed_and_self_contained(two, count):
    systems, comparisons = two
    page = Page(to_html(systems[:count], comparisons if count == 2 else ()))
    assert page.open == []
    assert "script" not in page.tags
    assert not [pair for pair in page.attributes if pair[1] in ("src", "srcset", "action") or pair[1].startswith("on")]
    assert all(value.startswith("#") for _, name, value in page.attributes if name == "href")
    assert "url(" not in page.text
    assert EVIL in page.text
    assert "file: odd <b>" in page.text


def test_all_links_of_the_page_resolve(two):
    page = Page(to_html(*two))
    ids = {value for _, name, value in page.attributes if name == "id"}
    links = {value[1:] for _, name, value in page.attributes if name == "href"}
    assert links
    assert links <= ids


def test_the_page_shows_scores_signatures_and_comparisons(two):
    systems, comparisons = two
    page = Page(to_html(systems, comparisons))
    for system in systems:
        assert f"{system.figures['sari'].value:.2f}" in page.text
        assert system.signature in page.text
    assert describe_comparison(comparisons[0]) in page.text


def test_markdown_and_latex_escape_special_characters(two):
    systems, comparisons = two
    table = to_markdown(systems, comparisons)
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert r"copy\_\<1\>.txt" in table
    latex = to_latex(systems, comparisons)
    assert r"mine \& 50\%.txt" in latex
    body = latex[latex.index(r"\midrule") : latex.index(r"\bottomrule")]
    assert {line.count(" & ") for line in body.splitlines()[1:-1]} == {7}


def test_the_best_of_a_column_is_bold(two):
    systems, _ = two
    latex = to_latex(systems)
    best = max(systems, key=lambda system: system.figures["sari"].value)
    row = next(line for line in latex.splitlines() if line.startswith(best.name.split("_")[0].split(" ")[0]))
    assert rf"\textbf{{{best.figures['sari'].value:.2f}}}" in row


def test_json_has_one_object_for_each_system(two):
    systems, comparisons = two
    first, second = to_json(systems, comparisons)
    for obj in (first, second):
        assert {"file", "sari", "add", "keep", "del", "bleu", "fkgl", "len", "intervals", "signature"} <= set(obj)
        assert set(obj["intervals"]) == set(obj["signatures"])
    assert "compared" not in first
    assert second["compared"]["sari"]["with"] == first["file"]
    assert set(second["compared"]["sari"]) == {"with", "difference", "interval", "p", "better", "test"}
    json.dumps([first, second], allow_nan=False)


def test_the_text_table_names_every_system(two):
    systems, comparisons = two
    text = to_text(systems, comparisons)
    assert text.startswith("made_up/test: 4 sentences, 1 reference")
    assert all(system.name in text for system in systems)


COMPARISONS = [
    (
        Comparison("sari", "a", "b", 1.5, 0.5, 2.5, 0.01, ""),
        "SARI: b is better than a (+1.50 [+0.50, +2.50], p = 0.0100).",
    ),
    (
        Comparison("sari", "a", "b", -1.5, -2.5, -0.5, 0.01, ""),
        "SARI: b is worse than a (−1.50 [−2.50, −0.50], p = 0.0100).",
    ),
    (
        Comparison("fkgl", "a", "b", -1.5, -2.5, -0.5, 0.01, ""),
        "FKGL: b is easier than a (−1.50 [−2.50, −0.50], p = 0.0100).",
    ),
    (
        Comparison("len", "a", "b", -1.5, -2.5, -0.5, 0.01, ""),
        "Len: b is lower than a (−1.50 [−2.50, −0.50], p = 0.0100).",
    ),
    (
        Comparison("bleu", "a", "b", 0.5, -0.5, 1.5, 0.3, ""),
        "BLEU: b and a do not differ significantly (+0.50 [−0.50, +1.50], p = 0.3000).",
    ),
]


@pytest.mark.parametrize("comparison, sentence", COMPARISONS)
def test_a_comparison_names_the_better_system_and_p(comparison, sentence):
    assert describe_comparison(comparison) == sentence


def test_the_suffix_selects_the_report_format(tmp_path, two):
    for ending, start in ((".html", "<!doctype html>"), (".md", "made_up"), (".tex", "% made_up"), (".json", "[")):
        path = tmp_path / f"report{ending}"
        write_report(str(path), *two)
        assert path.read_text(encoding="utf-8").startswith(start)
    with pytest.raises(ConfigError, match=r"report.pdf(.|\n)*.html"):
        write_report(str(tmp_path / "report.pdf"), *two)
    with pytest.raises(ConfigError, match="cannot be written"):
        write_report(str(tmp_path / "none" / "report.md"), *two)


MARKED = [
    ("a b c", "a c", "a{- b} c"),
    ("a b.", "A x b.", "A{+ x} b."),
    ("The artisans remain old .", "The makers are old .", "The{- artisans remain}{+ makers are} old ."),
    ("a", "", "{-a}"),
    ("", "a", "{+a}"),
    ("", "", ""),
]


@pytest.mark.parametrize("source, output, expected", MARKED)
def test_added_and_deleted_words_are_marked(source, output, expected):
    signs = {"kept": "{}", "added": "{{+{}}}", "deleted": "{{-{}}}"}
    assert "".join(signs[piece.kind].format(piece.text) for piece in diff_words(source, output)) == expected


@pytest.mark.parametrize("low, high", [(0, 100), (0, 7), (38.2, 52.9), (0, 0.004), (5, 5)])
def test_ticks_are_round_and_inside(low, high):
    ticks = Scale(low, high, 0, 100).ticks()
    assert 1 <= len(ticks) <= 12
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)
