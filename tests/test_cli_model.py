"""`redraft simplify` with a model of transformers: from a folder, or bundled."""

import json
import os
import re
import subprocess
import sys

import pytest

from redraft import Redrafter
from redraft.decode.eight_bit_model import save_eight_bit_model
from redraft.simplify.long_inputs import pieces_of
from small_models import tiny_model_for
from tokenizers_in_memory import single_digits

QUICK = ("--beams", "2", "--max-tokens", "6", "--device", "cpu")
SHORT = "The old man left the town."
LONG = "The artisans remain old, and the king ruled in 1720; " * 8
NO_PLACE = "the old man and the older woman " * 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundled")
    save_eight_bit_model(tiny_model_for("bart", single_digits()), single_digits(), folder)
    return folder


@pytest.fixture
def simplify(command, folder, monkeypatch):
    """Run `redraft simplify` from an empty folder, with a small model in place of the bundled one."""
    monkeypatch.setattr("redraft.decode.model_loading.bundled", lambda name: folder)
    return lambda *argv, stdin=b"": command("simplify", *QUICK, *argv, stdin=stdin)


def plan(source):
    return json.dumps({"source": source, "edits": [{"insert": "old"}]}).encode()


def test_the_default_is_the_bundled_model(simplify, folder):
    status, out, err = simplify(SHORT, "")
    assert (status, err) == (0, "")
    assert simplify("--model", folder, SHORT, "") == (status, out, err)
    assert out.count("\n") == 2


def test_a_package_without_weights_states_the_next_step(command, tmp_path, monkeypatch):
    monkeypatch.setattr("redraft.decode.model_loading.bundled", lambda name: tmp_path)
    status, out, err = command("simplify", SHORT)
    assert (status, out) == (2, "")
    assert "lacks the bundled model" in err
    assert "scripted:TABLE.json" in err


# Sentences longer than the model reads


def test_a_long_sentence_is_rewritten_in_pieces(simplify, folder):
    status, out, err = simplify(SHORT, LONG, LONG, "--json")
    short, long, again = map(json.loads, out.splitlines())
    pieces = pieces_of(Redrafter(folder, device="cpu"), LONG)
    outputs = [json.loads(simplify(piece, "--json")[1])["output"] for piece in pieces]
    assert len(outputs) > 1
    assert long == again
    assert long["output"] == " ".join(outputs)
    assert long["source"] == LONG
    assert (long["pieces"], len(long["candidates"])) == (len(outputs), 1)
    assert "pieces" not in short
    assert json.loads(simplify(SHORT, "--json")[1])["output"] == short["output"]
    assert (status, err) == (0, "redraft: too long for the model and therefore rewritten in pieces: 2 lines\n")


@pytest.mark.parametrize("batch_size", [1, 2, 50])
def test_batch_size_does_not_change_pieces(simplify, batch_size):
    _, out, _ = simplify(SHORT, LONG, SHORT, LONG, "--batch-size", batch_size)
    short, long, *again = out.splitlines()
    assert again == [short, long]


def test_pieces_do_not_enlarge_batches(simplify, monkeypatch):
    sizes, decode = [], Redrafter._search
    monkeypatch.setattr(
        Redrafter, "_search", lambda self, plans, *rest: sizes.append(len(plans)) or decode(self, plans, *rest)
    )
    simplify(LONG, LONG, "--batch-size", "2")
    assert len(sizes) > 1
    assert set(sizes) == {2}


def test_traces_of_pieces_are_concatenated(simplify):
    _, out, _ = simplify(LONG, "--json", "--trace")
    assert [step["step"] for step in json.loads(out)["trace"]].count(1) > 1


@pytest.mark.parametrize("argv, stdin", [
    pytest.param([NO_PLACE], b"", id="no-place-to-part"),
    pytest.param(["--plan", "-"], plan(LONG), id="a-plan-with-edits"),
])  # fmt: skip
def test_text_that_cannot_be_split_is_refused(simplify, argv, stdin):
    status, out, err = simplify(*argv, stdin=stdin)
    assert (status, out) == (2, "")
    assert re.search(r'the sentence "The? .*" has \d+ tokens, and the model reads 96', err, re.IGNORECASE)
    assert "Split the sentence" in err


def test_a_refused_line_does_not_stop_the_rest(simplify):
    lines = [SHORT, NO_PLACE, LONG, SHORT]
    status, out, err = simplify("--input", "-", "--on-error", "skip", stdin="\n".join(lines).encode())
    first, refused, long, last = out.split("\n")[:-1]
    assert (status, refused) == (1, "")
    assert first == last != ""
    assert long != ""
    assert "skipped: <stdin>:2: the sentence " in err
    assert "rewritten in pieces: 1 line\n" in err
    assert "4 lines written, 1 of them left empty" in err


# The same bytes each time


def test_two_processes_write_the_same_bytes(folder, tmp_path):
    sources = [SHORT, LONG, "In 2011, about 11,000 people (mostly young) lived in the town of Évreux."]
    edits = [{"insert": "old"}, {"delete": "town"}, {"substitute": "left", "with": ["remained", "stayed"]}]
    lines = [json.dumps({"source": source, "edits": [] if source == LONG else edits}) for source in sources]
    (tmp_path / "plans.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "redraft.cli", "simplify", "--model", folder, "--plan", "plans.jsonl", "--json"]
    written = [
        subprocess.run(
            [*command, "--beams", "6", "--candidates", "3", "--device", "cpu", "--trace"],
            cwd=tmp_path, capture_output=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "2"},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert written[0] == written[1]
    assert written[0].count(b"\n") == 3
