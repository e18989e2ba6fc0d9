"""Word documents for tests, and an independent reading of their XML: tracked changes accepted or rejected."""

from __future__ import annotations

import io
import zipfile
from typing import Any
from xml.etree import ElementTree

import docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from redraft.documents.blocks import BlockChange, DocumentFile, SentenceChange
from redraft.text.sentences import split_document

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def word_document(*paragraphs: str) -> bytes:
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    return saved(document)


def add_link(paragraph: Any, text: str, address: str) -> None:
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run = paragraph.add_run(text)
    paragraph._p.append(link)
    link.append(run._r)


def changes_to(document: DocumentFile, texts: list[str]) -> list[BlockChange]:
    """Each block as one sentence with this new text."""
    return [
        BlockChange((SentenceChange("", block.text, text),)) for block, text in zip(document.blocks, texts, strict=True)
    ]


def sentence_changes(document: DocumentFile, new_text: Any) -> list[BlockChange]:
    """The changes of `new_text`, a function of a sentence, for each sentence of the document."""
    return [
        BlockChange(tuple(
            SentenceChange(one.space, one.text, new_text(one.text) if one.text else "")
            for one in split_document(block.text)
        ))
        for block in document.blocks
    ]  # fmt: skip


def part(data: bytes, name: str) -> ElementTree.Element:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return ElementTree.fromstring(archive.read(name))


Look = tuple[bool, bool, bool]  # bold, italic, in a link


def characters(data: bytes, *, accept: bool) -> list[list[tuple[str, Look]]]:
    """The characters of each paragraph with text, after all tracked changes are accepted or rejected."""
    found = []
    for paragraph in part(data, "word/document.xml").iter(f"{W}p"):
        text: list[tuple[str, Look]] = []
        _collect(paragraph, accept, False, text)
        if text:
            found.append(text)
    return found


def texts(data: bytes, *, accept: bool) -> list[str]:
    return ["".join(one for one, _ in paragraph) for paragraph in characters(data, accept=accept)]


def _collect(around: ElementTree.Element, accept: bool, linked: bool, text: list[tuple[str, Look]]) -> None:
    for child in around:
        tag = child.tag.removeprefix(W)
        if tag == ("del" if accept else "ins"):
            continue
        if tag == "r":
            look = (child.find(f"{W}rPr/{W}b") is not None, child.find(f"{W}rPr/{W}i") is not None, linked)
            for one in child:
                name = one.tag.removeprefix(W)
                is_break = name == "br" and one.get(f"{W}type", "textWrapping") == "textWrapping"
                shown = (one.text or "") if name in ("t", "delText") else "\n" if is_break else ""
                shown = "\t" if name == "tab" else shown
                text += [(character, look) for character in shown]
        elif tag in ("ins", "del", "hyperlink", "smartTag", "fldSimple"):
            _collect(child, accept, linked or tag == "hyperlink", text)


def check_well_formed(data: bytes) -> None:
    """What Word requires of tracked changes and comments."""
    root = part(data, "word/document.xml")
    for deleted in root.iter(f"{W}del"):
        assert not list(deleted.iter(f"{W}t")), "text of a deletion is in delText"
    for inserted in root.iter(f"{W}ins"):
        assert len(list(inserted.iter(f"{W}ins"))) == 1, "insertions are not nested"
        assert not list(inserted.findall(f"{W}r/{W}delText"))
    changes = [*root.iter(f"{W}ins"), *root.iter(f"{W}del")]
    ids = [one.get(f"{W}id") for one in changes]
    assert len(ids) == len(set(ids))
    assert all(one.get(f"{W}author") and one.get(f"{W}date") for one in changes)
    marks = [
        sorted(str(one.get(f"{W}id")) for one in root.iter(f"{W}{name}"))
        for name in ("commentRangeStart", "commentRangeEnd", "commentReference")
    ]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        has_comments = "word/comments.xml" in archive.namelist()
    comments = part(data, "word/comments.xml").iter(f"{W}comment") if has_comments else ()
    assert marks == [sorted(str(one.get(f"{W}id")) for one in comments)] * 3
