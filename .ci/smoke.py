"""A little of everything that users install, to see that it works at all with the versions that are there."""

import json
import sys
import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from fastapi.testclient import TestClient

from redraft import Simplifier
from redraft.cli import main
from redraft.serve.app import create_app

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
SCRIPTED = ["--model", f"scripted:{ROOT / 'examples' / 'by_hand.json'}", "--plan", str(ROOT / "examples/by_hand.jsonl")]


def redraft(*words: object) -> None:
    print("redraft", *words, flush=True)
    status = main([str(word) for word in words])
    assert status == 0, f"exit status {status}"


def check_commands(folder: Path) -> None:
    redraft("--version")
    redraft("simplify", *SCRIPTED)
    redraft("simplify", "The physician commenced the procedure.", "--device", "cpu")
    redraft("plan", "predict", "The physician commenced the procedure.", "--device", "cpu")
    (folder / "simple.txt").write_text("The craftsmen are old .\n", encoding="utf-8")
    (folder / "pairs.tsv").write_text("The artisans remain old .\tThe craftsmen are old .\n", encoding="utf-8")
    redraft("align", "--input", folder / "pairs.tsv", "--device", "cpu")
    train(folder)
    redraft("tune", *SCRIPTED, "--reference", folder / "simple.txt", "--out", folder / "tuned", "--trials", 3)


def train(folder: Path) -> None:
    from toy_pairs import save_small_model, toy_pairs, write_table

    model = save_small_model(folder / "model", "bart")
    pairs = [write_table(folder / f"{name}.tsv", toy_pairs(16)) for name in ("train", "valid")]
    redraft("train", "--model", model, "--train", pairs[0], "--valid", pairs[1], "--out", folder / "trained",
            "--epochs", 1, "--device", "cpu")  # fmt: skip


def check_service() -> None:
    with TestClient(create_app(Simplifier(device="cpu")), base_url="http://localhost") as client:
        assert client.get("/health").status_code == 200
        answer = client.post("/v1/simplify", json={"text": "The physician commenced the procedure."})
        assert answer.status_code == 200, answer.text
        print(json.dumps(answer.json())[:200])


if __name__ == "__main__":
    print(*(f"{name} {version(name)}" for name in ("torch", "transformers", "numpy", "fastapi", "optuna")))
    for name in ("bert_score", "nltk", "scipy.optimize", "wordfreq"):  # used in one place each, with data or models
        import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        check_commands(Path(folder))
    check_service()
