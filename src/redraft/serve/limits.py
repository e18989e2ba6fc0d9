"""Limits on the size of requests and on the work in progress."""

from __future__ import annotations

from dataclasses import dataclass, fields

from redraft.documents.document_files import MAX_BLOCKS, MAX_CHARACTERS
from redraft.errors import ConfigError


@dataclass(frozen=True)
class Limits:
    """Requests beyond a limit are refused with an error that names it."""

    max_characters: int = 20_000  # per request, all texts together
    max_sentences: int = 200  # per request
    max_sentence: int = 2_000  # characters per sentence
    max_edits: int = 500  # per sentence, given or made from the keep list and glossary
    max_targets: int = 20  # per substitution
    max_phrase: int = 200  # characters per phrase of an edit, keep list or glossary
    max_user_constraints: int = 500  # entries of keep list and glossary together
    max_references: int = 10  # per evaluation
    max_traced: int = 10  # sentences per request with traces, which are long
    max_trace: int = 250_000  # numbers and strings in the trace of a sentence
    max_body: int = 1_000_000  # bytes
    max_document_body: int = 10_000_000  # bytes of a request about a document, whose file is in it as base64
    document_processes: int = 2  # documents that are opened or exported at the same time
    document_queue: int = 8  # waiting requests about documents
    document_deadline: float = 60.0  # seconds until a request about a document is aborted
    queue: int = 256  # waiting sentences
    batch: int = 16  # sentences per batch
    concurrent_batches: int = 4  # batches in progress, of which one is computed at a time
    wait_ms: float = 5  # milliseconds to wait for more sentences before a batch starts
    time_slice: float = 5.0  # seconds after which a batch lets waiting batches run
    deadline: float = 120.0  # seconds until a request is aborted
    receive_timeout: float = 20.0  # seconds to receive the headers of a request, and again for its body
    shutdown_timeout: float = 10.0  # seconds for requests to finish when the service stops

    def to_markdown(self) -> str:
        return f"""\
Limits:

- request: {self.max_characters:,} characters, {self.max_sentences} sentences, {self.max_body:,} bytes, \
{self.deadline:g} seconds; its headers and its body must each arrive within {self.receive_timeout:g} seconds
- sentence: {self.max_sentence:,} characters, {self.max_edits} edits (including those made from `keep` and \
`glossary`), {self.max_targets} targets per substitution, {self.max_phrase} characters per phrase
- `keep` and `glossary`: {self.max_user_constraints} entries together
- traces: {self.max_traced} sentences per request, {self.max_trace:,} numbers and strings per sentence
- `/v1/evaluate`: {self.max_references} references
- `/v1/documents/`: {self.max_document_body:,} bytes (a file in base64 takes a third more than by itself), \
{self.document_deadline:g} seconds, {MAX_BLOCKS:,} paragraphs and {MAX_CHARACTERS:,} characters in a document; \
{self.document_processes} documents at the same time, {self.document_queue} more may wait
- queue: {self.queue} sentences
"""

    def body_of(self, path: str) -> int:
        """The largest body of a request to this path, in bytes."""
        return self.max_document_body if path.startswith("/v1/documents/") else self.max_body

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0 and field.name != "wait_ms":
                raise ConfigError(f"{field.name} is {getattr(self, field.name)!r}.", "Use a number greater than 0.")
        if self.queue < self.max_sentences:
            raise ConfigError(
                f"max_sentences is {self.max_sentences}, but the queue holds only {self.queue} sentences.",
                "Raise queue, or lower max_sentences.",
            )
