"""Word documents: accepting all tracked changes gives the new text, rejecting all of them the old one."""

import base64
import io
import re
import zipfile
from datetime import UTC, datetime

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redraft import Edit
from redraft.documents.blocks import (
    Block,
    BlockChange,
    DocumentError,
    Formatting,
    JudgedEdit,
    ListPlace,
    SentenceChange,
)
from redraft.documents.document_files import new_document, open_document, save
from word_documents import (
    W,
    add_link,
    changes_to,
    characters,
    check_well_formed,
    part,
    saved,
    sentence_changes,
    texts,
    word_document,
)

DATE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WORDS = st.sampled_from(
    [
        "the",
        "The",
        "physician",
        "bought",
        "10,000",
        "€",
        "café",
        "e\u0301te",
        "👩‍👩‍👧",
        "don't",
        "—",
        "漢字",
        "x-ray",
        "a",
    ]
)
MARKS = st.sampled_from(["", "", ",", ".", "?", ":", "\n", "\t"])


@st.composite
def run_texts(draw):
    words = draw(st.lists(st.tuples(WORDS, MARKS), min_size=1, max_size=5))
    return "".join(f"{word}{mark} " for word, mark in words)[: draw(st.integers(1, 40))]


RUNS = st.lists(st.tuples(run_texts(), st.sampled_from(["plain", "bold", "italic", "link"])), min_size=1, max_size=4)
STYLES = st.sampled_from(["Normal", "Heading 1", "Heading 3", "List Number", "List Bullet 2", "table"])


@st.composite
def documents(draw):
    document = docx.Document()
    for style, runs in draw(st.lists(st.tuples(STYLES, RUNS), min_size=1, max_size=4)):
        if style == "table":
            paragraph = document.add_table(1, 2).cell(0, draw(st.integers(0, 1))).paragraphs[0]
        else:
            paragraph = document.add_paragraph(style=style)
        for text, look in runs:
            if look == "link":
                add_link(paragraph, text, "https://a.example")
            else:
                run = paragraph.add_run(text)
                run.bold, run.italic = look == "bold" or None, look == "italic" or None
    return saved(document)


@st.composite
def new_texts(draw, sentence):
    """The sentence with words deleted, replaced, added, moved, or another text."""
    words = re.findall(r"\s+|\S+", sentence)
    kind = draw(st.sampled_from(["same", "edited", "edited", "shuffled", "other", "empty", "upper"]))
    if kind == "edited":
        changed = []
        for word in words:
            step = draw(st.sampled_from(["keep", "keep", "delete", "replace", "add"]))
            new = draw(WORDS) if step in ("replace", "add") else ""
            changed += {"keep": [word], "delete": [], "replace": [new], "add": [word, new, " "]}[step]
        return "".join(changed)
    return {
        "same": sentence, "shuffled": "".join(draw(st.permutations(words))), "other": draw(run_texts()), "empty": "",
        "upper": sentence.upper(),
    }[kind]  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), st.data())
def test_accepting_all_gives_the_new_text_and_rejecting_all_the_old_one(data, random):
    document = open_document(data, "a.docx")
    changes = sentence_changes(document, lambda sentence: random.draw(new_texts(sentence)))
    tracked = save(document, changes, "docx", tracked=True)
    check_well_formed(tracked)
    before = characters(data, accept=True)
    rejected = characters(tracked, accept=False)
    assert rejected == before  # with the formatting of each character
    accepted = [text for text in texts(tracked, accept=True) if text.strip()]
    assert accepted == [change.text for change in changes if change.text.strip()]
    plain = save(document, changes, "docx", tracked=False)
    assert [text for text in texts(plain, accept=True) if text.strip()] == accepted
    assert not list(part(plain, "word/document.xml").iter(f"{W}ins"))
    assert texts(plain, accept=True) == texts(plain, accept=False)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), st.data())
def test_kept_words_keep_their_formatting_without_tracking(data, random):
    """Every look that a kept word had, it has again: looks of the old text in order contain those of the kept words."""
    document = open_document(data, "a.docx")
    tracked = save(document, sentence_changes(document, lambda one: random.draw(new_texts(one))), "docx", tracked=True)
    old, new = characters(tracked, accept=False), characters(tracked, accept=True)
    kept = [one for paragraph in kept_characters(tracked) for one in paragraph]
    for side in (old, new):
        rest = iter(one for paragraph in side for one in paragraph)
        assert all(one in rest for one in kept)  # in this order


def kept_characters(data):
    document = docx.Document(io.BytesIO(data))
    for element in [*document.element.body.iter(f"{W}ins"), *document.element.body.iter(f"{W}del")]:
        element.getparent().remove(element)
    return characters(saved(document), accept=True)


def revised(data, *new, tracked=True, edits=(), **fields):
    """The document with these texts of its blocks; `edits` belong to the first."""
    document = open_document(data, "a.docx")
    changes = [
        BlockChange((SentenceChange("", block.text, text, edits if number == 0 else (), **fields),))
        for number, (block, text) in enumerate(zip(document.blocks, new, strict=True))
    ]
    return save(document, changes, "docx", tracked=tracked, date=DATE)


def comments(data):
    return [(one.author, one.text) for one in docx.Document(io.BytesIO(data)).comments]


def mixed(*runs):
    document = docx.Document()
    paragraph = document.add_paragraph()
    for text, look in runs:
        if look == "link":
            add_link(paragraph, text, "https://a.example")
        else:
            paragraph.add_run(text).bold = look == "bold" or None
    return saved(document)


@pytest.mark.parametrize(
    "runs, new, looks",
    [
        pytest.param([("The ", ""), ("physician", "bold"), (" came.", "")], "The doctor came.",
                     "The *doctor* came.", id="a-replaced-bold-word"),
        pytest.param([("See ", ""), ("our website", "link"), (".", "")], "See our page.",
                     "See [our page].", id="inside-a-link"),
        pytest.param([("See ", ""), ("here", "link"), (".", "")], "See here now.",
                     "See [here] now.", id="added-behind-a-link"),
        pytest.param([("here", "link"), (" it is.", "")], "Look here it is.", "Look [here] it is.",
                     id="added-before-a-link"),
        pytest.param([("See ", ""), ("here", "link")], "See here now", "See [here] now", id="link-at-the-end"),
        pytest.param([("A ", ""), ("very ", "bold"), ("big house.", "")], "A big house.", "A big house.",
                     id="a-deleted-bold-word"),
        pytest.param([("phys", "bold"), ("ician", ""), (" came", "")], "doctor came", "doctor came",
                     id="the-commonest-formatting"),
    ],
)  # fmt: skip
def test_new_words_take_over_the_formatting_of_the_old_ones(runs, new, looks):
    for tracked in (True, False):
        (found,) = characters(revised(mixed(*runs), new, tracked=tracked), accept=True)
        shown, before = "", (False, False, False)
        for character, look in [*found, ("", (False, False, False))]:
            shown += ("*" if look[0] != before[0] else "") + ("]" if before[2] and not look[2] else "")
            shown += ("[" if look[2] and not before[2] else "") + character
            before = look
        assert shown == looks


def test_one_comment_for_each_edit_and_each_change_without_one():
    data = word_document("The physician purchased two vehicles.")
    edits = (
        JudgedEdit(Edit.substitute("physician", "doctor", probability=0.8, note="plain English"), "satisfied"),
        JudgedEdit(Edit.substitute("purchased", "bought"), "satisfied"),
        JudgedEdit(Edit.delete("two"), "violated"),
        JudgedEdit(Edit.insert("two", probability=0.9), "satisfied"),
    )
    out = revised(data, "The doctor bought two cars.", edits=edits, warnings=("missing: vehicles",))
    check_well_formed(out)
    assert comments(out) == [
        ("redraft", "Check:\nmissing: vehicles\nNot reviewed."),
        ("redraft", "physician → doctor\nReason: plain English\nProbability: 80%\nStatus: done\nNot reviewed."),
        ("Editor", "purchased → bought\nStatus: done\nNot reviewed."),
        ("Editor", "leave out two\nStatus: not done\nNot reviewed."),
        ("redraft", "No edit asked for this change.\nNot reviewed."),
    ]
    changed = part(out, "word/document.xml").iter(f"{W}del")
    assert ["".join(one.itertext()) for one in changed] == ["physician", "purchased", "vehicles"]  # each by itself
    assert {one.get(f"{W}date") for one in part(out, "word/document.xml").iter(f"{W}ins")} == {"2026-01-02T03:04:05Z"}


def test_what_the_editor_wrote_is_the_editors():
    out = revised(word_document("It commenced."), "It began.", by="editor", reviewed=True)
    assert comments(out) == [("Editor", "Written by the editor.\nReviewed.")]
    assert {one.get(f"{W}author") for one in part(out, "word/document.xml").iter(f"{W}ins")} == {"Editor"}


def test_an_unchanged_document_gets_no_changes_and_no_comments():
    data = word_document("It began.", "It ended.")
    out = revised(data, "It began.", "It ended.")
    assert part(out, "word/document.xml").find(f".//{W}ins") is None
    assert comments(out) == []


def test_everything_beside_the_text_stays():
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Header"
    paragraph = document.add_paragraph("Before ")
    paragraph.add_run().add_picture(io.BytesIO(PIXEL))
    paragraph.add_run(" purchased")
    paragraph.runs[-1]._r.append(parse_xml(f'<w:br {nsdecls("w")} w:type="page"/>'))
    paragraph.runs[-1]._r.append(parse_xml(f'<w:t {nsdecls("w")} xml:space="preserve"> goods</w:t>'))
    paragraph._p.append(parse_xml(f'<w:bookmarkStart {nsdecls("w")} w:id="7" w:name="here"/>'))
    paragraph._p.append(parse_xml(f'<w:bookmarkEnd {nsdecls("w")} w:id="7"/>'))
    data = saved(document)
    opened = open_document(data, "a.docx")
    assert [block.text for block in opened.blocks] == ["Before  purchased goods"]
    assert opened.notes == ("not changed: pictures and drawings (1)", "not changed: headers and footers (1)")
    for tracked in (True, False):
        out = revised(data, "Now bought things", tracked=tracked)
        check_well_formed(out)
        assert texts(out, accept=True) == ["Now bought things"]
        root = part(out, "word/document.xml")
        assert [len(list(root.iter(f"{W}{name}"))) for name in ("drawing", "bookmarkStart")] == [1, 1]
        assert [one.get(f"{W}type") for one in root.iter(f"{W}br")] == ["page"]
        with zipfile.ZipFile(io.BytesIO(out)) as before, zipfile.ZipFile(io.BytesIO(data)) as after:
            names = set(after.namelist())
            assert names <= set(before.namelist())
            same = [name for name in names if "media" in name or "header" in name or "styles" in name]
            assert all(before.read(name) == after.read(name) for name in same)


CHANGES_OF_OTHERS = (
    '<w:p {ns}><w:r><w:t xml:space="preserve">We </w:t></w:r>'
    '<w:del w:id="1" w:author="Ann" w:date="2025-01-01T00:00:00Z"><w:r><w:delText>shall</w:delText></w:r></w:del>'
    '<w:ins w:id="2" w:author="Ann" w:date="2025-01-01T00:00:00Z"><w:r><w:t>will purchase the</w:t></w:r></w:ins>'
    '<w:r><w:t xml:space="preserve"> goods.</w:t></w:r></w:p>'
)


def test_tracked_changes_of_others_are_read_as_accepted_and_stay():
    document = docx.Document()
    document.element.body.insert(0, parse_xml(CHANGES_OF_OTHERS.format(ns=nsdecls("w"))))
    data = saved(document)
    opened = open_document(data, "a.docx")
    assert [block.text for block in opened.blocks] == ["We will purchase the goods."]
    assert opened.notes[0].startswith("2 tracked changes of others stay")
    out = revised(data, "We will now buy all goods.")
    check_well_formed(out)
    assert texts(out, accept=True) == ["We will now buy all goods."]
    assert texts(out, accept=False) == ["We shall goods."]  # as it was before Ann
    authors = {
        (one.tag, one.get(f"{W}author")) for one in part(out, "word/document.xml").iter() if one.get(f"{W}author")
    }
    assert authors >= {(f"{W}ins", "Ann"), (f"{W}del", "Ann"), (f"{W}ins", "redraft"), (f"{W}del", "redraft")}


def test_kinds_of_blocks():
    document = docx.Document()
    document.add_heading("Title of it", 0)
    document.add_heading("Section", 2)
    document.add_paragraph("first", style="List Number")
    document.add_paragraph("second", style="List Number")
    document.add_paragraph("point", style="List Bullet 2")
    table = document.add_table(2, 2)
    table.cell(1, 1).text = "cell"
    table.cell(0, 0).text = "corner"
    found = open_document(saved(document), "a.docx").blocks
    assert [(one.kind, one.level) for one in found] == [
        ("heading", 1), ("heading", 2), ("list item", 1), ("list item", 1), ("list item", 2), ("table cell", 0),
        ("table cell", 0),
    ]  # fmt: skip
    assert [one.list_place for one in found[2:5]] == [ListPlace(True, 1), ListPlace(True, 2), ListPlace(False, 1)]
    assert [(one.table_place.row, one.table_place.column) for one in found[5:]] == [(0, 0), (1, 1)]


def test_a_change_of_other_text_is_refused():
    document = open_document(word_document("It began."), "a.docx")
    for changes in ([], [BlockChange((SentenceChange("", "It ended.", "It ended."),))]):
        with pytest.raises(DocumentError, match="blocks"):
            save(document, changes, "docx")


def test_a_new_document_from_text_has_tracked_changes_too():
    blocks = [
        Block("heading", "Your move", 1),
        Block("paragraph", "Purchase it\u0000 here.", formatting=(Formatting(0, 8, "bold"),)),
        Block("list item", "one", 1, list_place=ListPlace(True, 1)),
    ]
    document = new_document(blocks)
    out = save(document, changes_to(document, ["Your move", "Buy it here.", "two"]), "docx", title="Move")
    check_well_formed(out)
    assert texts(out, accept=False) == ["Your move", "Purchase it  here.", "one"]
    assert texts(out, accept=True) == ["Your move", "Buy it here.", "two"]
    assert docx.Document(io.BytesIO(out)).core_properties.title == "Move"
