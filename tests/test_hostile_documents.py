"""Hostile and damaged documents: each is refused with a clear message, quickly, and nothing in it is executed."""

import io
import random
import re
import struct
import time
import zipfile
import zlib
from contextlib import suppress

import pytest
from pypdf import PdfReader, PdfWriter

from redraft.documents import archives, document_files
from redraft.documents.blocks import Block, DocumentError, Formatting, TablePlace
from redraft.documents.document_files import new_document, open_document, save
from test_document_formats import BLOCKS, pdf
from word_documents import changes_to, word_document

LOL = (
    '<!DOCTYPE x [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>"
)
EXTERNAL = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


def rezipped(data, *, replace=None, add=None, name=None):
    """The archive with an entry changed by a function, or with another one."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as copy:
        for entry in archive.infolist():
            content = archive.read(entry)
            copy.writestr(entry, replace(content) if entry.filename == name else content)
        for new, content in (add or {}).items():
            copy.writestr(new, content)
    return file.getvalue()


WORD = word_document("The physician came.")
ODT = save(new_document(BLOCKS), changes_to(new_document(BLOCKS), [one.text for one in BLOCKS]), "odt")
MAIN = "word/document.xml"


def with_doctype(doctype):
    def change(xml):
        head, _, rest = xml.decode().partition("?>")
        return f"{head}?>{doctype}{rest}".replace("physician", "&a;").encode()

    return change


def deep(xml):
    return xml.decode().replace("<w:body>", "<w:body>" + "<w:sdt><w:sdtContent>" * 5000).encode()


def with_flag(data):
    """Every entry marked as encrypted."""
    changed = bytearray(data)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = changed.find(signature)
        while at >= 0:
            changed[at + offset] |= 1
            at = changed.find(signature, at + 4)
    return bytes(changed)


def lying_sizes(data):
    """A bomb whose directory says that its entries are small."""
    bomb = rezipped(data, replace=lambda _: b" " * 50_000_000, name=MAIN)
    return bomb.replace(struct.pack("<I", 50_000_000), struct.pack("<I", 1_000))


def endless_stream():
    """A PDF whose page unpacks to 300 MB of spaces."""
    packed = zlib.compress(b" " * 300_000_000, 9)
    data = pdf(["x"])
    stream = re.search(rb"/Length \d+\n?.*?stream\n.*?endstream", data, re.DOTALL)
    new = b"/Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)
    return data[: stream.start()] + new + data[stream.end() :]


def encrypted_pdf():
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["secret"]))))
    writer.encrypt("password", algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def with_type(content_type):
    return lambda xml: xml.replace(b"document.main+xml", content_type)


CASES = [
    ("a.txt", b"x" * 10_000_001, "10,000,001 bytes, and the limit is 10,000,000"),
    ("a.docx", rezipped(WORD, replace=lambda _: b" " * 30_000_000, name=MAIN), "as in a ZIP bomb"),
    ("a.docx", rezipped(WORD, add={f"{i}.xml": random.Random(i).randbytes(8_000).hex() * 400 for i in range(8)}),
     "unpacked, its text has .* and the limit is 40,000,000"),
    ("a.docx", rezipped(WORD, add={f"{number}.bin": b"" for number in range(2_100)}), "parts, and the limit is 2,000"),
    ("a.docx", lying_sizes(WORD), "damaged"),
    ("a.docx", rezipped(WORD, replace=with_doctype(LOL), name=MAIN), "declares XML entities"),
    ("a.docx", rezipped(WORD, replace=with_doctype(EXTERNAL), name=MAIN), "declares XML entities"),
    ("a.odt", rezipped(ODT, replace=with_doctype(LOL), name="content.xml"), "declares XML entities"),
    ("a.docx", rezipped(WORD, replace=with_doctype(LOL), name="word/styles.xml"), "declares XML entities"),
    ("a.docx", rezipped(WORD, add={"word/vbaProject.bin": b"x"}), "contains macros"),
    ("a.odt", rezipped(ODT, add={"Basic/Standard/Module1.xml": b"<x/>"}), "contains macros"),
    ("a.docm", WORD, "with macros, which are never run"),
    ("a.docx", rezipped(WORD, replace=with_type(b"document.macroEnabled.main+xml"), name="[Content_Types].xml"),
     "with macros"),
    ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "or a new one that is encrypted"),
    ("a.docx", with_flag(WORD), "is encrypted"),
    ("a.odt", rezipped(ODT, add={"META-INF/x.xml": b"<manifest:encryption-data/>".replace(b":", b"-")}),
     "is encrypted"),
    ("a.pdf", encrypted_pdf(), "is encrypted"),
    ("a.docx", ODT, "the file is an OpenDocument text, and by its name it is a Word document"),
    ("a.pdf", WORD, "the file is a Word document, and by its name it is a PDF"),
    ("a.txt", pdf(["x"]), "the file is a PDF, and by its name it is plain text"),
    ("a.docx", b"Just text", "a text or an unknown format"),
    ("a.doc", b"x", "an old Word document"),
    ("a.exe", b"x", "no extension of a document"),
    ("letter", b"x", "no extension of a document"),
    ("a.docx", WORD[:5_000], "damaged"),
    ("a.docx", WORD[:-30], "damaged"),
    ("a.docx", rezipped(WORD, replace=lambda xml: xml[:-20], name=MAIN), "damaged"),
    ("a.docx", rezipped(WORD, replace=lambda xml: xml, name=MAIN, add={"x.xml": b"<a><b></a>"}), "damaged"),
    ("a.odt", rezipped(ODT, replace=lambda xml: b"\xff" + xml, name="content.xml"), "damaged"),
    ("a.pdf", b"%PDF-1.7\n" + b"\xff" * 2_000, "the PDF"),
    ("a.pdf", pdf(["text"])[:300], "the PDF"),
    ("a.pdf", pdf([]), "has no text"),
    ("a.pdf", pdf(*[["x"]] * 301), "301 pages, and the limit is 300"),
    ("a.pdf", endless_stream(), "the PDF exceeds a limit"),
    ("a.docx", rezipped(WORD, replace=deep, name=MAIN), "nested deeper than 200|damaged"),
    ("a.html", b"<div>" * 5_000 + b"x", "nested deeper than 200"),
    ("a.html", b"<b>" * 5_000 + b"x", "nested deeper than 200"),
    ("a.txt", b"x\n" * 5_001, "5,001 paragraphs, and the limit is 5,000"),
    ("a.html", b"<p>x" * 5_001, "5,001 paragraphs"),
    ("a.txt", b"x" * 1_000_001, "1,000,001 characters, and the limit is 1,000,000"),
    ("a.txt", b"caf\xe9", "not UTF-8: 0xe9 is byte 4"),
    ("a.html", b'<meta charset="zip">x', "declares the encoding 'zip'"),
]  # fmt: skip


@pytest.mark.parametrize("name, data, problem", CASES, ids=[f"{number}-{case[0]}" for number, case in enumerate(CASES)])
def test_it_is_refused_with_a_clear_message(name, data, problem):
    began = time.monotonic()
    with pytest.raises(DocumentError, match=problem) as found:
        open_document(data, name)
    assert found.value.hint
    assert len(str(found.value)) < 600
    assert time.monotonic() - began < 10


def damaged_file(name, chance):
    """With wrong bytes anywhere, or with wrong words in its XML, which no checksum finds."""
    data = {"a.docx": WORD, "a.odt": ODT, "a.pdf": PAGE}[name]
    part = {"a.docx": [MAIN, "word/styles.xml", "word/numbering.xml"], "a.odt": ["content.xml"]}.get(name)
    if part is None or chance.random() < 0.3:
        return damaged_bytes(data, chance)
    return rezipped(data, replace=lambda xml: damaged_words(xml, chance), name=chance.choice(part))


def damaged_bytes(data, chance):
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed[: chance.choice([None, len(changed) // 2])])


def damaged_words(xml, chance):
    """Values, names and texts exchanged for others."""
    words = re.split(rb"(\w+)", xml)
    for _ in range(chance.randint(1, 8)):
        words[chance.randrange(len(words) // 2) * 2 + 1] = chance.choice(
            [b"w", b"p", b"r", b"t", b"-1", b"x", b"99", b""]
        )
    return b"".join(words)


PAGE = pdf(["Some text here."])


@pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.pdf"])
def test_a_damaged_file_is_an_error_or_a_document(name):
    """Never another error."""
    opened = 0
    for seed in range(200):
        with suppress(DocumentError):
            document = open_document(damaged_file(name, random.Random(seed)), name)
            opened += 1
            if document.format != "pdf":
                save(document, changes_to(document, ["x" for _ in document.blocks]), document.format)
    assert 0 < opened < 200


MARKS = [
    "<p>", "</p>", "<b", ">", "<!--", "-->", "<![CDATA[", "<!DOCTYPE", "<?", "&#", "&amp", "</", "<script>", "\0", "*",
    "**", "`", "[", "](", ")", "\n", "\n\n", "- ", "1. ", "> ", "|", "---", "#", "\\", "\t", "\r", "é", " x ",
]  # fmt: skip


@pytest.mark.parametrize("name", ["a.html", "a.md"])
def test_random_marks_never_fail(name):
    for seed in range(400):
        chance = random.Random(seed)
        data = "".join(chance.choice(MARKS) for _ in range(chance.randint(1, 60))).encode()
        try:
            document = open_document(data, name)
        except DocumentError:
            continue
        same = [block.text for block in document.blocks]
        assert save(document, changes_to(document, same), document.format) == data
        with suppress(DocumentError):
            save(document, changes_to(document, ["new *text*" for _ in same]), document.format)


@pytest.mark.parametrize(
    "data",
    [b"[" * 50_000, b"*a " * 50_000, b"<" * 50_000, b"> " * 20_000 + b"x", b"- " * 20_000 + b"x", b"`" * 50_000,
     b"|a" * 30_000 + b"\n" + b"|-" * 30_000],
    ids=["brackets", "stars", "angles", "quotes", "lists", "backticks", "table"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.md", "a.html"])
def test_repeated_marks_take_no_long_time(name, data):
    began = time.monotonic()
    with suppress(DocumentError):
        open_document(data, name)
    assert time.monotonic() - began < 15


def test_a_table_from_a_client_is_limited():
    for place in (TablePlace(10**6, 10**6, 0), TablePlace(0, 10**9, 0)):
        document = new_document([Block("table cell", "x", table_place=place)])
        for document_format in ("docx", "odt", "html", "md", "txt"):
            with pytest.raises(DocumentError, match="the limit is 20,000 cells"):
                save(document, changes_to(document, ["y"]), document_format)


def test_cells_out_of_order_are_refused():
    cells = [Block("table cell", "x", table_place=TablePlace(row, 0, 0)) for row in (1, 0)]
    document = new_document(cells)
    with pytest.raises(DocumentError, match="not in order"):
        save(document, changes_to(document, ["x", "y"]), "docx")


def test_scripts_of_a_page_are_not_text_and_stay():
    page = b"<p>x<script>physician()</script><p onclick='a()'>y"
    document = open_document(page, "a.html")
    assert [block.text for block in document.blocks] == ["x", "y"]
    assert document.notes == ("not changed: scripts (1)",)


def test_the_archive_is_checked_before_it_is_unpacked(monkeypatch):
    bomb = rezipped(WORD, replace=lambda _: b" " * 150_000_000, name=MAIN)
    monkeypatch.setattr(archives, "read_entry", lambda *_: pytest.fail("it was unpacked"))
    monkeypatch.setattr(document_files, "read_entry", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(DocumentError, match="the limit is 100,000,000"):
        open_document(bomb, "a.docx")


def test_formatting_outside_the_text_does_no_harm():
    document = new_document([Block("paragraph", "x", formatting=(Formatting(5, 9, "bold"),))])
    for document_format in ("docx", "odt", "html", "md", "txt"):
        assert save(document, changes_to(document, ["y"]), document_format)
