"""The text of PDF files. A PDF has lines at places, not paragraphs, so paragraphs are put together again."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from statistics import median

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from redraft.documents.archives import encrypted
from redraft.documents.blocks import Block, DocumentError, ListPlace

MAX_PAGES = 300
MAX_CHARACTERS = 2_000_000  # of all pages together
_LIST_MARK = re.compile(r"(?:[-–—*•◦▪·‣]|(\d{1,3})[.)])\s+(?=\S)")
_SENTENCE_END = re.compile(r"[.!?…:;][\"'”’»)\]]*$")
_WHOLE_LINE = 0.75  # of the usual length: shorter lines end a paragraph


def read_pdf(data: bytes) -> tuple[list[Block], list[str]]:
    notes = ["read as text alone: layout, pictures, tables and formatting of the PDF are left out"]
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise encrypted()
        if len(reader.pages) > MAX_PAGES:
            raise DocumentError(
                f"the PDF has {len(reader.pages):,} pages, and the limit is {MAX_PAGES}.", "Send a part of it."
            )
        pages = list(_page_texts(reader))
    except DocumentError:
        raise
    except MemoryError:
        raise DocumentError("the PDF needs too much memory.", "Send its text instead.") from None
    except Exception as error:  # pypdf raises many kinds of errors on damaged files
        what = "exceeds a limit" if isinstance(error, PyPdfError) and "limit" in str(error).lower() else "is damaged"
        raise DocumentError(f"the PDF {what}: {error}.", "Print it to a new PDF, or send its text instead.") from None
    blocks = [block for page in pages for block in paragraphs_of_lines(page.splitlines())]
    if not blocks:
        raise DocumentError(
            "the PDF has no text: its pages are probably pictures.", "Run a text recognition (OCR) on it first."
        )
    return blocks, notes


def _page_texts(reader: PdfReader) -> Iterator[str]:
    characters = 0
    for page in reader.pages:
        text = page.extract_text()
        characters += len(text)
        if characters > MAX_CHARACTERS:
            raise DocumentError(
                f"the PDF has more than {MAX_CHARACTERS:,} characters, which is the limit.", "Send a part of it."
            )
        yield text


def paragraphs_of_lines(lines: Sequence[str]) -> list[Block]:
    """Paragraphs put together from lines; a word that a hyphen divides at the end of a line is joined."""
    blocks: list[Block] = []
    current: list[str] = []
    usual = median(sorted((len(line.strip()) for line in lines if line.strip()), reverse=True)[:10] or [0])

    def finish() -> None:
        if current:
            blocks.append(_block(_joined(current)))
            current.clear()

    for raw in lines:
        line = raw.strip()
        if not line or _LIST_MARK.match(line):
            finish()
        if line:
            current.append(line)
            if len(line) < _WHOLE_LINE * usual and (_SENTENCE_END.search(line) or len(current) == 1):
                finish()
    finish()
    return blocks


def _joined(lines: Sequence[str]) -> str:
    text = lines[0]
    for line in lines[1:]:
        divided = text.endswith(("-", "\u00ad")) and text[-2:-1].isalpha() and line[:1].islower()
        text = text[:-1] + line if divided else f"{text} {line}"
    return text


def _block(text: str) -> Block:
    mark = _LIST_MARK.match(text)
    if mark is None:
        return Block("paragraph", text)
    return Block("list item", text[mark.end() :], 1, list_place=ListPlace(mark[1] is not None, int(mark[1] or 1)))
