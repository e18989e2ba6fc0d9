"""Forms of words, by lemminflect's dictionary: which forms a word is, and another word put into them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

_KNOWN = 200_000  # words remembered
_KINDS = ("NOUN", "VERB", "ADJ", "ADV")


class Form(NamedTuple):
    """What a word may be: "began" is the past (VBD) of the verb "begin"."""

    kind: str
    lemma: str
    tag: str


class Sibling(NamedTuple):
    """Another form of the same lemma, and the tags of both."""

    text: str
    kind: str
    its: str
    wanted: str  # of the word it is a sibling of


@lru_cache(_KNOWN)
def forms(word: str) -> tuple[Form, ...]:
    """All that a word may be; nothing for a word that the dictionary does not have."""
    from lemminflect import getAllInflections, getAllLemmas

    return tuple(
        Form(kind, lemma, tag)
        for kind, lemmas in getAllLemmas(word).items()
        if kind in _KINDS
        for lemma in lemmas
        for tag, texts in getAllInflections(lemma, upos=kind).items()
        if word in texts
    )


def lemmas(word: str) -> set[str]:
    return {form.lemma for form in forms(word)} | {word}


@lru_cache(_KNOWN)
def siblings(word: str) -> frozenset[Sibling]:
    from lemminflect import getAllInflections

    return frozenset(
        Sibling(text, form.kind, tag, form.tag)
        for form in forms(word)
        for tag, texts in getAllInflections(form.lemma, upos=form.kind).items()
        for text in texts
        if text != word
    )


@lru_cache(_KNOWN)
def inflected(phrase: str, kind: str, tag: str, wanted: str) -> str | None:
    """A phrase whose first word has one tag, with that word in another; None where the dictionary has no such form."""
    from lemminflect import getInflection

    first, _, rest = phrase.partition(" ")
    for form in forms(first):
        if (form.kind, form.tag) == (kind, tag):
            found = getInflection(form.lemma, wanted, inflect_oov=False)
            if found:
                return f"{found[0]} {rest}".strip()
    return None


@lru_cache(_KNOWN)
def agreement(word: str, other: str) -> float:
    """1 if both may have the same tag, −1 if they cannot, 0 if one is not known."""
    one, two = ({(form.kind, form.tag) for form in forms(text.partition(" ")[0])} for text in (word, other))
    return 0.0 if not one or not two else 1.0 if one & two else -1.0
