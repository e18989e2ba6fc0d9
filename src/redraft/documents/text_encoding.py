"""Decodes text files: UTF-8, or UTF-16 with a byte order mark."""

from __future__ import annotations

import codecs

from redraft.documents.blocks import DocumentError
from redraft.files import utf8_hint


def decoded_text(data: bytes) -> tuple[str, str]:
    """The text and the encoding to write it back in, with its byte order mark if it has one."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    else:
        encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"the text is not {encoding.upper().removesuffix('-SIG')}: 0x{data[error.start]:02x} is byte "
            f"{error.start + 1:,}.",
            utf8_hint(data),
        ) from None
