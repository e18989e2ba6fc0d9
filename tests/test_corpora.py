"""Reading corpora: irregularities are reported, invalid files are refused, no line is dropped."""

import pytest

from published_corpora import FOLDER, needs_corpora
from redraft.errors import ConfigError, CorpusError
from redraft.evaluate import CORPORA, load_corpus, read_corpus
from redraft.evaluate.text_files import read_text


def write(path, *lines, end="\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(end.join(lines).encode() + end.encode())
    return path


# ---- single files ----

FILES = [
    pytest.param(b"a\nb\n", ["a", "b"], "", id="plain"),
    pytest.param(b"a\nb", ["a", "b"], "the last line has no line ending", id="no-final-newline"),
    pytest.param(b"a\r\nb\r\n", ["a", "b"], "Windows line endings;", id="windows"),
    pytest.param(b"a\r\nb\n", ["a", "b"], "Windows line endings in line 1, ", id="mixed"),
    pytest.param(b"a\n\n  \nb\n", ["a", "", "  ", "b"], "no text in lines 2, 3; ", id="empty-lines"),
    pytest.param(b"a\rb\nc\n", ["a\rb", "c"], "a carriage return inside line 1", id="carriage-return-inside"),
    pytest.param(b"\xef\xbb\xbfa\n", ["a"], "byte order mark", id="byte-order-mark"),
    pytest.param("a\u2028b\x0bc\x85d\n".encode(), ["a\u2028b\x0bc\x85d"], "", id="other-line-ends-end-no-line"),
    pytest.param(b"\n" * 9, [""] * 9, "no text in 9 lines (1, 2, 3, 4, 5, …)", id="many-empty-lines"),
    pytest.param(b"", [], "", id="nothing"),
]


@pytest.mark.parametrize("data, lines, notice", FILES)
def test_irregularities_are_reported_and_no_line_is_dropped(tmp_path, data, lines, notice):
    path = tmp_path / "file.txt"
    path.write_bytes(data)
    file = read_text(path)
    assert file.lines == lines
    assert notice in "\n".join(file.notices)
    assert all(str(path) in line for line in file.notices)
    assert bool(file.notices) == bool(notice)


def test_invalid_utf8_is_refused_with_its_position(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"good\ncaf\xe9\n")
    with pytest.raises(CorpusError, match=r"latin.txt, line 2: .*UTF-8.*0xe9.*byte 4"):
        read_text(path)


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"none.txt"):
        read_text(tmp_path / "none.txt")
    with pytest.raises(CorpusError, match="is a folder"):
        read_text(tmp_path)


# ---- sets of files ----


def test_files_must_have_the_same_number_of_lines(tmp_path):
    source, short = write(tmp_path / "source", "a", "b", "c"), write(tmp_path / "short", "a", "b")
    with pytest.raises(CorpusError, match=r"short has 2 lines, .*source has 3"):
        read_corpus(source, [source, short])
    long = write(tmp_path / "long", "a", "b", "c", "", "")
    with pytest.raises(CorpusError, match=r"long has 5 lines.*\n.*lines after 3 are empty"):
        read_corpus(source, [long])


def test_a_corpus_is_read_from_any_files(tmp_path):
    source, simple = write(tmp_path / "complex.txt", "a", "b"), write(tmp_path / "simple.txt", "c", "", end="\r\n")
    corpus = read_corpus(source, [simple, simple])
    assert (len(corpus), corpus.references) == (2, [["c", ""], ["c", ""]])
    assert len([notice for notice in corpus.notices if "Windows" in notice]) == 2
    with pytest.raises(CorpusError, match="is empty"):
        read_corpus(write(tmp_path / "empty", end=""), [write(tmp_path / "empty2", end="")])


def test_references_are_selected(tmp_path):
    files = [write(tmp_path / name, name) for name in "sabc"]
    corpus = read_corpus(files[0], files[1:])
    assert corpus.with_references("all") is corpus
    assert corpus.with_references("first").references == [["a"]]
    assert corpus.with_references(2).references == [["c"]]
    assert "refs:1 (2)" in corpus.with_references(2).signature
    with pytest.raises(ConfigError, match="no reference 3"):
        corpus.with_references(3)


# ---- published corpora, by their names ----


def make(folder, name, split, lines=None):
    """Write the files of a published corpus in their published size; line n of file m is "m n"."""
    published = CORPORA[name]
    size = lines or published.splits[split][1] or 7
    for number, file in enumerate(published.files(split)):
        write(folder / file, *(f"{number} {row}" for row in range(size)))


@pytest.mark.parametrize("name", sorted(CORPORA))
@pytest.mark.parametrize("place", ["", "{name}", "more/{name}"])
def test_every_corpus_is_found_by_its_published_file_names(tmp_path, name, place):
    split = "valid" if name == "wikilarge" else "test"
    make(tmp_path / place.format(name=name), name, split)
    corpus = load_corpus(name, split, data=tmp_path)
    assert len(corpus) == (CORPORA[name].splits[split][1] or 7)
    assert len(corpus.references) == CORPORA[name].references
    assert corpus.sources[3] == "0 3"
    assert corpus.references[-1][3] == f"{CORPORA[name].references} 3"


def test_the_environment_variable_sets_the_data_folder(tmp_path, monkeypatch):
    make(tmp_path / "turk", "turk", "test")
    monkeypatch.setenv("REDRAFT_DATA", str(tmp_path))
    assert len(load_corpus("turk")) == 359
    monkeypatch.delenv("REDRAFT_DATA")
    with pytest.raises(CorpusError, match=r"no data folder(.|\n)*REDRAFT_DATA.*https"):
        load_corpus("turk")


def test_missing_files_are_named_with_the_download_address(tmp_path):
    with pytest.raises(CorpusError, match=r"asset.test.orig not found(.|\n)*facebookresearch/asset.*CC BY-NC"):
        load_corpus("asset", data=tmp_path)
    make(tmp_path / "asset", "asset", "test")
    (tmp_path / "asset" / "asset.test.simp.4").unlink()
    with pytest.raises(CorpusError, match=r"lacks asset.test.simp.4"):
        load_corpus("asset", data=tmp_path)
    with pytest.raises(CorpusError, match="is not a folder"):
        load_corpus("asset", data=tmp_path / "nowhere")


def test_sizes_are_checked(tmp_path):
    make(tmp_path / "turk", "turk", "test", lines=358)
    with pytest.raises(CorpusError, match=r"orig has 358 lines, TurkCorpus.*359"):
        load_corpus("turk", data=tmp_path)


def test_unknown_names():
    with pytest.raises(ConfigError, match="newsela"):
        load_corpus("newsela", data=".")
    with pytest.raises(ConfigError, match=r"turk has no split \"train\"(.|\n)*test, valid"):
        load_corpus("turk", "train", data=".")


@needs_corpora
@pytest.mark.parametrize("name", ["turk", "turk_legacy", "asset", "automets"])
@pytest.mark.parametrize("split", ["test", "valid"])
def test_the_published_files_are_complete(name, split):
    corpus = load_corpus(name, split, data=FOLDER)
    assert len(corpus) == CORPORA[name].splits[split][1]
    assert not corpus.notices
