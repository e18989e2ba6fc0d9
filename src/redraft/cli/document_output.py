"""Documents of `redraft simplify --document` that are no plain text: opened as a whole, written as a whole."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from redraft.cli.console import say
from redraft.cli.input_lines import binary_stream
from redraft.cli.output_lines import OutputLine
from redraft.decode.result import Result
from redraft.documents.blocks import DocumentError, DocumentFile, ExportFormat
from redraft.documents.document_files import MAX_BYTES, format_of_name, open_document, save
from redraft.documents.simplified_blocks import block_changes, block_sentences
from redraft.errors import ConfigError
from redraft.files import atomic_write
from redraft.reading import open_binary

_BINARY = (".docx", ".odt", ".pdf", ".doc", ".docm", ".dotx", ".dotm", ".ott", ".rtf", ".pages")
_MARKED_UP = (".html", ".htm", ".xhtml", ".md", ".markdown")


def is_document_file(path: str) -> bool:
    """Whether the name is that of a document with a structure; everything else is plain text."""
    return path.lower().endswith((*_BINARY, *_MARKED_UP))


def read_document_file(path: str) -> DocumentFile:
    with open_binary(path) as file:
        data = file.read(MAX_BYTES + 1)
    try:
        document = open_document(data, os.path.basename(path))
    except DocumentError as error:
        raise DocumentError(f"{path}: {error.problem}", error.hint) from None
    for note in document.notes:
        say(f"{path}: {note}")
    return document


class DocumentOutput:
    """Collects the results of a document's sentences, until it can be written as a whole."""

    def __init__(self, document: DocumentFile, path: str, out: str | None, *, tracked: bool) -> None:
        self._document, self._out, self._format, self._tracked = document, out, _out_format(path, out), tracked
        self._results: list[Result | None] = []

    def collect(self, output: OutputLine) -> str:
        """Instead of a line of output."""
        self._results.append(output.result)
        return ""

    def write(self) -> None:
        sentences = block_sentences(self._document)
        pairs = zip((sentence for block in sentences for sentence in block), self._results, strict=True)
        changes = block_changes(sentences, (result for sentence, result in pairs if sentence.text))
        file = save(self._document, changes, self._format, tracked=self._tracked)
        if self._out is None:
            output = binary_stream(sys.stdout)
            output.write(file)
            output.flush()
        else:
            with atomic_write(Path(self._out)) as target:
                target.write(file)


def _out_format(path: str, out: str | None) -> ExportFormat:
    """The format of the output file; without one, that of the document, if it is a text. A PDF becomes plain text."""
    found = format_of_name(path if out is None else out)
    if out is None and found in ("docx", "odt"):
        raise ConfigError(f"a .{found} document cannot be written to standard output.", f"Add --out FILE.{found}.")
    if out is None and found == "pdf":
        return "txt"
    if found is None or found == "pdf":
        raise ConfigError(
            f"{path if out is None else f'--out {out}'}: documents of this format cannot be written.",
            "Use a name that ends in .docx, .odt, .html, .md or .txt.",
        )
    return found
