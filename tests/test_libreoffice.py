"""LibreOffice opens the documents that are written, and reads the text that they should have."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from redraft.documents.document_files import new_document, open_document, save
from test_document_formats import BLOCKS
from word_documents import changes_to, sentence_changes

OFFICE = shutil.which("soffice")
LETTER = Path(__file__).resolve().parent.parent / "examples" / "letter.docx"
pytestmark = pytest.mark.skipif(OFFICE is None, reason="LibreOffice is not installed")
REPLACED = {
    "prior to": "before",
    "terminate": "end",
    "downloaded from": "found on",
    "Complete": "Fill in",
    "submit": "send",
}


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    return tmp_path_factory.mktemp("profile")


@pytest.fixture
def converted(profile, tmp_path):
    """The file as LibreOffice converts it to another format."""

    def convert(data, name, target):
        (tmp_path / name).write_bytes(data)
        command = [OFFICE, f"-env:UserInstallation=file://{profile}", "--headless", "--convert-to", target, "--outdir",
                   tmp_path / "out", tmp_path / name]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        (found,) = (tmp_path / "out").iterdir()
        result = found.read_bytes()
        found.unlink()
        return result

    return convert


def words(text):
    return " ".join(text.split())


def simpler(sentence):
    for old, new in REPLACED.items():
        sentence = sentence.replace(old, new)
    return sentence


def test_the_letter_with_tracked_changes(converted):
    document = open_document(LETTER.read_bytes(), "letter.docx")
    changes = sentence_changes(document, simpler)
    tracked = save(document, changes, "docx", date=datetime(2026, 3, 2, tzinfo=UTC))
    # LibreOffice writes the new text and the deleted one to a .docx of its own, with both marked.
    again = open_document(converted(tracked, "a.docx", "docx:MS Word 2007 XML"), "a.docx")
    assert [words(block.text) for block in again.blocks] == [words(change.text) for change in changes]
    assert any("tracked changes" in note for note in again.notes)
    assert any("comments" in note for note in again.notes)
    assert sum(block.text != change.text for block, change in zip(document.blocks, changes, strict=True)) >= 3
    pdf = converted(tracked, "a.docx", "pdf")
    assert pdf.startswith(b"%PDF")
    text = words(open_document(pdf, "a.pdf").text)
    assert "Your housing allowance" in text
    assert "before the aforementioned date" in text.replace("prior to", "").replace("  ", " ")


def test_the_letter_without_tracking(converted):
    document = open_document(LETTER.read_bytes(), "letter.docx")
    changes = sentence_changes(document, simpler)
    text = converted(save(document, changes, "docx", tracked=False), "a.docx", "txt:Text (encoded):UTF8").decode()
    for change in changes:
        assert words(change.text) in words(text)


@pytest.mark.parametrize("name", ["docx", "odt", "html"])
def test_new_documents(name, converted):
    document = new_document(BLOCKS)
    same = changes_to(document, [block.text for block in BLOCKS])
    file = save(document, same, name, tracked=False, title="A title")
    found = open_document(converted(file, f"a.{name}", "docx:MS Word 2007 XML"), "b.docx").blocks
    assert [words(block.text) for block in found] == [words(block.text) for block in BLOCKS]
    assert [block.kind for block in found] == [block.kind for block in BLOCKS]
    ordered = [block.list_place.ordered for block in found if block.kind == "list item"]
    assert ordered == [True, True, False]
    assert {one.style for one in found[1].formatting} >= {"bold", "link"}


@pytest.mark.parametrize("target", ["odt", "html", "pdf"])
def test_documents_of_libreoffice_are_read(target, converted):
    """An .odt, .html and .pdf that another program wrote."""
    document = open_document(LETTER.read_bytes(), "letter.docx")
    data = converted(LETTER.read_bytes(), "letter.docx", target)
    found = open_document(data, f"a.{target}")
    if target == "pdf":
        assert "Housing allowance is granted for a period of twelve months." in words(found.text)
        return
    assert [words(one.text) for one in found.blocks] == [words(one.text) for one in document.blocks]
    assert [one.kind for one in found.blocks] == [one.kind for one in document.blocks]
    new = [simpler(block.text) for block in found.blocks]
    again = open_document(save(found, changes_to(found, new), target, tracked=False), f"a.{target}")
    assert [words(block.text) for block in again.blocks] == [words(text) for text in new]
    assert [block.kind for block in again.blocks] == [block.kind for block in found.blocks]
