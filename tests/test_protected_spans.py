"""Protected spans are found, masked and restored, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft import Edit, EditPlan
from redraft.plan.placeholders import mask_plan
from redraft.text.protected_spans import (
    MAX_PLACEHOLDERS,
    PLACEHOLDER_CHARACTERS,
    MaskedText,
    mask_protected,
    protected_spans,
)
from redraft.text.words import split_words
from time_limit import within

insert, delete, substitute = Edit.insert, Edit.delete, Edit.substitute
ONE, TWO, *_ = PLACEHOLDER_CHARACTERS


@pytest.mark.parametrize("text, found", [
    pytest.param("See https://example.com/a_(b)?c=d#e, or not.", ["https://example.com/a_(b)?c=d#e"], id="url"),
    pytest.param("(See www.x.org/y.)", ["www.x.org/y"], id="url-in-brackets"),
    pytest.param("Ask Amazon.com or news.com.au.", ["Amazon.com", "news.com.au"], id="domains"),
    pytest.param("Write to jo.b+x@mail.example.co.uk.", ["jo.b+x@mail.example.co.uk"], id="e-mail"),
    pytest.param("Call +49 30 1234567 or (555) 123-4567.", ["+49 30 1234567", "(555) 123-4567"], id="phones"),
    pytest.param("Call 555-123-4567 or 0800 123 456 now.", ["555-123-4567", "0800 123 456"], id="more-phones"),
    pytest.param("Order AB-1234/X, please.", ["AB-1234/X"], id="code"),
    pytest.param("Under 2016/679 and 2008/50/EC.", ["2016/679", "2008/50/EC"], id="regulations"),
    pytest.param("ISBN 978-3-16-148410-0, ISSN 2049-3630.", ["ISBN 978-3-16-148410-0", "ISSN 2049-3630"], id="books"),
    pytest.param("Pay to GB82 WEST 1234 5698 7654 32.", ["GB82 WEST 1234 5698 7654 32"], id="iban"),
    pytest.param("Version v2.3.1 at 10.0.0.1.", ["v2.3.1", "10.0.0.1"], id="versions"),
    pytest.param("Commit 3a7bd3e2f1 is bad.", ["3a7bd3e2f1"], id="hash"),
    pytest.param("Open /usr/bin/env, C:\\Users\\x or src/a/b.py.", ["/usr/bin/env", "C:\\Users\\x", "src/a/b.py"],
                 id="paths"),
    pytest.param("Set my_var in foo() of notes.txt.", ["my_var", "foo()", "notes.txt"], id="names-in-programs"),
    pytest.param("Use #ff00aa, @nasa and #MeToo.", ["#ff00aa", "@nasa", "#MeToo"], id="colours-and-handles"),
    pytest.param("As shown [1], [2][3] and [4–6].", ["[1]", "[2][3]", "[4–6]"], id="citations"),
    pytest.param("The \\textbf{big \\emph{old}} man and $x_1^2$.", ["\\textbf{big \\emph{old}}", "$x_1^2$"],
                 id="latex"),
    pytest.param("Type `pip install x` now.", ["`pip install x`"], id="inline-code"),
    pytest.param("Read [the page](https://x.y/z) now.", ["[the page](https://x.y/z)"], id="markdown-link"),
    pytest.param("A <b>bold</b> <a href='x'>one</a><br/>", ["<b>", "</b>", "<a href='x'>", "</a><br/>"], id="tags"),
    pytest.param("It costs €1,250.00, US$3.5bn, $3m or 5€.", ["€1,250.00", "US$3.5bn", "$3m", "5€"], id="amounts"),
    pytest.param("On 2024-05-01, 01/05/2024 or 1.5.24.", ["2024-05-01", "01/05/2024", "1.5.24"], id="dates"),
    pytest.param("From 14:30 to 2:37:18.5, or 7:00am.", ["14:30", "2:37:18.5", "7:00am"], id="times"),
    pytest.param("Nice 👍🏽 👨‍👩‍👧 🇩🇪!", ["👍🏽", "👨‍👩‍👧", "🇩🇪"], id="emoji"),
    pytest.param("a\ue000b \uf8ff", ["\ue000", "\uf8ff"], id="private-use"),
    pytest.param("Name\tAge \t Town", ["Name\tAge \t Town"], id="row-of-cells"),
    pytest.param("Name \t He is the oldest of all the men.", [" \t "], id="tab-before-a-text"),
    pytest.param("Read this.\nName\tAge\nAnd this.", ["Name\tAge"], id="row-among-lines"),
])  # fmt: skip
def test_found(text, found):
    assert [text[start:end] for start, end in protected_spans(text)] == found


@pytest.mark.parametrize("text", [
    pytest.param("In 2019, 1,250 people had 30 days, 3.5 km and 50%.", id="numbers"),
    pytest.param("A well-known mother-in-law, and/or his/her son.", id="hyphens-and-slashes"),
    pytest.param("A 16-year-old in the mid-1990s, the 18th of the 20th-century men in 300BC, 4x100m at 1:50,000.",
                 id="numbers-in-words"),
    pytest.param("COVID-19, SARS-CoV-2, H1N1, F-16, F/A-18, MP3, CO2, C♯, U-boat, 9/11, 24/7.", id="names"),
    pytest.param("1990/91, 1914/1918, 2019–20, 2019-20, 3-2.", id="years-and-scores"),
    pytest.param("``Hello'' and ``bye'', `one' and `two'.", id="quotes-of-old"),
    pytest.param("If 3 < 4 and 5 > 4, it is (so) [sic]; the $ and the € fell.", id="signs"),
    pytest.param("Dr. J. R. Smith, Ph.D., of the U.S. left at 5 p.m. He ... said: No.", id="full-stops"),
    pytest.param("He said: word/word, word(s), #1 and word@.", id="signs-in-words"),
])  # fmt: skip
def test_ordinary_words_are_not_protected(text):
    assert protected_spans(text) == []


RUNS = [
    *map(chr, range(32, 127)),
    *"\t\n\ue000👍€–“",
    *[
        "a.",
        "a-",
        "a/",
        "a1",
        "[a",
        "[a](",
        "`a",
        "<a ",
        "<a=",
        "a@",
        "1-",
        "1.",
        "1:",
        "1,",
        "$1",
        "\\ab{",
        "_a",
        "a_",
    ],
    *[
        "http://",
        "://",
        "http://)",
        "(1)",
        "+1 ",
        "/a",
        "A1 ",
        "x@y.",
        "\t ",
        " \t",
        "👍\u200d",
        "``a",
        "<!--",
        "01 234 ",
    ],
]


@pytest.mark.parametrize("run", RUNS)
def test_patterns_do_not_backtrack(run: str) -> None:
    with within(60):  # on repeated characters, a quadratic pattern would take minutes
        protected_spans((run * 100_000)[:100_000])


PIECES = ["old", " ", ", ", "\n", "\t", "3", "https://a.b/c", "[1]", "AB-1234/X", "`x y`", "[t](u)", "<b>", "€5",
          "14:30", "👍", ONE, TWO, "\uf8ff", "(", ")", ".", "café"]  # fmt: skip
texts = st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(texts)
def test_masked_text_is_restored(text):
    found = mask_protected(text)
    assert found.restore(found.text) == text
    assert found.keeps_placeholders(found.text)
    assert len(found.originals) == len(found.placeholders) == len(found.spans) <= MAX_PLACEHOLDERS
    assert [text[slice(*span)] for span in found.spans] == list(found.originals)
    assert sorted([*found.spans, *found.unmasked]) == protected_spans(text)


@given(texts, st.data())
def test_spans_are_converted_both_ways(text, data):
    found = mask_protected(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    moved = found.to_masked((start, end))
    if moved is not None:
        assert found.to_source(moved) == (start, end)
        assert found.restore(found.text[slice(*moved)]) == text[start:end]
    else:
        assert any(one < at < other for one, other in found.spans for at in (start, end))


def test_masking():
    found = mask_protected("Pay €5 to a@b.com.")
    assert found == MaskedText(f"Pay {ONE} to {TWO}.", ("€5", "a@b.com"), ONE + TWO, ((4, 6), (10, 17)), ())
    assert found.restore(f"To {TWO}, pay {ONE}.") == "To a@b.com, pay €5."


def test_no_space_next_to_a_restored_tab():
    found = mask_protected("It must be\tused in two\t  parts of the house, they say.")
    assert found.restore(f"It is{ONE} used in {TWO} parts.") == "It is\tused in\t  parts."


@pytest.mark.parametrize("output, intact", [
    pytest.param(f"To {TWO}, pay {ONE}.", True, id="in-any-order"),
    pytest.param(f"Pay {ONE}.", False, id="one-is-gone"),
    pytest.param(f"{ONE} {TWO} {TWO}", False, id="one-came-twice"),
    pytest.param(f"{ONE} {TWO} {PLACEHOLDER_CHARACTERS[2]}", False, id="one-is-unknown"),
])  # fmt: skip
def test_intact(output, intact):
    assert mask_protected("Pay €5 to a@b.com.").keeps_placeholders(output) is intact


def test_more_spans_than_placeholders():
    text = " and ".join(f"€{number}" for number in range(1, 11)) + f" {ONE}"
    found = mask_protected(text)
    assert found.originals == (
        *(f"€{number}" for number in range(1, MAX_PLACEHOLDERS)),
        ONE,
    )  # text that could be mistaken for a placeholder is masked first
    assert [text[slice(*span)] for span in found.unmasked] == ["€8", "€9", "€10"]


@pytest.mark.parametrize(
    "text",
    [
        "x".join(PLACEHOLDER_CHARACTERS + PLACEHOLDER_CHARACTERS),
        "x".join(map(chr, range(0xE004, 0xE020))),
        "x".join("\uf8ff" * 12),
    ],
)
def test_more_private_characters_than_placeholders(text):
    found = mask_protected(text)
    assert not set(found.placeholders) & {text[slice(*span)] for span in found.unmasked}
    assert found.restore(found.text) == text
    assert found.keeps_placeholders(found.text)


@pytest.mark.parametrize("text", [f"a {ONE} b", f"pay {ONE}, now", f"({ONE})", f"a{ONE}b", f"3{ONE}", f"{ONE}{TWO}",
                                  f"{ONE}'s", f"3,{ONE}"])  # fmt: skip
def test_a_placeholder_is_a_word(text):
    words = [word.text for word in split_words(text)]
    assert words.count(ONE) == 1


@pytest.mark.parametrize("source, edits, text, moved", [
    pytest.param("Old men pay €5 now.", [delete("now", span=(15, 18))], f"Old men pay {ONE} now.",
                 [delete("now", span=(14, 17))], id="a-span-behind"),
    pytest.param("Men pay €5.", [delete("€5", span=(8, 10))], "Men pay €5.", [delete("€5", span=(8, 10))],
                 id="a-deletion-opens-it"),
    pytest.param("Men pay €5.", [delete("pay €5", span=(4, 10))], "Men pay €5.", [delete("pay €5", span=(4, 10))],
                 id="so-does-one-that-overlaps"),
    pytest.param("Men pay €5.", [substitute("5", "6")], "Men pay €5.", [substitute("5", "6")], id="without-a-span"),
    pytest.param("Men pay €5.", [delete("men")], f"Men pay {ONE}.", [delete("men")], id="not-where-it-is-outside"),
    pytest.param("5 men pay €5.", [delete("5")], f"5 men pay {ONE}.", [delete("5")], id="nor-where-it-is-both"),
    pytest.param("See [1][2].", [delete("[2]", span=(7, 10))], f"See {ONE}[2].", [delete("[2]", span=(5, 8))],
                 id="only-what-it-is-about"),
    pytest.param("Read [big page](https://x.y).", [delete("big", span=(6, 9))], f"Read [big page]({ONE}).",
                 [delete("big", span=(6, 9))], id="the-address-of-a-link-stays"),
    pytest.param("Name\thttps://x.y\tbig", [delete("big")], f"Name{ONE}big", [delete("big")], id="and-of-a-row"),
    pytest.param("Men pay €5.", [insert("€5", span=(8, 10))], f"Men pay {ONE}.", [insert(ONE, span=(8, 9))],
                 id="an-insertion-of-it"),
    pytest.param("Men pay €5.", [insert("5", weight=2)], f"Men pay {ONE}.", [insert(ONE, weight=2)],
                 id="of-a-part-of-it"),
    pytest.param("Men pay €5.", [insert("€"), insert("5")], f"Men pay {ONE}.", [insert(ONE)], id="once-only"),
    pytest.param("Men pay €5 now.", [insert("pay €5 now", span=(4, 14))], f"Men pay {ONE} now.",
                 [insert(f"pay {ONE} now", span=(4, 13))], id="with-words-around-it"),
    pytest.param("Men pay €5.", [insert("old", span=(9, 10))], f"Men pay {ONE}.", [insert("old", span=(8, 9))],
                 id="of-something-else"),
    pytest.param("Men pay €5, which hurts.", [Edit.split(), Edit.split("which", span=(12, 17))],
                 f"Men pay {ONE}, which hurts.", [Edit.split(), Edit.split("which", span=(11, 16))], id="splits"),
    pytest.param("Old men.", [delete("old")], "Old men.", [delete("old")], id="nothing-protected"),
])  # fmt: skip
def test_plans(source, edits, text, moved):
    plan, masked = mask_plan(EditPlan(source, tuple(edits), "light"))
    assert plan == EditPlan(text, tuple(moved), "light")
    assert masked.restore(plan.source) == source


@given(texts, st.data())
def test_any_plan_can_be_masked(source, data):
    words = split_words(source)
    edits = []
    for word in data.draw(st.lists(st.sampled_from(words), max_size=4, unique=True)) if words else ():
        span = data.draw(st.sampled_from([None, (word.start, word.end)]))
        make = data.draw(st.sampled_from([insert, delete]))
        if not any(edit.phrase.casefold() == word.text.casefold() for edit in edits):
            edits.append(make(word.text, span=span))
    plan, masked = mask_plan(EditPlan(source, tuple(edits)))
    assert masked.restore(plan.source) == source
    kept = [edit for edit in plan.edits if edit.kind == "delete"]
    asked = [edit for edit in edits if edit.kind == "delete"]
    assert [edit.phrase for edit in kept] == [edit.phrase for edit in asked]
    assert all(edit.span is None or plan.source[slice(*edit.span)] == edit.phrase for edit in kept)
