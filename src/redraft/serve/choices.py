"""The words of a sentence, each with what people write for it."""

from __future__ import annotations

from redraft.align.function_words import is_content
from redraft.align.words import Word, normal, split_words
from redraft.constrain.edits import folded
from redraft.constrain.lexicon import Lexicon
from redraft.serve.bodies import Choice, WordOf

_MOST = 6


def words_with_choices(source: str, lexicon: Lexicon | None) -> list[WordOf]:
    return [
        WordOf(text=word.text, start=word.start, end=word.end, choices=_choices(word, lexicon) if lexicon else [])
        for word in split_words(source)
    ]


def _choices(word: Word, lexicon: Lexicon) -> list[Choice]:
    entry = lexicon.entry_of([normal(word.text)]) if is_content(word.text) else None
    if entry is None:
        return []
    others = [(target, share) for target, share in entry.targets if folded(target) != folded(word.text)]
    capital = word.text[:1].isupper()
    return [Choice(target=target[:1].upper() + target[1:] if capital else target, probability=share)
            for target, share in others[:_MOST]]  # fmt: skip
