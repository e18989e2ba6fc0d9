"""Lookups in lemminflect's dictionary, against all of it in memory."""

from lemminflect import config
from lemminflect.codecs.InflectionLUCodec import InflectionLUCodec
from lemminflect.codecs.LemmaLUCodec import LemmaLUCodec

from redraft.line_index import LineIndex
from redraft.text import word_form_dictionary
from redraft.text.word_form_dictionary import all_inflections, all_lemmas


def test_every_word_has_the_forms_of_the_library():
    library = word_form_dictionary._lemminflect()
    for own, expected in (
        (library.Lemmatizer().lemma_dict, LemmaLUCodec.load(config.lemma_lu_fn)),
        (library.Inflections().infl_dict, InflectionLUCodec.load(config.inflection_lu_fn)),
    ):
        assert all(own.get(word, {}) == forms for word, forms in expected.items())
        assert own.get("no such word", {}) == {}


def test_forms():
    assert all_lemmas("Went") == {"VERB": ("Go",)}
    assert all_inflections("mouse", "NOUN") == {"NN": ("mouse",), "NNS": ("mice",)}
    assert all_inflections("be")["VBD"] == ("was", "were")


def test_lines_are_found_by_their_keys():
    index = LineIndex("b,1\na,2\nb,3\nbb,4\né,5\nc".encode(), b",")
    assert [line for _, line in index.lines("b")] == ["b,1", "b,3"]
    assert [index.number_at(start) for start, _ in index.lines("b")] == [1, 3]
    assert [line for key in ("é", "c", "", "d") for _, line in index.lines(key)] == ["é,5", "c"]
    assert list(index) == ["b", "a", "b", "bb", "é", "c"]
    assert (len(index), list(LineIndex(b"", b","))) == (6, [])
