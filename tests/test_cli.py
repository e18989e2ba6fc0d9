"""The command line: one output line per input line, and every error reported without a traceback."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import pytest

from redraft import DecodeConfig, __version__, cli
from redraft.cli import settings_options as settings
from redraft.errors import ConfigError

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TABLE, PLAN = EXAMPLES / "by_hand.json", EXAMPLES / "by_hand.jsonl"
MODEL = f"scripted:{TABLE}"
SOURCE = "The artisans remain old ."
REDRAFTED = "The craftsmen are old ."
PLAIN = "The artisans remain young ."  # the best text by the table
GOOD = PLAN.read_text(encoding="utf-8").strip()
BAD = '{"source": "They remain old .", "edits": [{"delete": ""}]}'


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def redraft(capfdbinary, monkeypatch):
    """Run the command; returns status, the lines of standard output, and standard error."""

    def run(*argv, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        try:
            status = cli.main([str(word) for word in argv])
        except SystemExit as exit:
            status = exit.code
        out, err = (text.decode("utf-8") for text in capfdbinary.readouterr())
        assert "Traceback" not in err
        assert out == "" or out.endswith("\n")
        return status, out.split("\n")[:-1], err

    return run


def simplify(run, *argv, stdin=b""):
    return run("simplify", "--model", MODEL, *argv, stdin=stdin)


# ---- output ----

STORIES = [
    pytest.param(["--plan", PLAN], [REDRAFTED], id="a-plan-file-brings-its-sources"),
    pytest.param([SOURCE], [PLAIN], id="a-sentence-without-a-plan"),
    pytest.param([SOURCE, "They remain old ."], [PLAIN, PLAIN], id="a-sentence-for-each-argument"),
    pytest.param([SOURCE, "--beams", "2", SOURCE], [PLAIN, PLAIN], id="options-between-sentences"),
    pytest.param(["--plan", "none", SOURCE], [PLAIN], id="plan-none"),
    pytest.param(["--plan", PLAN, SOURCE], [REDRAFTED], id="a-plan-and-its-sentence"),
    pytest.param(["", SOURCE, "  "], ["", PLAIN, ""], id="empty-sentences-stay-empty"),
    pytest.param(["--", "-- old"], [PLAIN], id="a-sentence-that-looks-like-an-option"),
    pytest.param(["--plan", PLAN, "--method", "beam"], [PLAIN], id="method-beam"),
    pytest.param(["--plan", PLAN, "--method", "negative"], ["The craftsmen are young ."], id="method-negative"),
    pytest.param(["--plan", PLAN, "--method", "neurologic"], [REDRAFTED], id="method-neurologic"),
    pytest.param(["--plan", PLAN, "--lambdas", "0,0,0"], [PLAIN], id="lambdas-nothing-counts"),
    pytest.param(["--plan", PLAN, "--lambdas", "0,1,0"], ["The artisans are young ."], id="lambdas-deletion-only"),
    pytest.param(["--plan", PLAN, "--lambdas", "1e300,1,1", "--delta", "1e300"], [REDRAFTED], id="lambdas-huge"),
    pytest.param(["--plan", PLAN, "--delta", "none"], [REDRAFTED], id="delta-none"),
    pytest.param(["--plan", PLAN, "--delta", "3"], [REDRAFTED], id="delta-a-number"),
    pytest.param(["--plan", PLAN, "--beams", "1"], [PLAIN], id="beams-greedy"),
    pytest.param(["--plan", PLAN, "--alpha", "1"], [PLAIN], id="alpha-one-node"),
    pytest.param(["--plan", PLAN, "--width", "1"], [PLAIN], id="width-no-siblings"),
    pytest.param(["--plan", PLAN, "--max-tokens", "3", "--method", "beam"], ["The artisans remain"], id="max-tokens"),
    pytest.param(["--plan", PLAN, "--beams", "4", "--width", "3", "--alpha", "9"], [REDRAFTED], id="as-by-hand"),
    pytest.param(["--plan", PLAN, "--group-by", "positive", "--end", "met", "--choose", "sum", "--stop", "exact",
                  "--scale", "kind", "--ban", "token", "--early-stopping", "never", "--length-penalty", "0.5",
                  "--no-repeat-ngram", "3", "--min-tokens", "2", "--candidates", "2", "--beta", "1", "--admit-unmet",
                  "--admit-gap", "5", "--max-tokens", "none"], [REDRAFTED], id="every-finer-setting"),
    pytest.param(["--plan", PLAN, "--variants", "exact"], [REDRAFTED], id="variants-exact"),
    pytest.param(["--plan", PLAN, "--variants", "lemma"], [REDRAFTED], id="variants-lemma"),
    pytest.param(["--plan", PLAN, "--device", "cpu", "--dtype", "float32", "--batch-size", "1",
                  "--prompt", "Simplify: {source}"], [REDRAFTED], id="what-only-other-models-need"),
]  # fmt: skip


@pytest.mark.parametrize("argv, lines", STORIES)
def test_one_output_line_per_input_line(redraft, argv, lines):
    status, out, err = simplify(redraft, *argv)
    assert (status, out) == (0, lines)
    assert ("requested edits that were not done:\n  line 1: " in err) == (PLAN in argv and lines != [REDRAFTED])
    assert err == "" or err.startswith("redraft: requested edits")


def test_input_files_are_utf8_with_any_line_ends_and_empty_lines(redraft, here):
    (here / "in.txt").write_bytes("\ufeffOld\u2028é .\r\n\nThe end".encode())
    assert simplify(redraft, "--input", "in.txt") == (0, [PLAIN, "", PLAIN], "")


def test_standard_input_has_sentences_or_plans(redraft):
    assert simplify(redraft, "--input", "-", stdin=b"a\n\nb\n") == (0, [PLAIN, "", PLAIN], "")
    assert simplify(redraft, "--plan", "-", stdin=GOOD.encode()) == (0, [REDRAFTED], "")
    assert simplify(redraft, "--plan", PLAN, "--input", "-", stdin=SOURCE.encode()) == (0, [REDRAFTED], "")


def test_blank_lines_of_a_plan_file_are_kept(redraft):
    assert simplify(redraft, "--plan", "-", stdin=f"\n{GOOD}\n\n".encode()) == (0, ["", REDRAFTED, ""], "")


def test_empty_input_gives_empty_output(redraft):
    assert simplify(redraft, "--input", "-") == (0, [], "")


def test_an_empty_sentence_never_reaches_the_model(redraft, monkeypatch):
    monkeypatch.setattr("redraft.decode.redrafter.Redrafter.stream", lambda *_, **__: pytest.fail("called"))
    assert simplify(redraft, "", " ") == (0, ["", ""], "")


@pytest.mark.parametrize("batch_size", [1, 2, 3, 50])
def test_batches_change_nothing(redraft, batch_size):
    lines = ["a", "", BAD, GOOD, GOOD, ""]
    expected = ["", "", "", REDRAFTED, REDRAFTED, ""]
    status, out, _ = simplify(redraft, "--plan", "-", "--on-error", "skip", "--batch-size", batch_size,
                              stdin="\n".join([*lines, ""]).encode())  # fmt: skip
    assert (status, out) == (1, expected)


def test_line_breaks_in_an_output_become_spaces(redraft, monkeypatch):
    from redraft.decode.scripted_model import WordVocabulary

    plain = WordVocabulary.decode
    monkeypatch.setattr(WordVocabulary, "decode", lambda *args: plain(*args).replace(" remain", "\r\nremain\u2028"))
    assert simplify(redraft, SOURCE) == (0, ["The artisans remain  young ."], "")


def test_out_has_the_lines(redraft, here):
    assert simplify(redraft, "--plan", PLAN, "--out", "out.txt") == (0, [], "")
    assert (here / "out.txt").read_text(encoding="utf-8") == f"{REDRAFTED}\n"


# ---- --json ----


def test_json_holds_one_result_on_each_line(redraft):
    status, lines, err = simplify(redraft, "--plan", PLAN, "--json", "--candidates", "2")
    assert (status, len(lines), err) == (0, 1, "")
    result = json.loads(lines[0])
    assert list(result) == [
        "source", "output", "log_prob", "edit_score", "truncated", "edits", "missing", "candidates",
    ]  # fmt: skip
    assert (result["source"], result["output"], result["edit_score"]) == (SOURCE, REDRAFTED, 2.0)
    assert result["log_prob"] == pytest.approx(-3.5)
    assert result["edits"] == [
        {"substitute": "artisans", "with": ["craftsmen"], "status": "satisfied", "chosen_over": True},
        {"delete": "remain", "status": "satisfied", "chosen_over": True},
        {"insert": "old", "status": "satisfied", "chosen_over": None},
    ]
    first, second = result["candidates"]
    assert first["edits"] == result["edits"]
    assert second["output"] != first["output"] == REDRAFTED


def test_json_of_an_empty_line_still_judges_its_edits(redraft):
    plan = '{"source": "", "edits": [{"insert": "old"}, {"delete": "remain"}]}'
    status, lines, _ = simplify(redraft, "--plan", "-", "--json", stdin=f"\n{plan}".encode())
    blank, empty = map(json.loads, lines)
    assert status == 0
    assert (blank["source"], blank["output"], blank["edits"]) == ("", "", [])
    assert [edit["status"] for edit in empty["edits"]] == ["unmet", "satisfied"]
    assert list(blank) == [
        "source", "output", "log_prob", "edit_score", "truncated", "edits", "missing", "candidates",
    ]  # fmt: skip


def test_trace_requires_json(redraft):
    _, lines, _ = simplify(redraft, "--plan", PLAN, "--json", "--trace")
    steps = json.loads(lines[0])["trace"]
    assert [step["step"] for step in steps] == list(range(1, len(steps) + 1))
    assert {"rows", "nodes", "pool"} <= set(steps[0])
    status, lines, err = simplify(redraft, "--plan", PLAN, "--trace")
    assert (status, lines) == (2, [])
    assert "Add --json" in err


def test_impossible_edits_are_reported(redraft):
    plan = b'{"source": "They remain old .", "edits": [{"insert": "ancient"}]}'
    status, lines, err = simplify(redraft, "--plan", "-", stdin=plan)
    assert (status, lines) == (0, [PLAIN])
    assert "edits that this model cannot write: 1" in err


# ---- errors ----


@pytest.mark.parametrize("argv, words", [
    pytest.param([], ["nothing to rewrite", "--input FILE"], id="nothing-to-rewrite"),
    pytest.param(["a", "--input", PLAN], ["--input cannot be combined", "Remove one"], id="text-and-input"),
    pytest.param(["--input", "-", "--plan", "-"], ["both read standard input"], id="standard-input-twice"),
    pytest.param(["--input", "nowhere.txt"], ["nowhere.txt: No such file"], id="no-such-input"),
    pytest.param(["--plan", "nowhere.jsonl"], ["nowhere.jsonl: No such file"], id="no-such-plan"),
    pytest.param(["--plan", "."], ["Is a directory"], id="a-folder-for-a-plan"),
    pytest.param(["a", "--beams", "many"], ['--beams: "many" is not a whole number', "--beams 20"], id="beams-a-word"),
    pytest.param(["a", "--beams", "0"], ["beams is 0", "at least 1"], id="beams-none"),
    pytest.param(["a", "--beams"], ["--beams", "requires an argument", "--help"], id="beams-nothing"),
    pytest.param(["a", "--method", "magic"], ['--method "magic" is not known', "neurologic"], id="method-unknown"),
    pytest.param(["a", "--lambdas", "1,1"], ["lambdas are (1.0, 1.0)", "three"], id="lambdas-two"),
    pytest.param(["a", "--lambdas", "1,x,1"], ['"x" is not a number', "--lambdas 1,1,1"], id="lambdas-a-word"),
    pytest.param(["a", "--lambdas", "1,nan,1"], ["lambdas are", "finite"], id="lambdas-nan"),
    pytest.param(["a", "--delta", "wide"], ['"wide" is not a number, or none', "--delta 2"], id="delta-a-word"),
    pytest.param(["a", "--delta", "-1"], ["delta is -1.0", "at least 0"], id="delta-negative"),
    pytest.param(["a", "--width", "x"], ['--width: "x"', "--width 40"], id="width-a-word"),
    pytest.param(["a", "--early-stopping", "maybe"], ["true, false, never"], id="early-stopping-unknown"),
    pytest.param(["a", "--candidates", "30"], ["candidates=30 but beams=20"], id="more-candidates-than-beams"),
    pytest.param(["a", "--batch-size", "0"], ['--batch-size: "0"', "at least 1"], id="batch-of-none"),
    pytest.param(["a", "--prompt", "Simplify:"], ["lacks {source}"], id="prompt-without-source"),
    pytest.param(["a", "--device", "toaster"], ['the device "toaster" is ', "cpu"], id="device-unknown"),
    pytest.param(["a", "--dtype", "int3"], ["--dtype", "bfloat16"], id="dtype-unknown"),
    pytest.param(["a", "--variants", "all"], ["--variants", "lemma"], id="variants-unknown"),
    pytest.param(["a", "--on-error", "panic"], ["--on-error", "skip"], id="on-error-unknown"),
    pytest.param(["a", "--beam", "3"], ["No such option: --beam", "--beams", "--help"], id="no-abbreviations"),
    pytest.param(["a", "--out", "no/such/folder.txt"], ["parent folder does not exist"], id="out-nowhere"),
    pytest.param(["a", "--out", "."], ["is a folder"], id="out-a-folder"),
    pytest.param(["--plan", PLAN, "--out", PLAN], ["is also an input file"], id="out-over-its-own-input"),
])  # fmt: skip
def test_errors_state_the_next_step(redraft, argv, words):
    status, lines, err = simplify(redraft, *argv)
    assert (status, lines) == (2, [])
    for word in words:
        assert word in err
    assert PLAN.read_text(encoding="utf-8").strip() == GOOD


@pytest.mark.parametrize("argv, words", [
    pytest.param(["simplify", "a", "--model", "scripted:nowhere"], ["nowhere: cannot be read"], id="no-such-table"),
    pytest.param(["simplify", "a", "--model", f"scripted:{PLAN}"], ["has no vocab"], id="not-a-table"),
    pytest.param(["simplify", "a", "--model", "./nowhere"], ['"./nowhere" cannot be loaded'], id="no-such-folder"),
    pytest.param(["sing"], ["No such command 'sing'", "redraft --help"], id="unknown-command"),
    pytest.param(["plan"], ["Missing command", "redraft plan --help"], id="no-command-of-a-group"),
])  # fmt: skip
def test_errors_in_model_or_command(redraft, argv, words):
    status, lines, err = redraft(*argv)
    assert (status, lines) == (2, [])
    for word in words:
        assert word in err


@pytest.mark.parametrize("table, words", [
    pytest.param({"vocab": "old"}, ["vocab is not a list of words"], id="vocab-a-string"),
    pytest.param({"vocab": ["so old"]}, ["vocab is not a list of words"], id="vocab-two-words"),
    pytest.param({"vocab": ["a"], "log_probs_by_prefix": []}, ["log_probs_by_prefix has a row"], id="rows-a-list"),
    pytest.param({"vocab": ["a"], "log_probs_by_prefix": {"": {"a": "x"}}}, ["has a row at ''"], id="not-a-number"),
    pytest.param({"vocab": ["a"], "log_probs_by_last_token": {"a": {"b": -1}}}, ["'b' is in the table"], id="word"),
    pytest.param({"vocab": ["a"], "log_probs_by_prefix": {"b": {"a": -1}}}, ["'b' is in the table"], id="prefix"),
    pytest.param({"vocab": ["a"], "floor_log_prob": None}, ["floor_log_prob"], id="floor-nothing"),
    pytest.param({"vocab": ["a"], "floor": 1}, ["unknown key 'floor'"], id="unknown-key"),
])  # fmt: skip
def test_errors_in_a_table_state_the_place(redraft, here, table, words):
    (here / "table.json").write_text(json.dumps(table))
    status, lines, err = redraft("simplify", "a", "--model", "scripted:table.json")
    assert (status, lines) == (2, [])
    for word in ["table.json: ", *words]:
        assert word in err


# ---- sentences and plans together ----


@pytest.mark.parametrize("sentences, plans, words", [
    pytest.param([SOURCE, "Another ."], [GOOD, GOOD], ["line 2", '"Another ."', f'"{SOURCE}"'], id="another-text"),
    pytest.param([SOURCE], [GOOD, GOOD], ["line 2", "in.txt ends after 1 line", SOURCE], id="too-few-sentences"),
    pytest.param([SOURCE, "More ."], [GOOD], ["line 2", "plans.jsonl ends after 1 line", "More ."], id="too-few-plans"),
    pytest.param([SOURCE, SOURCE], [GOOD, ""], ["line 2", SOURCE, '""'], id="a-blank-plan"),
])  # fmt: skip
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_sentences_and_plans_must_agree(redraft, here, sentences, plans, words, on_error):
    (here / "in.txt").write_text("\n".join([*sentences, ""]))
    (here / "plans.jsonl").write_text("\n".join([*plans, ""]))
    status, lines, err = simplify(redraft, "--input", "in.txt", "--plan", "plans.jsonl", "--on-error", on_error)
    assert (status, lines) == (2, [REDRAFTED])
    for word in words:
        assert word in err


def test_an_invalid_plan_is_skipped_with_its_sentence(redraft, here):
    (here / "in.txt").write_text(f"They remain old .\n{SOURCE}\n")
    status, lines, err = simplify(redraft, "--input", "in.txt", "--plan", "-", "--on-error", "skip",
                                  stdin=f"{BAD}\n{GOOD}\n".encode())  # fmt: skip
    assert (status, lines) == (1, ["", REDRAFTED])
    assert "<stdin>:1, edits[0].delete" in err


# ---- bad lines ----

BAD_LINES = [
    pytest.param(BAD.encode(), "edits[0].delete: the phrase is empty", id="empty-phrase"),
    pytest.param(b"{", "invalid JSON", id="broken-json"),
    pytest.param(b'{"source": "caf\xe9"}', "not UTF-8", id="latin-1"),
    pytest.param(b'{"source": "a", "edits": [{"insert": "</s>"}]}', "contains a special token", id="special-token"),
]


@pytest.mark.parametrize("bad, problem", BAD_LINES)
def test_a_bad_line_stops_after_the_lines_before_it(redraft, bad, problem):
    status, lines, err = simplify(redraft, "--plan", "-", stdin=b"\n".join([GOOD.encode(), bad, GOOD.encode()]))
    assert (status, lines) == (2, [REDRAFTED])
    assert "<stdin>:2" in err
    assert problem in err


@pytest.mark.parametrize("bad, problem", BAD_LINES)
def test_a_skipped_line_leaves_its_place_empty(redraft, bad, problem):
    stdin = b"\n".join([GOOD.encode(), bad, GOOD.encode()])
    status, lines, err = simplify(redraft, "--plan", "-", "--on-error", "skip", stdin=stdin)
    assert (status, lines) == (1, [REDRAFTED, "", REDRAFTED])
    assert "skipped: <stdin>:2" in err
    assert problem in err
    assert err.endswith("3 lines written, 1 of them left empty because of bad input\n")

    status, lines, err = simplify(redraft, "--plan", "-", "--on-error", "skip", "--json", stdin=stdin)
    first, error, last = map(json.loads, lines)
    assert (status, first["output"], last["output"]) == (1, REDRAFTED, REDRAFTED)
    assert set(error) == {"error", "line"}
    assert error["line"] == 2
    assert problem in error["error"]


def test_a_sentence_that_is_not_utf8(redraft):
    status, lines, err = simplify(redraft, "--input", "-", "--on-error", "skip", stdin=b"a\ncaf\xe9\nb")
    assert (status, lines) == (1, [PLAIN, "", PLAIN])
    assert "<stdin>:2: not UTF-8: 0xe9 is byte 4" in err


@pytest.mark.parametrize("encoding, option", [
    pytest.param("latin-1", "LATIN1", id="latin-1"),
    pytest.param("utf-16", "UTF-16", id="utf-16-with-a-mark"),
    pytest.param("utf-16-le", "UTF-16", id="utf-16-without-a-mark"),
    pytest.param("utf-32", "UTF-32", id="utf-32-with-a-mark"),
    pytest.param("utf-32-be", "UTF-32", id="utf-32-without-a-mark"),
])  # fmt: skip
@pytest.mark.parametrize("argv", [
    ["simplify", "--model", MODEL, "--input", "old.txt"],
    ["simplify", "--model", MODEL, "--document", "old.txt"],
    ["simplify", "--model", MODEL, "--plan", "old.txt"],
    ["plan", "check", "old.txt"],
    ["check", "--source", "old.txt", "--output", "other.txt"],
    ["align", "--aligner", "exact", "--input", "old.txt"],
])  # fmt: skip
def test_the_conversion_of_another_encoding_is_named(redraft, here, argv, encoding, option):
    (here / "old.txt").write_bytes("café, a\tplace\n".encode(encoding))
    status, _, err = redraft(*argv)
    assert status == 2
    assert f"iconv -f {option} -t UTF-8" in err


@pytest.mark.skipif(not shutil.which("iconv"), reason="needs iconv")
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-32"])
def test_the_conversion_works(redraft, here, encoding):
    (here / "OLD").write_bytes(f"{SOURCE}é\n".encode(encoding))
    _, _, err = simplify(redraft, "--input", "OLD")
    subprocess.run(err.rsplit(": ", 1)[1], shell=True, check=True)
    assert (here / "NEW").read_text(encoding="utf-8") == f"{SOURCE}é\n"


@pytest.mark.parametrize("argv", [[], ["-"], ["--input", "-"]], ids=["a-pipe", "a-dash", "an-option"])
def test_input_from_a_pipe_is_read(redraft, argv):
    assert simplify(redraft, *argv, stdin=f"{SOURCE}\n".encode())[:2] == (0, [PLAIN])


def test_a_file_name_given_as_a_sentence_is_reported(redraft, here):
    (here / "in.txt").write_text("a\n")
    status, _, err = simplify(redraft, "in.txt")
    assert status == 0
    assert "in.txt is taken as a sentence" in err
    assert "--input in.txt" in err


# ---- as a process ----

COMMAND = [sys.executable, "-m", "redraft.cli"]


def test_help_and_version(redraft):
    assert redraft("--version") == (0, [f"redraft {__version__}"], "")
    status, lines, _ = redraft("simplify", "--help")
    text = "\n".join(lines)
    assert status == 0
    for field in fields(DecodeConfig):
        assert f"--{'no-' if field.default is True else ''}{field.name.replace('_', '-')} " in text
    for group in ("Options ─", "Advanced ─", "examples:", "Exit status:"):
        assert group in text


@pytest.mark.parametrize("name", [
    "simplify", "serve", "plan predict", "plan extract", "align", "check", "evaluate", "experiment", "bench", "train",
    "train-aligner", "train-planner", "train-checker", "tune",
])  # fmt: skip
def test_help_begins_with_the_options_that_most_people_use(redraft, name):
    status, lines, _ = redraft(*name.split(), "--help")
    assert status == 0
    assert any("─ Advanced ─" in line for line in lines)
    options = "\n".join(lines).split("─ Options ─")[1].split("─ Advanced ─")[0]
    assert 4 <= len(re.findall(r"^│ \*? {0,3}--", options, re.MULTILINE)) <= 12


def test_without_a_command_the_help_is_shown(redraft):
    status, lines, _ = redraft()
    assert status == 2
    assert any("simplify" in line for line in lines)


@pytest.mark.parametrize("words, found", [
    pytest.param("redraft sim", "simplify", id="command"),
    pytest.param("redraft plan ", "predict", id="command-of-a-group"),
    pytest.param("redraft simplify --stre", "--strength", id="option"),
    pytest.param("redraft simplify --no-rep", "--no-repeat-ngram", id="setting"),
    pytest.param("redraft simplify --method neg", "negative", id="word-of-a-setting"),
    pytest.param("redraft evaluate --test b", "bootstrap", id="word-of-an-option"),
])  # fmt: skip
def test_shell_completion(words, found):
    """As bash does after `redraft --install-completion`."""
    asked = {"_REDRAFT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(COMMAND, capture_output=True, text=True, env={**os.environ, **asked})
    assert found in done.stdout.split()


def test_a_switch_can_be_set_both_ways(monkeypatch):
    seen = []
    monkeypatch.setattr("redraft.cli.simplify.config_from_flags", lambda flags, path: seen.append(flags) or sys.exit(5))
    for flags in (["--begun", "--no-strict"], ["--no-begun", "--strict"], []):
        with pytest.raises(SystemExit):
            cli.main(["simplify", "a", *flags])
    assert seen == [{"begun": "true", "strict": "false"}, {"begun": "false", "strict": "true"}, {}]


def test_importing_the_command_is_fast():
    code = "import sys, redraft.cli; redraft.cli.commands(); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_help_on_a_terminal_without_greek():
    done = subprocess.run(
        [*COMMAND, "simplify", "--help"], capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_closed_pipe_is_no_error():
    command = [*COMMAND, "simplify", "--model", MODEL, "--input", "-", "--beams", "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"The end .\n" * 3)
        process.stdout.close()
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_ctrl_c_leaves_whole_lines():
    command = [*COMMAND, "simplify", "--model", MODEL, "--input", "-", "--batch-size", "1"]
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731, background jobs of a shell ignore SIGINT
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heard
    ) as process:
        process.stdin.write(b"The end .\n")
        process.stdin.flush()
        assert process.stdout.readline() == f"{PLAIN}\n".encode()  # written as soon as its batch is done
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.stderr.read() == b"redraft: interrupted\n"
    assert process.returncode == 130


# ---- settings ----


@pytest.mark.parametrize("name, text, value", [
    ("beams", "4", 4),
    ("width", "none", None),
    ("lambdas", "1, 2,0.5", (1.0, 2.0, 0.5)),
    ("delta", "none", None),
    ("delta", "1.5", 1.5),
    ("method", "beam", "beam"),
    ("admit_unmet", "true", True),
    ("early_stopping", "false", False),
    ("early_stopping", "never", "never"),
])  # fmt: skip
def test_settings_are_read_by_their_type(name, text, value):
    assert getattr(settings.config_from_flags({name: text}), name) == value


@pytest.mark.parametrize("field", fields(DecodeConfig), ids=lambda field: field.name)
def test_every_setting_can_be_written(field):
    assert settings.parse_setting(field.name, settings.default_of(field.name)) == field.default
    with pytest.raises(ConfigError):
        settings.parse_setting(field.name, "?")
