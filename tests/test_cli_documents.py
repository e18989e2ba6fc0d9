"""`redraft simplify --document` with files that have a structure."""

import json
import stat

import pytest

from redraft.cli.main import main
from redraft.documents.document_files import open_document
from test_document_formats import pdf
from word_documents import check_well_formed, texts, word_document

SCRIPTED = ["--model", "scripted:examples/by_hand.json", "--beams", "2"]
ONE = "The artisans remain old ."


@pytest.fixture
def rewritten(capsys):
    assert main(["simplify", *SCRIPTED, ONE]) == 0
    return capsys.readouterr().out.rstrip("\n")


def simplify(*options):
    return main(["simplify", *SCRIPTED, *map(str, options)])


def test_a_word_document_gets_tracked_changes(tmp_path, rewritten):
    path, out = tmp_path / "letter.docx", tmp_path / "out.docx"
    path.write_bytes(word_document(f"{ONE} {ONE}", "", ONE))
    assert simplify("--document", path, "--out", out) == 0
    check_well_formed(out.read_bytes())
    assert texts(out.read_bytes(), accept=False) == [f"{ONE} {ONE}", ONE]
    assert texts(out.read_bytes(), accept=True) == [f"{rewritten} {rewritten}", rewritten]
    assert simplify("--document", path, "--out", out, "--no-tracking") == 0
    assert texts(out.read_bytes(), accept=False) == [f"{rewritten} {rewritten}", rewritten]


@pytest.mark.parametrize("target", ["docx", "odt", "html", "md", "txt"])
@pytest.mark.parametrize("source", [f"a.html:<p>{ONE}", f"a.md:* {ONE}\n", "a.pdf:"])
def test_documents_of_other_formats(source, target, tmp_path, rewritten):
    name, _, text = source.partition(":")
    path, out = tmp_path / name, tmp_path / f"out.{target}"
    path.write_bytes(text.encode() or pdf([ONE]))
    assert simplify("--document", path, "--out", out, "--no-tracking") == 0
    assert [block.text for block in open_document(out.read_bytes(), out.name).blocks] == [rewritten]


def test_texts_can_be_written_to_standard_output(tmp_path, rewritten, capsys):
    for name, form in (("a.md", "* **{0}**\n"), ("a.html", "<p class=x>{0}</p>\n")):
        (tmp_path / name).write_text(form.format(ONE))
        assert simplify("--document", tmp_path / name, "--no-tracking") == 0
        assert capsys.readouterr().out == form.format(rewritten)


def test_a_word_document_cannot(tmp_path, capsys):
    path = tmp_path / "a.docx"
    path.write_bytes(word_document(ONE))
    assert simplify("--document", path) == 2
    assert "cannot be written to standard output" in capsys.readouterr().err
    assert simplify("--document", path, "--out", tmp_path / "out.pdf") == 2
    assert "documents of this format cannot be written" in capsys.readouterr().err


def test_its_sentences_as_json(tmp_path, capsys):
    path = tmp_path / "a.docx"
    path.write_bytes(word_document(f"{ONE} {ONE}", ONE))
    assert simplify("--document", path, "--json") == 0
    assert [json.loads(line)["source"] for line in capsys.readouterr().out.splitlines()] == [ONE] * 3


@pytest.mark.parametrize("name, data, problem", [
    ("a.docx", b"x", "a text or an unknown format"), ("a.doc", b"x", "an old Word document"),
    ("a.pdf", b"%PDF-", "the PDF is damaged"), ("a.md", b"\xff", "not UTF-8"),
])  # fmt: skip
def test_documents_that_cannot_be_read(name, data, problem, tmp_path, capsys):
    (tmp_path / name).write_bytes(data)
    assert simplify("--document", tmp_path / name, "--out", tmp_path / "out.docx") == 2
    error = capsys.readouterr().err
    assert problem in error
    assert str(tmp_path / name) in error
    assert not (tmp_path / "out.docx").exists()


def test_the_output_is_replaced_as_a_whole(tmp_path, monkeypatch):
    """An earlier file stays when writing fails."""
    path, out = tmp_path / "a.md", tmp_path / "out.md"
    path.write_text(ONE)
    out.write_text("before")
    out.chmod(0o640)
    monkeypatch.setattr("redraft.cli.document_output.save", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        simplify("--document", path, "--out", out)
    assert out.read_text() == "before"
    monkeypatch.undo()
    assert simplify("--document", path, "--out", out) == 0
    assert out.read_text() != "before"
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.md", "out.md"]


def test_no_tracking_needs_a_document(tmp_path, capsys):
    (tmp_path / "a.txt").write_text(ONE)
    assert simplify("--document", tmp_path / "a.txt", "--no-tracking") == 2
    assert "--no-tracking applies only to" in capsys.readouterr().err
