"""JSON schemas of the requests about documents. Docstrings and descriptions appear in the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import FailFast, Field

from redraft.documents.blocks import Author, BlockKind, ExportFormat, Format, FormattingStyle
from redraft.serve.schemas import StrictModel, Text, example

# FailFast: a body of megabytes may have a mistake in every item, and one is enough to refuse it.
_Base64 = Annotated[str, Field(json_schema_extra={"contentEncoding": "base64"})]


class OpenDocumentRequest(StrictModel):
    """A file."""

    model_config = example(name="note.md", content="VGhleSAqKnB1cmNoYXNlZCoqIGl0Lgo=")

    name: Text = Field(description="name of the file; its extension must fit its content")
    content: _Base64 = Field(description="the file, in base64")


class DocumentFormatting(StrictModel):
    """A formatted span of the text of a block, counted in characters (Unicode code points)."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    style: FormattingStyle
    target: Text | None = Field(None, description="the address of a link")


class DocumentTablePlace(StrictModel):
    """The place of a table cell, counted from 0."""

    row: int = Field(ge=0)
    column: int = Field(ge=0)
    table: int = Field(ge=0)


class DocumentListPlace(StrictModel):
    """The number of a list item, counted from 1."""

    ordered: bool
    number: int


# Named here: inside the classes below, `list` is a field.
_FormattingList = Annotated[list[DocumentFormatting], FailFast()]


class DocumentBlock(StrictModel):
    """A paragraph, heading, list item or paragraph of a table cell."""

    kind: BlockKind
    level: int = Field(0, ge=0, le=9, description="of a heading or list item, from 1; else 0")
    text: Text = Field(description="line breaks are \\n, tabs \\t")
    formatting: _FormattingList = Field([])
    table: DocumentTablePlace | None = None
    list: DocumentListPlace | None = None


class OpenDocumentResponse(StrictModel):
    format: Format
    blocks: list[DocumentBlock]
    notes: list[str] = Field(description="what was left out or is kept as it is, in words")


class ExportedSentence(StrictModel):
    """A sentence of a block, and its new text."""

    space: Text = Field("", description="white space before the sentence")
    source: Text
    text: Text = Field(description="the new text; the source, if the sentence is unchanged")
    edits: Annotated[list[dict[str, Any]], FailFast()] = Field(
        [], description="edits as in plan files, each with its status"
    )
    reviewed: bool = Field(False, description="whether the editor accepted the sentence")
    by: Author = Field("redraft", description="who wrote the text")
    warnings: Annotated[list[Text], FailFast()] = Field([], description="what to check, in words")


_SentenceList = Annotated[list[ExportedSentence], FailFast()]


class ExportedBlock(DocumentBlock):
    """A block as it was opened, with its sentences. Its text is `space` and `source` of all sentences, then `tail`."""

    sentences: _SentenceList = Field([])
    tail: Text = Field("", description="text after the last sentence")


class ExportDocumentRequest(StrictModel):
    """A document with the new text of its sentences."""

    name: Text | None = Field(None, description="name of the original file; null: there is none")
    content: _Base64 | None = Field(None, description="the original file, in base64; null: make one from the blocks")
    format: ExportFormat
    tracked: bool = Field(
        True, description="docx: tracked changes and comments; html: ins and del. Other formats get the new text alone"
    )
    title: Text | None = Field(None, description="title of a document made from the blocks")
    blocks: Annotated[list[ExportedBlock], FailFast()]
