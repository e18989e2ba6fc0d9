"""The dictionary of lemminflect: lemmas and inflected forms of a word, looked up without loading all of it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from redraft.line_index import LineIndex

Forms = dict[str, tuple[str, ...]]  # part of speech, or tag → spellings


def all_lemmas(word: str) -> Forms:
    """The lemmas of a word, by part of speech."""
    return _lemminflect().getAllLemmas(word)  # type: ignore[no-any-return]


def all_inflections(lemma: str, part_of_speech: str | None = None) -> Forms:
    """The inflected forms of a lemma, by tag of the Penn Treebank."""
    return _lemminflect().getAllInflections(lemma, part_of_speech)  # type: ignore[no-any-return]


@cache
def _lemminflect() -> Any:
    """The library, with dictionaries that parse a word when it is looked up.

    Its own take 0.4 s to load and 50 MB. A version that keeps them under other names loads its own.
    """
    import lemminflect
    from lemminflect import config
    from lemminflect.codecs.InflectionLUCodec import InflectionLUCodec
    from lemminflect.codecs.LemmaLUCodec import LemmaLUCodec
    from lemminflect.core.LexicalUtils import categoryToUPos

    def lemmas(line: str) -> Forms:
        _, category, spellings = LemmaLUCodec.fromString(line)
        return {categoryToUPos(category): spellings}

    def inflections(line: str) -> Forms:
        forms: Forms = InflectionLUCodec.fromString(line)[2]
        return forms

    auxiliaries = InflectionLUCodec.updateForAuxMod({})
    lemminflect.Lemmatizer().lemma_dict = _Dictionary(config.lemma_lu_fn, lemmas, {})
    lemminflect.Inflections().infl_dict = _Dictionary(config.inflection_lu_fn, inflections, auxiliaries)
    return lemminflect


class _Dictionary:
    """What lemminflect needs of its dictionaries."""

    def __init__(self, path: str, parse: Callable[[str], Forms], known: dict[str, Forms]) -> None:
        self._lines, self._parse, self._known = LineIndex(gzip.decompress(Path(path).read_bytes()), b","), parse, known

    def get(self, word: str, default: Forms) -> Forms:
        if word in self._known:
            return self._known[word]
        found: Forms = {}
        for _, line in self._lines.lines(word):
            found.update(self._parse(line))
        return found or default
