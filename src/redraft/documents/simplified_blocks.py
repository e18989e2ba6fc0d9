"""Simplifies the sentences of a document, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from redraft.decode.result import Result
from redraft.documents.blocks import BlockChange, DocumentFile, JudgedEdit, SentenceChange
from redraft.simplify.documents import in_one_line
from redraft.text.sentences import Sentence, split_document

if TYPE_CHECKING:
    from redraft.simplify.simplifier import Simplifier


def simplified_blocks(document: DocumentFile, simplifier: Simplifier, **settings: Any) -> list[BlockChange]:
    """The changes of each block. `settings` are those of a call of the simplifier."""
    sentences = block_sentences(document)
    texts = [sentence.text for block in sentences for sentence in block if sentence.text]
    return block_changes(sentences, simplifier.pipe(iter(texts), **settings))


def block_sentences(document: DocumentFile) -> list[list[Sentence]]:
    """The sentences of each block."""
    return [split_document(block.text) for block in document.blocks]


def block_changes(sentences: Sequence[Sequence[Sentence]], results: Iterator[Result | None]) -> list[BlockChange]:
    """The changes of each block; one result for each sentence with text, None for one that was not rewritten."""
    return [
        BlockChange(tuple(_sentence_change(one, next(results) if one.text else None) for one in block))
        for block in sentences
    ]


def _sentence_change(sentence: Sentence, result: Result | None) -> SentenceChange:
    if result is None:
        return SentenceChange(sentence.space, sentence.text, sentence.text)
    edits = tuple(JudgedEdit(one.edit, one.status, one.reason) for one in result.verdicts)
    return SentenceChange(
        sentence.space, sentence.text, in_one_line(result.text), edits, warnings=tuple(result.warnings)
    )
