"""Inflected forms of words, from the dictionary of lemminflect."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

_CACHE_SIZE = 200_000  # words
_PARTS_OF_SPEECH = ("NOUN", "VERB", "ADJ", "ADV")


class Form(NamedTuple):
    """One analysis of a word: "began" is the past tense (VBD) of the verb "begin"."""

    part_of_speech: str
    lemma: str
    tag: str


class Sibling(NamedTuple):
    """Another form of the same lemma, and the tags of both."""

    text: str
    part_of_speech: str
    tag: str
    tag_of_word: str  # the word whose sibling this is


@lru_cache(_CACHE_SIZE)
def forms(word: str) -> tuple[Form, ...]:
    """All analyses of a word; none for a word that is not in the dictionary."""
    from lemminflect import getAllInflections, getAllLemmas

    return tuple(
        Form(kind, lemma, tag)
        for kind, lemmas in getAllLemmas(word).items()
        if kind in _PARTS_OF_SPEECH
        for lemma in lemmas
        for tag, texts in getAllInflections(lemma, upos=kind).items()
        if word in texts
    )


def lemmas(word: str) -> set[str]:
    return {form.lemma for form in forms(word)} | {word}


@lru_cache(_CACHE_SIZE)
def siblings(word: str) -> frozenset[Sibling]:
    from lemminflect import getAllInflections

    return frozenset(
        Sibling(text, form.part_of_speech, tag, form.tag)
        for form in forms(word)
        for tag, texts in getAllInflections(form.lemma, upos=form.part_of_speech).items()
        for text in texts
        if text != word
    )


@lru_cache(_CACHE_SIZE)
def inflected(phrase: str, kind: str, tag: str, wanted: str) -> str | None:
    """A phrase with its first word inflected from `tag` to `wanted`; None if the dictionary has no such form."""
    from lemminflect import getInflection

    first, _, rest = phrase.partition(" ")
    for form in forms(first):
        if (form.part_of_speech, form.tag) == (kind, tag):
            found = getInflection(form.lemma, wanted, inflect_oov=False)
            if found:
                return f"{found[0]} {rest}".strip()
    return None


@lru_cache(_CACHE_SIZE)
def agreement(word: str, other: str) -> float:
    """1 if both words can have the same tag, −1 if they cannot, 0 if one is not in the dictionary."""
    one, two = ({(form.part_of_speech, form.tag) for form in forms(text.partition(" ")[0])} for text in (word, other))
    return 0.0 if not one or not two else 1.0 if one & two else -1.0
