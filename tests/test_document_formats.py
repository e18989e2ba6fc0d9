"""OpenDocument, HTML, Markdown, plain text and PDF: only changed words change, and formats convert to each other."""

import io
import re
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from redraft.documents.blocks import Block, DocumentError, Formatting, ListPlace, TablePlace
from redraft.documents.document_files import new_document, open_document, save
from redraft.documents.html_files import read_html
from redraft.documents.markdown_files import read_markdown
from redraft.documents.odt_files import read_odt
from word_documents import changes_to, texts

BLOCKS = (
    Block("heading", "Your move & more", 1),
    Block("paragraph", "The physician must notify us here.\nSoon.",
          formatting=(Formatting(4, 13, "bold"), Formatting(29, 33, "link", "https://a.example/x?y=1&z"))),
    Block("paragraph", "Sure, very much so", formatting=(Formatting(6, 10, "italic"),)),
    Block("list item", "one", 1, list_place=ListPlace(True, 1)),
    Block("list item", "two", 1, list_place=ListPlace(True, 2)),
    Block("list item", "deep", 2, list_place=ListPlace(False, 1)),
    Block("paragraph", "After the list"),
    Block("table cell", "a", table_place=TablePlace(0, 0, 0)),
    Block("table cell", "b", table_place=TablePlace(0, 1, 0)),
    Block("table cell", "d", table_place=TablePlace(1, 1, 0)),
)  # fmt: skip
MARKDOWN = """\
---
title: "Not *text*"
---
# A \\* heading #

The **physician** must notify
us *before you* [leave](http://x.y/(a) "t") now. See `code  x` &amp; <b>html</b>![i](u).\\
Next <http://auto.link> line.

1. One
2. Two
   continued
   - deep **word**

> quoted
> text here

| a | b \\| c |
|---|:--|
| physician | [x](y) |

```
code physician
```

Setext
======
[ref]: http://z
[ref][], [ref] end. ~~Old~~ __new__ 5 * 3
"""
HTML = """\
<!DOCTYPE html>
<html><head><title>physician</title><style>p{}</style></head><body class=x>
<h2>A &lt; heading</h2> <!-- physician -->
loose text
<p>The <b>physician</b> must  notify&nbsp;us <a href="x.html">now</a>.<br>Next&shy;line<img src=q alt=physician>
<p style='a'>Some <span style="font-weight:bold">big</span> thing</P>
<ul><li>One<li>Two <ol start=3><li>deep</ol></ul>
<table><tr><td>a<td><p>b</p><tr><th>c</table><pre>physician  y</pre><script>var physician="<p>"</script>
&eacute;t&#233; <del>gone</del> tail
"""
WORDS = [
    "physician",
    "doctor",
    "a*b",
    "_x_",
    "<tag>",
    "&amp;",
    "`c`",
    "1.",
    "#",
    "- ",
    "[x](y)",
    "é",
    "👩‍👧",
    "|",
    "\\",
    "~~",
]
OPENERS = {"md": read_markdown, "html": read_html}


def normal(text):
    return " ".join(text.split())


def edited(draw, text):
    """Words of the text deleted, replaced or added."""
    found = []
    for word in re.findall(r"\s+|\S+", text):
        step = draw(st.sampled_from(["keep", "keep", "keep", "delete", "replace", "add"]))
        new = draw(st.sampled_from(WORDS)) if step in ("replace", "add") else ""
        found += {"keep": [word], "delete": [], "replace": [new], "add": [word, " ", new]}[step]
    return "".join(found)


@pytest.mark.parametrize("name, source", [("md", MARKDOWN), ("html", HTML), ("txt", "A physician.\r\n\r\n  1) one\n")])
def test_a_text_without_changes_is_the_same_byte_by_byte(name, source):
    document = open_document(source.encode(), f"a.{name}")
    changes = changes_to(document, [block.text for block in document.blocks])
    assert save(document, changes, name) == source.encode()


@pytest.mark.parametrize("name, source", [("md", MARKDOWN), ("md", MARKDOWN.replace("\n", "\r\n")), ("html", HTML)])
def test_items_of_a_block_are_its_source(name, source):
    found = OPENERS[name](source.encode())
    assert len(found.blocks) > 8
    for block in found.blocks:
        assert "".join(item.raw for item in block.items) == source[block.start : block.end]
        assert "".join(item.text for item in block.items) == block.block.text


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
@pytest.mark.parametrize("name, source", [("md", MARKDOWN), ("html", HTML)])
def test_only_the_changed_block_changes(name, source, data):
    found = OPENERS[name](source.encode())
    document = open_document(source.encode(), f"a.{name}")
    number = data.draw(st.integers(0, len(document.blocks) - 1))
    new = [block.text for block in document.blocks]
    new[number] = edited(data.draw, new[number])
    out = save(document, changes_to(document, new), name, tracked=False).decode()
    block = found.blocks[number]
    assert out.startswith(source[: block.start])
    assert out.endswith(source[block.end :])
    again = [normal(one.text) for one in open_document(out.encode(), f"a.{name}").blocks]
    assert again == [normal(text) for text in new if text.strip()]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_an_opendocument_text_gets_exactly_the_new_text(data):
    file = save(new_document(BLOCKS), changes_to(new_document(BLOCKS), [one.text for one in BLOCKS]), "odt")
    document = open_document(file, "a.odt")
    assert document.blocks == BLOCKS
    new = [edited(data.draw, block.text) for block in BLOCKS]
    out = save(document, changes_to(document, new), "odt")
    assert [block.text for block in open_document(out, "a.odt").blocks] == [text for text in new if text.strip()]
    with zipfile.ZipFile(io.BytesIO(file)) as before, zipfile.ZipFile(io.BytesIO(out)) as after:
        assert before.namelist() == after.namelist()
        assert after.infolist()[0].filename == "mimetype"
        assert after.infolist()[0].compress_type == zipfile.ZIP_STORED
        assert all(before.read(name) == after.read(name) for name in before.namelist() if name != "content.xml")
    read = read_odt(out)
    for block in read.blocks:
        assert "".join(item.text for item in block.items) == block.block.text


@pytest.mark.parametrize("name", ["docx", "odt", "html", "md"])
def test_a_new_document_has_the_same_blocks(name):
    document = new_document(BLOCKS)
    file = save(document, changes_to(document, [block.text for block in BLOCKS]), name, tracked=False)
    assert open_document(file, f"a.{name}").blocks == BLOCKS


@pytest.mark.parametrize("source", ["docx", "odt", "html", "md"])
@pytest.mark.parametrize("target", ["docx", "odt", "html", "md", "txt"])
def test_formats_convert_to_each_other(source, target):
    document = new_document(BLOCKS)
    same = [block.text for block in BLOCKS]
    opened = open_document(save(document, changes_to(document, same), source, tracked=False), f"a.{source}")
    new = [text.replace("physician", "doctor").replace("very much", "quite") for text in same]
    out = save(opened, changes_to(opened, new), target, tracked=False)
    if target == "txt":
        assert out.decode() == (
            "Your move & more\n\nThe doctor must notify us here.\nSoon.\n\nSure, quite so\n\n"
            "1. one\n2. two\n    - deep\n\n"
            "After the list\n\na\tb\n\td\n"
        )
        return
    found = open_document(out, f"a.{target}").blocks
    assert [block.text for block in found] == new
    assert [block.kind for block in found] == [block.kind for block in BLOCKS]
    assert found[1].formatting == (Formatting(4, 10, "bold"), Formatting(26, 30, "link", "https://a.example/x?y=1&z"))


def test_html_with_tracked_changes():
    document = open_document(HTML.encode(), "a.html")
    new = [one.text.replace("physician", "<doctor>").replace("thing", "") for one in document.blocks]
    out = save(document, changes_to(document, new), "html", tracked=True).decode()
    assert "<b><del>physician</del><ins>&lt;doctor&gt;</ins></b>" in out
    assert "</span><del> thing</del></P>" in out or "</span> <del>thing</del></P>" in out
    assert re.sub("<ins>.*?</ins>", "", out, flags=re.DOTALL).replace("<del>", "").count("physician") == HTML.count(
        "physician"
    )
    assert open_document(out.encode(), "a.html").blocks[2].text.startswith("The <doctor> must")


def test_a_text_becomes_a_word_document_with_tracked_changes():
    document = open_document(b"A physician came.\n\n1. Purchase it.\n", "a.txt")
    assert [block.kind for block in document.blocks] == ["paragraph", "list item"]
    out = save(document, changes_to(document, ["A doctor came.", "Buy it."]), "docx", tracked=True)
    assert texts(out, accept=False) == ["A physician came.", "Purchase it."]
    assert texts(out, accept=True) == ["A doctor came.", "Buy it."]


def test_spaces_that_a_browser_drops_are_kept_in_a_new_page():
    document = new_document([Block("paragraph", "  two  words \n\tmore ")])
    out = save(document, changes_to(document, ["  two  things \n\tmore "]), "html", tracked=True)
    assert "".join(re.sub("<del>.*?</del>|</?ins>", "", out.decode()).split("<p>")[1].split("</p>")[0]) == (
        "\u00a0 two \u00a0things\u00a0<br>\u00a0more\u00a0".replace("\u00a0 two", "\u00a0\u00a0two")
    )


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "java\nscript:x", " "])
@pytest.mark.parametrize("name", ["html", "md", "docx", "odt"])
def test_unsafe_links_are_not_written(name, address):
    document = new_document([Block("paragraph", "press", formatting=(Formatting(0, 5, "link", address),))])
    file = save(document, changes_to(document, ["press"]), name, tracked=False)
    assert open_document(file, f"a.{name}").blocks[0] == Block("paragraph", "press")


def test_encodings():
    latin = '<meta charset="iso-8859-1"><p>Café physician'.encode("latin-1")
    document = open_document(latin, "a.html")
    assert document.blocks[0].text == "Café physician"
    out = save(document, changes_to(document, ["Café → doctor"]), "html", tracked=False)
    assert out == '<meta charset="iso-8859-1"><p>Café &#8594; doctor'.encode("latin-1")
    for encoding in ("utf-16", "utf-8-sig"):
        document = open_document("Café".encode(encoding), "a.txt")
        assert save(document, changes_to(document, ["Tea"]), "txt").decode(encoding) == "Tea"
    with pytest.raises(DocumentError, match="0xe9 is byte 4"):
        open_document(b"Caf\xe9", "a.txt")


def pdf(*pages, compressed=True):
    """A PDF with these lines on its pages."""
    writer = PdfWriter()
    font = DictionaryObject({
        NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"),
        NameObject("/BaseFont"): NameObject("/Helvetica"),
    })  # fmt: skip
    for lines in pages:
        page = writer.add_blank_page(595, 842)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        shown = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
        stream.set_data(f"BT /F1 12 Tf 50 800 Td {shown} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream.flate_encode() if compressed else stream)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def test_a_pdf_becomes_paragraphs():
    lines = [
        "Your move", "You have to notify us about your depar-", "ture no later than thirty days before the end",
        "of the contract.", "1. Complete the form that we have sent to you", "and sign it.", "2. Send it.",
    ]  # fmt: skip
    document = open_document(pdf(lines), "a.pdf")
    assert [block.text for block in document.blocks] == [
        "Your move",
        "You have to notify us about your departure no later than thirty days before the end of the contract.",
        "Complete the form that we have sent to you and sign it.", "Send it.",
    ]  # fmt: skip
    assert document.notes[0].startswith("read as text alone")
    assert texts(save(document, changes_to(document, ["a", "b", "c", "d"]), "docx"), accept=True) == [
        "a",
        "b",
        "c",
        "d",
    ]
