"""Documents: sentences are rewritten, and the text between them is unchanged."""

import json

import pytest

from redraft.cli.main import main

SCRIPTED = ["--model", "scripted:examples/by_hand.json", "--beams", "2"]
ONE = "The artisans remain old ."


@pytest.fixture
def rewritten(capsys):
    assert main(["simplify", *SCRIPTED, ONE]) == 0
    return capsys.readouterr().out.rstrip("\n")


@pytest.mark.parametrize(
    "form", ["{0}", "{0}\n", "\n\n  {0} {0}\n\n\t{0}\n{0}  \n\n"], ids=["bare", "line", "paragraphs"]
)
def test_spacing_and_paragraphs_are_kept(form, rewritten, tmp_path):
    path, out = tmp_path / "letter.txt", tmp_path / "easier.txt"
    path.write_text(form.format(ONE))
    assert main(["simplify", *SCRIPTED, "--document", str(path), "--out", str(out)]) == 0
    assert out.read_text() == form.format(rewritten)


def test_sentences_of_a_document_as_json(tmp_path, capsys):
    path = tmp_path / "letter.txt"
    path.write_text(f"{ONE} {ONE}\n")
    assert main(["simplify", *SCRIPTED, "--document", str(path), "--json"]) == 0
    found = [json.loads(line)["source"] for line in capsys.readouterr().out.splitlines()]
    assert found == [ONE, ONE, ""]


@pytest.mark.parametrize("more", [["x"], ["--input", "y"], ["--plan", "z.jsonl"], ["--resume", "--out", "o"]])
def test_document_excludes_other_inputs(more, tmp_path, capsys):
    assert main(["simplify", *SCRIPTED, "--document", str(tmp_path / "letter.txt"), *more]) == 2
    assert "--document cannot be combined with" in capsys.readouterr().err


def test_a_document_that_is_not_utf8(tmp_path, capsys):
    path = tmp_path / "letter.txt"
    path.write_bytes(b"caf\xe9")
    assert main(["simplify", *SCRIPTED, "--document", str(path)]) == 2
    assert f"{path}: not UTF-8: 0xe9 is byte 4." in capsys.readouterr().err
