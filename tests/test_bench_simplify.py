"""The rewriting benchmark runs, and does not time systems with different outputs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from redraft.decode.eight_bit_model import save_eight_bit_model
from small_models import tiny_model_for
from tokenizers_in_memory import TEXT, single_digits

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def bench(tmp_path):
    save_eight_bit_model(tiny_model_for("bart", single_digits()), single_digits(), tmp_path / "model")
    (tmp_path / "sources.txt").write_text(TEXT + "1" * 200 + "\n", encoding="utf-8")

    def run(*before):
        code = "\n".join([*before, "from benchmarks.bench_simplify import main; main()"])
        options = {"--sources": tmp_path / "sources.txt", "--model": tmp_path / "model", "--device": "cpu",
                   "--beams": 3, "--max-tokens": 6, "--check": 5, "--single": 4, "--batches": "4,9", "--repeats": 1,
                   "--out": tmp_path / "out.json", "--table": tmp_path / "table.md"}  # fmt: skip
        argv = [str(word) for option in options.items() for word in option]
        return subprocess.run([sys.executable, "-c", code, *argv], cwd=ROOT, capture_output=True, text=True,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})  # fmt: skip

    return run


def test_equal_outputs_are_timed(bench, tmp_path):
    done = bench()
    assert done.returncode == 0, done.stderr
    count = len(TEXT.splitlines())
    assert f"{count} sentences (1 excluded)" in done.stdout
    assert "redraft = transformers on 5 of 5 sentences in batches of 4" in done.stdout
    assert (tmp_path / "table.md").read_text(encoding="utf-8") == done.stdout
    results = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert results["sentences"] == count
    assert results["ms_a_sentence"].keys() == {"transformers", "redraft"}
    assert all(0 < times["median"] <= times["p95"] for times in results["ms_a_sentence"].values())
    assert results["sentences_a_second"].keys() == {"4", "9"}
    assert all(rate > 0 for rates in results["sentences_a_second"].values() for rate in rates.values())


def test_different_outputs_are_not_timed(bench, tmp_path):
    done = bench(
        "import benchmarks.bench_simplify as bench", "bench._redraft = lambda _, sources: [(0,)] * len(sources)"
    )
    assert done.returncode == 1
    assert "redraft differs from transformers: 0 of 5" in done.stderr
    assert not (tmp_path / "out.json").exists()
