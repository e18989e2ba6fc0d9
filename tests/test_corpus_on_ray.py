"""A corpus on a cluster of Ray: each row once, whatever is killed; errors of rows; what is refused before the work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")
pytest.importorskip("psutil")

import failing_model
from killed_corpora import (
    Machines,
    compare,
    killed_run,
    machines,
    on_ray,
    plain_texts,
    results,
    save_tiny_model,
    write_corpus,
)
from redraft.cluster import corpus_run
from redraft.cluster.corpus_run import CorpusRun, CorpusSummary, run_corpus
from redraft.cluster.input_files import find_files, read_corpus
from redraft.cluster.output_folder import OutputFolder
from redraft.errors import ConfigError, RedraftError

pytestmark = pytest.mark.filterwarnings("default")  # of Ray


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 rows in ten files, and a tiny model."""
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder / "in", 300, documents=False)
    save_tiny_model(folder / "model")
    return folder


def test_each_row_once_after_kills(tmp_path: Path) -> None:
    """A process, a machine and the command are killed. killed_corpora.py does this with 20,000 rows."""
    write_corpus(tmp_path / "in", 200, documents=True)
    save_tiny_model(tmp_path / "model")
    killed_run(tmp_path, 200, documents=True, rows_per_file=5, kills=("process", "machine", "command"))
    compare(tmp_path, 200, documents=True)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Machines]:
    import ray

    with machines(1) as found:
        ray.init(found.address, logging_level="ERROR", log_to_driver=False)
        yield found
        ray.shutdown()


def run(folder: Path, make: Any, **options: Any) -> CorpusSummary:
    found = read_corpus(find_files(str(folder / "in")), rows_per_part=10, unreadable="skip")
    out = OutputFolder(str(folder / "out"))
    out.start(found, {}, resume=(folder / "out").exists())
    return run_corpus(CorpusRun(corpus=found, out=out, arguments={"make": make}, **options))


def write_sentences(folder: Path, count: int) -> None:
    (folder / "in").mkdir()
    for number in range(count):
        (folder / "in" / f"{number:03}.txt").write_text(f"Sentence {number}.\n")


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in results(folder / "out")]


def test_a_bad_row_and_a_corrupt_file_among_100(cluster: Machines, tmp_path: Path) -> None:
    write_sentences(tmp_path, 100)
    (tmp_path / "in" / "050.txt").write_bytes(b"\xff\xfe")
    (tmp_path / "in" / "060.txt").unlink()
    (tmp_path / "in" / "060.parquet").write_bytes(b"PAR1")
    summary = run(tmp_path, failing_model.fails_at_seven)
    rows = rows_of(tmp_path)
    assert [row["row"] for row in rows] == list(range(100))
    assert {row["row"] for row in rows if "error" in row} == {7, 50, 60}
    assert rows[7]["error"] == "RuntimeError: the model broke"
    assert [row["text"] for row in rows if "error" not in row] == [
        f"SENTENCE {number}." for number in range(100) if number not in (7, 50, 60)
    ]
    assert (summary.rows, summary.errors) == (100, 3)
    again = run(tmp_path, failing_model.fails_at_seven)
    assert (again.resumed, dict(again.counts)) == (100, {})
    assert rows_of(tmp_path) == rows


def test_a_row_that_ends_its_process_has_an_error(cluster: Machines, tmp_path: Path) -> None:
    write_sentences(tmp_path, 40)
    assert run(tmp_path, failing_model.ends_at_seven).errors == 1
    rows = rows_of(tmp_path)
    assert [row["row"] for row in rows] == list(range(40))
    assert ["the process ended" in row.get("error", "") for row in rows] == [row == 7 for row in range(40)]


def test_more_processes_than_fit_are_refused(cluster: Machines, tmp_path: Path) -> None:
    write_sentences(tmp_path, 3)
    with pytest.raises(ConfigError, match="has room for 1 processes with 1 CPU each, not for 2"):
        run(tmp_path, failing_model.fails_at_seven, processes=2)
    with pytest.raises(ConfigError, match="has room for 0 processes with 4 CPUs each"):
        run(tmp_path, failing_model.fails_at_seven, threads=4)
    with pytest.raises(ConfigError, match="has no GPU"):
        run(tmp_path, failing_model.fails_at_seven, device="cuda")


def test_parquet_results_are_those_of_jsonl(cluster: Machines, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    write_sentences(tmp_path, 12)
    run(tmp_path, failing_model.fails_at_seven, result_format="parquet")
    rows = sorted(pq.read_table(tmp_path / "out" / "results").to_pylist(), key=lambda row: row["row"])
    assert [row["text"] for row in rows] == [None if n == 7 else f"SENTENCE {n}." for n in range(12)]
    assert json.loads(rows[0]["plan"]) == {"source": "Sentence 0.", "edits": []}


def test_a_full_disk(cluster: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run ends with the next step; what was written is kept, and a resumed run does the rest."""
    write_sentences(tmp_path, 30)
    with monkeypatch.context() as patch:
        patch.setattr(corpus_run, "ResultFiles", failing_model.DiskForTwentyRows)
        with pytest.raises(RedraftError, match=r"No space left on device.*\n.*Free some disk space.*--resume"):
            run(tmp_path, failing_model.fails_at_seven)
    assert run(tmp_path, failing_model.fails_at_seven).resumed in (0, 10, 20)
    assert [row["row"] for row in rows_of(tmp_path)] == list(range(30))


def test_a_dataset_of_ray(cluster: Machines) -> None:
    import ray

    from redraft.ray import SimplifyBatches

    dataset = ray.data.from_items([{"n": n, "body": f"Sentence {n}."} for n in range(20)])
    rows = dataset.map_batches(
        SimplifyBatches, num_cpus=1, concurrency=1, batch_size=5,
        fn_constructor_kwargs={"column": "body", "make": failing_model.fails_at_seven},
    ).take_all()  # fmt: skip
    assert {row["n"]: row["text"] for row in rows} == {n: None if n == 7 else f"SENTENCE {n}." for n in range(20)}
    assert [row["n"] for row in rows if row["error"]] == [7]


def test_the_command_and_its_resume(cluster: Machines, corpus: Path) -> None:
    """The texts of the plain command, in the order of the input; another run cannot be mixed in."""
    environment = {**os.environ, "RAY_ADDRESS": cluster.address}

    def command(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*on_ray(corpus, "out", False), *more], env=environment, capture_output=True, text=True, timeout=120
        )

    first = command()
    assert (first.returncode, first.stdout) == (0, ""), first.stderr
    assert "redraft: 10 files, 300 rows\n" in first.stderr
    assert [json.loads(line)["text"] for line in results(corpus / "out")] == plain_texts(corpus, False)
    for more, message in [
        ((), "has the results of an earlier run"), (("--resume", "--beams", "3"), "was started with search"),
        (("--resume", "--rows-per-file", "7"), "was started with rows_per_file 1000, not 7"),
    ]:  # fmt: skip
        refused = command(*more)
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
    assert "300 rows were finished before" in command("--resume").stderr


@pytest.mark.parametrize(
    "argv, message",
    [
        (["--out", "out"], "--on ray requires --input or --document."),
        (["--input", "a.txt"], "--on ray requires --out."),
        (["--input", "a.txt", "--out", "out", "--explain"], "--explain cannot be combined with --on ray."),
        (["--input", "none-*.txt", "--out", "out"], 'no file matches "none-*.txt".'),
    ],
)
def test_mistakes(argv: list[str], message: str, command: Any) -> None:
    status, out, err = command("simplify", "--on", "ray", *argv)
    assert (status, out) == (2, "")
    assert message in err


def test_options_of_the_cluster_need_it(command: Any) -> None:
    for argv in (["simplify", "One.", "--rows-per-file", "3"], ["plan", "predict", "One.", "--out", "x"]):
        status, _, err = command(*argv)
        assert status == 2
        assert "applies only to --on ray" in err


def test_import_without_ray(tmp_path: Path) -> None:
    """The commands do not import Ray; --on ray says how to install it."""
    code = (
        "import sys; sys.modules['ray'] = None; import redraft.cli.main as m;"
        "sys.exit(m.main(['simplify', '--on', 'ray', '--input', 'x', '--out', 'y']))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == 2
    assert "pip install 'redraft[ray]'" in found.stderr
