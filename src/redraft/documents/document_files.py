"""Opens documents of all formats, and saves them with changes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args

from redraft.documents.archives import checked_archive, damaged, encrypted, read_entry
from redraft.documents.blocks import (
    Block,
    BlockChange,
    DocumentError,
    DocumentFile,
    ExportFormat,
    Format,
    Formatting,
    SentenceChange,
)  # fmt: skip
from redraft.documents.format_takeover import places_of_added
from redraft.documents.revisions import Revision, printable, revisions_of
from redraft.documents.source_items import SourceBlock

MAX_BYTES = 10_000_000
MAX_BLOCKS = 5_000
MAX_CHARACTERS = 1_000_000
EXTENSIONS: dict[str, Format] = {
    ".docx": "docx", ".odt": "odt", ".html": "html", ".htm": "html", ".xhtml": "html", ".md": "md", ".markdown": "md",
    ".txt": "txt", ".text": "txt", ".pdf": "pdf",
}  # fmt: skip
CONTENT_TYPES: dict[ExportFormat, str] = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "odt": "application/vnd.oasis.opendocument.text",
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}
_NAMES: dict[Format, str] = {
    "docx": "a Word document", "odt": "an OpenDocument text", "html": "an HTML page", "md": "Markdown",
    "txt": "plain text", "pdf": "a PDF",
}  # fmt: skip
# Formats that are not read, and what to do.
_OTHERS = {
    ".doc": "an old Word document. Open it in a word processor and save it as .docx.",
    ".docm": "a Word document with macros, which are never run or passed on. Save it as .docx.",
    ".dotm": "a Word template with macros, which are never run or passed on. Save it as .docx.",
    ".dotx": "a Word template. Save it as .docx.",
    ".ott": "an OpenDocument template. Save it as .odt.",
    ".rtf": "a rich text document. Save it as .docx or .odt.",
    ".pages": "a document of Pages. Export it as .docx.",
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # old Word documents, and encrypted new ones
_WORD_TYPE = b"wordprocessingml.document.main+xml"
_MACRO_TYPES = (b"macroEnabled", b"vbaProject")
_TEXT_FORMATS: tuple[Format, ...] = ("html", "md", "txt")


def open_document(data: bytes, name: str) -> DocumentFile:
    """Read a document. The extension of the name must fit the content.

    Raises DocumentError if it cannot be read or exceeds a limit. Nothing in it is executed or loaded from elsewhere.
    """
    if len(data) > MAX_BYTES:
        raise DocumentError(f"the file has {len(data):,} bytes, and the limit is {MAX_BYTES:,}.", "Send a part of it.")
    document_format = _format_by_name(name)
    _check_content(data, document_format)
    with _libraries_needed(document_format):
        blocks, notes = _read(data, document_format)
    _check_size(blocks)
    return DocumentFile(name, document_format, tuple(blocks), tuple(notes), data)


def _read(data: bytes, document_format: Format) -> tuple[list[Block], list[str]]:
    # Each format imports its own libraries.
    match document_format:
        case "docx":
            from redraft.documents.docx_files import read_docx

            return read_docx(data)
        case "odt":
            from redraft.documents.odt_files import read_odt

            opened = read_odt(data)
            return _blocks(opened.blocks), list(opened.notes)
        case "html":
            from redraft.documents.html_files import read_html

            page = read_html(data)
            return _blocks(page.blocks), list(page.notes)
        case "md":
            from redraft.documents.markdown_files import read_markdown

            text = read_markdown(data)
            return _blocks(text.blocks), list(text.notes)
        case "pdf":
            from redraft.documents.pdf_files import read_pdf

            return read_pdf(data)
        case "txt":
            from redraft.documents.plain_text import read_plain_text

            return _blocks(read_plain_text(data)[2]), []


def _blocks(found: Sequence[SourceBlock]) -> list[Block]:
    return [one.block for one in found]


def new_document(blocks: Sequence[Block]) -> DocumentFile:
    """A document without a file, to be saved in any format."""
    cleaned = [replace(block, text=printable(block.text)) for block in blocks]
    _check_size(cleaned)
    return DocumentFile("", "txt", tuple(cleaned))


def save(
    document: DocumentFile,
    changes: Sequence[BlockChange],
    document_format: ExportFormat,
    *,
    tracked: bool = True,
    title: str | None = None,
    date: datetime | None = None,
) -> bytes:
    """The document with the changes, one for each block.

    In its own format, everything else of the file stays; in another format, a new document is made. `tracked`: .docx
    gets tracked changes and comments, .html ins and del elements; other formats always get the new text alone.
    """
    if document_format not in get_args(ExportFormat):
        raise DocumentError(f"{document_format!r} is no format.", f"Use {', '.join(get_args(ExportFormat))}.")
    date = date or datetime.now(UTC)
    is_own = document.data is not None and document.format == document_format
    blocks = document.blocks
    if not is_own:  # a new document cannot hold control characters
        blocks = tuple(replace(block, text=printable(block.text)) for block in blocks)
        changes = [_printable_change(change) for change in changes]
    revisions = revisions_of(blocks, changes)
    with _libraries_needed(document_format):
        if is_own:
            assert document.data is not None
            return _revised(document.data, revisions, document_format, tracked=tracked, date=date)
        if tracked and document_format in ("docx", "html"):
            kept = [pair for pair in zip(blocks, revisions, strict=True) if pair[0].text.strip()]
            original = _new([block for block, _ in kept], document_format, title, date)
            return _revised(original, [revision for _, revision in kept], document_format, tracked=True, date=date)
        revised = [_revised_block(block, revision) for block, revision in zip(blocks, revisions, strict=True)]
        return _new([block for block in revised if block.text.strip()], document_format, title, date)


@contextmanager
def _libraries_needed(document_format: Format) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise DocumentError(
            f"{_NAMES[document_format]} needs {error.name}, which is not installed.",
            "Install it: pip install 'redraft[documents]'",
        ) from None


def _revised(
    data: bytes, revisions: Sequence[Revision], document_format: ExportFormat, *, tracked: bool, date: datetime
) -> bytes:
    match document_format:
        case "docx":
            from redraft.documents.docx_files import revised_docx

            return revised_docx(data, revisions, tracked=tracked, date=date)
        case "odt":
            from redraft.documents.odt_files import revised_odt

            return revised_odt(data, revisions)
        case "html":
            from redraft.documents.html_files import revised_html

            return revised_html(data, revisions, tracked=tracked)
        case "md":
            from redraft.documents.markdown_files import revised_markdown

            return revised_markdown(data, revisions)
        case "txt":
            from redraft.documents.plain_text import revised_plain_text

            return revised_plain_text(data, revisions)


def _new(blocks: Sequence[Block], document_format: ExportFormat, title: str | None, date: datetime) -> bytes:
    match document_format:
        case "docx":
            from redraft.documents.docx_files import new_docx

            return new_docx(blocks, title, date)
        case "odt":
            from redraft.documents.odt_files import new_odt

            return new_odt(blocks, title, date)
        case "html":
            from redraft.documents.html_files import new_html

            return new_html(blocks, title)
        case "md":
            from redraft.documents.markdown_files import new_markdown

            return new_markdown(blocks)
        case "txt":
            from redraft.documents.plain_text import new_plain_text

            return new_plain_text(blocks)


def _revised_block(block: Block, revision: Revision) -> Block:
    """The block with its new text; added words take over the formatting of the words they replace."""
    formats = [tuple(one for one in block.formatting if one.start <= at < one.end) for at in range(len(block.text))]
    links = [next((one for one in around if one.style == "link"), None) for around in formats]
    places = places_of_added(revision.pieces, formats, links)
    new: list[tuple[Formatting, ...]] = []
    for number, piece in enumerate(revision.pieces):
        if piece.kind == "kept":
            new += formats[piece.start : piece.end]
        elif piece.kind == "added":
            around = formats[places[number].character] if formats else ()
            if places[number].outside_link:
                around = tuple(one for one in around if one.style != "link")
            new += [around] * len(piece.text)
    return replace(block, text=revision.text, formatting=tuple(_spans(block.formatting, new)))


def _spans(formatting: Sequence[Formatting], characters: Sequence[tuple[Formatting, ...]]) -> Iterator[Formatting]:
    """The stretches in which each of these holds."""
    for one in formatting:
        start: int | None = None
        for at, around in enumerate([*characters, ()]):
            if one in around and start is None:
                start = at
            elif one not in around and start is not None:
                yield replace(one, start=start, end=at)
                start = None


def _printable_change(change: BlockChange) -> BlockChange:
    return BlockChange(tuple(map(_printable_sentence, change.sentences)), printable(change.tail))


def _printable_sentence(sentence: SentenceChange) -> SentenceChange:
    return replace(sentence, space=printable(sentence.space), source=printable(sentence.source))


def format_of_name(name: str) -> Format | None:
    """The format that the extension of a file name stands for."""
    return EXTENSIONS.get(_extension(name))


def _extension(name: str) -> str:
    return "." + name.rpartition(".")[2].lower() if "." in name else ""


def _format_by_name(name: str) -> Format:
    found = format_of_name(name)
    if found is not None:
        return found
    extension = _extension(name)
    if extension in _OTHERS:
        what, _, hint = _OTHERS[extension].partition(". ")
        raise DocumentError(f"the file is {what}, which is not read.", hint)
    raise DocumentError(
        f"the name {name[-60:]!r} has no extension of a document that can be read.",
        f"These can: {', '.join(EXTENSIONS)}.",
    )


def _check_content(data: bytes, document_format: Format) -> None:
    found = _format_of_content(data)
    fits = found == document_format or (found is None and document_format in _TEXT_FORMATS)
    if not fits:
        what = _NAMES[found] if found is not None else "a text or an unknown format"
        raise DocumentError(
            f"the file is {what}, and by its name it is {_NAMES[document_format]}.",
            "Give it the extension of its content, or save it in the format of its name.",
        )


def _format_of_content(data: bytes) -> Format | None:
    """The format of a binary file; None for texts, which have no mark."""
    if data.startswith(_OLE):
        raise DocumentError(
            "the file is an old Word document (.doc), or a new one that is encrypted.",
            "Open it in a word processor, remove its password, and save it as .docx.",
        )
    if data.startswith(b"PK"):
        return _format_of_archive(data)
    if b"%PDF-" in data[:1024]:
        return "pdf"
    return None


def _format_of_archive(data: bytes) -> Format:
    archive = checked_archive(data)
    names = archive.namelist()
    if "mimetype" in names and "content.xml" in names:
        if read_entry(archive, "mimetype").strip() == CONTENT_TYPES["odt"].encode():
            return "odt"
    elif "[Content_Types].xml" in names:
        types = read_entry(archive, "[Content_Types].xml")
        if any(one in types for one in _MACRO_TYPES):
            raise DocumentError(f"the file is {_OTHERS['.docm'].partition('. ')[0]}.", "Save it as .docx.")
        if _WORD_TYPE in types:
            return "docx"
    if "EncryptedPackage" in names:
        raise encrypted()
    raise damaged(zipfile.BadZipFile("it is a ZIP archive, but no text document"))


def _check_size(blocks: Sequence[Block]) -> None:
    characters = sum(len(block.text) for block in blocks)
    for what, count, limit in (("paragraphs", len(blocks), MAX_BLOCKS), ("characters", characters, MAX_CHARACTERS)):
        if count > limit:
            raise DocumentError(f"the document has {count:,} {what}, and the limit is {limit:,}.", "Send a part of it.")
