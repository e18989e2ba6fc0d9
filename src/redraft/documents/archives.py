"""Checks Word and OpenDocument files, which are ZIP archives of XML, before anything in them is unpacked or parsed."""

from __future__ import annotations

import io
import zipfile
from xml.parsers import expat

from redraft.documents.blocks import DocumentError

MAX_ENTRIES = 2_000
MAX_UNPACKED = 100_000_000  # bytes, all entries together
MAX_XML = 40_000_000  # bytes, all XML entries together: parsed, they take a multiple of that
MAX_RATIO = 200  # unpacked to packed, of an entry of more than a megabyte
MAX_DEPTH = 200  # of XML elements
_LARGE = 1_000_000
_XML = (".xml", ".rels")
_ENCRYPTED = 0x1  # a flag of an entry
_ENCRYPTED_ODT = b"encryption-data"
_CHUNK = 65_536
_MACROS = ("word/vbaproject.bin", "word/vbadata.xml")
_MACRO_FOLDERS = ("basic/", "scripts/")


def checked_archive(data: bytes) -> zipfile.ZipFile:
    """The archive, after all checks. The sizes in its directory limit what can be read, even if they are wrong."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise damaged(error) from None
    _check_sizes(entries)
    for entry in entries:
        if entry.flag_bits & _ENCRYPTED:
            raise encrypted()
        if entry.filename.lower() in _MACROS or entry.filename.lower().startswith(_MACRO_FOLDERS):
            raise DocumentError(
                "the document contains macros.",
                "They are never run or passed on. Save it without them, as .docx or .odt, in a word processor.",
            )
    for entry in entries:
        if entry.filename.lower().endswith(_XML):
            _check_xml(read_entry(archive, entry.filename), entry.filename)
    return archive


def read_entry(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except Exception as error:  # zipfile, zlib and the other compressions have no common base of their errors
        raise damaged(error) from None


def damaged(error: Exception) -> DocumentError:
    return DocumentError(
        f"the file is damaged, or not what its name says: {error}.",
        "Open it in a word processor, save it again, and send the new file.",
    )


def encrypted() -> DocumentError:
    return DocumentError("the file is encrypted.", "Remove its password, and send it again.")


def _check_sizes(entries: list[zipfile.ZipInfo]) -> None:
    hint = "Remove large pictures or attachments from the document, or send its text alone."
    if len(entries) > MAX_ENTRIES:
        raise DocumentError(f"the file has {len(entries):,} parts, and the limit is {MAX_ENTRIES:,}.", hint)
    for what, size, limit in (
        ("the file", sum(entry.file_size for entry in entries), MAX_UNPACKED),
        ("its text", sum(entry.file_size for entry in entries if entry.filename.lower().endswith(_XML)), MAX_XML),
    ):
        if size > limit:
            raise DocumentError(f"unpacked, {what} has {size:,} bytes, and the limit is {limit:,}.", hint)
    for entry in entries:
        if entry.file_size > _LARGE and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
            raise DocumentError(
                f"{entry.filename[:100]!r} in the file is compressed more than {MAX_RATIO}:1, as in a ZIP bomb.", hint
            )


def _check_xml(data: bytes, name: str) -> None:
    """Refuse entities and deep nesting. Nothing is loaded from elsewhere."""
    depth = 0

    def start(tag: str, attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise DocumentError(
                f"{name[:100]!r} in the file is nested deeper than {MAX_DEPTH} elements.", "Simplify its structure."
            )
        if tag.endswith(_ENCRYPTED_ODT.decode()):
            raise encrypted()

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1

    def declaration(*_: object) -> None:
        raise DocumentError(
            f"{name[:100]!r} in the file declares XML entities, which documents do not need and attacks use.",
            "Save the document again in a word processor.",
        )

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.EntityDeclHandler = start, end, declaration
    parser.ExternalEntityRefHandler = lambda *_: True  # skipped, never loaded
    try:
        for at in range(0, len(data), _CHUNK):
            parser.Parse(data[at : at + _CHUNK], False)
        parser.Parse(b"", True)
    except DocumentError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two: an encoding that does not exist
        raise damaged(error) from None
