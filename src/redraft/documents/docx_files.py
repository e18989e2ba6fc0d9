"""Word files (.docx): reading, writing changes, and new files made from blocks."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

import docx
from docx.document import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE as RELATIONSHIP
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph

from redraft.documents.archives import checked_archive, damaged
from redraft.documents.block_groups import formatted_stretches, link_target, table_of, tables_and_blocks
from redraft.documents.blocks import Block, DocumentError
from redraft.documents.docx_changes import ParagraphWriter
from redraft.documents.docx_paragraphs import DELETED, INSERTED, ParagraphReader
from redraft.documents.revisions import Revision

_LISTS = {True: "List Number", False: "List Bullet"}
_DEEPEST_LIST = 3  # of the styles of python-docx's template
_LINK_COLOUR = "0563C1"


def read_docx(data: bytes) -> tuple[list[Block], list[str]]:
    """The blocks, and notes of what is not in them."""
    with _damage_reported():
        document = _opened(data)
        reader = ParagraphReader(document)
        blocks = [paragraph.block for paragraph in reader.paragraphs()]
        return blocks, list(_notes(document, reader.left_out))


def revised_docx(data: bytes, revisions: Sequence[Revision], *, tracked: bool, date: datetime) -> bytes:
    with _damage_reported():
        document = _opened(data)
        paragraphs = ParagraphReader(document).paragraphs()
        writer = ParagraphWriter(document, tracked=tracked, date=date)
        for paragraph, revision in zip(paragraphs, revisions, strict=True):
            if not revision.is_empty:
                writer.revise(paragraph.element, revision)
        return _saved(document)


def _opened(data: bytes) -> Document:
    checked_archive(data)
    return docx.Document(io.BytesIO(data))


@contextmanager
def _damage_reported() -> Iterator[None]:
    """python-docx reads most of a document only when it is needed, and raises any error where that is damaged."""
    try:
        yield
    except (DocumentError, ImportError, MemoryError):
        raise
    except Exception as error:
        raise damaged(error) from None


def _saved(document: Document) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _notes(document: Document, left_out: Counter[str]) -> Iterator[str]:
    found = Counter(element.tag for element in document.element.body.iter())

    def number(*names: str) -> int:
        return sum(found[qn(f"w:{name}")] for name in names)

    changes = sum(found[tag] for tag in (*INSERTED, *DELETED))
    if changes:
        yield f"{changes} tracked changes of others stay as they are; the text is read as if they were accepted"
    for what, count in (
        ("comments", number("commentReference")),
        ("footnotes and endnotes", number("footnoteReference", "endnoteReference")),
        ("text boxes", number("txbxContent")),
        ("pictures and drawings", number("drawing", "pict", "object")),
        ("formulas", found[qn("m:oMath")]),
        ("lines of a table of contents", left_out["table of contents"]),
        ("headers and footers", _headers(document)),
    ):
        if count:
            yield f"not changed: {what} ({count})"
    fields = number("fldSimple") + sum(
        one.get(qn("w:fldCharType")) == "begin" for one in document.element.body.iter(qn("w:fldChar"))
    )
    if fields:
        yield f"fields ({fields}) are shown with their last value; a changed value lasts until the field is updated"


def _headers(document: Document) -> int:
    """Headers and footers with text."""
    kinds = (RELATIONSHIP.HEADER, RELATIONSHIP.FOOTER)
    parts = [relation.target_part for relation in document.part.rels.values() if relation.reltype in kinds]
    return sum(any((text.text or "").strip() for text in part.element.iter(qn("w:t"))) for part in parts)


def new_docx(blocks: Sequence[Block], title: str | None, date: datetime) -> bytes:
    """A new document in the styles of Word."""
    document = docx.Document()
    properties = document.core_properties
    properties.title, properties.author, properties.comments = title or "", "", ""
    properties.created = properties.modified = date
    writer = _NewDocument(document)
    for group in tables_and_blocks(blocks):
        if isinstance(group, Block):
            writer.add_paragraph(group)
        else:
            writer.add_table(group)
    return _saved(document)


class _NewDocument:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._number_ids: dict[int, str] = {}  # of the current ordered lists, by level
        if "Hyperlink" not in document.styles:
            style = document.styles.add_style("Hyperlink", WD_STYLE_TYPE.CHARACTER)
            style.font.underline = True
            colour = OxmlElement("w:color", {qn("w:val"): _LINK_COLOUR})
            style.element.get_or_add_rPr().append(colour)

    def add_paragraph(self, block: Block) -> None:
        style = "Normal"
        if block.kind == "heading":
            style = f"Heading {min(max(block.level, 1), 9)}"
        elif block.list_place is not None:
            level = min(max(block.level, 1), _DEEPEST_LIST)
            style = _LISTS[block.list_place.ordered] + (f" {level}" if level > 1 else "")
        paragraph = self._document.add_paragraph(style=style)
        if block.list_place is not None and block.kind == "list item":
            self._number(paragraph, block)
        else:
            self._number_ids.clear()
        _add_runs(paragraph, block)

    def add_table(self, blocks: Sequence[Block]) -> None:
        self._number_ids.clear()
        cells = table_of(blocks)
        table = self._document.add_table(len(cells), len(cells[0]), "Table Grid")
        for row, cells_of_row in zip(table.rows, cells, strict=True):
            for cell, inside in zip(row.cells, cells_of_row, strict=True):
                for number, block in enumerate(inside):
                    _add_runs(cell.add_paragraph() if number else cell.paragraphs[0], block)
        self._document.add_paragraph()  # Word joins two tables without a paragraph between them

    def _number(self, paragraph: Paragraph, block: Block) -> None:
        """Each ordered list has a numbering of its own: those of a style would continue."""
        assert block.list_place is not None
        level = min(max(block.level, 1), _DEEPEST_LIST)
        for deeper in [one for one in self._number_ids if one > level]:
            del self._number_ids[deeper]
        if not block.list_place.ordered:
            self._number_ids.pop(level, None)
            return
        if level not in self._number_ids or block.list_place.number == 1:
            numbering = self._document.part.numbering_part.element
            style_number = paragraph.style.element.pPr.numPr.numId.val  # type: ignore[union-attr]
            abstract = numbering.num_having_numId(style_number).abstractNumId.val
            number = numbering.add_num(abstract)
            number.add_lvlOverride(0).add_startOverride(max(block.list_place.number, 0))
            self._number_ids[level] = number.numId
        properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_ilvl().val = 0
        properties.get_or_add_numId().val = self._number_ids[level]


def _add_runs(paragraph: Paragraph, block: Block) -> None:
    for text, formatting in formatted_stretches(block):
        run = paragraph.add_run(text)
        styles = {one.style for one in formatting}
        run.bold, run.italic = "bold" in styles or None, "italic" in styles or None
        run.underline = "underline" in styles or None
        if "code" in styles:
            run.font.name = "Courier New"
        target = link_target(formatting)
        if target is not None:
            run.style = "Hyperlink"
            link = OxmlElement("w:hyperlink")
            link.set(qn("r:id"), paragraph.part.relate_to(target, RELATIONSHIP.HYPERLINK, is_external=True))
            run._r.addprevious(link)
            link.append(run._r)
