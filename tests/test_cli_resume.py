"""Long files: batches of similar lengths, output in input order, and --resume after an interruption."""

import io
import json
import os
import threading

import pytest

from redraft.cli.main import main
from redraft.progress_bar import with_progress_bar

SCRIPTED = ["--model", "scripted:examples/by_hand.json"]
LINES = ["The artisans remain old .", "The old artisans", "", "The artisans remain .", "The"] * 60


@pytest.fixture
def sources(tmp_path):
    path = tmp_path / "sources.txt"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


def simplify(*options):
    return main(["simplify", *SCRIPTED, "--beams", "2", *map(str, options)])


def padding(batches):
    return sum(len(max(texts, key=len)) * len(texts) - sum(map(len, texts)) for texts in batches)


def test_lines_of_similar_length_share_a_batch_and_output_is_in_input_order(sources, tmp_path, monkeypatch):
    from redraft.decode.redrafter import Redrafter

    batches, decode = [], Redrafter._search
    monkeypatch.setattr(
        Redrafter, "_search", lambda self, plans, *rest: batches.append(plans) or decode(self, plans, *rest)
    )
    assert simplify("--input", sources, "--json", "--batch-size", 4, "--out", tmp_path / "out.jsonl") == 0
    found = [json.loads(line)["source"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert found == LINES
    assert len(batches) > 8
    asked = [line for line in LINES if line]
    in_order = [asked[at : at + 4] for at in range(0, len(asked), 4)]
    assert padding([plan.plan.source for plan in plans] for plans in batches) < padding(in_order) / 2


@pytest.mark.parametrize("torn", ["", "The tor"], ids=["whole-lines", "a-torn-line"])
def test_an_incomplete_file_is_resumed(sources, tmp_path, torn):
    whole, stopped = tmp_path / "whole.txt", tmp_path / "stopped.txt"
    assert simplify("--input", sources, "--out", whole) == 0
    lines = whole.read_text().splitlines(keepends=True)
    stopped.write_text("".join(lines[:137]) + torn)
    assert simplify("--input", sources, "--out", stopped, "--resume") == 0
    assert stopped.read_text() == whole.read_text()


def test_a_file_of_another_input_is_not_resumed(sources, tmp_path, capsys):
    (tmp_path / "other.txt").write_text("a\n" * 500)
    assert simplify("--input", sources, "--out", tmp_path / "other.txt", "--resume") == 2
    assert "has 500 lines, but the input has only 300" in capsys.readouterr().err
    assert (tmp_path / "other.txt").read_text() == "a\n" * 500


def test_results_of_other_sentences_are_not_resumed(sources, tmp_path, capsys):
    out = tmp_path / "out.jsonl"
    assert simplify("--input", sources, "--json", "--out", out) == 0
    begun = "".join(out.read_text().splitlines(keepends=True)[:50]) + '{"torn'
    out.write_text(begun)
    sources.write_text("\n".join(["They remain old .", *LINES]))
    assert simplify("--input", sources, "--json", "--out", out, "--resume") == 2
    assert 'line 1 is the result of "The artisans remain old ."' in capsys.readouterr().err
    assert out.read_text() == begun


@pytest.mark.parametrize(
    "first, then", [([], ["--json"]), (["--json"], [])], ids=["json-behind-text", "text-behind-json"]
)
def test_json_and_text_are_not_mixed_in_a_file(sources, tmp_path, capsys, first, then):
    out = tmp_path / "out"
    assert simplify("--input", sources, *first, "--out", out) == 0
    begun = "".join(out.read_text().splitlines(keepends=True)[:7]) + "torn"
    out.write_text(begun)
    assert simplify("--input", sources, *then, "--out", out, "--resume") == 2
    assert "JSON result" in capsys.readouterr().err
    assert out.read_text() == begun


def stopped(sources, out, monkeypatch, calls=20):
    """A run that is interrupted."""
    from redraft.decode.redrafter import Redrafter

    left, decode = iter(range(calls)), Redrafter._search

    def pressed(self, *rest):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return decode(self, *rest)

    monkeypatch.setattr(Redrafter, "_search", pressed)
    assert simplify("--input", sources, "--out", out, "--batch-size", 2) == 130
    monkeypatch.undo()


def test_plain_text_is_not_resumed_with_a_changed_input(sources, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.txt"
    stopped(sources, out, monkeypatch)
    begun = out.read_text()
    sources.write_text("\n".join(["They remain old .", *LINES]))
    assert simplify("--input", sources, "--out", out, "--resume") == 2
    assert f"the input has changed since --out {out} was started" in capsys.readouterr().err
    assert out.read_text() == begun


def test_lines_appended_to_the_input_are_processed(sources, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.txt"
    stopped(sources, out, monkeypatch)
    with open(sources, "a", encoding="utf-8") as file:
        file.write("The artisans\n")
    assert simplify("--input", sources, "--out", out, "--resume") == 0
    assert len(out.read_text().splitlines()) == len(LINES) + 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "sources.txt"]


def test_a_run_killed_before_its_first_line_starts_again(sources, tmp_path, monkeypatch):
    out = tmp_path / "out.txt"
    stopped(sources, out, monkeypatch)  # leaves a record of its input
    out.write_text("")  # a run with another input was killed before it wrote its own record
    sources.write_text("They remain old .\n")
    assert simplify("--input", sources, "--out", out, "--resume") == 0
    assert len(out.read_text().splitlines()) == 1


def test_the_input_record_is_written_atomically(sources, tmp_path, monkeypatch):
    out, note = tmp_path / "out.txt", tmp_path / ".out.txt.resume"
    stopped(sources, out, monkeypatch)
    before = note.read_text()
    with open(sources, "a", encoding="utf-8") as file:
        file.write("The artisans\n")

    def killed(*paths):
        assert note.read_text() == before
        raise KeyboardInterrupt

    monkeypatch.setattr("redraft.files.os.replace", killed)
    assert simplify("--input", sources, "--out", out, "--resume") == 130
    assert note.read_text() == before


@pytest.mark.parametrize("options", [[], ["--resume"]], ids=["anew", "resumed"])
def test_two_processes_do_not_write_to_one_file(sources, tmp_path, capsys, options):
    fcntl = pytest.importorskip("fcntl")
    out = tmp_path / "out.txt"
    out.write_text("a\n")
    with open(out, "ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert simplify("--input", sources, "--out", out, *options) == 2
    assert "is being written by another redraft" in capsys.readouterr().err
    assert out.read_text() == "a\n"


@pytest.mark.parametrize("resumed", [False, True], ids=["anew", "resumed"])
def test_a_pipe_is_read_once(tmp_path, monkeypatch, resumed):
    pipe, out = tmp_path / "pipe", tmp_path / "out.txt"
    os.mkfifo(pipe)
    text = "".join(f"{line}\n" for line in LINES)
    writer = threading.Thread(target=lambda: pipe.write_text(text, encoding="utf-8"), daemon=True)
    writer.start()
    monkeypatch.setattr("sys.stderr", Terminal())
    if resumed:
        out.write_text("The old artisans\n" * 3)
    assert simplify("--input", pipe, "--out", out, *["--resume"][: int(resumed)]) == 0
    assert len(out.read_text().splitlines()) == len(LINES)
    writer.join(5)
    assert not writer.is_alive()


def test_an_interruption_leaves_whole_lines_and_says_how_to_resume(sources, tmp_path, monkeypatch, capsys):
    from redraft.decode.redrafter import Redrafter

    calls, decode = [], Redrafter._search

    def pressed(self, *rest):
        calls.append(rest)
        if len(calls) > 20:
            raise KeyboardInterrupt
        return decode(self, *rest)

    monkeypatch.setattr(Redrafter, "_search", pressed)
    out = tmp_path / "out.txt"
    assert simplify("--input", sources, "--out", out, "--batch-size", 2) == 130
    written = out.read_text()
    assert written.endswith("\n")
    count = len(written.splitlines())
    assert 0 < count < len(LINES)
    assert f"{count} lines in {out}; rerun the command with --resume to continue" in capsys.readouterr().err
    monkeypatch.undo()
    assert simplify("--input", sources, "--out", out, "--resume") == 0
    assert len(out.read_text().splitlines()) == len(LINES)


def test_resuming_without_a_file_creates_it(sources, tmp_path):
    assert simplify("--input", sources, "--out", tmp_path / "new.txt", "--resume") == 0
    assert len((tmp_path / "new.txt").read_text().splitlines()) == len(LINES)


@pytest.mark.parametrize(
    "options, hint", [([], "Add --out FILE."), (["--out", "x", "--explain"], "Remove one of them")]
)
def test_invalid_combinations_with_resume(sources, capsys, options, hint):
    assert simplify("--input", sources, "--resume", *options) == 2
    assert hint in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_progress_bar_is_for_terminals_only_and_changes_nothing(sources, monkeypatch):
    batches = [[1, 2], [3]]
    quiet = io.StringIO()
    monkeypatch.setattr("sys.stderr", quiet)
    assert list(with_progress_bar(batches, str(sources))) == batches
    assert quiet.getvalue() == ""
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    assert list(with_progress_bar(batches, str(sources), done=4)) == batches
    assert f"/{len(LINES)}" in shown.getvalue()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_device_cannot_be_resumed(sources, capsys):
    """Reading its content might never end."""
    assert simplify("--input", sources, "--resume", "--out", "/dev/full") == 2
    assert "--out /dev/full is not a regular file" in capsys.readouterr().err
