"""`redraft evaluate`: JSON, tables and reports; every error is reported without a traceback."""

import json
import subprocess
import sys

import pytest

from published_corpora import FOLDER, needs_corpora
from redraft.evaluate import CORPORA

SOURCES = ["The artisans remain old .", "A big cat sat on the mat .", "It is raining ."]
SIMPLE = ["The makers are old .", "A cat sat .", "It rains ."]


@pytest.fixture
def here(tmp_path):
    for name, lines in (("source.txt", SOURCES), ("simple.txt", SIMPLE), ("copy.txt", SOURCES)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


@pytest.fixture
def evaluate(here, command):
    return lambda *argv: command("evaluate", *argv)


FILES = ("--source", "source.txt", "--reference", "simple.txt")


def test_one_object_for_each_file(evaluate):
    status, out, err = evaluate(*FILES, "--outputs", "copy.txt", "simple.txt", "--json")
    first, second = map(json.loads, out.splitlines())
    assert (status, err) == (0, "")
    assert (first["file"], second["file"]) == ("copy.txt", "simple.txt")
    for obj in (first, second):
        for name in ("sari", "add", "keep", "del", "bleu", "fkgl", "len"):
            low, high = obj["intervals"][name]
            assert low <= high
            assert isinstance(obj[name], float)
        assert "refs:1" in obj["signature"]
    assert (first["add"], first["del"], first["copies"]) == (0, 0, 100)
    assert second["bleu"] == pytest.approx(100)
    assert second["compared"]["sari"]["difference"] == pytest.approx(second["sari"] - first["sari"])


def test_the_table(evaluate):
    status, out, _ = evaluate(*FILES, "--outputs", "copy.txt")
    assert status == 0
    assert out.startswith("files/source.txt: 3 sentences, 1 reference, 95 % intervals\n")
    assert "SARI" in out
    assert "copy.txt" in out


def test_reports_beside_the_table(evaluate, here):
    status, _, _ = evaluate(*FILES, "--outputs", "copy.txt", "simple.txt", "--report", "r.html", "r.tex", "r.md")
    assert status == 0
    assert "<svg" in (here / "r.html").read_text(encoding="utf-8")
    assert r"\toprule" in (here / "r.tex").read_text(encoding="utf-8")
    assert (here / "r.md").read_text(encoding="utf-8").count("|") > 10


def test_results_contain_verdicts(evaluate, here):
    edit = {"delete": "remain", "status": "satisfied", "chosen_over": True}
    missed = {"substitute": "artisans", "with": ["makers"], "status": "unmet", "chosen_over": None}
    lines = [{"source": source, "output": output, "edits": []} for source, output in zip(SOURCES, SIMPLE, strict=True)]
    lines[0]["edits"] = [edit, missed]
    (here / "results.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    status, out, _ = evaluate(*FILES, "--outputs", "results.jsonl", "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["satisfied_delete"], found["strict_delete"], found["satisfied_substitute"]) == (100, 100, 0)


def test_plain_outputs_are_judged_by_plans(evaluate, here):
    plans = [{"source": source, "edits": []} for source in SOURCES]
    plans[0]["edits"] = [{"insert": "old"}, {"delete": "remain"}]
    (here / "plans.jsonl").write_text("\n".join(map(json.dumps, plans)) + "\n", encoding="utf-8")
    _, out, _ = evaluate(*FILES, "--outputs", "copy.txt", "--plans", "plans.jsonl", "--json")
    found = json.loads(out)
    assert (found["satisfied_insert"], found["satisfied_delete"]) == (100, 0)
    assert found["satisfied_substitute"] is None
    assert "strict" not in found


@pytest.mark.parametrize("report", ["r.html", "r.md", "r.tex", "r.json"])
@pytest.mark.parametrize("samples", ["20", "0"])
def test_every_report_of_many_systems_with_plans(evaluate, here, report, samples):
    plans = [{"source": source, "edits": [{"delete": "remain"}]} for source in SOURCES]
    (here / "plans.jsonl").write_text("\n".join(map(json.dumps, plans)) + "\n", encoding="utf-8")
    names = [f"{name}.txt" for name in ("source", "[b]", "c & d", "e", "f", "g")]
    for name in names[1:]:
        (here / name).write_text("".join(f"{line}\n" for line in SIMPLE), encoding="utf-8")
    status, out, err = evaluate(*FILES, "--outputs", *names, "--plans", "plans.jsonl", "--report", report, "--json",
                                "--samples", samples)  # fmt: skip
    assert status == 0
    assert ("not compared" in err) == (samples == "0")
    for line in out.splitlines():
        assert "NaN" not in line
        assert json.loads(line)["satisfied_delete"] == 100 if "source" not in line[:20] else True
    assert "NaN" not in (here / report).read_text(encoding="utf-8")


@pytest.mark.parametrize("report", ["r.html", "r.md", "r.tex", "r.json"])
def test_every_report_of_plans_alone(evaluate, here, report):
    (here / "p.jsonl").write_text(
        json.dumps({"source": SOURCES[0], "edits": [{"delete": "old"}]}) + "\n", encoding="utf-8"
    )
    status, out, _ = evaluate("--plans", "p.jsonl", "--oracle", "p.jsonl", "--report", report)
    assert status == 0
    assert out.startswith("plans/p.jsonl: 1 sentence, 95 % intervals")
    assert "100.0" in (here / report).read_text(encoding="utf-8")


def test_results_keep_their_verdicts_beside_their_plans(evaluate, here):
    edit = {"delete": "remain"}
    result = {
        "source": SOURCES[0],
        "output": SIMPLE[0],
        "edits": [{**edit, "status": "satisfied", "chosen_over": True}],
    }
    (here / "s").write_text(SOURCES[0] + "\n", encoding="utf-8")
    (here / "results").write_text(json.dumps(result) + "\n", encoding="utf-8")  # recognised by its first line
    (here / "plans.jsonl").write_text(json.dumps({"source": SOURCES[0], "edits": [edit]}) + "\n", encoding="utf-8")
    (here / "other.jsonl").write_text(json.dumps({"source": SOURCES[0], "edits": []}) + "\n", encoding="utf-8")
    for plans, strict in (("plans.jsonl", True), ("other.jsonl", False)):
        _, out, _ = evaluate("--source", "s", "--reference", "s", "--outputs", "results", "--plans", plans, "--json")
        assert ("strict_delete" in json.loads(out)) == strict


def test_plans_against_an_oracle_need_no_outputs(evaluate, here):
    for name, edits in (("p.jsonl", [{"delete": "remain"}, {"delete": "old"}]), ("o.jsonl", [{"delete": "remain"}])):
        (here / name).write_text(json.dumps({"source": SOURCES[0], "edits": edits}) + "\n", encoding="utf-8")
    status, out, _ = evaluate("--plans", "p.jsonl", "--oracle", "o.jsonl", "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["precision_delete"], found["recall_delete"]) == (50, 100)


def test_irregular_files_are_reported(evaluate, here):
    (here / "odd.txt").write_bytes("\r\n".join([*SIMPLE[:2], ""]).encode() + b"\r\n")
    status, _, err = evaluate(*FILES, "--outputs", "odd.txt")
    assert status == 0
    assert "odd.txt: Windows line endings" in err
    assert "odd.txt: no text in line 3" in err


@needs_corpora
def test_a_published_corpus_in_one_line(evaluate, here):
    copy = FOLDER / "turk" / "test.truecase.detok.orig"
    status, out, _ = evaluate("--corpus", "turk", "--data", FOLDER, "--outputs", copy, "--json")
    found = json.loads(out)
    assert status == 0
    assert [round(found[name], 2) for name in ("sari", "add", "keep", "del", "bleu")] == [26.29, 0, 78.87, 0, 99.36]
    assert found["signature"].startswith("turk/test|refs:8|")
    _, out, _ = evaluate("--corpus", "turk", "--data", FOLDER, "--outputs", copy, "--references", "first", "--json")
    assert "refs:1 (first)" in json.loads(out)["signature"]


MISTAKES = [
    pytest.param([], "there is nothing to score", "--outputs", id="nothing"),
    pytest.param(["--outputs", "copy.txt"], "no corpus is given", "--corpus NAME", id="no-corpus"),
    pytest.param(
        [*FILES, "--corpus", "turk", "--outputs", "copy.txt"],
        "--corpus cannot be combined",
        "Remove one",
        id="two-corpora",
    ),
    pytest.param(["--corpus", "turk", "--outputs", "copy.txt"], "no data folder", "--data", id="no-data"),
    pytest.param(["--corpus", "news", "--outputs", "copy.txt"], '"news" is not known', "turk_legacy", id="unknown"),
    pytest.param([*FILES, "--outputs", "none.txt"], "none.txt does not exist", "path", id="no-file"),
    pytest.param([*FILES, "--outputs", "copy.txt", "copy.txt"], "given twice", "once", id="twice"),
    pytest.param(
        [*FILES, "--outputs", "copy.txt", "--references", "7"], "no reference 7", "these numbers: 0", id="reference"
    ),
    pytest.param(
        [*FILES, "--outputs", "copy.txt", "--references", "some"],
        "nor one of: all, first",
        "--references all",
        id="references",
    ),
    pytest.param([*FILES, "--outputs", "copy.txt", "--samples", "x"], '"x" is not a whole', "--samples", id="samples"),
    pytest.param([*FILES, "--outputs", "copy.txt", "--test", "t"], "value for '--test'", "bootstrap", id="test"),
    pytest.param([*FILES, "--outputs", "copy.txt", "--report", "r.pdf"], "r.pdf", ".html", id="report"),
    pytest.param([*FILES, "--outputs", "short.txt"], "short.txt has 1 outputs", "in the same order", id="short"),
    pytest.param([*FILES, "--outputs", "bad.jsonl"], "bad.jsonl:1", "redraft simplify --json", id="no-results"),
    pytest.param(
        [*FILES, "--outputs", "failed.jsonl"], "reports an error instead", "simplify again", id="failed-results"
    ),
    pytest.param(
        [*FILES, "--outputs", "other.jsonl"],
        "other.jsonl, line 1: the source is",
        "corpus and split",
        id="other-sources",
    ),
    pytest.param([*FILES, "--outputs", "copy.txt", "--oracle", "none.jsonl"], "No such file", "none", id="no-oracle"),
    pytest.param(
        [*FILES, "--outputs", "copy.txt", "--oracle", "one.jsonl"],
        "--oracle requires --plans",
        "Add --plans",
        id="oracle",
    ),
    pytest.param([*FILES, "--outputs", "copy.txt", "--plans", "one.jsonl"], "one.jsonl has 1 plans", "one", id="plans"),
    pytest.param(
        [*FILES, "--outputs", "copy.txt", "--split", "test"],
        "--split and --data require --corpus",
        "Remove",
        id="split",
    ),
    pytest.param(
        ["--source", "source.txt", "--outputs", "copy.txt"],
        "--source requires --reference",
        "Add --reference",
        id="no-reference",
    ),
    pytest.param([*FILES, "--outputs", "-", "-"], "standard input is given twice", "file", id="stdin-twice"),
    pytest.param([*FILES, "--outputs", "copy.txt", "--samples", "9" * 12], "is not a whole", "--samples", id="many"),
    pytest.param([*FILES, "--outputs", "odd.jsonl"], "edits: must be a list", "simplify", id="edits-no-list"),
    pytest.param([*FILES, "--outputs", "half.jsonl"], "not a result", "simplify", id="half-a-pair"),
    pytest.param([*FILES, "--outputs", "maybe.jsonl"], "must be true, false or null", "simplify", id="chosen-over"),
    pytest.param([*FILES, "--outputs", "one.md", "--report", "one.md"], "is also an input", "another", id="overwrite"),
    pytest.param(["stray", *FILES, "--outputs", "copy.txt"], "unexpected extra argument", "--help", id="stray"),
    pytest.param(["--sauce", "x"], "No such option: --sauce", "--help", id="unknown-option"),
]


@pytest.mark.parametrize("argv, problem, hint", MISTAKES)
def test_errors_are_reported(evaluate, here, argv, problem, hint):
    (here / "short.txt").write_text("a\n", encoding="utf-8")
    (here / "bad.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    (here / "failed.jsonl").write_text('{"error": "no", "line": 1}\n', encoding="utf-8")
    (here / "other.jsonl").write_text('{"source": "b", "output": "a"}\n' * 3, encoding="utf-8")
    (here / "one.jsonl").write_text('{"source": "b"}\n', encoding="utf-8")
    (here / "odd.jsonl").write_text('{"source": "b", "output": "a", "edits": 5}\n', encoding="utf-8")
    (here / "half.jsonl").write_text('{"source": "b", "output": "\\ud800"}\n', encoding="utf-8")
    maybe = '{"source": "b", "output": "a", "edits": [{"delete": "x", "status": "satisfied", "chosen_over": "no"}]}'
    (here / "maybe.jsonl").write_text(maybe + "\n", encoding="utf-8")
    (here / "one.md").write_text("a\nb\nc\n", encoding="utf-8")
    status, out, err = evaluate(*argv)
    assert (status, out) == (2, "")
    assert problem in err
    assert hint in err


def test_scoring_loads_no_torch(here, monkeypatch):
    monkeypatch.chdir(here)
    code = (
        "import sys; from redraft.cli import main; "
        f"main({['evaluate', *FILES, '--outputs', 'copy.txt', '--report', 'r.html']!r}); "
        "print(sorted({'torch', 'transformers', 'matplotlib'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert found.stdout.splitlines()[-1] == "[]"


def test_the_help_names_every_corpus(evaluate):
    status, out, _ = evaluate("--help")
    assert status == 0
    assert all(name in out for name in CORPORA)
