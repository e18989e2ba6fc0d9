"""Corpora before Ray sees them: files, parts, rows, the output folder, and the class that rewrites batches."""

# ruff: noqa: E402
from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
pytest.importorskip("ray")

import numpy as np
import pyarrow.parquet as pq

from failing_model import FailingSimplifier
from redraft import EditPlan, Redrafter, RedraftError, Simplifier
from redraft.cluster import input_files
from redraft.cluster.input_files import Corpus, find_files, read_corpus
from redraft.cluster.input_rows import read_part
from redraft.cluster.output_folder import OutputFolder
from redraft.cluster.result_rows import json_lines
from redraft.cluster.simplify_batches import SimplifyBatches, each
from redraft.decode.scripted_model import ScriptedModel
from redraft.errors import ConfigError, CorpusError


def rows_of(*paths: Path, rows_per_part: int = 3, documents: bool = False, **options: Any) -> list[dict[str, Any]]:
    corpus = read_corpus([str(path) for path in paths], rows_per_part=rows_per_part, documents=documents, **options)
    rows = [row for part in corpus.parts for row in read_part(part).to_pylist()]
    assert [row["row"] for row in rows] == list(range(corpus.rows))
    return rows


@pytest.mark.parametrize(
    "data, texts",
    [
        pytest.param(b"one\ntwo\n", ["one", "two"], id="lines"),
        pytest.param(b"one\ntwo", ["one", "two"], id="no-last-line-end"),
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\n\none\n", ["", "", "one"], id="blank-lines-count"),
        pytest.param(b"\xef\xbb\xbfone\r\ntwo\r\n", ["one", "two"], id="windows"),
        pytest.param("a\u2028b\n\x85\n".encode(), ["a\u2028b", "\x85"], id="only-newline-ends-a-line"),
        pytest.param(b"1\n2\n3\n4\n5\n6\n7\n", list("1234567"), id="three-parts"),
    ],
)
def test_lines_of_a_text_file(data: bytes, texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    rows = rows_of(tmp_path / "a.txt")
    assert [row["source"] for row in rows] == texts
    assert [row["id"] for row in rows] == [f"{tmp_path}/a.txt:{number}" for number in range(1, len(texts) + 1)]


@pytest.mark.parametrize(
    "line, source, error",
    [
        ('{"text": "One."}', "One.", None),
        ('{"id": 7, "source": "One."}', "One.", None),
        ('"One."', "One.", None),
        ("", "", None),
        ('{"source": "One.", "edits": [{"delete": "One"}]}', "One.", None),
        ('{"id": 1, "plan": {"source": "One.", "edits": []}, "text": "ignored"}', "One.", None),
        ("{broken", None, "a.jsonl:2: invalid JSON"),
        ('{"other": 1}', None, "a.jsonl:2: the row has no text."),
        ('{"text": 5}', None, "a.jsonl:2, source: "),
        ('{"source": "One.", "edits": [{"delete": 3}]}', None, "a.jsonl:2, edits[0]"),
        ("\udcff", None, "a.jsonl:2: not UTF-8"),
        ("[" * 100_000, None, "a.jsonl:2: "),
    ],
)
def test_one_bad_row_among_good_ones(line: str, source: str | None, error: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "First."}\n' + line.encode("utf-8", "surrogateescape") + b'\n{"text": "Last."}\n')
    first, row, last = rows_of(path)
    assert (first["source"], last["source"]) == ("First.", "Last.")
    assert row["source"] == source
    assert (error is None and row["error"] is None) or error in row["error"]


def test_a_line_that_is_too_long_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "LONGEST_LINE", 20)
    (tmp_path / "a.txt").write_text(f"one\n{'x' * 50}\ntwo\n")
    one, long, two = rows_of(tmp_path / "a.txt")
    assert (one["source"], long["source"], two["source"]) == ("one", None, "two")
    assert "a.txt:2: the line is longer than 20 bytes." in long["error"]


def test_small_files_share_a_part_and_long_ones_are_divided(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"{number}.txt").write_text("a\n")
    (tmp_path / "long.txt").write_text("b" * 1000 + "\n" + "c\n" * 9)
    corpus = read_corpus(find_files(str(tmp_path)), rows_per_part=4)
    assert len(corpus.parts) > 5
    assert all(part.rows <= 4 for part in corpus.parts)
    assert [row for part in corpus.parts for row in range(part.row, part.row + part.rows)] == list(range(20))


def test_a_text_file_is_one_document(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One. Two.\n\nThree.\n")
    (tmp_path / "b.txt").write_text("")
    (tmp_path / "c.jsonl").write_text('{"text": "Four.\\nFive."}\n')
    rows = rows_of(*(tmp_path / name for name in ("a.txt", "b.txt", "c.jsonl")), documents=True)
    assert [row["source"] for row in rows] == ["One. Two.\n\nThree.\n", "", "Four.\nFive."]


def test_parquet(tmp_path: Path) -> None:
    """Row groups that do not end where parts do, and a column that is named."""
    texts = [f"Sentence {number}." for number in range(25)]
    table = pa.table({"id": list(range(25)), "text": [*texts[:24], None], "body": texts})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    rows = rows_of(tmp_path / "a.parquet", rows_per_part=4)
    assert [row["source"] for row in rows] == [*texts[:24], None]
    assert [row["id"] for row in rows[:24]] == [str(number) for number in range(24)]
    assert "a.parquet:25: the row has no text." in rows[24]["error"]
    corpus = read_corpus([str(tmp_path / "a.parquet")])
    assert [row["source"] for row in read_part(corpus.parts[0], "body").to_pylist()] == texts


def test_unreadable_files_are_named_before_the_work_or_are_one_row(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("a\n")
    (tmp_path / "2.parquet").write_bytes(b"PAR1 is not all of it")
    with pytest.raises(CorpusError, match=r"1 of 6 input files cannot be read:\n.*2\.parquet: "):
        read_corpus(find_files(f"{tmp_path}/*"))
    rows = rows_of(*map(Path, find_files(f"{tmp_path}/*")), unreadable="skip")
    assert [bool(row["error"]) for row in rows] == [False, False, True, False, False, False]


def test_a_file_that_shrinks_or_disappears_has_errors_for_its_rows(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("one\ntwo\n")
    corpus = read_corpus(find_files(f"{tmp_path}/*.txt"), rows_per_part=4)
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "b.txt").unlink()
    rows = read_part(corpus.parts[0]).to_pylist()
    assert [row["row"] for row in rows] == [0, 1, 2, 3]
    assert [row["source"] for row in rows] == ["one", None, None, None]
    assert "has become shorter" in rows[1]["error"]
    assert "cannot be read" in rows[3]["error"]


def test_no_file_matches(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no file matches"):
        find_files(f"{tmp_path}/*.jsonl")


# ---- the output folder ----


def small_corpus(folder: Path) -> Corpus:
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    return read_corpus([str(folder / "a.txt")], rows_per_part=2)


def test_another_run_is_not_mixed_in(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    out = OutputFolder(str(tmp_path / "out"))
    out.start(corpus, {"model": "m", "search": {"beams": 4}}, resume=False)
    out.start(corpus, {"model": "m", "search": {"beams": 4}}, resume=True)
    with pytest.raises(ConfigError, match="results of an earlier run"):
        out.start(corpus, {"model": "m", "search": {"beams": 4}}, resume=False)
    with pytest.raises(ConfigError, match=r'was started with search {"beams": 4}, not {"beams": 8}'):
        out.start(corpus, {"model": "m", "search": {"beams": 8}}, resume=True)
    (tmp_path / "a.txt").write_text("one\nTWO\nthree\n")
    with pytest.raises(ConfigError, match=r"the input of .* has changed: .*a\.txt"):
        out.start(read_corpus([str(tmp_path / "a.txt")]), {"model": "m", "search": {"beams": 4}}, resume=True)


def a_file(path: Path) -> None:
    path.write_text("")


def with_another_file(path: Path) -> None:
    path.mkdir()
    (path / "thesis.txt").write_text("")


def in_a_file(path: Path) -> None:
    path.parent.joinpath("file").write_text("")


@pytest.mark.parametrize(
    "prepare, name, message",
    [(a_file, "out", "is a file"), (with_another_file, "out", "is not empty"), (in_a_file, "file/out", "cannot be")],
)
def test_an_output_that_cannot_be_written(
    prepare: Callable[[Path], None], name: str, message: str, tmp_path: Path
) -> None:
    corpus = small_corpus(tmp_path)
    prepare(tmp_path / "out")
    with pytest.raises(ConfigError, match=message):
        OutputFolder(str(tmp_path / name)).start(corpus, {}, resume=False)


@pytest.mark.parametrize(
    "files, kept, rows",
    [
        pytest.param(["r/a.jsonl", "c/a.parquet"], ["r/a.jsonl", "c/a.parquet"], [0, 1], id="committed"),
        pytest.param(["c/a.pending.parquet"], [], [], id="killed-before-the-results"),
        pytest.param(["r/a.jsonl", "c/a.pending.parquet"], [], [], id="killed-in-the-results"),
        pytest.param(["r/a.jsonl", "c/a.pending.parquet", "c/a.parquet"], [], [], id="killed-when-written-again"),
        pytest.param(["r/a.jsonl"], [], [], id="written-by-a-process-that-outlived-the-command"),
    ],
)
def test_remains_of_a_killed_run(files: list[str], kept: list[str], rows: list[int], tmp_path: Path) -> None:
    out = OutputFolder(str(tmp_path / "out"))
    out.start(small_corpus(tmp_path), {}, resume=False)
    names = {"r/": f"{out.results}/", "c/": f"{out.checkpoint}/"}
    for name in files:
        path = Path(names[name[:2]] + name[2:])
        if path.suffix == ".parquet":
            pq.write_table(pa.table({"row": pa.array([0, 1], pa.int64())}), path)
        else:
            path.write_text("{}\n")
    assert out.finished_rows().tolist() == rows
    found = [short + name for short, folder in names.items() for name in os.listdir(folder)]
    assert sorted(found) == sorted(kept)


def test_a_run_that_lost_rows_is_not_called_finished(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path)
    out = OutputFolder(str(tmp_path / "out"))
    out.start(corpus, {}, resume=False)
    with pytest.raises(ConfigError, match="has 0 of 3 rows"):
        out.check_finished(corpus)


# ---- batches ----


def failing(bad: str, error: Exception) -> SimplifyBatches:
    return SimplifyBatches(make=lambda device: FailingSimplifier(bad, error))


@pytest.mark.parametrize("error", [RuntimeError("boom"), RedraftError("too long"), MemoryError()])
def test_a_text_that_makes_the_model_fail_has_an_error(error: Exception) -> None:
    texts = [f"Sentence {number}." for number in range(20)]
    table = failing("Sentence 13.", error)({"text": np.array(texts), "n": np.arange(20)})
    rows = table.to_pylist()
    assert [row["n"] for row in rows] == list(range(20))
    assert [row["source"] for row in rows] == texts
    assert [row["n"] for row in rows if row["error"]] == [13]
    assert [row["text"] for row in rows if not row["error"]] == [text.upper() for text in texts if "13" not in text]


def test_a_wrong_setting_is_raised() -> None:
    with pytest.raises(ConfigError, match="beams"):
        each([1, 2], lambda _: (_ for _ in ()).throw(ConfigError("beams is 0.", "Give 1.")))
    with pytest.raises(ConfigError, match="task"):
        SimplifyBatches(task="poems", make=lambda device: FailingSimplifier("", OSError()))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no column 'text', but body"):
        failing("", OSError())({"body": ["One."]})


def test_sentences_plans_and_errors_of_the_input() -> None:
    model = ScriptedModel(["The", "old", "men"], log_probs_by_prefix={"": {"The": -1.0, "old": -2.0}})
    make = lambda device: Simplifier(Redrafter(model, device=device), search_only=True)  # noqa: E731
    plan = json.dumps(EditPlan.from_json({"source": "The men", "edits": [{"insert": "old"}]}).to_json())
    given = {
        "text": ["The men", "The men", " ", None, "x"], "plan": [None, plan, None, None, "{"],
        "error": [None, None, None, "it was broken", None],
    }  # fmt: skip
    rows = [json.loads(line) for line in json_lines(SimplifyBatches(make=make)(given))]
    assert [row.get("source") for row in rows] == ["The men", "The men", " ", None, "x"]
    assert rows[3]["error"] == "it was broken"
    assert "the plan is not JSON" in rows[4]["error"]
    assert rows[1]["plan"]["edits"] == [{"insert": "old"}]
    assert [verdict["status"] for verdict in rows[1]["verdicts"]] == ["satisfied"]
    assert rows[2]["text"] == ""


def test_documents_are_those_of_the_simplifier(simplifier: Simplifier) -> None:
    texts = [
        "The colour of the vehicle was purchased.\n\n- It commenced, in 1990.\n",
        "",
        "  The color of the residence. The physician commenced the procedure.",
        "One. Two.",
    ]
    batches = SimplifyBatches(task="documents", make=lambda device: simplifier)
    rows = batches({"text": texts}).to_pylist()
    for text, row in zip(texts, rows, strict=True):
        document = simplifier.document(text)
        assert (row["source"], row["text"], row["warnings"]) == (text, document.text, document.warnings)
        assert len(json.loads(row["plan"])) == len(document.results)


def test_plans_are_those_of_the_simplifier(simplifier: Simplifier) -> None:
    texts = ["The physician commenced the procedure.", "def f(x): return None"]
    rows = SimplifyBatches(task="plans", make=lambda device: simplifier)({"text": texts}).to_pylist()
    assert [json.loads(row["plan"]) for row in rows] == [plan.to_json() for plan in simplifier.plans(texts)]
    assert [row["unchanged"] for row in rows] == [None, "it looks like program text"]
